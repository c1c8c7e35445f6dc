// Class 2 end to end (FC-VI 5.5, 8.4.2 b h, B.2.4 rules 1 and 2, B.2.6.1 rule 8): ACK_1, ACK_0, end-to-end credit,
// busy, reject, abort.
#include <algorithm>
#include <set>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/message_nodes.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace {
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::to_frame;
using wire::RCtl;

constexpr std::uint16_t credit = 6;

class Class2 : public support::AtLevel {
 public:
  explicit Class2(bool ack_0 = false, bool in_order = true, std::uint16_t end_to_end_credit = credit)
      : AtLevel(
            {.address = {}, .class_2 = true},
            [=](fc2::NPortConfig& config, std::size_t) {
              config.end_to_end_credit = end_to_end_credit;
              config.ack_0 = ack_0;
            },
            fabric_config(in_order)) {}
  static fc2::SwitchConfig fabric_config(bool in_order) {
    fc2::SwitchConfig config;
    config.in_order = in_order;
    return config;
  }
  /// The frame of this number is not delivered; it is answered so, from the server's address, as the fabric or
  /// the port would.
  void answer(int number, RCtl r_ctl) {
    faults.on_frame = [this, number, r_ctl](MessageFrame& frame) {
      if (!frame.from_client || frame.number != number) return pass;
      fabric.fabric.ingress_of(server->port)->receive(fc2::make_link_control(fabric.pool, frame.fc, r_ctl, 0x01010000));
      return lose;
    };
  }
  [[nodiscard]] std::size_t data_frames() const {
    return log.count([](const LoggedFrame& f) {
      return f.outbound && f.header.type == wire::Type::fc_vi && f.is(RCtl::solicited_data);
    });
  }
  /// The first of them alone.
  void send_all(int messages) {
    receive(messages), send();
    fabric.run_for(100 * runtime::millisecond);
    send(messages - 1);
    fabric.run_for(runtime::second);
  }
  /// B.2.6.1 rules 8a, 8c, 8d, 8e: what becomes of message 2 of 3, whose exchange was aborted.
  void expect_second_aborted() {
    const auto aborts = log.count([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::abts); });
    EXPECT_TRUE(unreliable() ? aborts == 1 : aborts >= 1) << aborts;  // a connection that ends aborts all that is open
    EXPECT_EQ(sent(0), sent_well);
    // VI-DG 5.2 bit 6, ruling 203: Transport Error at Reliable Reception alone. (Partial
    // Packet Error: failures_test.cpp.)
    const std::uint32_t failed = unreliable() ? sent_well : reception() ? send_failed : send_flushed;
    EXPECT_EQ(sent(1) & ~(unreliable() ? 0u : vi::status::partial_error), failed);
    if (unreliable()) {
      EXPECT_EQ(client_vi->state(), vi::State::Connected);
      EXPECT_EQ(sent(2), sent_well);
      EXPECT_EQ(server_vi->state(), vi::State::Connected);
      return;
    }
    EXPECT_EQ(sent(2) & ~vi::status::partial_error, send_flushed);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
  }
};
class Class2Ack0 : public Class2 {
 public:
  Class2Ack0() : Class2(true) {}
};
class Class2OutOfOrder : public Class2 {
 public:
  Class2OutOfOrder() : Class2(false, false) {}
  /// In its own descriptor; at Unreliable Delivery in any (VI-ARCH 2.5.1): the busied one is whole last.
  [[nodiscard]] bool arrives_somewhere(std::size_t message) {
    if (GetParam() != Level::UnreliableDelivery) return arrived(message, message);
    for (std::size_t receive = 0; receive < receives.size(); ++receive)
      if (arrived(message, receive)) return true;
    return false;
  }
};
INSTANTIATE_TEST_SUITE_P(Level, Class2, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, Class2Ack0, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, Class2OutOfOrder, support::all_levels, support::level_name);

// FC-VI 8.4.1 c) d), 8.4.2 h), 5.9: the last frame of message 2 comes, but is no part of it by what its headers say.
// Its ACK asks for the ABTS: a plain one would complete a Send of which the end is missing.
TEST_P(Class2, connected_lastFrameUnreadable_isAborted) {
  const std::function<void(MessageFrame&)> changes[] = {
      [](MessageFrame& f) { f.frame.data_field()[4] = 0xEE; },                            // opcode
      [](MessageFrame& f) { f.fc.df_ctl = 0, f.rewrite(); },                              // no Device_Header
      [](MessageFrame& f) { f.fc.df_ctl |= wire::df_ctl::network_header, f.rewrite(); },  // and others, 5.8.5
      [](MessageFrame& f) { f.fc.r_ctl = RCtl::command_status, f.rewrite(); },            // R_CTL of another IU
      [](MessageFrame& f) {
        f.fc.r_ctl = RCtl::command_status, f.rewrite(), f.frame.data_field()[4] = 0x08;
      },  // an answer (5.2.5)
  };
  for (const auto& change : changes) {
    SCOPED_TRACE(&change - changes);
    begin(GetParam(), std::to_string(&change - changes));
    sends.clear(), receives.clear(), client->errors.clear();
    faults.on_frame = [&](MessageFrame& frame) {
      if (frame.from_client && frame.number == 7) change(frame);
      return pass;
    };
    send_all(3);
    expect_second_aborted();
    EXPECT_NE(log.find([](const LoggedFrame& f) {
      return !f.outbound && f.is(RCtl::ack_1) && (f.header.f_ctl & wire::f_ctl::abort_condition_mask) == 1u << 4;
    }),
              nullptr);
    faults.on_frame = {};
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// FC-VI 5.5, FC-FS: every data frame is SOFi2 or SOFn2 and is answered by an ACK_1 of its SEQ_ID and SEQ_CNT, contexts
// inverted; no more frames than the end-to-end credit are unacknowledged, and that many are; no SEQ_ID is used again
// before its sequence is closed.
TEST_P(Class2, connected_sends_areAcknowledged) {
  begin(GetParam());
  ASSERT_TRUE(client->port.remote_port(server->port.n_port_id()).supports_class_2());
  faults.on_link_control = [](const wire::FcHeader&) { return late(runtime::millisecond); };
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : late(2 * runtime::millisecond); };
  receive(4), send(4);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(arrived(i, i));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(sent(i), sent_well);
  std::size_t open = 0, most = 0, acks = 0;
  std::set<std::pair<int, int>> unacknowledged;
  for (const LoggedFrame& frame : log.frames()) {
    const std::pair key(frame.header.seq_id.value, frame.header.seq_cnt.value);
    if (frame.outbound && frame.is(RCtl::solicited_data)) {
      EXPECT_EQ(frame.sof, frame.header.seq_cnt.value == 0 ? wire::Sof::i2 : wire::Sof::n2);
      EXPECT_TRUE(unacknowledged.insert(key).second) << "SEQ_ID of an open sequence";
      most = std::max(most, ++open);
    }
    if (frame.outbound || !frame.is(RCtl::ack_1)) continue;
    ++acks, --open;
    EXPECT_EQ(unacknowledged.erase(key), 1u);
    EXPECT_EQ(frame.header.parameter, 1u);
    EXPECT_TRUE(frame.header.has(wire::f_ctl::exchange_responder | wire::f_ctl::sequence_recipient));
  }
  EXPECT_EQ(acks, 16u);
  EXPECT_EQ(most, credit);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

// FC-VI 5.5, 5.2.2: a message completes when its last ACK came; at Reliable Reception when its response came.
TEST_P(Class2, sending_lastAckLate_completesThen) {
  begin(GetParam());
  faults.on_link_control = [](const wire::FcHeader& header) {
    return header.seq_cnt.value == 3 ? late(runtime::second) : pass;
  };
  receive(), send();
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_TRUE(arrived(0, 0));
  EXPECT_EQ(sent(0), reception() ? sent_well : 0u);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-FS: with ACK_0 one ACK closes a sequence, and there is no credit to wait for.
TEST_P(Class2Ack0, connected_sends_areAcknowledgedOnce) {
  begin(GetParam());
  send_all(4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(arrived(i, i) && sent(i) == sent_well);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::ack_0); }), 4u);
  EXPECT_EQ(log.count(RCtl::ack_1), 0u);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

// FC-VI B.2.6.1 rules 8a a) b) c): F_BSY or P_BSY to a data frame on an in-order fabric: ABTS; unreliable: Merr;
// reliable: Error, Herr.
TEST_P(Class2, sending_fBsy_isAborted) {
  begin(GetParam());
  answer(5, RCtl::f_bsy_data);
  send_all(3);
  expect_second_aborted();
}
TEST_P(Class2, sending_pBsy_isAborted) {  // FC-VI B.2.6.1 rules 8a a) b) c)
  begin(GetParam());
  answer(5, RCtl::p_bsy);
  send_all(3);
  expect_second_aborted();
}

// FC-VI B.2.6.1 rules 8a a) c): ... of the last frame of a message: nothing follows that could tell the responder; the
// ABTS goes at once, and not after E_D_TOV.
TEST_P(Class2, sending_lastFrameBusied_isAbortedAtOnce) {
  for (const RCtl busy : {RCtl::f_bsy_data, RCtl::p_bsy}) {
    begin(GetParam(), to_string(busy));
    const std::size_t first = sends.size();
    answer(7, busy);
    send_all(2);
    EXPECT_GE(log.count([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::abts); }), 1u);
    EXPECT_EQ(sent(first), sent_well);
    EXPECT_EQ(client_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    faults.on_frame = {};
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// FC-VI B.2.6.1 rule 8b: on an out-of-order fabric the busied frame is sent again, marked so, and everything arrives.
TEST_P(Class2OutOfOrder, sending_busy_isSentAgain) {
  for (const RCtl busy : {RCtl::f_bsy_data, RCtl::p_bsy}) {
    begin(GetParam(), to_string(busy));
    const std::size_t first = sends.size();
    answer(5, busy);
    send_all(3);
    for (std::size_t i = first; i < first + 3; ++i) EXPECT_TRUE(arrives_somewhere(i) && sent(i) == sent_well) << i;
    EXPECT_EQ(log.count([](const LoggedFrame& f) { return f.outbound && f.header.has(wire::f_ctl::retransmitted); }),
              1u);
    EXPECT_EQ(log.count(RCtl::abts), 0u);
  }
}

// FC-VI B.2.6.1 rules 8c a) b) c): F_RJT or P_RJT to a data frame.
TEST_P(Class2, sending_fRjt_isAborted) {
  begin(GetParam());
  answer(5, RCtl::f_rjt);
  send_all(3);
  expect_second_aborted();
}
TEST_P(Class2, sending_pRjt_isAborted) {  // FC-VI B.2.6.1 rules 8c a) b) c)
  begin(GetParam());
  answer(5, RCtl::p_rjt);
  send_all(3);
  expect_second_aborted();
}

// FC-VI 8.4.2 b) h), B.2.4 rules 1 a), 2 a), B.2.6.1 rules 8d a) b) c): a frame is lost: the responder says "Abort
// Sequence, Perform ABTS" in the ACK of the next one, and the originator does.
TEST_P(Class2, receiving_frameLost_isAbortedByAck) {
  begin(GetParam());
  faults.on_frame = to_frame(5, lose);
  send_all(3);
  expect_second_aborted();
  EXPECT_EQ(received(1), receive_lost);
  const auto demands = log.count([](const LoggedFrame& f) {
    return !f.outbound && f.is(RCtl::ack_1) &&
           (f.header.f_ctl & wire::f_ctl::abort_condition_mask) == wire::f_ctl::abort_perform_abts;
  });
  EXPECT_GE(demands, 1u);
  EXPECT_EQ(arrived(2, 2), unreliable());
}

// FC-VI 8.4.2 h), B.2.4 rules 1 a), 2 a): from the error on every further frame is answered so: at Unreliable
// Delivery those of the message (Merr), else all of the handle (Herr). The ACKs are late: the originator has sent all
// that its credit allows.
TEST_P(Class2, errored_everyFurtherFrame_isAnsweredByAbort) {
  begin(GetParam());
  faults.on_frame = to_frame(5, lose);
  faults.on_link_control = [](const wire::FcHeader&) { return late(runtime::millisecond); };
  send_all(3);
  std::vector<std::uint16_t> messages;                      // by OX_ID
  std::set<std::pair<std::size_t, int>> aborted, accepted;  // message, SEQ_CNT
  for (const LoggedFrame& f : log.frames()) {
    const bool data = f.outbound && f.header.type == wire::Type::fc_vi && f.is(RCtl::solicited_data);
    if (data && std::find(messages.begin(), messages.end(), f.header.ox_id.value) == messages.end())
      messages.push_back(f.header.ox_id.value);
    if (f.outbound || !f.is(RCtl::ack_1)) continue;
    const bool abort = (f.header.f_ctl & wire::f_ctl::abort_condition_mask) == wire::f_ctl::abort_perform_abts;
    const auto message = std::find(messages.begin(), messages.end(), f.header.ox_id.value);
    if (message != messages.end())
      (abort ? aborted : accepted).emplace(message - messages.begin(), f.header.seq_cnt.value);
  }
  using Frames = std::set<std::pair<std::size_t, int>>;
  EXPECT_EQ(aborted,
            unreliable() ? (Frames{{1, 2}, {1, 3}}) : (Frames{{1, 2}, {1, 3}, {2, 0}}));  // then the DISCONNECT_RQST
  EXPECT_EQ(accepted.count({1, 0}), 1u);
  EXPECT_EQ(accepted.size(), unreliable() ? 9u : 5u);
}

// FC-VI B.2.6.1 rules 8e a) b) c): no ACK. Just before E_D_TOV nothing has happened; just after it the
// exchange is aborted.
TEST_P(Class2, sending_acksLost_timesOutAfterEdTov) {
  begin(GetParam());
  int acks = 0;
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client || frame.number == 0 ? pass : lose;
  };  // no response tells it
  faults.on_link_control = [&](const wire::FcHeader& header) {
    return header.s_id == server->port.n_port_id() && ++acks > 1 ? lose : pass;
  };
  receive(2);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  const runtime::TimeNs begun = fabric.scheduler.now();
  send(1, 100);
  fabric.scheduler.run_until(begun + 2 * runtime::second - runtime::millisecond);
  EXPECT_EQ(sent(1), 0u);
  EXPECT_EQ(log.count(RCtl::abts), 0u);
  fabric.scheduler.run_until(begun + 2 * runtime::second + runtime::millisecond);
  EXPECT_EQ(sent(1), unreliable() ? sent_well : reception() ? send_failed : send_flushed);
  EXPECT_GE(log.count([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::abts); }), 1u);
  EXPECT_EQ(client_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
}

class Class2Reads : public Class2 {};
INSTANTIATE_TEST_SUITE_P(Level, Class2Reads, support::reliable_levels, support::level_name);

// FC-VI 5.2.4, 5.5: RDMA Read and RDMA Write in class 2, longer than the credit of either port, in IUs of their own.
TEST_P(Class2Reads, connected_rdma_arrives) {
  begin(GetParam());
  constexpr std::uint32_t large = 100'000;
  for (std::uint32_t i = 0; i < large; ++i) {
    *server->bytes(server->data + i) = static_cast<std::uint8_t>(i * 7 + (i >> 8));
    *client->bytes(client->data + large + i) = static_cast<std::uint8_t>(i * 3 + (i >> 8));
  }
  const auto read =
      client->descriptor(vi::control::op_rdma_read, {{client->data, large}}, server->data, server->handle);
  const auto write = client->descriptor(vi::control::op_rdma_write, {{client->data + large, large}},
                                        server->data + large, server->handle);
  client_vi->post_send(read, client->handle), client_vi->post_send(write, client->handle);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  EXPECT_EQ(client->status(write), vi::status::done | vi::status::op_rdma_write);
  EXPECT_EQ(std::memcmp(client->bytes(client->data), server->bytes(server->data), 2 * large), 0);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

class OneSided : public support::AtLevel {
 public:
  OneSided()
      : AtLevel({.address = {}, .class_2 = true}, [](fc2::NPortConfig& config, std::size_t index) {
          config.end_to_end_credit = index == 0 ? credit : std::uint16_t{0};
        }) {}
};
INSTANTIATE_TEST_SUITE_P(Level, OneSided, support::all_levels, support::level_name);

// FC-VI 8.1: class 2 is used only between ports that both offer it; else messages go in class 3.
TEST_P(OneSided, connected_peerWithoutClass2_usesClass3) {
  begin(GetParam());
  receive(), send();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 0) && sent(0) == sent_well);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return wire::class_of_service(f.sof) == 2; }), 0u);
}

/// A port of another make, which asks in class 2.
struct Stranger final : fc2::ExchangeUser {
  void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    opcodes.push_back(wire::fcvi::DeviceHeader::parse(32, iu)->opcode);
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override { ++failures; }
  std::vector<wire::fcvi::Opcode> opcodes;
  int failures = 0;
};

// FC-VI C.1: set-up IUs that come in class 2 are answered in class 2. The ACK of RESP1 is lost: RESP2 says the same.
// The ACK of RESP3 is lost: E_D_TOV and an ABTS end the exchange, and nothing else.
TEST_P(Class2, idle_connectRqstInClass2_isAnsweredSo) {
  begin(GetParam());
  const auto before = server->provider.open_setups();  // a received one lives with its connection
  using wire::fcvi::Opcode;
  int acks = 0;
  faults.on_link_control = [&](const wire::FcHeader& header) {
    return header.s_id == client->port.n_port_id() && ++acks > 0 ? lose : pass;
  };
  Stranger stranger;
  fc2::Exchange* exchange = client->port.originate(server->port.n_port_id(), wire::Type::fc_vi, stranger);
  exchange->use_class_2();
  wire::fcvi::ConnectRqst rqst;
  rqst.connection_id = wire::ConnectionId{0x7777};
  rqst.payload.handle = wire::FcviHandle{0x7777};
  std::vector<std::uint8_t> iu(rqst.size());
  rqst.write(iu);
  client->port.send(*exchange, RCtl::unsolicited_control, std::span(iu).first(32), std::span(iu).subspan(32),
                    {.transfer_initiative = true});
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(stranger.opcodes, std::vector{Opcode::connect_resp1});
  wire::fcvi::ConnectResp2 resp2;
  resp2.handle = wire::FcviHandle::unassigned;
  resp2.connection_id = rqst.connection_id;
  std::array<std::uint8_t, 32> bytes;
  resp2.write(bytes);
  client->port.send(*exchange, RCtl::solicited_control, bytes, {}, {.transfer_initiative = true});
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(stranger.opcodes, (std::vector{Opcode::connect_resp1, Opcode::connect_resp3}));
  fabric.run_for(40 * runtime::second);
  EXPECT_EQ(acks, 2);
  EXPECT_EQ(stranger.failures, 0);
  EXPECT_EQ(log.count([](const LoggedFrame& f) {
    return f.header.type == wire::Type::fc_vi && wire::class_of_service(f.sof) != 2;
  }),
            0u);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
  EXPECT_EQ(server->provider.open_setups(), before);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-FS "N_Port Login required": the login is gone at the other end, as after a LOGO: the connection ends at once.
TEST_P(Class2, sending_loginRequired_isLoggedOut) {
  begin(GetParam());
  server->port.remote_port(client->port.n_port_id()).implicit_logout();
  send();
  fabric.run_for(runtime::millisecond);
  EXPECT_FALSE(client->port.remote_port(server->port.n_port_id()).logged_in());
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
}

// FC-FS: the fabric rejects what it cannot deliver (F_RJT), and a port what comes without a login (P_RJT): rule
// 8c for real.
TEST_P(Class2, sending_nobodyThere_isRejected) {
  begin(GetParam());
  const wire::FcHeader data{.r_ctl = RCtl::solicited_data,
                            .d_id = {0x01EE00},
                            .s_id = client->port.n_port_id(),
                            .type = wire::Type::fc_vi,
                            .f_ctl = wire::f_ctl::end_sequence | wire::f_ctl::ack_form_ack_1,
                            .ox_id = {0x77}};
  const auto inject = [&](wire::FcHeader header) {
    fabric.fabric.ingress_of(client->port)
        ->receive(support::made_frame(fabric.pool, header, {}, wire::Sof::i2, wire::Eof::n));
    fabric.run_for(runtime::millisecond);
  };
  inject(data);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::f_rjt); }), 1u);
  fc2::NPort& stranger =
      fabric.add_port([](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = credit; });
  fabric.attach(2);
  fabric.run_for(runtime::second);
  wire::FcHeader to_stranger = data;
  to_stranger.d_id = stranger.n_port_id();
  inject(to_stranger);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::p_rjt); }), 1u);
  fabric.detach(2);
}
}  // namespace
