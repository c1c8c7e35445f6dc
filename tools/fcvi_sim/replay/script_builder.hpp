// Builds a Script in one pass over a conversation.
#pragma once
#include <optional>
#include <tuple>

#include "tools/fcvi_sim/replay/listings.hpp"
#include "tools/fcvi_sim/replay/script.hpp"
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_rqst.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace sim::replay {

class ScriptBuilder {
 public:
  explicit ScriptBuilder(const Conversation& conversation) : frames_(conversation.frames) {}
  Script build();

 private:
  using PeerId = std::pair<std::uint32_t, std::uint32_t>;  // N_Port_ID; a handle, or a FCVI_CONNECTION_ID
  /// A request that the peer sent.
  struct Incoming {
    std::size_t at = 0;
    wire::fcvi::ConnectRqst request;
    bool waited = false;  // a Wait was put before it
  };
  /// A request of the port's user: one call, whatever tries it takes.
  struct Outgoing {
    std::size_t vi = 0;
    std::size_t begin = 0;  // where the call is
    std::size_t last = 0;   // the latest sign that it was still under way
    bool peer_to_peer = false, decided = false;
    std::size_t tries = 0;
    std::optional<capture::Time> deadline;
    vi::NetAddress local, remote;
  };
  /// A CONNECT_RQST of the port.
  struct Try {
    std::size_t call = 0, at = 0;
    wire::OxId ox_id{};
    std::optional<std::size_t> aborted_at, ended_at;
  };
  /// A question that a call may have begun with.
  struct Search {
    std::size_t at = 0;
    std::optional<wire::IpAddress> host;  // GID_IPP, FARP; else PLOGI:
    wire::FcId port{};
    bool used = false;
  };
  /// A message of the port, or its read data, under way.
  struct Message {
    std::size_t at = 0;
    wire::fcvi::DeviceHeader fields;
    std::size_t vi = 0;
    std::vector<std::uint8_t> bytes;
  };
  /// A message of the peer.
  struct Arrived {
    std::size_t at = 0;
    wire::fcvi::DeviceHeader fields;
    std::uint64_t written = 0;  // bytes of an RDMA Write that came, each behind the other
    std::size_t last = 0;       // with the last of them
  };
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  using MessageKey = std::pair<std::size_t, std::uint32_t>;  // VI, FCVI_MSG_ID

  // script_builder.cpp: set-ups and ends
  void read_sent(std::size_t at);
  void read_received(std::size_t at);
  void note_search(std::size_t at);
  std::size_t begin_of_call(std::size_t at, const wire::IpAddress& host, wire::FcId port);
  void request_sent(std::size_t at, const wire::fcvi::ConnectRqst& request);
  void answer_sent(std::size_t at, const wire::fcvi::ConnectResp1& answer);
  void accepted(std::size_t at, Incoming& incoming, const wire::fcvi::ConnectResp1& answer);
  void refused(std::size_t at, Incoming& incoming, wire::fcvi::Reason reason);
  void answer_received(std::size_t at, const wire::fcvi::ConnectResp1& answer);
  void resp2_sent(std::size_t at, const wire::fcvi::ConnectResp2& answer);
  void set_up(std::size_t at, std::uint32_t connection_id);
  void abort_sent(std::size_t at);
  void disconnect_sent(std::size_t at, const wire::fcvi::DisconnectRqst& request);
  void login_sent(std::size_t at);
  [[nodiscard]] bool is_with_logins(std::size_t flogi) const;
  void note_private_loop(std::size_t at);
  void public_loop_interrupted(std::size_t at);
  std::size_t wait_before(Incoming& incoming, const vi::NetAddress& local);
  std::size_t vi_of(const wire::fcvi::ConnectPayload& own);
  std::size_t add_outgoing(std::size_t vi, std::size_t begin, std::size_t at, bool peer_to_peer,
                           const vi::NetAddress& local, const vi::NetAddress& remote);
  void nobody_waited(std::size_t at);
  void somebody_waited(std::size_t at);
  void end_calls();
  void end_tries();
  void measure_patience();
  void end_try(std::size_t at, std::uint32_t connection_id);
  void end_call(Outgoing& call);
  void end_unanswered_request(Incoming& incoming);
  void lost_searches();
  void other_logins();

  // script_messages.cpp
  void message_sent(std::size_t at, const wire::fcvi::DeviceHeader& fields);
  void response_sent(std::size_t at, const wire::fcvi::DeviceHeader& fields);
  void message_received(std::size_t at, const wire::fcvi::DeviceHeader& fields);
  bool takes_too_much(std::size_t at, std::uint64_t bytes);
  void fail(std::size_t at, const std::string& why);
  [[nodiscard]] bool is_sound(std::size_t at, const wire::fcvi::ConnectPayload& payload);
  void unknown_connection(std::size_t at, const wire::fcvi::DeviceHeader& fields);
  void add_data(Message& message, std::size_t at) const;
  void refuse_message(std::size_t vi, std::uint32_t id, std::uint8_t causes);
  void finish_messages();
  void finish_sent(Message& message);
  void finish_received(std::size_t vi, const Arrived& message, std::uint8_t causes);
  void data_received(Arrived& message, std::size_t at) const;
  void finish_read(MessageKey key, Message& data);
  [[nodiscard]] std::vector<Range> written_before(std::size_t vi, const Arrived& read) const;
  void reach(std::size_t at, std::size_t vi, const wire::fcvi::DeviceHeader& fields);

  [[nodiscard]] capture::Time time_of(std::size_t at) const { return frames_[at].at; }
  void put(std::size_t at, Call call) { script_.calls.emplace(at, std::move(call)); }
  std::optional<std::size_t> vi_at(const wire::FcHeader& header, wire::FcviHandle peers) const;

  const std::vector<CapturedFrame>& frames_;
  Script script_;
  std::uint64_t memory_bytes_ = 0;                      // that the script needs
  std::map<std::uint32_t, std::size_t> by_own_handle_;  // VIs
  std::map<PeerId, std::size_t> by_peer_handle_;
  std::map<PeerId, std::size_t>
      vi_by_setup_;  // FCVI_CONNECTION_ID of the peer, or of the port: then with its own N_Port_ID
  std::map<PeerId, Incoming> incoming_;
  std::map<std::uint32_t, Try> tries_;  // by FCVI_CONNECTION_ID
  std::vector<Outgoing> outgoing_;
  std::map<std::size_t, std::size_t> call_of_;  // by VI
  std::vector<Search> searches_;
  std::set<std::uint32_t> other_users_;  // N_Port_IDs to which other FC-4s sent frames
  std::vector<bool> disconnected_;       // by VI
  std::size_t waits_ = 0;
  bool logged_in_ = false;
  // On a private loop:
  std::optional<wire::FcId> own_id_;
  std::map<std::pair<std::uint32_t, bool>, bool> asked_;  // by ADISC since the last LIP: N_Port_ID, by it; was answered
  std::size_t sent_since_lip_ = 0;                        // frames
  Listings listings_;
  capture::Time r_a_tov_ = 10'000'000'000;

  std::map<MessageKey, Message> sent_, read_data_;
  std::map<MessageKey, Arrived> received_;
  std::map<MessageKey, std::uint8_t> refused_;  // causes as message_response_flag
};

}  // namespace sim::replay
