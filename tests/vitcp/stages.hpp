// A connection of a peer by hand, brought to each of its states, and what may come next in each.
#pragma once
#include <vector>

#include "tests/vitcp/raw_peer.hpp"

namespace vitcp::testing {

inline const std::vector<std::uint8_t> stage_payload(10, 'p');

/// A connection brought to a state, and how far its numbers are.
struct Stage {
  Stage(TwoHosts& its_hosts, Kind its_kind) : hosts(its_hosts), peer(its_hosts), kind(its_kind) {}
  ~Stage() { peer.close(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void begin(const std::function<void(vt::Segment&)>& change_request = [](vt::Segment&) {}) {
    peer.change_request = change_request;
    end.emplace(peer.connect_to(kind.level, kind.crc));
    for (int i = 0; i != 4; ++i) end->receive(64);
    hosts.settle();
  }
  /// What the peer does not read fills the stream at once.
  void begin_behind_a_narrow_stream() {
    hosts.world.network.set_rules([](const auto&, const auto&) {
      streams::StreamRules rules;
      rules.to_connector.send_buffer_bytes = rules.to_connector.receive_buffer_bytes = 2000;
      return rules;
    });
    begin();
    while (!peer.nothing_came()) peer.take();
    peer.stop_reading();
  }
  /// The first 10 octets of 64.
  void message_begun(vt::SegmentType type) {
    vt::Segment segment = RawPeer::message(type, 1, stage_payload);
    segment.rdma = target = {address_of(hosts.server->allocate(64)), hosts.server->handle, 64};
    segment.header.end_of_message = false;
    peer.send(segment);
    last = 1;
    open = type;
  }
  void read_asked(std::uint32_t number, std::uint32_t octets) {
    vt::Segment segment = RawPeer::message(vt::SegmentType::rdma_read_request, number);
    segment.rdma = {address_of(hosts.server->allocate(octets)), hosts.server->handle, octets};
    peer.send(segment);
    last = number;
  }
  void read_posted() {
    end->rdma_read(nullptr, 64);
    hosts.settle();
    note_sent();
    reads = true;
  }
  /// Of the Send or the RDMA Read that the provider has sent.
  void note_sent() {
    while (!peer.nothing_came()) sent = peer.take().header.message_number;
  }
  /// The segment of this type that may come next; nothing: none may.
  [[nodiscard]] std::optional<vt::Segment> next(vt::SegmentType type) const;

  TwoHosts& hosts;
  RawPeer peer;
  Kind kind;
  std::optional<End> end;
  std::uint32_t last = 0;               // number of the peer's last message that was begun
  vt::MessageNumber sent{};             // of the provider's
  std::optional<vt::SegmentType> open;  // of the peer's message that is not over; its first 10 octets came
  vt::RdmaHeader target{};              // of an RDMA Write that is not over
  bool reads = false;                   // an RDMA Read of 64 octets waits for its response
  std::uint32_t read_octets = 0;        // that came of it
  bool damaged = false;                 // the last segment was: the next message is looked for
};

inline std::optional<vt::Segment> Stage::next(vt::SegmentType type) const {
  using vt::SegmentType;
  static const std::vector<std::uint8_t> all(64, 'p');
  const wire::Bytes octets(all);
  if (type == SegmentType::nop) return RawPeer::message(type, last);
  if (type == SegmentType::rdma_read_response) {
    if (!reads) return std::nullopt;
    vt::Segment segment = RawPeer::message(type, 0, octets.subspan(read_octets));
    segment.header.message_number = sent;
    segment.header.data_offset = read_octets;
    return segment;
  }
  if (vt::info_of(type).is_connection || (open && *open != type)) return std::nullopt;
  if (open) {
    vt::Segment segment = RawPeer::message(type, last, octets.subspan(stage_payload.size()));
    segment.rdma = target;
    segment.header.data_offset = static_cast<std::uint32_t>(stage_payload.size());
    return segment;
  }
  vt::Segment segment = RawPeer::message(type, last + 1, vt::info_of(type).has_payload ? octets : wire::Bytes{});
  segment.rdma = {address_of(hosts.server->allocate(64)), hosts.server->handle, 64};
  return segment;
}

struct StageOfConnection {
  std::string name;
  std::vector<vi::ReliabilityLevel> levels;
  std::function<void(Stage&)> reach;
  enum class Crc : std::uint8_t { any, always } crc = Crc::any;
  [[nodiscard]] bool is_of(const Kind& kind) const {
    return std::find(levels.begin(), levels.end(), kind.level) != levels.end() && (kind.crc || crc == Crc::any);
  }
};

inline const std::vector<vi::ReliabilityLevel> every_level{unreliable, delivery, reception},
    reliable_levels{delivery, reception};

/// Every state that an established connection can rest in, of its receiver, its sender and both sides of RDMA Read.
inline const std::vector<StageOfConnection> stages_of_connection{
    {"between_messages", every_level, [](Stage& stage) { stage.begin(); }},
    {"within_a_Send", every_level,
     [](Stage& stage) {
       stage.begin();
       stage.message_begun(vt::SegmentType::send);
     }},
    {"within_an_RDMA_Write", every_level,
     [](Stage& stage) {
       stage.begin();
       stage.message_begun(vt::SegmentType::rdma_write);
     }},
    {"within_a_Send_that_failed",
     {unreliable},
     [](Stage& stage) {
       stage.begin();
       stage.end->receive_segment(0).length_or_reserved = 4;
       stage.message_begun(vt::SegmentType::send);
     }},
    {"behind_a_damaged_segment",
     {unreliable},
     [](Stage& stage) {
       stage.begin();
       auto octets = stage.peer.octets_of(RawPeer::message(vt::SegmentType::nop, 0));
       octets[8] ^= 1;
       stage.peer.send(octets);
       stage.damaged = true;
     },
     StageOfConnection::Crc::always},
    {"while_a_Send_waits_for_its_ACK",
     {reception},
     [](Stage& stage) {
       stage.begin();
       stage.end->send("out");
       stage.hosts.settle();
       stage.note_sent();
     }},
    {"while_a_failed_Send_waits_for_ACKs_before_it",
     {reception},
     [](Stage& stage) {
       stage.begin([](vt::Segment& request) { request.ce.mtu_size_bytes = 1000; });
       stage.end->send("out");
       stage.end->send(std::string(1001, 'l'));
       stage.hosts.settle();
       stage.note_sent();
     }},
    {"while_a_Send_waits_for_a_descriptor", every_level,
     [](Stage& stage) {
       stage.begin([](vt::Segment& request) { request.header.rx_descriptors_posted = 0; });
       stage.end->send("out");
       stage.hosts.settle();
     }},
    {"while_a_Send_is_under_way", every_level,
     [](Stage& stage) {
       stage.begin_behind_a_narrow_stream();
       stage.end->send(std::string(200'000, 'l'));
       stage.hosts.settle();
     }},
    {"while_an_RDMA_Read_waits", reliable_levels,
     [](Stage& stage) {
       stage.begin();
       stage.read_posted();
     }},
    {"while_an_RDMA_Read_waits_for_the_window", reliable_levels,
     [](Stage& stage) {
       stage.begin([](vt::Segment& request) { request.ce.rdma_read_window = 1; });
       stage.read_posted();
       stage.end->rdma_read(nullptr, 64);
       stage.hosts.settle();
     }},
    {"within_a_Read_Response", reliable_levels,
     [](Stage& stage) {
       stage.begin();
       stage.read_posted();
       vt::Segment segment = RawPeer::message(vt::SegmentType::rdma_read_response, 0, stage_payload);
       segment.header.message_number = stage.sent;
       segment.header.end_of_message = false;
       stage.peer.send(segment);
       stage.read_octets = 10;
     }},
    {"while_RDMA_Reads_are_answered", reliable_levels,
     [](Stage& stage) {
       stage.begin_behind_a_narrow_stream();
       stage.read_asked(1, 100'000);
     }},
    {"while_a_message_waits_behind_RDMA_Reads",
     {reception},
     [](Stage& stage) {
       stage.begin_behind_a_narrow_stream();
       stage.read_asked(1, 1'000'000);
       stage.peer.send(RawPeer::message(vt::SegmentType::send, 2, stage_payload));
       stage.last = 2;
     }},
};

}  // namespace vitcp::testing
