// Frames and messages that are lost, doubled, swapped or changed on an in-order fabric, class 3, at every level (FC-VI
// 8.4, B.2.4, B.2.5).
#include "tests/fcvi/message_nodes.hpp"

namespace {
using support::AtLevel;
using support::Fate;
using support::hold;
using support::Level;
using support::late;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::to_frame;
using support::twice;

class Loss : public AtLevel {
 public:
  /// One receive more than `messages`, which are sent; then all is quiet.
  void send_all(int messages) {
    receive(messages + 1);
    send(messages);
    fabric.run_for(runtime::second);
  }
};
INSTANTIATE_TEST_SUITE_P(Level, Loss, support::all_levels, support::level_name);

// FC-VI 8.4.1 b) c), 8.4.2 e), B.2.4 rule 3a, B.2.5 rules 6c and 6d: a frame in the middle is lost. Unreliable:
// Merr, the descriptor completes in error, Mexp and SCexp are those of the next message, which arrives.
// Reliable: Error, Herr.
TEST_P(Loss, receiving_frameLost) {
  begin(GetParam());
  faults.on_frame = to_frame(1, lose);
  send_all(2);
  EXPECT_EQ(faults.lost, 1);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(server->control(receives[0]).length_bytes, 0u);
  if (!unreliable()) return expect_broken();
  EXPECT_EQ(discarded(), 2u);  // the rest of the message
  EXPECT_TRUE(arrived(1, 1));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// FC-VI B.2.5 rule 6c, ruling 15; B.2.4 rule 3b: the first frame is lost. No descriptor is consumed; what is
// discarded is counted.
TEST_P(Loss, expecting_firstFrameLost) {
  begin(GetParam());
  faults.on_frame = to_frame(0, lose);
  send_all(2);
  if (!unreliable()) return expect_broken();
  EXPECT_EQ(discarded(), 3u);
  EXPECT_TRUE(arrived(1, 0));
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(server->errors.size(), 0u);
}

// FC-VI B.2.5 rules 4a c) and 4b, B.2.4 rule 3a: the last frame of message 1 is lost, and message 2 begins:
// Mrcv > Mexp.
TEST_P(Loss, receiving_lastFrameLost_nextMessageTells) {
  begin(GetParam());
  faults.on_frame = to_frame(3, lose);
  send_all(2);
  EXPECT_EQ(received(0), receive_lost);
  if (!unreliable()) return expect_broken();
  EXPECT_TRUE(arrived(1, 1));
  EXPECT_EQ(discarded(), 0u);
}

// FC-VI B.2.5 rules 4a a) c) and 4b: two whole messages are lost. Merr for both; the frame that tells it is processed.
TEST_P(Loss, expecting_messagesLost) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number < 8 ? lose : pass; };
  send_all(3);
  if (!unreliable()) return expect_broken();
  EXPECT_TRUE(arrived(2, 0));
  EXPECT_EQ(discarded(), 0u);
}

// FC-VI B.2.5 rule 4a b): message 1 and the first frame of message 2 are lost: Merr for both, Mexp is 3, SCexp 0.
TEST_P(Loss, expecting_messageAndFirstFrameLost) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number < 5 ? lose : pass; };
  send_all(3);
  if (!unreliable()) return expect_broken();
  EXPECT_EQ(discarded(), 3u);
  EXPECT_TRUE(arrived(2, 0));
  EXPECT_EQ(received(1), 0u);
}

// FC-VI 8.4.1 c), B.2.5 rules 6c and 6d: two frames change places.
TEST_P(Loss, receiving_framesSwapped) {
  begin(GetParam());
  faults.on_frame = to_frame(1, hold);
  send_all(2);
  EXPECT_EQ(received(0), receive_lost);
  if (!unreliable()) return expect_broken();
  EXPECT_TRUE(arrived(1, 1));
}

// VI-ARCH 2.5.1, 2.5.2, FC-VI B.2.5 rules 6c and 6d: a frame comes twice: SCrcv < SCexp. No byte is placed twice.
TEST_P(Loss, receiving_frameDoubled) {
  begin(GetParam());
  faults.on_frame = to_frame(1, twice);
  send_all(2);
  EXPECT_EQ(received(0), receive_lost);
  if (!unreliable()) return expect_broken();
  EXPECT_TRUE(arrived(1, 1));
}

// FC-VI B.2.5 rule 5a: a frame of a message that is complete, without Merr: a Protocol Error, which takes a
// reliable endpoint to Error, and sets Herr. Unreliable (VI-ARCH 2.5.1, ruling 191): it is discarded, and the
// next message arrives.
TEST_P(Loss, expecting_frameOfThePast) {
  begin(GetParam());
  faults.on_frame = to_frame(3, twice);
  send_all(2);
  EXPECT_TRUE(arrived(0, 0));
  if (unreliable()) {
    EXPECT_TRUE(arrived(1, 1));
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    EXPECT_EQ(discarded(), 1u);
    return;
  }
  EXPECT_EQ(received(1), receive_flushed);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_GE(discarded(), 2u);  // that one, and what came of the next message
}

/// One field of a frame is wrong, though its SEQ_CNT is the expected one.
struct Garbled {
  const char* name;
  void (*change)(MessageFrame&);
};
class Garbling : public AtLevel {};
INSTANTIATE_TEST_SUITE_P(Level, Garbling, support::all_levels, support::level_name);

// FC-VI B.2.5 rules 6a and 6b, 5.8.7, 6.2.2: Mrcv = Mexp and a sequence error: what must be the same in all frames of a
// message is not. Unreliable: Merr, and Mexp and SCexp are those of the next message. Reliable: Error, Herr.
TEST_P(Garbling, receiving_wrongField) {
  constexpr Garbled cases[] = {
      {"relative offset", [](MessageFrame& f) { f.fc.parameter += 4; }},
      {"FCVI_TOT_LEN", [](MessageFrame& f) { f.header.tot_len_or_connection_id += 1; }},
      {"OX_ID", [](MessageFrame& f) { f.fc.ox_id.value ^= 1; }},
      {"immediate data", [](MessageFrame& f) { f.header.flags ^= 1; }},
      {"opcode", [](MessageFrame& f) { f.header.opcode = wire::fcvi::Opcode::write_rqst; }},
      {"end too early",
       [](MessageFrame& f) {
         f.fc.f_ctl |= wire::f_ctl::end_sequence | wire::f_ctl::last_sequence | wire::f_ctl::sequence_initiative;
         f.frame.eof = wire::Eof::t;
       }},
  };
  for (const Garbled& garbled : cases) {
    SCOPED_TRACE(garbled.name);
    begin(GetParam(), garbled.name);
    faults.on_frame = [&](MessageFrame& frame) {
      if (!frame.from_client || frame.number != 2) return pass;
      garbled.change(frame);
      frame.rewrite();
      return pass;
    };
    const std::size_t first = receives.size();
    receive(3), send(2);
    fabric.run_for(runtime::second);
    EXPECT_EQ(received(first), receive_lost);
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    if (unreliable())
      EXPECT_TRUE(arrived(first + 1, first + 1));
    else
      EXPECT_EQ(received(first + 1), receive_flushed);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    sends.resize(receives.size());  // buffers go by these
  }
}

// --- Merr --------------------------------------------------------------------------------------------------------

class Merr : public support::MessageNodes {
 public:
  using MessageNodes::MessageNodes;
  /// Message 1 loses a frame, and its last one comes `delay` after it was sent. Message 2 arrives.
  void lose_and_delay(runtime::TimeNs delay) {
    begin(Level::UnreliableDelivery);
    faults.on_frame = [=](MessageFrame& frame) {
      if (!frame.from_client || frame.number > 3) return pass;
      return frame.number == 1 ? lose : frame.number == 3 ? late(delay) : pass;
    };
    receive(3), send(2);
    fabric.run_for(runtime::second);
    ASSERT_EQ(received(0), receive_lost);
    ASSERT_TRUE(arrived(1, 1));
  }
};

// FC-VI 8.4.2 d), B.2.4 rule 2 a): shortly before R_A_TOV is over, a frame of the errored message is discarded,
// and nothing else.
TEST_F(Merr, errored_frameJustBeforeRaTov_isDiscarded) {
  lose_and_delay(runtime::TimeNs{10} * runtime::second - runtime::millisecond);
  const auto before = discarded();
  fabric.run_for(20 * runtime::second);
  EXPECT_EQ(discarded(), before + 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  send();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(2, 2));
}

// FC-VI B.2.4 rule 2 c), VI-ARCH 2.5.1 (ruling 191, against B.2.5 rule 5a): shortly after it Merr is clear, and the
// same frame is one of the past: discarded, too.
TEST_F(Merr, errored_frameJustAfterRaTov_isDiscardedToo) {
  lose_and_delay(runtime::TimeNs{10} * runtime::second + runtime::millisecond);
  const auto before = discarded();
  fabric.run_for(20 * runtime::second);
  EXPECT_EQ(discarded(), before + 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  send();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(2, 2));
}

// FC-VI B.2.4 rule 2 a), B.2.5 rules 6a a) b) c), 6c a) b) c): whatever frame of message 1 was lost or wrong, Merr is
// set for it, Mexp is 2 and SCexp 0: another message of that FCVI_MSG_ID has no effect, and takes no descriptor.
TEST_F(Merr, errored_sameMsgIdAgain_isDiscarded) {
  struct Case {
    const char* name;
    int number;
    bool lost;
  };
  for (const auto& [name, number, lost] :
       {Case{"first lost", 0, true}, Case{"second lost", 1, true}, Case{"first wrong", 0, false},
        Case{"second wrong", 1, false}, Case{"last wrong", 3, false}}) {
    SCOPED_TRACE(name);
    begin(Level::UnreliableDelivery, name);
    const std::size_t first = receives.size();
    faults.on_frame = [number = number, is_lost = lost](MessageFrame& frame) {
      if (!frame.from_client) return pass;
      if (frame.number == number && is_lost) return lose;
      if (frame.number == number) frame.fc.parameter += 4;
      if (frame.number > 3) frame.header.msg_id = {1};
      frame.rewrite();
      return pass;
    };
    receive(2), send(2);
    fabric.run_for(runtime::second);
    EXPECT_EQ(received(first), number == 0 ? 0u : receive_lost);
    EXPECT_EQ(received(first + 1), 0u);
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    faults.on_frame = {};
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// FC-VI 8.4.2 d): many messages are errored within R_A_TOV, and no late frame of any is an error of the connection.
TEST_F(Merr, errored_manyMessages_allAreRemembered) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    const int of_message = frame.number % 4, message = frame.number / 4;
    return message % 2 == 0 && of_message == 1   ? lose
           : message % 2 == 0 && of_message == 3 ? late(runtime::second)
                                                 : pass;
  };
  receive(80), send(80);
  fabric.run_for(5 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  for (std::size_t i = 1; i < 80; i += 2) EXPECT_TRUE(arrived(i, i)) << i;
  EXPECT_EQ(received(78), receive_lost);
}

class OneHandle : public Merr {
 public:
  OneHandle() : Merr({.address = {}, .max_endpoints = 1}) {}
  /// VipConnectRequest at the client and VipConnectWait at the server; what the request returned within `limit`.
  std::optional<vi::Return> try_connect(runtime::TimeNs limit) {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    client_vi = &client->make_vi(level), server_vi = &server->make_vi(level);
    server->provider.connect_wait(server->net("again"), limit, wait);
    client->provider.connect_request(*client_vi, client->net("client"), server->net("again"), limit, request);
    fabric.run_until([&] { return wait.result.has_value(); });
    if (wait.result == vi::Return::Success) server->provider.connect_accept(wait.token, *server_vi, accept);
    fabric.run_until([&] { return request.result.has_value(); });
    fabric.run_for(runtime::millisecond);
    return request.result;
  }
  void log_out() {
    server->port.remote_port(client->port.n_port_id()).log_out();
    fabric.run_for(runtime::millisecond);
  }
  Level level = Level::UnreliableDelivery;
};

// FC-VI B.2.4 rule 2 b), 8.4.2 g): a logout clears Merr: the same handle is used again within R_A_TOV, and its message
// of the same FCVI_MSG_ID arrives.
TEST_F(OneHandle, errored_logout_clearsMerr) {
  lose_and_delay(runtime::TimeNs{30} * runtime::second);
  log_out();
  disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(try_connect(runtime::second), vi::Return::Success);
  faults.on_frame = nullptr;
  receive(), send();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(2, 3));
}

// --- Herr --------------------------------------------------------------------------------------------------------

// FC-VI B.2.4 rule 1 c), 8.4.2 g): a logout clears Herr: without a Disconnect, and before R_A_TOV, the handle is free.
TEST_F(OneHandle, herr_logout_clearsHerr) {
  level = Level::ReliableDelivery;
  begin(level);
  faults.on_frame = to_frame(1, lose);
  receive(), send();
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(server_vi->state(), vi::State::Error);
  log_out();
  faults.on_frame = nullptr;
  disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(try_connect(runtime::second), vi::Return::Success);
  receive(), send();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(1, 1));
}

// FC-VI 8.4.2 f), B.2.4 rule 1 a) b): after a Disconnect the handle rests until R_A_TOV after the error: before, no
// set-up gets it; after, one does. A frame that comes while it rests is discarded.
TEST_F(OneHandle, herr_disconnected_handleRestsForRaTov) {
  level = Level::ReliableDelivery;
  begin(level);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client ? pass : frame.number == 1 ? lose : frame.number == 3 ? late(5 * runtime::second) : pass;
  };
  receive(), send();
  ASSERT_TRUE(fabric.run_until([&] { return server_vi->state() == vi::State::Error; }));
  const runtime::TimeNs failed_at = fabric.scheduler.now();
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
  const auto before = discarded();
  fabric.scheduler.run_until(failed_at + 10 * runtime::second - runtime::millisecond);
  EXPECT_EQ(discarded(), before + 1);
  EXPECT_EQ(server->provider.handles_in_use(), 1u);
  fabric.scheduler.run_until(failed_at + 10 * runtime::second + runtime::millisecond);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

// --- what never comes --------------------------------------------------------------------------------------------

class EndOfMessage : public AtLevel {};
INSTANTIATE_TEST_SUITE_P(Level, EndOfMessage, support::all_levels, support::level_name);

// FC-VI 8.4.1 note 1, B.2.5 rules 7a, 7b: the end of a message never comes, and nothing else does. R_A_TOV after its
// last frame, not before, the message is lost.
TEST_P(EndOfMessage, receiving_endLost_timesOutAfterRaTov) {
  begin(GetParam());
  support::FrameLog at_server;
  fabric.fabric.tap(server->port, &at_server);
  faults.on_frame = [&](MessageFrame& frame) { return frame.from_client && frame.number >= 2 ? lose : pass; };
  receive(2), send();
  fabric.run_for(runtime::millisecond);
  fabric.fabric.tap(server->port, nullptr);
  ASSERT_EQ(at_server.size(), 2u);
  const runtime::TimeNs due = at_server.frames().back().at + 10 * runtime::second;
  fabric.scheduler.run_until(due - runtime::microsecond);
  EXPECT_EQ(received(0), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.scheduler.run_until(due + runtime::microsecond);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
  if (!unreliable()) return;
  faults.on_frame = nullptr;
  send();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(1, 1));
}

class Short : public Merr {
 public:
  Short() : Merr({}, {}, short_timers()) {}
  static fc2::SwitchConfig short_timers() {
    fc2::SwitchConfig config;
    config.r_a_tov = 3 * runtime::second;
    return config;
  }
};

// FC-VI 8.3, 8.4.2 f): the fabric says what R_A_TOV is; FCVI_ULP_TIMEOUT and Herr follow it.
TEST_F(Short, timers_areThoseOfTheFabric) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
  receive(), send();
  const runtime::TimeNs begun = fabric.scheduler.now();
  ASSERT_TRUE(fabric.run_until([&] { return client_vi->state() == vi::State::Error; }));
  const runtime::TimeNs failed_at = fabric.scheduler.now();
  EXPECT_EQ((failed_at - begun) / runtime::millisecond, 3'000);
  fabric.run_for(runtime::millisecond);
  disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  fabric.scheduler.run_until(failed_at + 3 * runtime::second - runtime::millisecond);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  fabric.scheduler.run_until(failed_at + 3 * runtime::second + runtime::millisecond);
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
}
}  // namespace
