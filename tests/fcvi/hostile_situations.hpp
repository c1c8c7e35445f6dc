// A VI of ours in each state of a set-up, a connection and its end, and a peer whose further frames are forged.
#pragma once
#include <string>
#include <vector>

#include "fcvi/conversions.hpp"
#include "tests/fcvi/forged_frame.hpp"
#include "tests/fcvi/two_nodes.hpp"
#include "tests/support/frame_log.hpp"
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace support {

class Besieged : public TwoNodes {
 public:
  using Opcode = wire::fcvi::Opcode;
  using Level = vi::ReliabilityLevel;
  explicit Besieged(Level level = Level::UnreliableDelivery, fcvi::ProviderConfig config = {},
                    fc2::LinkConfig link = {.latency_ns = runtime::microsecond, .bytes_per_second = 0},
                    TestFabric::Adjust adjust = {}, fc2::SwitchConfig fabric_config = {})
      : TwoNodes(config, link, std::move(adjust), {}, std::move(fabric_config)), level_(level) {
    client_vi = &client->make_vi(level);
    server_vi = &server->make_vi(level);
    EXPECT_TRUE(fabric.log_in(0, 1));
  }
  ~Besieged() override { fabric.fabric.tap(victim().port, nullptr); }
  void TestBody() override {}  // made by the test, once for each frame

  // --- situations ------------------------------------------------------------------------------------------------
  void idle() { besiege(true); }
  void await_resp1() {
    server->provider.connect_wait(server->net(discriminator), runtime::never, wait);
    ask();
    besiege(true);
    exchange_ = rqst_.ox_id;
  }
  void await_resp3() {
    await_resp1();
    inject(right(Opcode::connect_resp1));
    EXPECT_EQ(client_vi->state(), vi::State::Connected);
    ++seq_cnt_;
  }
  void connected_originator() { connect_all(), besiege(true); }
  void disconnecting() {
    connected_originator();
    accept.result.reset();
    client->provider.disconnect(*client_vi, accept);  // outlives the host, which ends with the call outstanding
    fabric.run_for(20 * runtime::microsecond);
    exchange_ = log.frames().back().header.ox_id;
    log.clear();
  }
  void disconnected() {
    connect_all();
    EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
    besiege(true);
  }
  void in_error() {
    connect_all();
    EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
    besiege(true);
  }
  void offered() {
    server->provider.connect_wait(server->net(discriminator), runtime::never, wait);
    ask();
    EXPECT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    besiege(false);
    exchange_ = rqst_.ox_id;
    seq_cnt_ = 1;
  }
  void await_resp2() {
    offered();
    server->provider.connect_accept(wait.token, *server_vi, accept);
    fabric.run_for(20 * runtime::microsecond);
    log.clear();
  }
  void refused() {
    offered();
    server->provider.connect_reject(wait.token, accept);
    fabric.run_for(20 * runtime::microsecond);
    log.clear();
  }
  void connected_responder() { connect_all(), besiege(false); }

  // --- frames ----------------------------------------------------------------------------------------------------
  /// The IU as the peer would send it now.
  [[nodiscard]] ForgedFrame right(Opcode opcode) {
    const wire::fcvi::IuInfo& info = *wire::fcvi::find_iu(opcode);
    ForgedFrame frame;
    frame.header = {.r_ctl = info.r_ctl,
                    .d_id = victim().port.n_port_id(),
                    .s_id = peer().port.n_port_id(),
                    .type = wire::Type::fc_vi};
    frame.header.df_ctl = wire::df_ctl::with_device_header(wire::fcvi::device_header_size(opcode));
    frame.header.f_ctl = f_ctl_of(opcode);
    frame.header.seq_id = {seq_id_++};
    const bool opens =
        frame.header.has(wire::f_ctl::first_sequence) && !frame.header.has(wire::f_ctl::exchange_responder);
    frame.header.ox_id = opens ? wire::OxId{next_ox_id_++} : exchange_;
    frame.header.seq_cnt = {opens ? std::uint16_t{0} : seq_cnt_};
    fill(frame, opcode);
    return frame;
  }
  void inject(const ForgedFrame& forged) {
    put(forged);
    fabric.run_for(20 * runtime::microsecond);
  }
  void put(const ForgedFrame& forged) { victim().port.receive(forged.build(fabric.pool)); }
  [[nodiscard]] Host& victim() { return victim_is_client_ ? *client : *server; }
  [[nodiscard]] Host& peer() { return victim_is_client_ ? *server : *client; }
  [[nodiscard]] vi::Vi& besieged() { return victim_is_client_ ? *client_vi : *server_vi; }
  /// The CONNECT_RQST that the client sent.
  [[nodiscard]] const std::vector<std::uint8_t>& rqst_data() const { return rqst_data_; }
  FrameLog log;  // of the victim's port, since it is besieged

 protected:
  static constexpr std::string_view discriminator = "service of 16 by";
  [[nodiscard]] Level level() const { return level_; }
  [[nodiscard]] wire::FcviHandle victims_handle() const { return {victim_is_client_ ? 1u : 0x1001u}; }
  /// The CONNECT_RQST that this host sends now.
  LoggedFrame catch_rqst(Host& host) {
    fabric.fabric.tap(host.port, &log);
    const auto sent = [&] {
      return log.find([](const LoggedFrame& frame) { return frame.header.type == wire::Type::fc_vi; });
    };
    EXPECT_TRUE(fabric.run_until([&] { return sent() != nullptr; }));
    LoggedFrame rqst = *sent();
    fabric.fabric.tap(host.port, nullptr);
    return rqst;
  }
  void besiege(bool client_is_victim) {
    victim_is_client_ = client_is_victim;
    fabric.silence(client_is_victim ? 1 : 0);
    log.clear();
    fabric.fabric.tap(victim().port, &log);
  }

 private:
  void ask() {
    client->provider.connect_request(*client_vi, client->net("client, 16 bytes"), server->net(discriminator),
                                     runtime::never, request);
    const LoggedFrame rqst = catch_rqst(*client);
    rqst_ = rqst.header;
    rqst_data_ = rqst.data;
    id_ = wire::load_big<4>(rqst_data_.data() + 28);
  }
  void connect_all() { connect(level_); }
  static std::uint32_t f_ctl_of(Opcode opcode) {
    switch (opcode) {
      case Opcode::connect_rqst:
      case Opcode::disconnect_rqst: return 0x290008;
      case Opcode::connect_resp1: return 0x890008;
      case Opcode::connect_resp2: return 0x090008;
      case Opcode::connect_resp3:
      case Opcode::disconnect_resp:
      case Opcode::send_resp:
      case Opcode::write_resp:
      case Opcode::read_resp: return 0x980008;
      case Opcode::send_rqst:
      case Opcode::write_rqst: return 0x380008;
      case Opcode::read_rqst: return 0x290008;
    }
    return 0;
  }
  void fill(ForgedFrame& frame, Opcode opcode) {
    const bool rqst = opcode == Opcode::connect_rqst;
    wire::fcvi::DeviceHeader header{.handle = handle_for(opcode), .opcode = opcode};
    const wire::fcvi::Category category = wire::fcvi::find_iu(opcode)->category;
    const bool message =
        category == wire::fcvi::Category::message_request || category == wire::fcvi::Category::message_response;
    const bool disconnects = opcode == Opcode::disconnect_rqst || opcode == Opcode::disconnect_resp;
    header.tot_len_or_connection_id = rqst ? next_id_++ : message || disconnects ? 0 : id_;
    if (rqst) header.flags = 0x01;
    if (message) header.msg_id = {1};
    frame.data.resize(header.size());
    header.write(frame.data);
    if (!rqst && opcode != Opcode::connect_resp1) return;
    wire::fcvi::ConnectPayload payload;
    payload.handle = rqst ? wire::FcviHandle{next_handle_++} : peer_handle;
    payload.local_address = fcvi::to_wire(peer().net(discriminator));
    payload.remote_address = fcvi::to_wire(victim().net(discriminator));
    payload.local_attributes = fcvi::to_wire(besieged().attributes(), 31, false);
    frame.data.resize(32 + payload.size());
    payload.write(std::span(frame.data).subspan(32));
  }
  wire::FcviHandle handle_for(Opcode opcode) const {
    if (opcode == Opcode::connect_rqst || opcode == Opcode::connect_resp1) return wire::FcviHandle::unassigned;
    return victims_handle();
  }
  static constexpr wire::FcviHandle peer_handle{0x7000};

  const Level level_;
  bool victim_is_client_ = true;
  wire::FcHeader rqst_;
  std::vector<std::uint8_t> rqst_data_;
  wire::OxId exchange_{0x7777};
  std::uint16_t seq_cnt_ = 0, next_ox_id_ = 0x4000;
  std::uint8_t seq_id_ = 0x40;
  std::uint32_t id_ = 0x600D, next_id_ = 0x9000, next_handle_ = 0x8000;
};

}  // namespace support
