// Captures as pcapng (draft-ietf-opsawg-pcapng), one interface per tapped port, link type Ethernet with FCoE frames,
// nanosecond time stamps. Makes bytes only: a driver's sink puts them somewhere.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fc2_fabric/frame/frame_receiver.hpp"

namespace fc2 {

/// Takes bytes in order. If it cannot store them it remembers that and reports it.
class ByteSink {
 public:
  virtual void write(std::span<const std::uint8_t> bytes) = 0;
  /// A place for what write() is given next, which then need not copy it; empty: it has none. Valid until then.
  virtual std::span<std::uint8_t> room(std::size_t /*size_bytes*/) { return {}; }

 protected:
  ~ByteSink() = default;
};

/// A frame as somebody kept it: perhaps only its beginning.
struct KeptFrame {
  std::span<const std::uint8_t> bytes;
  std::size_t size_bytes = 0;  // of the whole
  wire::Sof sof{};
  wire::Eof eof{};
  bool crc_error = false;
};

/// Whoever takes frames by interface.
class CaptureInterfaces {
 public:
  /// The tap of the next one. Valid as long as this.
  virtual FrameTap& add_interface(std::string_view name) = 0;

 protected:
  ~CaptureInterfaces() = default;
};

class Capture final : public CaptureInterfaces {
 public:
  /// Writes the section header at once, with a comment if there is one.
  explicit Capture(ByteSink& sink, std::string_view comment = {});
  /// A tap for one port: writes its interface description. Valid as long as the capture.
  FrameTap& add_interface(std::string_view name) override;
  /// The same for an Ethernet port: frames as they are on the wire, FIP too.
  fcoe::EthernetTap& add_ethernet_interface(std::string_view name);
  /// Its number, for frames that are kept before they are written.
  std::uint32_t describe_interface(std::string_view name);
  /// `outbound`: the interface's port sent it, else received it. A comment is left out if it is empty.
  void write_frame(std::uint32_t interface_id, TimeNs at, const KeptFrame& frame, bool outbound,
                   std::string_view comment);
  /// The same of an Ethernet frame of `size_bytes`, of which `bytes` were kept.
  void write_ethernet_frame(std::uint32_t interface_id, TimeNs at, std::span<const std::uint8_t> bytes,
                            std::size_t size_bytes, bool outbound, std::string_view comment);
  /// So many frames of the next packet's interface are missing since the one before (epb_dropcount).
  void set_missing_before(std::uint64_t missing) { missing_ = missing; }
  /// So many frames of that interface are missing until now, in all.
  void write_statistics(std::uint32_t interface_id, TimeNs at, std::uint64_t missing);
  /// The capture ended then, at all interfaces (isb_endtime): until then there was no frame more.
  void write_end(TimeNs at);
  /// Texts of the faults by the number in Frame::fault, from 1: packet comments.
  void set_fault_notes(std::vector<std::string> notes) { fault_notes_ = std::move(notes); }
  /// Empty: there is none of that number.
  [[nodiscard]] std::string_view fault_note(std::uint16_t fault) const {
    return fault != 0 && fault <= fault_notes_.size() ? std::string_view(fault_notes_[fault - std::size_t{1}])
                                                      : std::string_view();
  }
  [[nodiscard]] std::uint64_t frame_count() const { return frame_count_; }

 private:
  class Interface final : public FrameTap {
   public:
    Interface(Capture& capture, std::uint32_t id) : capture_(capture), id_(id) {}
    void frame_passed(TimeNs at, const Frame& frame, bool outbound) override {
      capture_.add_frame(id_, at, frame, outbound);
    }

   private:
    Capture& capture_;
    std::uint32_t id_;
  };
  class EthernetInterface final : public fcoe::EthernetTap {
   public:
    EthernetInterface(Capture& capture, std::uint32_t id) : capture_(capture), id_(id) {}
    void ethernet_passed(TimeNs at, const fcoe::EthernetFrame& frame, bool outbound) override {
      capture_.add_ethernet_frame(id_, at, frame, outbound);
    }

   private:
    Capture& capture_;
    std::uint32_t id_;
  };
  void add_frame(std::uint32_t interface_id, TimeNs at, const Frame& frame, bool outbound);
  void add_ethernet_frame(std::uint32_t interface_id, TimeNs at, const fcoe::EthernetFrame& frame, bool outbound);
  class BlockWriter;
  struct Packet;
  [[nodiscard]] BlockWriter begin_packet(const Packet& packet);
  void finish_packet(BlockWriter& block, const Packet& packet);
  [[nodiscard]] std::span<std::uint8_t> room(std::size_t size_bytes);

  ByteSink& sink_;
  std::vector<std::string> fault_notes_;
  std::deque<Interface> interfaces_;
  std::deque<EthernetInterface> ethernet_interfaces_;
  std::uint32_t interface_count_ = 0;  // of both kinds
  std::vector<std::uint8_t> block_;    // where the sink has no room; grows to the largest block
  std::uint64_t frame_count_ = 0, missing_ = 0;
};

}  // namespace fc2
