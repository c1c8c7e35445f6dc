// What a peer's IUs of a Connection Setup, and those that come instead of them, do here: every field of the answer,
// what the Disconnect of a set-up that failed tells, and what is left over (FC-VI 5.3, 5.9, 6.8 to 6.11, 8.2, 8.5, C.1
// to C.5, D.1). The peer is made by hand.
#include "tests/fcvi/answers_fixture.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/times.hpp"

namespace {
using fc2::Discard;
using support::Answers;
using support::bytes_of_iu;
using support::Done;
using support::initiative;
using support::last;
using support::ms;
using support::neither;
using support::s;
using support::ScriptedPeer;
using vi::Return;
using vi::State;
using wire::fcvi::ConnectMode;
using wire::fcvi::Opcode;
using wire::fcvi::Reason;
using wire::RCtl;
using Level = vi::ReliabilityLevel;

// --- the originator ----------------------------------------------------------------------------------------------

// FC-VI 5.8.4, 5.3.2: a RESP3 that does not say Last_Sequence ends the set-up all the same, and its Exchange.
TEST_F(Answers, resp3_withoutLastSequence_endsTheExchange) {
  for (const ScriptedPeer::Status status : {ScriptedPeer::Status{}, ScriptedPeer::Status{Reason::connect_reject}}) {
    SCOPED_TRACE(status.has_value());
    ask();
    respond(status);
    ASSERT_EQ(host.port.open_exchanges(), 1u);
    wire::fcvi::ConnectResp3 resp3;
    resp3.handle = status ? wire::FcviHandle::unassigned : peer.rqst->payload.handle;
    resp3.connection_id = peer.rqst->connection_id;
    send_on(*peer.theirs, bytes_of_iu(resp3), RCtl::solicited_control, initiative);
    EXPECT_EQ(host.port.open_exchanges(), 0u);
    EXPECT_EQ(host.provider.open_setups(), 0u);
    EXPECT_EQ(vi->state(), status ? State::Idle : State::Connected);
    peer.port.release(*peer.theirs);
  }
}

// FC-VI 6.9.3, 7.3, 8.2 b): who accepts, but with attributes that are none, accepts nothing that could be used; who
// rejects with such attributes rejects (VI-DG 3.3.4 VIP_REJECT).
TEST_F(Answers, resp1_invalidAttributes_areNone) {
  for (const bool as_peer : {false, true})
    for (const ScriptedPeer::Status status : {ScriptedPeer::Status{}, ScriptedPeer::Status{Reason::connect_reject}}) {
      SCOPED_TRACE(as_peer * 2 + status.has_value());
      call.result.reset(), peer.rqst.reset();
      as_peer ? post() : ask();
      respond_with(status, invalid_attributes());
      EXPECT_EQ(call.result, status ? Return::Reject : Return::NotReachable);
      EXPECT_EQ(vi->state(), status ? State::Idle : State::Error);
      EXPECT_EQ(peer.resp2->handle, wire::FcviHandle::unassigned);
      peer.send_resp3(), settle();
    }
}

// FC-VI Table 1, 5.9.10, 6.9, 6.11: what is no RESP1 of this set-up that passes the initiative is discarded, and says
// nothing: T3 covers it.
TEST_F(Answers, awaitResp1_noResp1_isDiscarded) {
  struct Row {
    const char* name;
    Opcode opcode;  // or none
    std::uint32_t id_change;
    fc2::SequenceEnd end;
    Discard reason;
  };
  const Row rows[] = {
      {"no FC-VI IU", Opcode{0xEE}, 0, initiative, Discard::BadPayload},
      {"RESP3 of another set-up", Opcode::connect_resp3, 1, initiative, Discard::BadPayload},
      {"RESP2", Opcode::connect_resp2, 0, initiative, Discard::UnexpectedIu},
      {"RESP1 that keeps the initiative", Opcode::connect_resp1, 0, neither, Discard::UnexpectedIu},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    ask();
    const wire::ConnectionId id{peer.rqst->connection_id.value + row.id_change};
    std::vector<std::uint8_t> iu(32, 0xEE);
    if (row.opcode == Opcode::connect_resp3)
      iu =
          bytes_of_iu(wire::fcvi::ConnectResp3{.handle = peer.rqst->payload.handle, .connection_id = id, .status = {}});
    if (row.opcode == Opcode::connect_resp2)
      iu =
          bytes_of_iu(wire::fcvi::ConnectResp2{.handle = peer.rqst->payload.handle, .connection_id = id, .status = {}});
    if (row.opcode == Opcode::connect_resp1) {
      wire::fcvi::ConnectResp1 resp1{.connection_id = id, .status = {}};
      resp1.payload.handle = {0x7000};
      resp1.payload.local_attributes = fcvi::to_wire(peer.attributes, 31, false);
      iu = bytes_of_iu(resp1, resp1.size());
    }
    const std::uint64_t before = discarded(row.reason), of_all = host.discarded(), received = counters().ius_received;
    send_on(*peer.theirs, iu, RCtl::solicited_control, row.end);
    EXPECT_EQ(discarded(row.reason), before + 1);
    EXPECT_EQ(host.discarded(), of_all + 1);
    EXPECT_EQ(counters().ius_received, received);
    expect_waits();
    await_retry();
    respond(Reason::connect_reject);
    EXPECT_EQ(call.result, Return::Reject);
    peer.send_resp3(), settle();
  }
}

// VI-DG 3.3.7, 6.7: VIP_INVALID_MTU is what the RESP1 that rejects shows; one before it, which had the set-up tried
// again, says nothing.
TEST_F(Answers, peers_rejectAfterTransportError_isReject) {
  post();
  peer.attributes.max_transfer_size_bytes /= 2;
  respond(Reason::connect_reject_transport_error);
  fabric.run_for(ms);
  ASSERT_TRUE(peer.rqst->retry);
  peer.attributes = vi->attributes();
  respond(Reason::connect_reject);
  EXPECT_EQ(call.result, Return::Reject);
  peer.send_resp3(), settle();
}

// VI-DG 3.3.4: the attributes of the other VI come with VIP_SUCCESS.
TEST_F(Answers, accepted_attributes_areThePeers) {
  for (const bool as_peer : {false, true}) {
    SCOPED_TRACE(as_peer);
    call.result.reset(), call.remote_attributes = {}, peer.rqst.reset();
    as_peer ? post() : ask();
    peer.attributes.enable_rdma_write = true, peer.attributes.enable_rdma_read = false;
    respond({});
    ASSERT_EQ(call.result, Return::Success);
    EXPECT_EQ(call.remote_attributes.max_transfer_size_bytes, vi->attributes().max_transfer_size_bytes);
    EXPECT_EQ(call.remote_attributes.reliability, Level::ReliableDelivery);
    EXPECT_TRUE(call.remote_attributes.enable_rdma_write);
    EXPECT_FALSE(call.remote_attributes.enable_rdma_read);
    peer.send_resp3(), settle();
  }
}

// FC-VI D.1 rules 1 a), 2 a), 5.9.7.3.2, Table 12: the Disconnect of a set-up whose retry failed tells why it did, if
// there is a code for it; why the first try failed is over.
TEST_F(Answers, retryFailed_disconnectTellsWhy) {
  struct Row {
    const char* name;
    std::function<void()> deed;
    ScriptedPeer::Status told;
  };
  const Row rows[] = {
      {"T3", [&] { fabric.run_for(t3 + ms); }, Reason::connection_setup_timeout},
      {"RESP1 22h", [&] { respond(Reason::connect_reject_transport_error); }, Reason::transport_error},
      {"RESP1 21h", [&] { respond(Reason::connect_reject_protocol_error); }, {}},
      {"ABTS", [&] { peer.port.abort(*std::exchange(peer.theirs, nullptr)), settle(); }, Reason::transport_error},
      {"DISCONNECT_RQST",
       [&] {
         EXPECT_TRUE(answer_to(abort_of(peer.rqst->payload.handle, true, true, peer.rqst->connection_id)).has_value());
       },
       {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    ask();
    await_retry();
    row.deed();
    EXPECT_EQ(call.result, Return::NotReachable);
    EXPECT_EQ(vi->state(), State::Error);
    EXPECT_EQ(told_by_disconnect(), row.told);
    EXPECT_EQ(vi->state(), State::Idle);
  }
}

// FC-VI 5.9.10, C.2: CSerr is for the ids of who originated the set-up: ours rests, and the peer may use
// the same number.
TEST_F(Answers, ourIdRests_thePeersOfThatNumberDoesNot) {
  ask();
  respond(Reason::connect_reject_protocol_error);
  ASSERT_EQ(call.result, Return::NotReachable);
  ASSERT_EQ(host.provider.resting_connection_ids(), 1u);
  listen();
  send(rqst_of(peer.rqst->connection_id.value, 0x7001));
  EXPECT_EQ(wait.result, Return::Success);
  EXPECT_EQ(discarded(fcvi::Discard::DeadSetup), 0u);
  EXPECT_EQ(told_by_disconnect(), ScriptedPeer::Status{});
}

// FC-VI 8.5.3 b), C.2 rule 1: as many set-ups of one peer as are remembered failed, and R_A_TOV is over for all: the
// next that fails is remembered again.
TEST_F(Answers, manyIdsRested_theNextRests) {
  std::uint32_t id = 0x100;
  for (int batch = 0; batch < 3; ++batch) {
    for (int i = 0; i < 700; ++i, ++id) send(rqst_of(id, id));
    fabric.run_for(2 * s);
  }
  fabric.run_for(t2 - s);
  EXPECT_EQ(host.provider.resting_connection_ids(), 2048u);
  fabric.run_for(20 * s);
  EXPECT_EQ(host.provider.resting_connection_ids(), 0u);
  send(rqst_of(id, id));
  fabric.run_for(t2 + ms);
  EXPECT_EQ(host.provider.resting_connection_ids(), 1u);
  const std::uint64_t before = discarded(fcvi::Discard::DeadSetup);
  send(rqst_of(id, id));
  EXPECT_EQ(discarded(fcvi::Discard::DeadSetup), before + 1);
}

// FC-VI C.5.10.1, VI-ARCH 5.4: T3 passes without RESP3: a connection was made, and is lost.
TEST_F(Answers, awaitResp3_t3_countsALostConnection) {
  ask();
  respond({});
  ASSERT_EQ(call.result, Return::Success);
  fabric.run_for(t3 + ms);
  EXPECT_EQ(vi->state(), State::Error);
  EXPECT_EQ(counters().connections_made, 1u);
  EXPECT_EQ(counters().connections_lost, 1u);
  EXPECT_EQ(counters().reorder_pool_full, 0u);
  EXPECT_EQ(told_by_disconnect(), Reason::transport_error);  // C.5.9.1
}

// FC-VI 8.2 d), 5.3.1: an error of ours, and VipDisconnect behind it, before RESP3: the set-up's Exchange still ends in
// order, by RESP3.
TEST_F(Answers, awaitResp3_errorAndDisconnect_exchangeEndsInOrder) {
  ask();
  respond({});
  ASSERT_EQ(vi->state(), State::Connected);
  host.overrun(*vi);
  settle();
  ASSERT_EQ(vi->state(), State::Error);
  Done done;
  host.provider.disconnect(*vi, done), settle();
  EXPECT_EQ(host.provider.open_setups(), 1u);
  peer.send_resp3(), settle();
  EXPECT_EQ(host.provider.open_setups(), 0u);
  EXPECT_EQ(log.count(RCtl::abts), 0u);
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(done.result, Return::Success);
}

// FC-VI 7.7.1, 8.5.3 c): VIP_TIMEOUT was told, and RESP1 is still to come: a logout ends that.
TEST_F(Answers, withdrawn_logout_leavesNothing) {
  post(ms);
  fabric.run_for(ms);
  ASSERT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(host.provider.open_setups(), 1u);
  EXPECT_EQ(host.port.open_exchanges(), 1u);
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(host.provider.open_setups(), 0u);
  EXPECT_EQ(host.port.open_exchanges(), 0u);
}

// ... and one in the very moment in which RESP3 came finds nothing to end.
TEST_F(Answers, closing_resp3AndLogoutAtOnce_leaveNothing) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  peer.send_resp3();
  const std::uint64_t before = counters().ius_received;
  ASSERT_TRUE(fabric.run_until([&] { return counters().ius_received != before; }));
  host.port.remote_port(peer.port.n_port_id()).implicit_logout();
  settle();
  EXPECT_EQ(host.provider.open_setups(), 0u);
  expect_waits();
}

// FC-VI 5.3.3, 5.9.4.6: a RESP1 to a request that was left, once more: it means nobody any more.
TEST_F(Answers, left_resp1Again_isCounted) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  expect_waits();
  respond({});
  EXPECT_EQ(discarded(Discard::UnexpectedIu), 1u);
  expect_waits();
}

// --- the responder -----------------------------------------------------------------------------------------------

// FC-VI Table 1, 5.2.1, 6.8: what begins an Exchange, and is no request in the R_CTL of one, with the initiative, is
// discarded, not answered, and its Exchange is over.
TEST_F(Answers, firstIu_noRequest_isDiscarded) {
  const auto rqst = bytes_of_iu(rqst_of(5), rqst_of(5).size());
  wire::fcvi::ConnectResp3 resp3;
  const struct {
    const char* name;
    std::vector<std::uint8_t> iu;
    RCtl r_ctl;
    fc2::SequenceEnd end;
    Discard reason;
  } rows[] = {
      {"RESP3", bytes_of_iu(resp3), RCtl::unsolicited_control, initiative, Discard::UnexpectedIu},
      {"RQST in the R_CTL of an answer", rqst, RCtl::solicited_control, initiative, Discard::UnexpectedIu},
      {"RQST that keeps the initiative", rqst, RCtl::unsolicited_control, neither, Discard::UnexpectedIu},
      {"RQST that ends the Exchange", rqst, RCtl::unsolicited_control, last, Discard::UnexpectedIu},
      {"no FC-VI IU", std::vector<std::uint8_t>(32, 0xEE), RCtl::unsolicited_control, initiative, Discard::BadPayload},
  };
  listen();
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::uint64_t before = discarded(row.reason), of_all = host.discarded();
    log.clear();
    fc2::Exchange* exchange = send(row.iu, row.r_ctl, row.end);
    EXPECT_EQ(discarded(row.reason), before + 1);
    EXPECT_EQ(host.discarded(), of_all + 1);
    EXPECT_EQ(host.port.open_exchanges(), 0u);
    EXPECT_EQ(log.count([](const support::LoggedFrame& f) { return f.outbound; }), 0u);
    if (!row.end.last_of_exchange) peer.port.release(*exchange);
  }
  EXPECT_FALSE(wait.result.has_value());
  EXPECT_EQ(counters().ius_received, 0u);
}

// FC-VI 6.8.3, 7.3, 5.9.7.2.2: a request whose attributes are none is answered 21h, and wakes nobody.
TEST_F(Answers, rqst_invalidAttributes_isAProtocolError) {
  listen();
  auto rqst = rqst_of(5);
  rqst.payload.local_attributes.qos.pref = 5;
  send(rqst);
  EXPECT_EQ(answered(), Reason::connect_reject_protocol_error);
  EXPECT_FALSE(wait.result.has_value());
}

// FC-VI C.4 rule 8: a refused request that is repeated with RETRY hears the same again.
TEST_F(Answers, refused_retry_hearsTheSame) {
  peer.mode = ConnectMode::client_server;
  request();
  ASSERT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
  listen();
  request(true);
  EXPECT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
  EXPECT_TRUE(peer.resp1->retry);
  EXPECT_FALSE(wait.result.has_value());
  peer.send_resp2({}, true), settle();
  EXPECT_EQ(host.provider.open_setups(), 0u);
}

// FC-VI C.4 rule 8: one that differs from the first in its local address is no retry of it.
TEST_F(Answers, offered_retryOfAnotherLocalAddress_isRefused) {
  offer();
  auto rqst = rqst_of(0x99);
  rqst.retry = true;
  rqst.payload.local_attributes = fcvi::to_wire(peer.attributes, 31, false);
  rqst.payload.local_address.discriminator[15] ^= 1;
  send(rqst);
  EXPECT_EQ(answered(), Reason::connect_reject_protocol_error);
}

// FC-VI 5.9.3, 5.9.10, 6.10, Table 1: a RESP2 of another set-up, in the R_CTL of a request, without the initiative, or
// that is none, is discarded; where it ends the Exchange the set-up is over with it (8.5.2 a), else T2 goes on and the
// right one still counts.
TEST_F(Answers, awaitResp2_noResp2_isDiscarded) {
  const struct {
    const char* name;
    std::uint32_t id_change;
    RCtl r_ctl;
    fc2::SequenceEnd end;
    bool parses;
  } rows[] = {
      {"of another set-up", 1, RCtl::solicited_control, initiative, true},
      {"in the R_CTL of a request", 0, RCtl::unsolicited_control, initiative, true},
      {"none", 0, RCtl::solicited_control, initiative, false},
      {"keeps the initiative", 0, RCtl::solicited_control, neither, true},
      {"ends the Exchange", 0, RCtl::solicited_control, last, true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    offer();
    accept.result.reset(), accept_offer();
    wire::fcvi::ConnectResp2 resp2;
    resp2.handle = peer.resp1->payload.handle;
    resp2.connection_id = {peer.resp1->connection_id.value + row.id_change};
    const std::uint64_t before = discarded(Discard::BadPayload), received = counters().ius_received,
                        lost = counters().connections_lost;
    send_on(*peer.ours, row.parses ? bytes_of_iu(resp2) : std::vector<std::uint8_t>(32, 0xEE), row.r_ctl, row.end);
    EXPECT_EQ(discarded(Discard::BadPayload), before + 1);
    EXPECT_EQ(counters().ius_received, received);
    EXPECT_EQ(vi->state(), row.end.last_of_exchange ? State::Error : State::ConnectPending);
    EXPECT_EQ(accept.result.has_value(), row.end.last_of_exchange);
    if (row.end.last_of_exchange) {
      EXPECT_EQ(accept.result, Return::Timeout);
      EXPECT_EQ(counters().connections_lost, lost + 1);
      EXPECT_EQ(told_by_disconnect(), Reason::transport_error);
      continue;
    }
    fabric.run_for(t2);
    EXPECT_EQ(accept.result, Return::Timeout) << "T2";
    EXPECT_EQ(vi->state(), State::Error);
    EXPECT_EQ(counters().connections_lost, lost + 1);
    EXPECT_EQ(counters().reorder_pool_full, 0u);
    EXPECT_EQ(told_by_disconnect(), Reason::transport_error);
  }
}

// FC-VI 8.5.4, C.4 rule 6: the ABTS of a retry whose connection stands is counted: T2 decides.
TEST_F(Answers, connectedRetry_abts_isCounted) {
  offer();
  accept_offer();
  peer.send_resp2(), settle();
  ASSERT_EQ(vi->state(), State::Connected);
  request(true);
  const std::uint64_t before = discarded(Discard::UnexpectedIu);
  peer.abort_rqst(), settle();
  EXPECT_EQ(discarded(Discard::UnexpectedIu), before + 1);
  EXPECT_EQ(vi->state(), State::Connected);
}

// FC-VI 5.9.4.6, C.5.9.2: the client aborts its request, then takes the set-up back: the end tells no failure.
TEST_F(Answers, acceptedAwaitRetry_setupAborted_tellsNoFailure) {
  offer();
  accept_offer();
  const auto id = peer.resp1->connection_id;
  peer.abort_rqst(), settle();
  EXPECT_EQ(vi->state(), State::ConnectPending);
  const auto answer = answer_to(abort_of(peer.resp1->payload.handle, true, true, id));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status->reason, Reason::disconnect_accept);
  EXPECT_EQ(vi->state(), State::Error);
  log.clear();
  Done done;
  host.provider.disconnect(*vi, done), settle();
  const auto* frame = sent(Opcode::disconnect_rqst);
  if (frame != nullptr) {
    EXPECT_FALSE(wire::fcvi::DisconnectRqst::parse(32, frame->data)->status.has_value());
  }
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(done.result, Return::Success);
}

// FC-VI 8.5.3 d), C.4 rule 6: the client's ABTS comes in the very moment in which T2 is over: the set-up ends once.
TEST_F(Answers, awaitResp2_abtsWhenT2IsOver_endsOnce) {
  offer();
  const std::uint64_t before = log.size();
  peer.port.send(*peer.ours, RCtl::solicited_control, std::vector<std::uint8_t>(32, 0xEE), {}, initiative);
  const runtime::TimeNs sent_at = fabric.scheduler.now();
  ASSERT_TRUE(fabric.run_until([&] { return log.size() != before; }));
  const runtime::TimeNs delay = fabric.scheduler.now() - sent_at;
  Done reject;
  host.provider.connect_reject(wait.token, reject), settle();
  peer.send_resp2(), settle();
  ASSERT_EQ(host.provider.open_setups(), 0u);
  offer();
  accept_offer();
  const support::LoggedFrame* resp1 = nullptr;
  for (const auto& frame : log.frames())
    if (frame.outbound && frame.header.type == wire::Type::fc_vi) resp1 = &frame;
  ASSERT_NE(resp1, nullptr);
  fabric.scheduler.run_until(resp1->at + t2 - delay);
  peer.abort_rqst();
  EXPECT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
  EXPECT_EQ(fabric.scheduler.now(), resp1->at + t2);
  settle();
  EXPECT_EQ(vi->state(), State::Error);
  EXPECT_EQ(host.provider.open_setups(), 0u);
}

// --- loopback ----------------------------------------------------------------------------------------------------

// FC-VI 8.5.4, C.4 rule 8, 7.7.2: a port's request to itself is retried like any other, without a login: the
// application decides after T3.
TEST_F(Answers, loopback_undecidedForT3_retryConnects) {
  vi = &host.make_vi(Level::ReliableDelivery);
  vi::Vi& other = host.make_vi(Level::ReliableDelivery);
  listen();
  host.provider.connect_request(*vi, host.net("x"), host.net(discriminator), runtime::never, call);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  fabric.run_for(t3 + ms);
  EXPECT_FALSE(call.result.has_value());
  host.provider.connect_accept(wait.token, other, accept);
  fabric.run_for(ms);
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(accept.result, Return::Success);
  EXPECT_EQ(host.provider.counters().ius_received, 5u) << "the retry, too";
}

// FC-VI 5.9.2, 7.7.2: a frame of our own for no handle is discarded; there is no login that it could lack.
TEST_F(Answers, strayFrame_ofOurOwn_isNotDenied) {
  for (const bool own : {true, false}) {
    SCOPED_TRACE(own);
    log.clear();
    const std::uint64_t before = discarded(fcvi::Discard::UnknownHandle);
    wire::fcvi::DeviceHeader header{.handle = {0x9999}, .opcode = Opcode::send_rqst, .msg_id = {1}};
    host.port.receive(support::made_frame(
        fabric.pool,
        {.r_ctl = RCtl::solicited_data,
         .d_id = host.port.n_port_id(),
         .s_id = own ? host.port.n_port_id() : wire::FcId{0x010777},
         .type = wire::Type::fc_vi,
         .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence,
         .df_ctl = wire::df_ctl::with_device_header(wire::fcvi::device_header_size(Opcode::send_rqst)),
         .ox_id = {0x5555},
         .rx_id = wire::RxId::unassigned},
        support::bytes_of(header)));
    settle();
    EXPECT_EQ(discarded(fcvi::Discard::UnknownHandle), before + 1);
    EXPECT_EQ(log.sent(wire::els::Command::logo), own ? 0u : 1u);
  }
}
}  // namespace
