#include "fc2_fabric/frame/capture.hpp"

#include <algorithm>
#include <array>
#include <boost/endian/conversion.hpp>
#include <cassert>
#include <utility>

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

// Its length is known beforehand, so that each byte is written once, where it stays.
class Capture::BlockWriter {
 public:
  static constexpr std::size_t least_bytes = 12, option_head_bytes = 4;
  [[nodiscard]] static constexpr std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }
  [[nodiscard]] static constexpr std::size_t option_bytes(std::size_t size) { return option_head_bytes + padded(size); }
  [[nodiscard]] static constexpr std::size_t comment_bytes(std::string_view text) {
    return text.empty() ? 0 : option_bytes(text.size());
  }

  BlockWriter(std::span<std::uint8_t> place, pcapng::Block type) : place_(place) {
    put(static_cast<std::uint32_t>(type));
    put(static_cast<std::uint32_t>(place.size()));
  }
  template <class Number>
  void put(Number value) {
    boost::endian::endian_store<Number, sizeof value, boost::endian::order::little>(place_.data() + done_, value);
    done_ += sizeof value;
  }
  /// Nanoseconds as of a packet: the high word first.
  void put_time(TimeNs at) {
    put(static_cast<std::uint32_t>(static_cast<std::uint64_t>(at) >> 32));
    put(static_cast<std::uint32_t>(at));
  }
  void put(std::span<const std::uint8_t> data) { std::ranges::copy(data, take(data.size()).begin()); }
  /// Bytes that the caller writes.
  [[nodiscard]] std::span<std::uint8_t> take(std::size_t size) {
    return place_.subspan(std::exchange(done_, done_ + size), size);
  }
  void pad() {
    while (done_ % 4 != 0) place_[done_++] = 0;
  }
  void option(std::uint16_t code, std::span<const std::uint8_t> value) {
    put(code);
    put(static_cast<std::uint16_t>(value.size()));
    put(value);
    pad();
  }
  void option(std::uint16_t code, std::string_view text) {
    option(code, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  template <class Number>
  void option_number(std::uint16_t code, Number value) {
    put(code);
    put(static_cast<std::uint16_t>(sizeof value));
    put(value);
    pad();
  }
  void option_comment(std::string_view text) {
    if (!text.empty()) option(option::comment, text);
  }
  void end_of_options() {
    put(option::end_of_options);
    put(std::uint16_t{0});
  }
  [[nodiscard]] std::span<const std::uint8_t> finish() {
    put(static_cast<std::uint32_t>(place_.size()));
    assert(done_ == place_.size());
    return place_;
  }

 private:
  std::span<std::uint8_t> place_;
  std::size_t done_ = 0;
};

/// An enhanced packet block, but for its bytes.
struct Capture::Packet {
  std::uint32_t interface_id = 0;
  TimeNs at = 0;
  std::size_t kept_bytes = 0, size_bytes = 0;  // of the packet: what is there, and what was
  bool outbound = false;
  std::string_view comment;
};

std::span<std::uint8_t> Capture::room(std::size_t size_bytes) {
  const std::span<std::uint8_t> lent = sink_.room(size_bytes);
  if (!lent.empty()) return lent.first(size_bytes);
  if (block_.size() < size_bytes) block_.resize(size_bytes);
  return std::span(block_).first(size_bytes);
}

Capture::Capture(ByteSink& sink, std::string_view comment) : sink_(sink) {
  constexpr std::size_t fixed_bytes = BlockWriter::least_bytes + 4 + 2 + 2 + 8,
                        end_bytes = BlockWriter::option_head_bytes;
  const std::size_t options = comment.empty() ? 0 : BlockWriter::comment_bytes(comment) + end_bytes;
  BlockWriter block(room(fixed_bytes + options), pcapng::Block::section_header);
  block.put(pcapng::byte_order_magic);
  block.put(std::uint16_t{1});
  block.put(std::uint16_t{0});
  block.put(~std::uint64_t{0});  // section length: not told
  if (!comment.empty()) {
    block.option_comment(comment);
    block.end_of_options();
  }
  sink_.write(block.finish());
}

std::uint32_t Capture::describe_interface(std::string_view name) {
  constexpr std::size_t fixed_bytes = BlockWriter::least_bytes + 2 + 2 + 4 + BlockWriter::option_bytes(1) + 4;
  BlockWriter block(room(fixed_bytes + BlockWriter::option_bytes(name.size())), pcapng::Block::interface_description);
  block.put(pcapng::linktype_ethernet);
  block.put(std::uint16_t{0});
  block.put(std::uint32_t{0});  // no snap length
  block.option(option::if_name, name);
  block.option_number(option::if_tsresol, pcapng::nanoseconds);
  block.end_of_options();
  sink_.write(block.finish());
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
  write_frame(interface_id, at, {frame.content(), frame.size_bytes, frame.sof, frame.eof, frame.crc_error}, outbound,
              fault_note(frame.fault));
}

void Capture::write_frame(std::uint32_t interface_id, TimeNs at, const KeptFrame& frame, bool outbound,
                          std::string_view comment) {
  const auto parsed = wire::FcHeader::parse(frame.bytes);
  const wire::FcHeader header = parsed ? *parsed : wire::FcHeader{};  // cut short by a fault: no addresses
  const wire::MacAddress destination = wire::mac_of(header.d_id), source = wire::mac_of(header.s_id);
  constexpr std::size_t before = wire::fcoe::overhead - wire::fcoe::trailer_size;
  const bool whole = frame.bytes.size() == frame.size_bytes;
  const std::size_t size = wire::fcoe::frame_size(frame.size_bytes), kept = whole ? size : before + frame.bytes.size();
  const Packet packet{interface_id, at, kept, size, outbound, comment};
  BlockWriter block = begin_packet(packet);
  const auto place = block.take(kept);
  if (whole) {
    wire::fcoe::encapsulate(destination, source, frame.sof, frame.bytes, frame.eof, place);
    if (frame.crc_error) place[size - wire::fcoe::trailer_size] ^= 0xFF;
  } else {
    wire::fcoe::write_header(destination, source, frame.sof, place);
    std::copy(frame.bytes.begin(), frame.bytes.end(), place.begin() + before);
  }
  finish_packet(block, packet);
}

void Capture::write_ethernet_frame(std::uint32_t interface_id, TimeNs at, std::span<const std::uint8_t> bytes,
                                   std::size_t size_bytes, bool outbound, std::string_view comment) {
  const Packet packet{interface_id, at, bytes.size(), size_bytes, outbound, comment};
  BlockWriter block = begin_packet(packet);
  block.put(bytes);
  finish_packet(block, packet);
}

void Capture::write_statistics(std::uint32_t interface_id, TimeNs at, std::uint64_t missing) {
  constexpr std::size_t size = BlockWriter::least_bytes + 4 + 8 + BlockWriter::option_bytes(8) + 4;
  BlockWriter block(room(size), pcapng::Block::interface_statistics);
  block.put(interface_id);
  block.put_time(at);
  block.option_number(option::isb_ifdrop, missing);
  block.end_of_options();
  sink_.write(block.finish());
}

void Capture::write_end(TimeNs at) {
  constexpr std::size_t size = BlockWriter::least_bytes + 4 + 8 + BlockWriter::option_bytes(8) + 4;
  for (std::uint32_t id = 0; id < interface_count_; ++id) {
    BlockWriter block(room(size), pcapng::Block::interface_statistics);
    block.put(id);
    block.put_time(at);
    block.put(option::isb_endtime);
    block.put(std::uint16_t{8});
    block.put_time(at);
    block.end_of_options();
    sink_.write(block.finish());
  }
}

Capture::BlockWriter Capture::begin_packet(const Packet& packet) {
  constexpr std::size_t fixed_bytes = BlockWriter::least_bytes + 4 + 8 + 4 + 4 + BlockWriter::option_bytes(4) + 4;
  const std::size_t options =
      BlockWriter::comment_bytes(packet.comment) + (missing_ != 0 ? BlockWriter::option_bytes(8) : 0);
  BlockWriter block(room(fixed_bytes + BlockWriter::padded(packet.kept_bytes) + options),
                    pcapng::Block::enhanced_packet);
  block.put(packet.interface_id);
  block.put_time(packet.at);
  block.put(static_cast<std::uint32_t>(packet.kept_bytes));
  block.put(static_cast<std::uint32_t>(packet.size_bytes));
  return block;
}

void Capture::finish_packet(BlockWriter& block, const Packet& packet) {
  block.pad();
  block.option_comment(packet.comment);
  block.option_number(option::epb_flags, packet.outbound ? pcapng::outbound : pcapng::inbound);
  if (missing_ != 0) block.option_number(option::epb_dropcount, missing_);
  block.end_of_options();
  sink_.write(block.finish());
  missing_ = 0;
  ++frame_count_;
}

void Capture::add_ethernet_frame(std::uint32_t interface_id, TimeNs at, const fcoe::EthernetFrame& frame,
                                 bool outbound) {
  const std::array<std::uint8_t, 4> tag{0x81, 0x00, static_cast<std::uint8_t>(frame.vlan >> 8),
                                        static_cast<std::uint8_t>(frame.vlan)};
  const bool tagged = frame.vlan != 0 && frame.has_header();
  const std::size_t size = frame.size_bytes + (tagged ? tag.size() : 0);
  const Packet packet{interface_id, at, size, size, outbound, {}};
  BlockWriter block = begin_packet(packet);
  // 802.1Q: between the addresses and the type. Which priority it has is not kept.
  std::size_t before_tag = tagged ? 2 * sizeof(wire::MacAddress) : 0;
  for (wire::Bytes part : frame.parts()) {
    if (before_tag != 0 && part.size() >= before_tag) {
      block.put(part.first(before_tag));
      block.put(tag);
      part = part.subspan(std::exchange(before_tag, 0));
    }
    block.put(part);
  }
  finish_packet(block, packet);
}

}  // namespace fc2
