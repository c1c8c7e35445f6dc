#include "fc2_fabric/frame/capture.hpp"

#include "wire/ethernet.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcoe.hpp"

namespace fc2 {
namespace {
// pcapng blocks are in the writer's byte order; ours is little-endian everywhere, so that files are equal everywhere.
enum Block : std::uint32_t { section_header = 0x0A0D0D0A, interface_description = 1, enhanced_packet = 6 };
enum Option : std::uint16_t { end_of_options = 0, comment = 1, if_name = 2, if_tsresol = 9, epb_flags = 2 };
constexpr std::uint16_t linktype_ethernet = 1;
constexpr std::uint32_t flag_inbound = 1, flag_outbound = 2;

class BlockWriter {
 public:
  BlockWriter(std::vector<std::uint8_t>& bytes, Block type) : bytes_(bytes) {
    bytes_.clear();
    put(type, 4);
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
  void option(Option code, std::span<const std::uint8_t> value) {
    put(code, 2);
    put(value.size(), 2);
    put_padded(value);
  }
  void begin_packet(std::uint32_t interface_id, TimeNs at, std::size_t size) {
    put(interface_id, 4);
    put(static_cast<std::uint64_t>(at) >> 32, 4);
    put(static_cast<std::uint64_t>(at) & 0xFFFFFFFF, 4);
    put(size, 4);
    put(size, 4);
  }
  void end_packet(bool outbound) {
    put(epb_flags, 2);
    put(4, 2);
    put(outbound ? flag_outbound : flag_inbound, 4);
    put(end_of_options, 2);
    put(0, 2);
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
}  // namespace

Capture::Capture(ByteSink& sink) : sink_(sink) {
  BlockWriter block(block_, section_header);
  block.put(0x1A2B3C4D, 4);
  block.put(1, 2);
  block.put(0, 2);
  block.put(~std::uint64_t{0}, 8);  // section length: not told
  block.finish();
  sink_.write(block_);
}

std::uint32_t Capture::describe_interface(std::string_view name) {
  BlockWriter block(block_, interface_description);
  block.put(linktype_ethernet, 2);
  block.put(0, 2);
  block.put(0, 4);  // no snap length
  block.option(if_name, std::vector<std::uint8_t>(name.begin(), name.end()));
  block.option(if_tsresol, std::vector<std::uint8_t>{9});  // 10^-9 s
  block.option(end_of_options, {});
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
  const auto parsed = wire::FcHeader::parse(frame.content());
  const wire::FcHeader header = parsed ? *parsed : wire::FcHeader{};  // cut short by a fault: no addresses
  const std::size_t size = wire::fcoe::frame_size(frame.size_bytes);
  BlockWriter block(block_, enhanced_packet);
  block.begin_packet(interface_id, at, size);
  const std::size_t start = block_.size();
  block_.resize(start + size);
  wire::fcoe::encapsulate(wire::mac_of(header.d_id), wire::mac_of(header.s_id), frame.sof, frame.content(), frame.eof,
                          std::span(block_).subspan(start));
  if (frame.crc_error) block_[start + size - wire::fcoe::trailer_size] ^= 0xFF;
  block.pad();
  if (frame.fault != 0 && frame.fault <= fault_notes_.size()) {
    const std::string& note = fault_notes_[frame.fault - std::size_t{1}];
    block.option(comment, {reinterpret_cast<const std::uint8_t*>(note.data()), note.size()});
  }
  block.end_packet(outbound);
  sink_.write(block_);
  ++frame_count_;
}

void Capture::add_ethernet_frame(std::uint32_t interface_id, TimeNs at, const fcoe::EthernetFrame& frame,
                                 bool outbound) {
  BlockWriter block(block_, enhanced_packet);
  const std::array<std::uint8_t, 4> tag{0x81, 0x00, static_cast<std::uint8_t>(frame.vlan >> 8),
                                        static_cast<std::uint8_t>(frame.vlan)};
  const bool tagged = frame.vlan != 0 && frame.has_header();
  block.begin_packet(interface_id, at, frame.size_bytes + (tagged ? tag.size() : 0));
  const std::size_t start = block_.size();
  for (const wire::Bytes part : frame.parts()) block_.insert(block_.end(), part.begin(), part.end());
  // 802.1Q: between the addresses and the type. Which priority it has is not kept.
  if (tagged)
    block_.insert(block_.begin() + static_cast<std::ptrdiff_t>(start + 2 * sizeof(wire::MacAddress)), tag.begin(),
                  tag.end());
  block.pad();
  block.end_packet(outbound);
  sink_.write(block_);
  ++frame_count_;
}

}  // namespace fc2
