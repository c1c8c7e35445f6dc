// Out-of-order fabrics (FC-VI 8.1, 8.4.1 d e, B.2.5 rules 4c, 5b, 6e, 7): what overtakes waits, what is
// missing has R_A_TOV.
#include <algorithm>
#include <random>

#include "tests/fcvi/message_nodes.hpp"
#include "tests/support/times.hpp"

namespace {
using support::Fate;
using support::hold;
using support::Host;
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::r_a_tov;
using support::twice;

fc2::SwitchConfig out_of_order() {
  fc2::SwitchConfig config;
  config.in_order = false;
  return config;
}

class TwoHoles : public support::MessageNodes {
 public:
  TwoHoles() : MessageNodes({}, {}, out_of_order()) {}
};

class Epochs : public support::AtLevel {
 public:
  Epochs() : AtLevel({}, {}, out_of_order()) {}
  /// The client's frames of these numbers come so much later.
  void delay(int from, int to, runtime::TimeNs time) {
    faults.on_frame = [=](MessageFrame& frame) {
      return frame.from_client && frame.number >= from && frame.number <= to ? late(time) : pass;
    };
  }
  void lose_frames(int from, int to) {
    faults.on_frame = [=](MessageFrame& frame) {
      return frame.from_client && frame.number >= from && frame.number <= to ? lose : pass;
    };
  }
  void send_all(int messages) {
    receive(messages), send(messages);
    fabric.run_for(100 * runtime::millisecond);
  }
  /// Where message `i` arrived; past the end if nowhere.
  [[nodiscard]] std::size_t receive_of(std::size_t message) {
    std::size_t receive = 0;
    while (receive < receives.size() && !arrived(message, receive)) ++receive;
    return receive;
  }
  /// In order at the reliable levels; at Unreliable Delivery each in some descriptor (VI-ARCH 2.5.1).
  void expect_all_arrived() {
    if (!unreliable()) {
      for (std::size_t i = 0; i < sends.size(); ++i) EXPECT_TRUE(arrived(i, i)) << i;
    } else {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < sends.size(); ++i) order.push_back(receive_of(i));
      std::sort(order.begin(), order.end());
      for (std::size_t i = 0; i < sends.size(); ++i) EXPECT_EQ(order[i], i);
    }
    for (std::size_t i = 0; i < sends.size(); ++i) EXPECT_EQ(sent(i), sent_well) << i;
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
  }
};
INSTANTIATE_TEST_SUITE_P(Level, Epochs, support::all_levels, support::level_name);

// FC-VI 8.1: the fabric says in the accept of FLOGI whether it keeps the order.
TEST_P(Epochs, online_fabricTellsOrder) {
  EXPECT_FALSE(client->port.in_order());
  support::TestFabric ordered(1);
  ordered.bring_up();
  EXPECT_TRUE(ordered.port(0).in_order());
}

// FC-VI B.2.5 rules 6e b) c) and 5b: frames of one message change places; all are processed, SCexp goes on.
TEST_P(Epochs, receiving_framesSwapped_arrives) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number % 3 == 0 ? hold : pass; };
  send_all(3);
  expect_all_arrived();
}

// FC-VI B.2.5 rules 4c d) e) and 5b, 8.4.1: two messages overtake one. They are delivered in order all the same. At
// Unreliable Delivery (VI-ARCH 2.5.1) they do not wait.
TEST_P(Epochs, expecting_messagesOvertake_arriveInOrder) {
  begin(GetParam());
  delay(0, 3, runtime::millisecond);
  receive(3), send(3);
  fabric.run_for(900 * runtime::microsecond);
  for (std::size_t i = 0; i < 3 && !unreliable(); ++i) EXPECT_EQ(received(i), 0u);
  if (unreliable()) {
    EXPECT_TRUE(arrived(1, 0)) << "whole first";
  }
  if (unreliable()) {
    EXPECT_TRUE(arrived(2, 1));
  }
  fabric.run_for(100 * runtime::millisecond);
  if (unreliable()) {
    EXPECT_TRUE(arrived(0, 2));
  }
  expect_all_arrived();
}

/// No response is waited for, which would end it after R_A_TOV.
class PatientEpochs : public Epochs {};
INSTANTIATE_TEST_SUITE_P(Level, PatientEpochs, ::testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery),
                         support::level_name);

// FC-VI B.2.5 rules 4c d) e), 6e c): Mexp and SCexp go to the newest frame that came. What is new beyond it has its own
// R_A_TOV from then, and what lies before it keeps its own: message 1 is missed since 0 s and comes at 8 s; the end of
// message 2 is missed since message 3 came at 5 s, and comes at 14 s.
TEST_P(PatientEpochs, expecting_frontierMovesOn_eachGapKeepsItsTime) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    const int message = frame.number / 4;
    return late(message == 0        ? 8 * runtime::second
                : message == 2      ? 5 * runtime::second
                : frame.number == 7 ? 14 * runtime::second
                                    : 0);
  };
  receive(3), send(3);
  fabric.run_for(20 * runtime::second);
  expect_all_arrived();
}

// VI-ARCH 2.5.1, FC-VI B.2.5 rule 5b: a frame that comes twice, at once or long after its message, is delivered once.
TEST_P(Epochs, receiving_framesDoubled_arriveOnce) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? twice : pass; };
  send_all(3);
  expect_all_arrived();
  EXPECT_EQ(discarded(), 12u);
}

/// What is missing: rule 4c a) whole messages, b) the rest of one, c) the beginning of the one that tells, 6e a) a
/// middle. Of `begun` some frames came: each has a descriptor (rule 3a).
struct Missing {
  const char* name;
  int from, to;
  std::vector<std::size_t> lost, begun;
};
class Hole : public Epochs {};
INSTANTIATE_TEST_SUITE_P(Level, Hole, support::all_levels, support::level_name);

// FC-VI 8.4.1 d) e), B.2.4 rule 3a, B.2.5 rules 4c a) b) c), 6e a), 7a, 7b: five messages; some frames never come. Just
// before R_A_TOV after the first that overtook them nothing is lost; just after it, reliable: Error. Unreliable: the
// others arrived at once (VI-ARCH 2.5.1), and then there is Merr for just those messages: each of which a frame came
// takes the next descriptor, in error.
TEST_P(Hole, receiving_missingForRaTov_isLost) {
  const Missing cases[] = {{"a middle", 5, 6, {1}, {1}},
                           {"the rest", 6, 7, {1}, {1}},
                           {"the beginning", 4, 5, {1}, {1}},
                           {"whole messages", 4, 11, {1, 2}, {}},
                           {"rest and beginning", 6, 8, {1, 2}, {1, 2}}};
  for (const Missing& missing : cases) {
    SCOPED_TRACE(missing.name);
    sends.clear(), receives.clear();
    client->next_descriptor = server->next_descriptor = Host::base;
    begin(GetParam(), missing.name);
    lose_frames(missing.from, missing.to);
    const runtime::TimeNs begun = fabric.scheduler.now();
    receive(5), send(5);
    fabric.scheduler.run_until(begun + r_a_tov);
    EXPECT_TRUE(arrived(0, 0));
    if (!unreliable()) {
      EXPECT_EQ(received(1), 0u);
    }
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    std::size_t next = 0;
    for (std::size_t message = 0; unreliable() && message < 5; ++message) {
      const bool lost = std::find(missing.lost.begin(), missing.lost.end(), message) != missing.lost.end();
      if (!lost) {
        EXPECT_TRUE(arrived(message, next++)) << message;
      }
    }
    for (std::size_t i = next; unreliable() && i < 5; ++i) EXPECT_EQ(received(i), 0u) << i;
    fabric.scheduler.run_until(begun + r_a_tov + runtime::millisecond);
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    if (unreliable()) {
      for (const std::size_t end = next + missing.begun.size(); next < end; ++next)
        EXPECT_EQ(received(next), receive_lost) << next;
      for (; next < 5; ++next) EXPECT_EQ(received(next), 0u) << next;
    } else {
      EXPECT_EQ(received(1), missing.begun.empty() ? receive_flushed : receive_lost);
      // Those that began to arrive: ruling 204. None is known to be the message of a descriptor behind one
      // that is missing.
      const std::uint32_t flushed =
          missing.begun.empty() ? receive_flushed : receive_flushed | vi::status::partial_error;
      for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(received(i), flushed) << i;
    }
    EXPECT_EQ(server->provider.reorder_bytes(), 0u);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// ... just in time, the frame fills the hole and all arrive.
TEST_P(Hole, receiving_justWithinRaTov_arrives) {
  begin(GetParam());
  delay(5, 5, r_a_tov - runtime::millisecond);
  receive(3), send(3);
  fabric.run_for(2 * r_a_tov);
  if (reception()) {
    EXPECT_TRUE(arrived(2, 2));
  } else {
    expect_all_arrived();
  }
}

// FC-VI B.2.4 rules 1 a), 2 a): what comes after R_A_TOV is discarded, and changes nothing.
TEST_P(Hole, receiving_afterRaTov_isDiscarded) {
  begin(GetParam());
  delay(5, 5, r_a_tov + runtime::second);
  receive(3), send(3);
  fabric.run_for(r_a_tov + 500 * runtime::millisecond);
  const vi::State state = server_vi->state();
  const auto before = discarded();
  EXPECT_EQ(state, unreliable() ? vi::State::Connected : vi::State::Error);
  fabric.run_for(runtime::second);
  EXPECT_EQ(discarded(), before + 1);
  EXPECT_EQ(server_vi->state(), state);
  EXPECT_EQ(received(1), unreliable() ? vi::status::done | vi::status::op_receive : receive_lost)
      << "message 2, or message 1";
  EXPECT_EQ(received(2), unreliable() ? receive_lost : receive_flushed | vi::status::partial_error) << "ruling 204";
}

// FC-VI B.2.5 rules 7a, 7b: two holes, found 4 s apart, have an R_A_TOV each: the second is filled 12 s after the
// first was found.
TEST_F(TwoHoles, receiving_eachHasItsOwnRaTov) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client ? pass : frame.number == 1 ? lose : frame.number == 5 ? late(8 * runtime::second) : pass;
  };
  receive(2), send();
  fabric.run_for(4 * runtime::second);
  send();
  fabric.run_for(r_a_tov - 4 * runtime::second + runtime::millisecond);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(received(1), 0u);
  fabric.run_for(3 * runtime::second);
  EXPECT_TRUE(arrived(1, 1));
}

// FC-VI B.2.5 rule 7: a hole has R_A_TOV from when it is found. The message's first frame came 4 s before that (its
// sender paused), and the frame that is missing comes 8 s after it.
TEST_F(TwoHoles, receiving_foundLate_hasItsOwnRaTov) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client || frame.number == 0 ? pass : late((frame.number == 1 ? 12 : 4) * runtime::second);
  };
  receive(), send();
  fabric.run_for(r_a_tov + runtime::second);
  EXPECT_EQ(received(0), 0u);
  fabric.run_for(2 * runtime::second);
  EXPECT_TRUE(arrived(0, 0));
}

/// Everything that is sent for a message comes at a time of its own.
class Shuffled : public Epochs {};
INSTANTIATE_TEST_SUITE_P(Level, Shuffled, support::all_levels, support::level_name);

// FC-VI 8.4.1, VI-ARCH 2.5: whatever the order of the frames, requests, data and responses: Sends, RDMA Writes and RDMA
// Reads arrive intact and complete in order.
TEST_P(Shuffled, connected_everythingShuffled_arrives) {
  begin(GetParam());
  std::mt19937 random(20261121);
  faults.on_frame = [&](MessageFrame&) { return late(static_cast<runtime::TimeNs>(random() % 3'000'000)); };
  constexpr std::size_t rounds = 20;
  std::vector<std::uint64_t> others;
  const std::uint64_t near = client->data + (20u << 20), far = server->data + (20u << 20);
  for (std::uint32_t byte = 0; byte < rounds * slot; ++byte) {
    *client->bytes(near + byte) = static_cast<std::uint8_t>(byte * 7 + (byte >> 8));
    *server->bytes(far + (4u << 20) + byte) = static_cast<std::uint8_t>(byte * 3 + (byte >> 8));
  }
  receive(rounds);
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto at = static_cast<std::uint32_t>(i) * slot;
    const auto post = [&](std::uint16_t operation, std::uint64_t local, std::uint64_t remote) {
      others.push_back(client->descriptor(operation, {{local, 30'000}}, remote, server->handle));
      client_vi->post_send(others.back(), client->handle);
    };
    post(vi::control::op_rdma_write, near + at, far + at);
    if (!unreliable()) post(vi::control::op_rdma_read, near + (4u << 20) + at, far + (4u << 20) + at);
    send();
  }
  fabric.run_for(30 * runtime::second);
  expect_all_arrived();
  for (const auto other : others) EXPECT_EQ(client->status(other) & ~vi::status::op_mask, vi::status::done);
  for (std::size_t i = 0; i < rounds; ++i) {
    EXPECT_EQ(std::memcmp(client->bytes(near + i * slot), server->bytes(far + i * slot), 30'000), 0) << i;
    if (unreliable()) continue;
    EXPECT_EQ(
        std::memcmp(client->bytes(near + (4u << 20) + i * slot), server->bytes(far + (4u << 20) + i * slot), 30'000), 0)
        << i;
  }
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

class ReliableEpochs : public Epochs {};
INSTANTIATE_TEST_SUITE_P(Level, ReliableEpochs, support::reliable_levels, support::level_name);

// FC-VI 8.4.1 a) d), B.2.6.2 rule 9: a frame of read data never comes: FCVI_ULP_TIMEOUT after the last that
// could be placed.
TEST_P(ReliableEpochs, awaitReadData_frameLost_timesOut) {
  begin(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return !frame.from_client && frame.number == 2 ? lose : pass; };
  const auto read =
      client->descriptor(vi::control::op_rdma_read, {{client->data, length}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(r_a_tov - runtime::millisecond);
  EXPECT_EQ(client->status(read), 0u);
  fabric.run_for(10 * runtime::millisecond);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::transport_error | vi::status::op_rdma_read);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

/// RESP3 comes late, and messages of the server overtake it.
class LateResp3 : public Epochs, public fc2::FrameFault {
 public:
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto fc = wire::FcHeader::parse(frame->content());
    const bool resp3 =
        fc->type == wire::Type::fc_vi && fc->r_ctl == wire::RCtl::solicited_control && frame->data_field()[4] == 0x1A;
    if (resp3) frame->arrival += delay_ns;
    channel.deliver(std::move(frame));
  }
  void connect_late() {
    fabric.fabric.set_fault(client->port, this);
    client_vi = &client->make_vi(GetParam()), server_vi = &server->make_vi(GetParam());
    to_client = client->descriptor(0, {{client->data, slot}});
    client_vi->post_receive(to_client, client->handle);
    server->provider.connect_wait(server->net("late"), runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("c"), server->net("late"), runtime::second, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
    from_server = server->descriptor(0, {{server->data, 100}});
    server_vi->post_send(from_server, server->handle);
  }
  runtime::TimeNs delay_ns = 0;
  std::uint64_t to_client = 0, from_server = 0;
};
INSTANTIATE_TEST_SUITE_P(Level, LateResp3, support::all_levels, support::level_name);

// FC-VI F.1, C.5.10.1: RESP3 is overtaken by a message that asks for a response: the message waits for it, and then
// arrives. One that asks for none is received at once.
TEST_P(LateResp3, awaitResp3_messageOvertakes_arrives) {
  delay_ns = runtime::second;
  connect_late();
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ((client->status(to_client) & vi::status::done) != 0, !reception());
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(to_client), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(server->status(from_server), sent_well);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}
}  // namespace
