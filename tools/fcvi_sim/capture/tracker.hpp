// Follows FC-VI through a capture: connections, Exchanges, messages, and what a receiver can see to be wrong. The
// rules are those of the Wireshark plugin (tools/wireshark/track*.lua, docs/wireshark.md); tests/wireshark holds both
// to one corpus.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_map.hpp>
#include <deque>
#include <set>

#include "tools/fcvi_sim/capture/iu_frame.hpp"
#include "wire/els/login.hpp"

namespace sim::capture {

/// "expected 3, got 5"
[[nodiscard]] std::string expected(std::uint64_t wanted, std::uint64_t got);

/// Frames in the order of the capture. Not for use by several threads. What it keeps grows with connections and with
/// Exchanges, whose ids repeat: about 1 KiB each, never given back. Of copies of frames it keeps the latest 32,768 to
/// 65,536.
class Tracker {
 public:
  using Ptr = std::shared_ptr<Record>;
  /// `time`: nanoseconds since the first frame. Any frame with a header, FC-VI or not. `again`: a frame that is not
  /// FC-VI's was read before, at another place on its way.
  Ptr read(const Frame& frame, std::uint64_t number, Time time, View view, bool again);
  /// The same of a frame that the capture says was lost or discarded on its way: its sender has tried something, and
  /// nothing else follows from it.
  Ptr read_lost(const Frame& frame, std::uint64_t number, Time time);
  [[nodiscard]] std::uint64_t message_count() const { return message_count_; }
  /// The capture misses frames here: what follows is judged as if it had begun now. Connections keep their numbers.
  void frames_missing();
  /// The frame of the latest login between the two ports; 0: none. Ids that were used before it are free again.
  [[nodiscard]] std::uint64_t login_of(const wire::FcHeader& header) const;
  [[nodiscard]] const std::deque<Connection>& connections() const { return connections_; }

 private:
  enum class Handled : std::uint8_t { no, yes };
  using ExchangePtr = std::shared_ptr<Exchange>;
  using MessagePtr = std::shared_ptr<Message>;

  // tracker.cpp: frames, logins
  Ptr read_iu(const Frame& frame, std::uint64_t number, Time time, View view);
  void try_lost(const IuFrame& iu, Record& record);
  static Ptr new_record(std::uint64_t number, Time time);
  void handle(const IuFrame& iu, Record& record, View view);
  void copy(Record& first, const IuFrame& iu, Record& record, View view);
  Ptr seen_before(const std::string& raw) const;
  Ptr copied(const std::string& raw, const IuFrame& iu, View view) const;
  void remember(std::string raw, const Ptr& record);
  Ptr link_service(const Frame& frame, std::uint64_t number, Time time);
  void reply_of_fabric(const Frame& frame);
  void extended_link_service(const Frame& frame, std::uint64_t number);
  void request_of_login(const wire::FcHeader& header, wire::els::Command command, std::uint64_t number);
  void lose_track(const wire::FcHeader& header);
  void unreadable(const wire::FcHeader& header);
  void forget_connections(std::uint32_t one, std::uint32_t other);
  [[nodiscard]] static std::uint64_t pair_of(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] bool is_whole(const wire::FcHeader& header) const;
  [[nodiscard]] static std::uint64_t key_of(const wire::FcHeader& header);
  ExchangePtr& exchange_of(const wire::FcHeader& header);
  ExchangePtr new_exchange(const IuFrame& iu, const Record& record);
  Endpoint* endpoint(std::uint32_t port, std::uint32_t handle);
  Endpoint* add_endpoint(std::uint32_t port, std::uint32_t handle, Connection* connection);
  Connection* new_connection();
  Endpoint* implied_endpoint(std::uint32_t port, std::uint32_t handle);
  void learn_peer(Endpoint* one, std::uint32_t port, std::uint32_t handle, Record& record);

  // track_flow.cpp: the numbers of a Sequence, in one view
  void follow(Flow& flow, const IuFrame& iu, Record& record, bool headless) const;
  void begin_flow(Flow& flow, const IuFrame& iu, Record& record, bool headless) const;
  static void continue_flow(Flow& flow, const IuFrame& iu, Record& record);
  void measure(Flow& flow, const IuFrame& iu, Record& record, std::uint64_t total, bool is_end) const;
  std::shared_ptr<Flow> begin_in_view(const Message& message, View view, bool begins, Record& record) const;
  void judge_order(Endpoint::Next& awaited, const Message& message, Record& record) const;
  void judge_late(const Endpoint::Next& awaited, Record& record) const;
  void request_in_view(Message& message, const IuFrame& iu, View view, Record& record) const;
  void response_in_view(Message& message, const IuFrame& iu, View view, Record& record) const;

  // track_message.cpp
  void message_request(const IuFrame& iu, Record& record, View view);
  void message_response(const IuFrame& iu, Record& record, View view);
  void continue_request(const MessagePtr& message, const IuFrame& iu, Record& record, View view);
  void continue_message(const MessagePtr& message, const IuFrame& iu, Record& record, View view);
  MessagePtr continued(IuFrame& iu);
  MessagePtr new_message(const IuFrame& iu, Endpoint* to, const Record& record);
  Endpoint* receiver_of(const IuFrame& iu, Record& record);
  void allowed(const Message& message, const IuFrame& iu, Record& record) const;
  void response_without_request(const IuFrame& iu, Record& record, const ExchangePtr& exchange);

  // track_setup.cpp
  void goes_on(Exchange& exchange, const IuFrame& iu, Record& record, bool begins);
  void connect_request(const IuFrame& iu, Record& record);
  void connect_resp1(const IuFrame& iu, Record& record);
  void connect_resp2(const IuFrame& iu, Record& record);
  void connect_resp3(const IuFrame& iu, Record& record);
  void later_of(const Setup* earlier, const Setup& setup, Record& record) const;
  void judge_answer(Setup& setup, const IuFrame& iu, Record& record);
  void connect(Setup& setup, const IuFrame& iu, Record& record);
  std::shared_ptr<Setup> later_answer(const IuFrame& iu, Record& record, std::uint64_t Setup::*before,
                                      std::string_view before_name, std::uint64_t Setup::*which);
  void disconnect_request(const IuFrame& iu, Record& record);
  void disconnect_response(const IuFrame& iu, Record& record);
  void end_of_disconnect(Disconnect& request, const IuFrame& iu, Record& record);
  void end_setups(std::uint32_t port, std::uint32_t id);

  /// By originator, responder, OX_ID.
  boost::unordered_flat_map<std::uint64_t, ExchangePtr> exchanges_;
  std::deque<Connection> connections_;
  std::deque<Endpoint> endpoints_;
  boost::unordered_map<std::uint32_t, boost::unordered_map<std::uint32_t, Endpoint*>> ports_;  // by N_Port_ID, handle
  std::set<std::uint64_t> logins_;  // pairs of ports whose PLOGI was captured, and all that followed
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> begun_;  // by pair of ports: the frame of the latest PLOGI
  std::map<std::uint64_t, std::shared_ptr<Setup>> setups_;  // the latest by N_Port_ID and handle of the originator
  boost::unordered_flat_map<std::string, Ptr> seen_, seen_before_;  // by their headers
  bool in_order_ = true;  // the fabric keeps the order of frames; the accept of FLOGI tells
  Time r_a_tov_ = 10'000'000'000;
  std::uint64_t message_count_ = 0;
};

}  // namespace sim::capture
