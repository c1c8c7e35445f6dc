#include "fc2_fabric/frame/capture.hpp"

#include <algorithm>

#include "wire/ethernet.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcoe.hpp"
#include "wire/pcapng.hpp"

namespace fc2 {
namespace {
namespace pcapng = wire::pcapng;
namespace option = wire::pcapng::option;
}  // namespace

// pcapng blocks are in the writer's byte order; ours is little-endian everywhere, so that files are equal everywhere.

class Capture::BlockWriter {
 public:
  BlockWriter(std::vector<std::uint8_t>& bytes, pcapng::Block type) : bytes_(bytes) {
    bytes_.clear();
    put(static_cast<std::uint32_t>(type), 4);
    put(0, 4);  // length, set by finish()
  }
  void put(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void put_padded(std::span<const std::uint8_t> data) {
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    pad();
  }
  void pad() { bytes_.resize((bytes_.size() + 3) & ~std::size_t{3}); }
  void option(std::uint16_t code, std::span<const std::uint8_t> value) {
    put(code, 2);
    put(value.size(), 2);
    put_padded(value);
  }
  void option_number(std::uint16_t code, std::uint64_t value, int size) {
    put(code, 2);
    put(static_cast<std::uint64_t>(size), 2);
    put(value, size);
    pad();
  }
  void option_comment(std::string_view text) {
    if (!text.empty()) option(option::comment, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  void begin_packet(std::uint32_t interface_id, TimeNs at, std::size_t kept, std::size_t size) {
    put(interface_id, 4);
    put(static_cast<std::uint64_t>(at) >> 32, 4);
    put(static_cast<std::uint64_t>(at) & 0xFFFFFFFF, 4);
    put(kept, 4);
    put(size, 4);
  }
  void end_packet(bool outbound, std::uint64_t missing) {
    option_number(option::epb_flags, outbound ? pcapng::outbound : pcapng::inbound, 4);
    if (missing != 0) option_number(option::epb_dropcount, missing, 8);
    option(option::end_of_options, {});
    finish();
  }
  void finish() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() + 4);
    put(length, 4);
    for (std::size_t i = 0; i < 4; ++i) bytes_[4 + i] = static_cast<std::uint8_t>(length >> (8 * i));
  }

 private:
  std::vector<std::uint8_t>& bytes_;
};

Capture::Capture(ByteSink& sink, std::string_view comment) : sink_(sink) {
  BlockWriter block(block_, pcapng::Block::section_header);
  block.put(pcapng::byte_order_magic, 4);
  block.put(1, 2);
  block.put(0, 2);
  block.put(~std::uint64_t{0}, 8);  // section length: not told
  if (!comment.empty()) {
    block.option_comment(comment);
    block.option(option::end_of_options, {});
  }
  block.finish();
  sink_.write(block_);
}

std::uint32_t Capture::describe_interface(std::string_view name) {
  BlockWriter block(block_, pcapng::Block::interface_description);
  block.put(pcapng::linktype_ethernet, 2);
  block.put(0, 2);
  block.put(0, 4);  // no snap length
  block.option(option::if_name, std::vector<std::uint8_t>(name.begin(), name.end()));
  block.option_number(option::if_tsresol, pcapng::nanoseconds, 1);
  block.option(option::end_of_options, {});
  block.finish();
  sink_.write(block_);
  return interface_count_++;
}

FrameTap& Capture::add_interface(std::string_view name) {
  const std::uint32_t id = describe_interface(name);
  return interfaces_.emplace_back(*this, id);
}

fcoe::EthernetTap& Capture::add_ethernet_interface(std::string_view name) {
  const std::uint32_t id = describe_interface(name);
  return ethernet_interfaces_.emplace_back(*this, id);
}

void Capture::add_frame(std::uint32_t interface_id, TimeNs at, const Frame& frame, bool outbound) {
  const bool noted = frame.fault != 0 && frame.fault <= fault_notes_.size();
  write_frame(interface_id, at, {frame.content(), frame.size_bytes, frame.sof, frame.eof, frame.crc_error}, outbound,
              noted ? std::string_view(fault_notes_[frame.fault - std::size_t{1}]) : std::string_view());
}

void Capture::write_frame(std::uint32_t interface_id, TimeNs at, const KeptFrame& frame, bool outbound,
                          std::string_view comment) {
  const auto parsed = wire::FcHeader::parse(frame.bytes);
  const wire::FcHeader header = parsed ? *parsed : wire::FcHeader{};  // cut short by a fault: no addresses
  const wire::MacAddress destination = wire::mac_of(header.d_id), source = wire::mac_of(header.s_id);
  constexpr std::size_t before = wire::fcoe::overhead - wire::fcoe::trailer_size;
  const bool whole = frame.bytes.size() == frame.size_bytes;
  const std::size_t size = wire::fcoe::frame_size(frame.size_bytes), kept = whole ? size : before + frame.bytes.size();
  BlockWriter block(block_, pcapng::Block::enhanced_packet);
  block.begin_packet(interface_id, at, kept, size);
  const std::size_t start = block_.size();
  block_.resize(start + kept);
  const auto place = std::span(block_).subspan(start);
  if (whole) {
    wire::fcoe::encapsulate(destination, source, frame.sof, frame.bytes, frame.eof, place);
    if (frame.crc_error) place[size - wire::fcoe::trailer_size] ^= 0xFF;
  } else {
    wire::fcoe::write_header(destination, source, frame.sof, place);
    std::copy(frame.bytes.begin(), frame.bytes.end(), place.begin() + before);
  }
  finish_packet(block, outbound, comment);
}

void Capture::write_ethernet_frame(std::uint32_t interface_id, TimeNs at, std::span<const std::uint8_t> bytes,
                                   std::size_t size_bytes, bool outbound, std::string_view comment) {
  BlockWriter block(block_, pcapng::Block::enhanced_packet);
  block.begin_packet(interface_id, at, bytes.size(), size_bytes);
  block_.insert(block_.end(), bytes.begin(), bytes.end());
  finish_packet(block, outbound, comment);
}

void Capture::write_statistics(std::uint32_t interface_id, TimeNs at, std::uint64_t missing) {
  BlockWriter block(block_, pcapng::Block::interface_statistics);
  block.put(interface_id, 4);
  block.put(static_cast<std::uint64_t>(at) >> 32, 4);
  block.put(static_cast<std::uint64_t>(at) & 0xFFFFFFFF, 4);
  block.option_number(option::isb_ifdrop, missing, 8);
  block.option(option::end_of_options, {});
  block.finish();
  sink_.write(block_);
}

void Capture::finish_packet(BlockWriter& block, bool outbound, std::string_view comment) {
  block.pad();
  block.option_comment(comment);
  block.end_packet(outbound, std::exchange(missing_, 0));
  sink_.write(block_);
  ++frame_count_;
}

void Capture::add_ethernet_frame(std::uint32_t interface_id, TimeNs at, const fcoe::EthernetFrame& frame,
                                 bool outbound) {
  BlockWriter block(block_, pcapng::Block::enhanced_packet);
  const std::array<std::uint8_t, 4> tag{0x81, 0x00, static_cast<std::uint8_t>(frame.vlan >> 8),
                                        static_cast<std::uint8_t>(frame.vlan)};
  const bool tagged = frame.vlan != 0 && frame.has_header();
  const std::size_t size = frame.size_bytes + (tagged ? tag.size() : 0);
  block.begin_packet(interface_id, at, size, size);
  const std::size_t start = block_.size();
  for (const wire::Bytes part : frame.parts()) block_.insert(block_.end(), part.begin(), part.end());
  // 802.1Q: between the addresses and the type. Which priority it has is not kept.
  if (tagged)
    block_.insert(block_.begin() + static_cast<std::ptrdiff_t>(start + 2 * sizeof(wire::MacAddress)), tag.begin(),
                  tag.end());
  finish_packet(block, outbound, {});
}

}  // namespace fc2
