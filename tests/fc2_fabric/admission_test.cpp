// Which frames an N_Port takes: by their addresses in each state of its link, by their delimiters, and while
// too much waits.
#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/port_by_hand.hpp"

namespace fc2 {
namespace {
using support::PortByHand;
using wire::RCtl;
using wire::Type;
constexpr wire::FcId own = PortByHand::own, peer = PortByHand::peer, other = PortByHand::other;
constexpr wire::FcId f_port = wire::well_known::f_port, all = wire::well_known::broadcast;
constexpr wire::FcId nobody = wire::well_known::unidentified;
constexpr auto fc_vi = Type::fc_vi;

enum class State { Down, AskingFabric, Online, OtherKnown, PointToPoint, Waiting, Interrupted, FixedDown, FixedOnline };

void bring(PortByHand& p, State state) {
  switch (state) {
    case State::Down:
    case State::FixedDown: return;
    case State::AskingFabric: return p.link_up();
    case State::Online: return p.on_fabric();
    case State::OtherKnown: return p.link_up(), p.flogi_comes();
    case State::PointToPoint: return p.meet_n_port(-1);
    case State::Waiting: return p.meet_n_port(+1);
    case State::Interrupted: return p.on_fabric(), p.port.link_interrupted();
    case State::FixedOnline: return p.link_up();
  }
}

struct Arrival {
  State state;
  Type type;
  wire::FcId s_id, d_id;
  bool taken;
};
constexpr wire::FcId own_point_to_point{0x010102};

constexpr Arrival arrivals[] = {
    {State::Down, Type::ct, peer, nobody, false},  // it has no address yet
    {State::Down, Type::ct, peer, all, false},
    {State::AskingFabric, Type::ct, peer, nobody, false},
    {State::AskingFabric, Type::ct, peer, all, false},
    {State::AskingFabric, Type::els, f_port, own, true},  // the accept of FLOGI brings the address
    {State::AskingFabric, Type::bls, f_port, own, true},  // the answer to its ABTS
    {State::AskingFabric, Type::ct, f_port, own, false},
    {State::AskingFabric, Type::els, peer, own, false},
    {State::AskingFabric, Type::els, nobody, f_port, true},  // another N_Port's FLOGI
    {State::AskingFabric, Type::els, peer, f_port, false},
    {State::AskingFabric, Type::els, nobody, own, false},
    {State::OtherKnown, Type::els, peer, own, true},  // its PLOGI assigns the address
    {State::OtherKnown, Type::els, peer, all, false},
    {State::OtherKnown, Type::ct, peer, own, false},
    {State::Waiting, Type::els, peer, own, true},
    {State::Waiting, Type::els, peer, all, false},
    {State::Online, Type::els, peer, own, true},
    {State::Online, Type::ct, peer, own, true},
    {State::Online, Type::ct, peer, all, true},
    {State::Online, Type::els, peer, all, true},
    {State::Online, Type::els, peer, other, false},
    {State::Online, Type::ct, peer, other, false},
    {State::Online, Type::els, f_port, other, false},
    {State::Online, Type::els, nobody, f_port, false},  // there is a fabric, which gets the FLOGIs
    {State::Online, Type::els, nobody, other, false},
    {State::PointToPoint, Type::els, nobody, f_port, true},
    {State::PointToPoint, Type::els, peer, f_port, false},
    {State::PointToPoint, Type::els, nobody, other, false},
    {State::PointToPoint, Type::els, peer, other, false},
    {State::PointToPoint, Type::ct, peer, own_point_to_point, true},
    {State::Interrupted, Type::ct, peer, own, true},  // was under way when the link went
    {State::Interrupted, Type::ct, peer, other, false},
    {State::Interrupted, Type::ct, peer, all, false},
    {State::FixedDown, Type::els, f_port, own, false},
    {State::FixedOnline, Type::els, peer, own, true},
    {State::FixedOnline, Type::els, nobody, f_port, false},
};

// FC-FS: D_ID says whose frame it is; FC-LS says which frames find a port that has no N_Port_ID yet. Any
// other is counted.
TEST(Admission, eachState_frame_isTakenByItsAddresses) {
  for (const Arrival& arrival : arrivals) {
    const bool fixed = arrival.state == State::FixedDown || arrival.state == State::FixedOnline;
    PortByHand p([&](NPortConfig& config) { config.fixed_id = fixed ? own : wire::FcId{}; });
    bring(p, arrival.state);
    const bool els = arrival.type == Type::els, bls = arrival.type == Type::bls;
    const RCtl r_ctl = els ? RCtl::els_request : bls ? RCtl::nop : RCtl::unsolicited_control;
    wire::FcHeader header = p.opening(arrival.type, r_ctl, arrival.s_id);
    header.d_id = arrival.d_id;
    p.receive(header, bls ? std::span<const std::uint8_t>{} : PortByHand::echo);
    EXPECT_EQ(p.discarded(Discard::WrongAddress), arrival.taken ? 0U : 1U)
        << "state " << static_cast<int>(arrival.state) << " type " << static_cast<int>(arrival.type) << " from "
        << std::hex << arrival.s_id.value << " to " << arrival.d_id.value;
  }
}

// FC-VI connects two ports: no IU of it goes to all. Of others a broadcast is as good as any.
TEST(Admission, online_broadcast_isNotForMessageData) {
  PortByHand p;
  p.port.set_data_user(support::fc4, p.data_user);
  p.port.set_user(Type::ct, p.user);
  p.without_fabric();
  for (const Type type : {fc_vi, Type::ct}) {
    wire::FcHeader header = p.opening(type, RCtl::unsolicited_control, p.port.n_port_id());
    header.d_id = all;
    p.receive(header, PortByHand::echo);
  }
  EXPECT_EQ(p.discarded(Discard::WrongAddress), 1U);
  EXPECT_TRUE(p.data_user.ius.empty());
  EXPECT_EQ(p.user.ius.size(), 1U);
}

// Nobody answers a broadcast: an ABTS that goes to all has no exchange. Without message data its TYPE, 0,
// is nobody's either.
TEST(Admission, online_broadcastAbts_isCountedNotAnswered) {
  PortByHand p;
  p.without_fabric();
  wire::FcHeader abts = p.opening(Type::bls, RCtl::abts);
  abts.d_id = all;
  p.receive(abts);
  EXPECT_EQ(p.discarded(Discard::BadHeader), 1U);
  EXPECT_EQ(p.port.counters().discarded(), 1U);
  EXPECT_EQ(p.wire.log.size(), 0U);
  abts.d_id = own, abts.s_id = all;  // no such port, but that is not ours to say
  p.receive(abts);
  EXPECT_EQ(p.wire.log.count(RCtl::ba_acc), 1U);
}

// What is not for us does nothing: an ABTS for another port is not answered.
TEST(Admission, online_abtsForAnother_isNotAnswered) {
  PortByHand p;
  p.without_fabric();
  wire::FcHeader abts = p.opening(Type::bls, RCtl::abts);
  abts.d_id = other;
  p.receive(abts);
  EXPECT_EQ(p.wire.log.size(), 0U);
  EXPECT_EQ(p.discarded(Discard::WrongAddress), 1U);
}

// FC-FS: EOFa and EOFni end frames that count for nothing, in a class that is known too.
TEST(Admission, online_frameWithBadEnd_isCounted) {
  PortByHand p;
  p.port.set_user(Type::ct, p.user);
  p.without_fabric();
  for (const wire::Eof eof : {wire::Eof::ni, wire::Eof::a})
    p.receive(p.opening(Type::ct, RCtl::unsolicited_control), PortByHand::echo, wire::Sof::i3, eof);
  EXPECT_EQ(p.discarded(Discard::BadHeader), 2U);
  EXPECT_TRUE(p.user.ius.empty());
}

// What asks for an answer is not taken while as much waits as may. What answers us is, and message data is.
TEST(Admission, tooMuchWaits_onlyWhatAsksIsRefused) {
  PortByHand p([](NPortConfig& config) { config.max_waiting_frames = 1; });
  p.port.set_data_user(support::fc4, p.data_user);
  p.without_fabric();
  p.ask(PortByHand::echo);
  EXPECT_EQ(p.wire.log.size(), 1U) << "nothing waits";
  p.wire.pause();
  const Exchange* question = p.port.request(peer, RCtl::els_request, Type::els, PortByHand::echo, p.user, second);
  p.ask(PortByHand::echo);
  EXPECT_EQ(p.discarded(Discard::NoResources), 1U);
  p.receive(support::els_reply_header(own, peer, question->ox_id()), PortByHand::echo);
  EXPECT_EQ(p.user.ius.size(), 1U);
  p.receive(p.opening(Type::bls, RCtl::ack_1), {}, wire::Sof::n2);
  EXPECT_EQ(p.discarded(Discard::UnknownExchange), 1U);
  p.receive(p.opening(fc_vi, RCtl::solicited_data), PortByHand::echo);
  EXPECT_EQ(p.data_user.data.size(), 1U);
  EXPECT_EQ(p.discarded(Discard::NoResources), 1U);
}

// The same without message data: a basic link service, whose TYPE is 0, asks for an answer like any other.
TEST(Admission, tooMuchWaits_noDataUser_abtsIsRefused) {
  PortByHand p([](NPortConfig& config) { config.max_waiting_frames = 0; });
  p.without_fabric();
  p.receive(p.opening(Type::bls, RCtl::abts));
  EXPECT_EQ(p.discarded(Discard::NoResources), 1U);
  EXPECT_EQ(p.wire.log.size(), 0U);
}

// While the link is interrupted answers wait for the port that they go to (FC-VI 7.7.3), where they count as well.
TEST(Admission, interrupted_answersWaitForTheirPort) {
  PortByHand p([](NPortConfig& config) { config.max_waiting_frames = 1; });
  p.on_fabric();
  p.log_in();
  p.port.link_interrupted();
  for (int i = 0; i < 2; ++i) p.receive(p.opening(Type::bls, RCtl::abts));
  EXPECT_EQ(p.port.remote_port(peer).held(), 1U);
  EXPECT_EQ(p.discarded(Discard::NoResources), 1U);
  p.on_fabric();
  EXPECT_EQ(p.wire.log.count(RCtl::ba_acc), 1U);
}

}  // namespace
}  // namespace fc2
