// A capture file, packet by packet: pcap (seconds with micro- or nanoseconds) and pcapng (draft-ietf-opsawg-pcapng), of
// either byte order, from a file or from standard input.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tools/fcvi_sim/capture/byte_source.hpp"
#include "tools/fcvi_sim/capture/packet.hpp"

namespace sim::capture {

struct Interface {
  std::string name;  // empty: the file has none
  LinkType link_type{};
  std::uint64_t ticks_per_second = 1'000'000;
  std::int64_t offset_s = 0;
  bool of_simulator = false;  // its section does not say who captured, as of the simulator: times are those of the port
};

/// One of the two formats.
class Format {
 public:
  virtual ~Format() = default;
  /// The next packet; false: the file ends, or error() says why it cannot be read on. Sets all but the number.
  virtual bool next(Packet& packet) = 0;
  [[nodiscard]] const std::vector<Interface>& interfaces() const { return interfaces_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  /// What the file says until now of when the capture ended, in nanoseconds as of a packet; 0: it does not.
  [[nodiscard]] std::int64_t ended_at() const { return ended_at_; }

 protected:
  /// No packet of ours is longer: what claims to be is no packet.
  static constexpr std::size_t max_packet_bytes = std::size_t{1} << 20;
  /// Remembers why and returns false.
  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }
  /// False with an error where the file ends before.
  bool read_all(ByteSource& source, wire::MutableBytes to, std::string_view what);
  /// False with an error if the capture has no interface with Fibre Channel frames.
  bool any_fits();
  std::vector<Interface> interfaces_;
  std::int64_t ended_at_ = 0;

 private:
  std::string error_;
};

/// The file's first four bytes were read. nullptr: it is not of that format.
std::unique_ptr<Format> open_pcap(ByteSource& source, std::span<const std::uint8_t, 4> magic);
std::unique_ptr<Format> open_pcapng(ByteSource& source, std::span<const std::uint8_t, 4> magic);

class File {
 public:
  /// "-": standard input. Returns what is wrong, naming the path; empty: nothing.
  std::string open(const std::string& path);
  /// False: no further packet; error() says whether the file ended or is broken.
  bool next(Packet& packet);
  /// What is wrong with the file, naming path and frame; empty: nothing.
  [[nodiscard]] std::string error() const;
  /// Those that the packets so far refer to.
  [[nodiscard]] const std::vector<Interface>& interfaces() const { return format_->interfaces(); }
  /// See Format.
  [[nodiscard]] std::int64_t ended_at() const { return format_->ended_at(); }

 private:
  std::string path_;
  ByteSource source_;
  std::unique_ptr<Format> format_;
  std::uint64_t count_ = 0;
};

}  // namespace sim::capture
