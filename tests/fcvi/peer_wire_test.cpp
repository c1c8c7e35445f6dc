// Peer-to-peer set-ups on the wire, against a peer made by hand (FC-VI 5.3.3, 5.3.4, Table 2, Annex A, C.4).
#include "tests/fcvi/peer_wire_fixture.hpp"

namespace {
using support::PeerWire;
using support::PeerWireHigher;
using support::ScriptedPeer;
using vi::Return;
using wire::fcvi::Reason;

// FC-VI 5.9.4.4 Table 8, 6.8: Connection Mode 010b; addresses and handle as in 5.3.3.
TEST_F(PeerWire, requesting_connectRqst_isPeerToPeer) {
  post();
  EXPECT_EQ(peer.rqst->mode, wire::fcvi::ConnectMode::peer_to_peer);
  EXPECT_FALSE(peer.rqst->retry);
  EXPECT_EQ(peer.rqst->payload.remote_address.host, peer.address);
  EXPECT_EQ(peer.rqst->payload.local_address.host, host.address);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  peer.send_resp3();
}

// FC-VI 5.3.3, figure 9, exchange 1: 03h from a port that has no request at all, 01h from one that has others.
TEST_F(PeerWire, nobody_connectRqst_isNoMatch) {
  request();
  EXPECT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
  EXPECT_EQ(peer.resp1->payload.handle, wire::FcviHandle::unassigned);
  peer.send_resp2(), settle();
  ASSERT_TRUE(peer.resp3.has_value());
  EXPECT_EQ(peer.resp3->handle, wire::FcviHandle::unassigned);
  post();
  peer.send_rqst(host.port.n_port_id(), host.address, "others of 16 byt"), settle();
  EXPECT_EQ(answered(), Reason::no_discriminator_match);
}

// FC-VI 5.3.3, figure 9, exchange 2: the second peer's set-up: FFFFFFFFh in the Device_Header of RESP1, the waiting
// peer's handle in RESP2, the second peer's in RESP3; once with us as the one who waits, once as the second.
TEST_F(PeerWire, figure_9_exchange_2) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  EXPECT_EQ(peer.resp2->handle, wire::FcviHandle::unassigned);  // exchange 1
  request();
  EXPECT_EQ(peer.resp1_device_header_handle, wire::FcviHandle::unassigned);
  EXPECT_EQ(peer.resp1->payload.handle, peer.rqst->payload.handle);  // ours, as in exchange 1
  peer.send_resp2(), settle();
  EXPECT_EQ(peer.resp3->handle, wire::FcviHandle{0x7000});
  EXPECT_EQ(call.result, Return::Success);
  call.result.reset();
  post();
  respond({});
  EXPECT_EQ(peer.resp2->handle, wire::FcviHandle{0x7000});
  peer.send_resp3(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 5.3.4 c): Port_Names that are equal: 21h; ours goes on.
TEST_F(PeerWire, requesting_equalPortNames_isAProtocolError) {
  std::array<std::uint8_t, wire::els::Login::size()> plogi;
  wire::els::Login login = peer.port.login_parameters(wire::els::Command::plogi);
  login.port_name = host.port.config().port_name;
  login.write(plogi);
  peer.port.request(host.port.n_port_id(), wire::RCtl::els_request, wire::Type::els, plogi, peer.ignore,
                    runtime::second);
  settle();
  post();
  request();
  ASSERT_TRUE(peer.resp1.has_value());
  EXPECT_EQ(answered(), Reason::connect_reject_protocol_error);
  expect_waits();
  respond({});
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 5.3.3, VI-DG 6.7: a request from a host that we did not ask for does not match.
TEST_F(PeerWire, waiting_otherHost_doesNotMatch) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  const auto address = std::exchange(peer.address, wire::IpAddress::v4(10, 9, 9, 9));
  request();
  EXPECT_EQ(answered(), Reason::no_discriminator_match);
  peer.address = address;
  request();
  EXPECT_EQ(answered(), std::nullopt);
}

struct Row {
  ScriptedPeer::Status theirs, ours;
  std::optional<Return> result;  // of our call, once our reply is out; none: it waits
};
class Table2 : public PeerWire, public ::testing::WithParamInterface<Row> {};

// FC-VI 5.3.4 b): nothing is answered before the peer's RESP1. Table 2, Table A.1, all rows; A.2, A.3, A.4,
// A.5, A.6, A.7.
TEST_P(Table2, holding_resp1_isAnsweredByTheTable) {
  post();
  request();
  EXPECT_FALSE(peer.resp1.has_value());
  expect_waits();
  respond(GetParam().theirs);
  ASSERT_TRUE(peer.resp1.has_value());
  EXPECT_EQ(answered(), GetParam().ours);
  EXPECT_EQ(call.result, GetParam().result);
  if (GetParam().ours) return;
  peer.send_resp2(), settle();  // accepted: their set-up makes the connection
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(peer.resp3->handle, wire::FcviHandle{0x7000});
  EXPECT_FALSE(peer.resp3->status.has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Table2,
    ::testing::Values(
        Row{{}, Reason::connect_reject_concurrent_matching_peer_requests, Return::Success},
        Row{Reason::no_discriminator_match, {}, {}}, Row{Reason::no_waiting_remote_connectionpoint, {}, {}},
        Row{Reason::connect_reject_concurrent_matching_peer_requests, Reason::connect_reject_protocol_error, {}},
        Row{Reason::connect_reject_transport_error, Reason::connect_reject, {}},  // ours is retried: 8.2 b)
        Row{Reason::connect_reject_protocol_error, Reason::connect_reject, Return::NotReachable},
        Row{Reason::connect_reject, Reason::connect_reject, Return::Reject},
        Row{Reason::connect_reject_invalid_service_parm, Reason::connect_reject, Return::NotReachable}),
    [](const auto& row) { return "row_" + std::to_string(row.index + 1); });

// FC-VI 8.2 b), 8.5.4: row 5 with what follows: our retry, with RETRY set, connects.
TEST_F(PeerWire, holding_transportError_isRetried) {
  post();
  request();
  respond(Reason::connect_reject_transport_error);
  ASSERT_EQ(peer.rqsts, 2);
  EXPECT_TRUE(peer.rqst->retry);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI C.3 rule 3: the RESP1 to our request never comes; the peer's request is held through our retry.
TEST_F(PeerWire, holding_resp1Lost_retryConnects) {
  post();
  request();
  fabric.run_for(10500 * runtime::millisecond);
  ASSERT_EQ(peer.rqsts, 2);
  EXPECT_TRUE(peer.rqst->retry);
  EXPECT_FALSE(peer.resp1.has_value());
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(answered(), Reason::connect_reject_concurrent_matching_peer_requests);
}

// FC-VI C.4 rule 11: the peer aborts its request while we hold it, and retries: held anew.
TEST_F(PeerWire, holding_heldIsRetried_isAnsweredWithRetry) {
  post();
  request();
  peer.abort_rqst(), settle();
  request(true);
  EXPECT_FALSE(peer.resp1.has_value());
  respond(Reason::no_waiting_remote_connectionpoint);
  EXPECT_EQ(answered(), std::nullopt);
  EXPECT_TRUE(peer.resp1->retry);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI C.5.2: RESP2 says "Connect Timeout": ours waits on, asks again, and connects with the next request.
TEST_F(PeerWire, accepting_peerTimedOut_waitsOn) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(Reason::connect_timeout), settle();
  expect_waits();
  EXPECT_EQ(peer.rqsts, 2);
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI C.4 rule 6 b): no RESP2 in twice FCVI_ULP_TIMEOUT: Error, VIP_NOT_REACHABLE.
TEST_F(PeerWire, accepting_resp2Lost_isNotReachable) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  fabric.run_for(19 * runtime::second);
  expect_waits();
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
}

// VI-DG 3.3.6: the Timeout while RESP2 is awaited; a RESP2 that comes yet is refused in RESP3.
TEST_F(PeerWire, accepting_timeExpires_refusesInResp3) {
  post(runtime::second);
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  EXPECT_EQ(answered(), std::nullopt);
  fabric.run_for(runtime::second);
  EXPECT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(vi->state(), vi::State::Idle);
  peer.send_resp2(), settle();
  ASSERT_TRUE(peer.resp3.has_value());
  EXPECT_EQ(peer.resp3->status->reason, Reason::connect_reject);
}

// VI-DG 3.3.6, 6.7: the Timeout while a request is held: the peer hears that nobody matches, and may wait on.
TEST_F(PeerWire, holding_timeExpires_isNoMatch) {
  post(runtime::second);
  request();
  fabric.run_for(runtime::second);
  EXPECT_EQ(call.result, Return::Timeout);
  EXPECT_EQ(answered(), Reason::no_discriminator_match);
  respond({});  // too late
  ASSERT_TRUE(peer.resp2.has_value());
  EXPECT_EQ(peer.resp2->status->reason, Reason::connect_timeout);
}

// VI-DG 6.7: a Connect Reject whose attributes differ from ours tells why; without a difference it is a rejection.
TEST_F(PeerWire, requesting_rejectedWithAttributes) {
  post();
  peer.attributes.reliability = vi::ReliabilityLevel::ReliableReception;
  respond(Reason::connect_reject);
  EXPECT_EQ(call.result, Return::InvalidReliabilityLevel);
  EXPECT_EQ(vi->state(), vi::State::Idle);
}

// VI-DG 6.7: ours tells the same on the wire.
TEST_F(PeerWire, waiting_attributesConflict_rejectShowsAttributes) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  peer.attributes.reliability = vi::ReliabilityLevel::ReliableReception;
  request();
  EXPECT_EQ(answered(), Reason::connect_reject);
  EXPECT_EQ(peer.resp1->payload.local_attributes.reliability_level, wire::fcvi::ReliabilityLevel::reliable_delivery);
  EXPECT_EQ(call.result, Return::InvalidReliabilityLevel);
}

// FC-VI 7.7.1, 7.7.2: the peer logs out while it is asked: a new login, and the request once more; not
// again after that.
TEST_F(PeerWire, requesting_peerLogsOut_asksOnceMore) {
  post();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(peer.rqsts, 2);
  EXPECT_FALSE(peer.rqst->retry);
  expect_waits();
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
}

// impl: nobody waits there; asked again every FCVI_ULP_TIMEOUT, at once if the answer came from the resolver's memory.
TEST_F(PeerWire, waiting_asksAgain) {
  post();
  respond(Reason::no_waiting_remote_connectionpoint);
  EXPECT_EQ(peer.rqsts, 1);
  fabric.run_for(9 * runtime::second);
  EXPECT_EQ(peer.rqsts, 1);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(peer.rqsts, 2);
  respond({});
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 5.3.4 a): the higher Port_Name accepts at once. Our own request ends quietly, whatever it is answered.
TEST_F(PeerWireHigher, requesting_matchingRqst_isAccepted) {
  for (const ScriptedPeer::Status theirs :
       {ScriptedPeer::Status{Reason::connect_reject_concurrent_matching_peer_requests}, ScriptedPeer::Status{},
        ScriptedPeer::Status{Reason::no_discriminator_match}}) {
    call.result.reset();
    post();
    request();
    EXPECT_EQ(answered(), std::nullopt);
    peer.send_resp2(), settle();
    EXPECT_EQ(call.result, Return::Success);
    respond(theirs);
    ASSERT_TRUE(peer.resp2.has_value());
    EXPECT_EQ(peer.resp2->status.has_value(), !theirs.has_value());  // C.5.2: an accept comes too late
    peer.send_resp3(), settle();
    EXPECT_EQ(vi->state(), vi::State::Connected);
  }
}

// FC-VI A.5, 8.2 b), 5.3.4 b) 3): the peer takes our "Accept" for a rejection and denies our own request with 21h:
// neither side completes. The endpoint is in Error; both Exchanges end in order, and nobody waits any more.
TEST_F(PeerWireHigher, accepting_peerDeniesIt_isAnError) {
  post();
  request();
  EXPECT_EQ(answered(), std::nullopt);
  respond(Reason::connect_reject_protocol_error);
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
  EXPECT_EQ(peer.resp2->handle, wire::FcviHandle::unassigned);
  peer.send_resp3();
  peer.resp1->payload.handle = wire::FcviHandle::unassigned;  // it acknowledges a refusal
  peer.send_resp2(), settle();
  EXPECT_FALSE(peer.resp3->status.has_value());
  EXPECT_EQ(peer.resp3->handle, wire::FcviHandle::unassigned);
  request();
  EXPECT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
}

// FC-VI 5.3.4, A.5: 21h to a request of ours that an earlier one of the peer's superseded denies nothing of what
// is accepted now.
TEST_F(PeerWireHigher, accepting_peerDeniesAnEarlierRequest_connects) {
  post();
  const auto first_rqst = peer.rqst;
  fc2::Exchange* const first_exchange = peer.theirs;
  request();
  ASSERT_FALSE(answered().has_value());
  peer.send_resp2(Reason::connect_timeout), settle();  // it gave up: ours asks again
  ASSERT_EQ(peer.rqsts, 2);
  request();
  ASSERT_FALSE(answered().has_value());
  peer.rqst = first_rqst, peer.theirs = first_exchange;
  respond(Reason::connect_reject_protocol_error);
  expect_waits();
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 5.3.4, A.5: what comes of 21h once the peer's request made the connection: nothing. It would be seen by
// the other end.
TEST_F(PeerWireHigher, connected_peerDeniesOurRequest_connectionStays) {
  post();
  request();
  peer.send_resp2(), settle();
  respond(Reason::connect_reject_protocol_error);
  peer.send_resp3(), settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(vi->state(), vi::State::Connected);
}

// FC-VI C.4: our own request is lost; the peer's makes the connection, which T3 does not touch.
TEST_F(PeerWireHigher, connected_ownRequestUnanswered_connectionStays) {
  post();
  request();
  peer.send_resp2(), settle();
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(vi->state(), vi::State::Connected);
  EXPECT_EQ(host.count(vi::ErrorCode::ConnLost), 0);
  EXPECT_EQ(host.provider.open_setups(), 1u);  // that of the connection
}

// FC-VI C.4 rules 9, 10, 12: the peer retries what is Connected here: the same RESP1 and RESP3 again, with RETRY, on
// the Exchange and with the FCVI_CONNECTION_ID of the retry; the endpoint does not notice.
TEST_F(PeerWireHigher, connected_peerRetries_isAnsweredAgain) {
  post();
  request();
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  const wire::fcvi::ConnectResp1 first = *peer.resp1;
  peer.resp1.reset(), peer.resp3.reset();
  request(true);
  ASSERT_TRUE(peer.resp1.has_value());
  EXPECT_TRUE(peer.resp1->retry);
  EXPECT_FALSE(peer.resp1->status.has_value());
  EXPECT_EQ(peer.resp1->connection_id.value, first.connection_id.value + 1);
  EXPECT_EQ(peer.resp1->payload, first.payload);
  peer.send_resp2({}, true), settle();
  ASSERT_TRUE(peer.resp3.has_value());
  EXPECT_TRUE(peer.resp3->retry);
  EXPECT_EQ(peer.resp3->connection_id, peer.resp1->connection_id);
  EXPECT_EQ(peer.resp3->handle, wire::FcviHandle{0x7000});
  EXPECT_FALSE(peer.resp3->status.has_value());
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(vi->state(), vi::State::Connected);
  EXPECT_EQ(host.count(vi::ErrorCode::ConnLost), 0);
}

// FC-VI C.4 rules 8, 9: the RESP1 that accepts was lost: the retried request is answered by the same endpoint.
TEST_F(PeerWireHigher, accepting_peerRetries_connects) {
  post();
  request();
  peer.abort_rqst(), settle();
  request(true);
  EXPECT_EQ(answered(), std::nullopt);
  EXPECT_TRUE(peer.resp1->retry);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
}

}  // namespace
