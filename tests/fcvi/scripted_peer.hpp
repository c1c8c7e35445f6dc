// A peer made by hand: a port whose FC-VI IUs are what a test says, right or wrong.
#pragma once
#include "fcvi/conversions.hpp"
#include "fcvi/fc4.hpp"
#include "tests/fcvi/two_nodes.hpp"
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_resp3.hpp"
#include "wire/fcvi/connect_rqst.hpp"
#include "wire/fcvi/disconnect_resp.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace support {

class ScriptedPeer final : public fc2::ExchangeUser {
 public:
  ScriptedPeer(TestFabric& fabric, std::size_t index) : ScriptedPeer(fabric, index, index) {}
  /// With the address of another port.
  ScriptedPeer(TestFabric& fabric, std::size_t index, std::size_t of)
      : port(fabric.port(index)), address(wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(of + 1))),
        resolver(port, {.own_addresses = {address}}) {
    port.set_user(fcvi::fc4, *this);
  }
  using Status = std::optional<wire::fcvi::Reason>;  // none: accepts

  /// Originates a CONNECT_RQST from our address to `to`.
  void send_rqst(wire::FcId to, const wire::IpAddress& remote, std::string_view discriminator, bool retry = false) {
    ours = port.originate(to, wire::Type::fc_vi, *this);
    wire::fcvi::ConnectRqst request;
    request.connection_id = {++next_id_};
    request.retry = retry;
    request.mode = mode;
    request.payload.handle = {0x7000};
    const std::span name(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size());
    request.payload.local_address = wire::fcvi::NetAddress::of(address, name);
    request.payload.remote_address = wire::fcvi::NetAddress::of(remote, name);
    request.payload.local_attributes = fcvi::to_wire(attributes, 31, false);
    send(*ours, wire::RCtl::unsolicited_control, request, request.size(), {.transfer_initiative = true});
  }
  void abort_rqst() { port.abort(*std::exchange(ours, nullptr)); }
  /// Answers the last CONNECT_RQST that came in.
  void send_resp1(Status status) {
    wire::fcvi::ConnectResp1 answer;
    answer.connection_id = rqst->connection_id;
    answer.retry = rqst->retry;
    if (status) answer.status = {.reason = *status};
    answer.payload.handle = status ? wire::FcviHandle::unassigned : wire::FcviHandle{0x7000};
    answer.payload.local_address = rqst->payload.remote_address;
    answer.payload.remote_address = rqst->payload.local_address;
    answer.payload.local_attributes = fcvi::to_wire(attributes, 31, false);
    send(*theirs, wire::RCtl::solicited_control, answer, answer.size(), {.transfer_initiative = true});
  }
  /// FC-VI 5.9.4.6: takes back the request that we sent last, or that of `id`. What is said to
  /// that is `disconnect_reason`.
  void abort_setup(wire::FcId at, std::optional<wire::ConnectionId> id = {}) {
    wire::fcvi::DisconnectRqst request;
    request.handle = {0x7000};
    request.conn_setup_abort = request.vi_app_discon = true;
    request.connection_id = id.value_or(wire::ConnectionId{next_id_});
    request.status = {.reason = wire::fcvi::Reason::connection_setup_timeout};
    send(*port.originate(at, wire::Type::fc_vi, *this), wire::RCtl::unsolicited_control, request, 32,
         {.transfer_initiative = true});
  }
  /// After the RESP1 to our request.
  void send_resp2(Status status = {}, bool retry = false) {
    wire::fcvi::ConnectResp2 answer;
    answer.handle = resp1->payload.handle;
    answer.connection_id = {next_id_};
    answer.retry = retry;
    if (status) answer.status = {.reason = *status};
    send(*ours, wire::RCtl::solicited_control, answer, 32, {.transfer_initiative = true});
  }
  void send_resp3() {
    wire::fcvi::ConnectResp3 answer;
    answer.handle = rqst->payload.handle;
    answer.connection_id = rqst->connection_id;
    send(*theirs, wire::RCtl::solicited_control, answer, 32, {.last_of_exchange = true});
    theirs = nullptr;
  }

  /// Of requests whose answers do not matter.
  struct Ignores final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } ignore;
  fc2::NPort& port;
  wire::IpAddress address;
  vi::ViAttributes attributes;  // of the VI that it plays
  wire::fcvi::ConnectMode mode = wire::fcvi::ConnectMode::peer_to_peer;
  farp::Resolver resolver;
  fc2::Exchange *ours = nullptr, *theirs = nullptr;
  int rqsts = 0;                                // that came in
  std::optional<wire::fcvi::ConnectRqst> rqst;  // the last of each
  std::optional<wire::fcvi::ConnectResp1> resp1;
  wire::FcviHandle resp1_device_header_handle{};
  std::optional<wire::fcvi::ConnectResp2> resp2;
  std::optional<wire::fcvi::ConnectResp3> resp3;
  Status disconnect_reason;

 private:
  template <class Iu>
  void send(fc2::Exchange& exchange, wire::RCtl r_ctl, const Iu& iu, std::size_t size, fc2::SequenceEnd end) {
    std::vector<std::uint8_t> bytes(size);
    iu.write(bytes);
    port.send(exchange, r_ctl, std::span(bytes).first(32), std::span(bytes).subspan(32), end);
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override {
    const auto header = wire::fcvi::DeviceHeader::parse(first.device_header_size(), iu);
    ASSERT_TRUE(header);
    if (header->opcode == wire::fcvi::Opcode::connect_rqst) {
      ++rqsts;
      theirs = &exchange;
      rqst = *wire::fcvi::ConnectRqst::from(*header, iu.subspan(32));
    } else if (header->opcode == wire::fcvi::Opcode::connect_resp1) {
      resp1 = *wire::fcvi::ConnectResp1::from(*header, iu.subspan(32));
      resp1_device_header_handle = header->handle;
    } else if (header->opcode == wire::fcvi::Opcode::connect_resp2) {
      resp2 = wire::fcvi::ConnectResp2::from(*header);
    } else if (header->opcode == wire::fcvi::Opcode::connect_resp3) {
      resp3 = wire::fcvi::ConnectResp3::from(*header);
    } else if (const auto response = wire::fcvi::DisconnectResp::parse(first.device_header_size(), iu)) {
      disconnect_reason = response->status->reason;
    }
  }
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure) override {
    if (&exchange == ours) ours = nullptr;
    if (&exchange == theirs) theirs = nullptr;
  }
  std::uint32_t next_id_ = 0x7700;
};

}  // namespace support
