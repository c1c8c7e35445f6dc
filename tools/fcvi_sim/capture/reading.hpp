// A capture, frame by frame, with all that is known about each: what it carries, to what it belongs, what is wrong
// with it.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "tools/fcvi_sim/capture/file.hpp"
#include "tools/fcvi_sim/capture/frame.hpp"
#include "tools/fcvi_sim/capture/tcp_reader.hpp"
#include "tools/fcvi_sim/capture/tracker.hpp"
#include "wire/partial_ius.hpp"

namespace sim::capture {

/// An Exchange of any protocol, as --follow numbers them.
struct ExchangeFacts {
  std::uint64_t index = 0;  // from 1
  std::uint32_t originator = 0, responder = 0;
  std::uint16_t ox_id = 0, rx_id = 0;
  std::string name;         // of its first message
  std::uint64_t first = 0;  // its first frame
  bool ended = false;
};

struct Seen {
  Packet packet;
  Frame frame;  // its views refer to the packet
  Time since_first = 0;
  Tracker::Ptr record;    // not set: no Fibre Channel header
  wire::FcHeader header;  // of the message: of a whole one as if it had come in this frame
  std::vector<std::uint8_t>
      whole;               // the data field of a message that came in several frames and is complete with this one
  std::uint64_t same = 0;  // the frame that this one repeats, as sent and as received; 0: none
  bool is_part = false;    // of a message that is not complete yet
  std::shared_ptr<ExchangeFacts> exchange;
  bool is_reply = false;         // to a request of that Exchange
  std::optional<TcpPacket> tcp;  // that it is, instead

  /// The message's data field, Device_Header included.
  [[nodiscard]] wire::Bytes data_field() const { return whole.empty() ? frame.data_field : wire::Bytes(whole); }
};

class Reading {
 public:
  /// "-": standard input. Returns what is wrong; empty: nothing.
  std::string open(const std::string& path) { return file_.open(path); }
  /// False: the end; error() says whether the file is broken there.
  bool next(Seen& seen);
  [[nodiscard]] std::string error() const { return file_.error(); }
  [[nodiscard]] const std::vector<Interface>& interfaces() const { return file_.interfaces(); }
  [[nodiscard]] const Tracker& tracker() const { return tracker_; }
  [[nodiscard]] Time first_at() const { return first_at_; }
  /// Since the first frame: until when it is known what there was. The latest frame, or later, if the file says so.
  [[nodiscard]] Time known_until() const { return std::max(latest_, file_.ended_at() - first_at_); }
  /// Exchanges so far: the number of the latest.
  [[nodiscard]] std::uint64_t exchange_count() const { return exchange_count_; }
  [[nodiscard]] std::uint64_t tcp_connection_count() const { return tcp_.connections(); }

 private:
  void read_message(Seen& seen);
  [[nodiscard]] std::uint64_t find_copy(const Seen& seen, wire::Bytes bytes);
  /// The latest frame by which its ports began anew: PLOGI, or the answer to a FLOGI of one of them; 0: none.
  [[nodiscard]] std::uint64_t login_of(const Seen& seen) const;
  [[nodiscard]] std::uint64_t grant_of(const wire::FcHeader& header) const;
  void note_grant(const Seen& seen);
  std::shared_ptr<ExchangeFacts> exchange_of(const Seen& seen);

  File file_;
  Tracker tracker_;
  wire::PartialIus ius_;
  TcpReader tcp_;
  Time first_at_ = 0, latest_ = 0;  // the latter since the former
  bool begun_ = false;
  std::uint64_t exchange_count_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::shared_ptr<ExchangeFacts>> exchanges_;
  /// Frames other than FC-VI's, which the tracker knows: where they were seen first, by their bytes.
  struct Place {
    std::uint64_t number = 0;
    std::vector<std::pair<std::size_t, Direction>> seen_at;
  };
  [[nodiscard]] bool is_new(const Place& place, const Seen& seen) const;
  boost::unordered_flat_map<std::string, Place> places_;
  boost::unordered_flat_map<std::uint32_t, std::uint64_t> granted_;  // by N_Port_ID: the frame of the latest LS_ACC
                                                                     // to FLOGI
};

}  // namespace sim::capture
