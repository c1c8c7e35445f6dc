// A set-up of ours, or a peer's, whose every IU from the peer a test writes by hand; what we send is remembered.
#pragma once
#include <functional>

#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/peer_wire_fixture.hpp"
#include "tests/support/frame_log.hpp"

namespace support {
inline constexpr fc2::SequenceEnd initiative{.transfer_initiative = true}, last{.last_of_exchange = true}, neither{};

template <class Iu>
std::vector<std::uint8_t> bytes_of_iu(const Iu& iu, std::size_t size = 32) {
  std::vector<std::uint8_t> bytes(size);
  iu.write(bytes);
  return bytes;
}

class Answers : public PeerWire {
 public:
  explicit Answers(std::size_t our_index = 0) : PeerWire(our_index) { fabric.fabric.tap(host.port, &log); }
  ~Answers() override {
    host.provider.withdraw(wait);
    fabric.run_for(60 * runtime::second);  // what was called ends before its operation goes
    fabric.fabric.tap(host.port, nullptr);
  }
  /// VipConnectRequest, and its CONNECT_RQST at the peer.
  void ask(runtime::TimeNs timeout = runtime::never,
           vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery) {
    vi = &host.make_vi(level);
    peer.attributes = vi->attributes();
    peer.rqst.reset(), peer.resp2.reset(), call.result.reset();
    const auto remote = vi::NetAddress::make(peer.address, host.net(discriminator).discriminator_bytes());
    host.provider.connect_request(*vi, host.net("x"), remote, timeout, call), settle();
    ASSERT_TRUE(peer.rqst.has_value());
  }
  /// T3 is over, and the retry is here.
  void await_retry() {
    fabric.run_for(t3 + runtime::millisecond);
    ASSERT_TRUE(peer.rqst->retry);
  }
  void listen() {
    wait.result.reset();
    host.provider.connect_wait(host.net(discriminator), runtime::never, wait);
  }
  void offer() {
    vi = &host.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    peer.attributes = vi->attributes();
    peer.mode = wire::fcvi::ConnectMode::client_server;
    listen(), request();
    ASSERT_EQ(wait.result, vi::Return::Success);
  }
  void accept_offer() { host.provider.connect_accept(wait.token, *vi, accept), settle(); }
  [[nodiscard]] wire::fcvi::ConnectRqst rqst_of(std::uint32_t id, std::uint32_t handle = 0x7000) const {
    wire::fcvi::ConnectRqst rqst;
    rqst.connection_id = {id};
    rqst.mode = wire::fcvi::ConnectMode::client_server;
    rqst.payload.handle = {handle};
    const std::span name(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size());
    rqst.payload.local_address = wire::fcvi::NetAddress::of(peer.address, name);
    rqst.payload.remote_address = wire::fcvi::NetAddress::of(host.address, name);
    rqst.payload.local_attributes = fcvi::to_wire(
        {.reliability = vi::ReliabilityLevel::ReliableDelivery, .max_transfer_size_bytes = 0xFFFFFFFF}, 31, false);
    return rqst;
  }
  /// From the peer, as the first sequence of an exchange.
  fc2::Exchange* send(const std::vector<std::uint8_t>& iu, wire::RCtl r_ctl = wire::RCtl::unsolicited_control,
                      fc2::SequenceEnd end = initiative) {
    fc2::Exchange* exchange = peer.port.originate(host.port.n_port_id(), wire::Type::fc_vi, peer);
    send_on(*exchange, iu, r_ctl, end);
    return exchange;
  }
  void send_on(fc2::Exchange& exchange, const std::vector<std::uint8_t>& iu, wire::RCtl r_ctl, fc2::SequenceEnd end) {
    peer.port.send(exchange, r_ctl, std::span(iu).first(32), std::span(iu).subspan(32), end), settle();
  }
  void send(const wire::fcvi::ConnectRqst& rqst) { peer.ours = send(bytes_of_iu(rqst, rqst.size())); }
  /// The RESP1 to the last CONNECT_RQST, with attributes of its own.
  void respond_with(ScriptedPeer::Status status, const wire::fcvi::Attributes& attributes) {
    wire::fcvi::ConnectResp1 resp1;
    resp1.connection_id = peer.rqst->connection_id;
    resp1.retry = peer.rqst->retry;
    if (status) resp1.status = {.reason = *status};
    resp1.payload.handle = status ? wire::FcviHandle::unassigned : wire::FcviHandle{0x7000};
    resp1.payload.local_address = peer.rqst->payload.remote_address;
    resp1.payload.remote_address = peer.rqst->payload.local_address;
    resp1.payload.local_attributes = attributes;
    send_on(*peer.theirs, bytes_of_iu(resp1, resp1.size()), wire::RCtl::solicited_control, initiative);
  }
  [[nodiscard]] wire::fcvi::Attributes invalid_attributes() const {
    auto attributes = fcvi::to_wire(peer.attributes, 31, false);
    attributes.qos.pref = 5;
    return attributes;
  }
  [[nodiscard]] static wire::fcvi::DisconnectRqst abort_of(wire::FcviHandle handle, bool abort, bool application,
                                                           wire::ConnectionId id) {
    wire::fcvi::DisconnectRqst rqst;
    rqst.handle = handle;
    rqst.conn_setup_abort = abort;
    rqst.vi_app_discon = application;
    rqst.connection_id = id;
    return rqst;
  }
  /// What we answered to it last.
  [[nodiscard]] std::optional<wire::fcvi::DisconnectResp> answer_to(const wire::fcvi::DisconnectRqst& rqst) {
    log.clear();
    send(bytes_of_iu(rqst));
    const auto* answer = sent(wire::fcvi::Opcode::disconnect_resp);
    if (answer == nullptr) return {};
    return *wire::fcvi::DisconnectResp::parse(answer->header.device_header_size(), answer->data);
  }
  [[nodiscard]] const support::LoggedFrame* sent(wire::fcvi::Opcode opcode) const {
    return log.find([&](const support::LoggedFrame& f) {
      return f.outbound && f.header.type == wire::Type::fc_vi && f.data.size() >= 32 &&
             f.data[4] == static_cast<std::uint8_t>(opcode);
    });
  }
  /// VipDisconnect: CONN_STS and Reason Code of the DISCONNECT_RQST that goes to the peer.
  [[nodiscard]] ScriptedPeer::Status told_by_disconnect() {
    log.clear();
    Done done;
    host.provider.disconnect(*vi, done), settle();
    const auto* frame = sent(wire::fcvi::Opcode::disconnect_rqst);
    EXPECT_NE(frame, nullptr);
    if (frame != nullptr) {
      const auto rqst = wire::fcvi::DisconnectRqst::parse(frame->header.device_header_size(), frame->data);
      told = rqst->status ? std::optional(rqst->status->reason) : std::nullopt;
    }
    peer.port.remote_port(host.port.n_port_id()).log_out(), settle();  // it answers none: that ends it
    EXPECT_TRUE(fabric.log_in(1, 0));
    EXPECT_EQ(done.result, vi::Return::Success);
    return told;
  }
  [[nodiscard]] std::uint64_t discarded(fc2::Discard reason) const { return host.port.counters().discarded(reason); }
  [[nodiscard]] std::uint64_t discarded(fcvi::Discard reason) const {
    return host.provider.counters().discarded(reason);
  }
  [[nodiscard]] const fcvi::ProviderCounters& counters() const { return host.provider.counters(); }

  static constexpr runtime::TimeNs t3 = 10 * runtime::second, t2 = 20 * runtime::second;
  support::FrameLog log;
  Wait wait;
  Done accept;
  ScriptedPeer::Status told;
};

}  // namespace support
