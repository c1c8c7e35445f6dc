// Frames that no honest peer sends: nothing crashes, everything is counted, honest traffic goes on.
#include <gtest/gtest.h>

#include <random>

#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/messages.hpp"

namespace fc2 {
namespace {

using wire::RCtl;

// As message data goes to an FC-4.
struct DataSink final : DataFrameUser {
  void data_frame_received(const ReceivedFrame&) override { ++frames; }
  bool abort_received(wire::FcId, wire::OxId) override { return false; }
  void sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) override {
    exchange.port().release(exchange);
  }
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  std::uint64_t frames = 0;
};

class BadFramesTest : public testing::Test {
 protected:
  BadFramesTest() {
    fabric.bring_up();
    fabric.port(1).set_data_user(support::fc4, sink);
    EXPECT_TRUE(fabric.log_in(0, 1));
    for (const std::size_t i : {0, 1}) fabric.port(i).remote_port(wire::well_known::name_server).log_in();
    fabric.run_for(second);
  }
  ~BadFramesTest() override {
    for (std::size_t i = 0; i < fabric.size(); ++i) EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U) << i;
    for (const auto service : {wire::well_known::name_server, wire::well_known::fabric_controller})
      EXPECT_EQ(fabric.fabric.service_port(service).counters().unexpected_events, 0U);
  }
  FramePtr frame(const std::vector<std::uint8_t>& bytes) { return support::raw_frame(fabric.pool, bytes); }
  std::vector<std::uint8_t> with_header(wire::FcHeader header, const std::vector<std::uint8_t>& payload) const {
    const std::size_t fill = wire::fill_bytes_for(payload.size());
    header.f_ctl |= wire::f_ctl::single_frame_request | static_cast<std::uint32_t>(fill);
    std::vector<std::uint8_t> bytes = support::bytes_of_frame(header, payload);
    bytes.resize(bytes.size() + fill);
    return bytes;
  }
  /// A valid frame of each ELS and CT request from port 0: to port 1, and to each service.
  std::vector<std::vector<std::uint8_t>> valid_frames() {
    std::vector<std::vector<std::uint8_t>> frames;
    std::uint16_t ox_id = 0x4000;
    const auto add = [&](RCtl r_ctl, wire::Type type, wire::FcId d_id, const std::vector<std::uint8_t>& payload) {
      const wire::FcHeader header{
          .r_ctl = r_ctl, .d_id = d_id, .s_id = fabric.port(0).n_port_id(), .type = type, .ox_id = {ox_id++}};
      frames.push_back(with_header(header, payload));
    };
    wire::for_each_message<wire::ElsRequests>([&]<class Message>(std::type_identity<Message>) {
      std::vector<std::uint8_t> payload(Message{}.size());
      Message{}.write(payload);
      for (const wire::FcId d_id :
           {fabric.port(1).n_port_id(), wire::well_known::f_port, wire::well_known::fabric_controller})
        add(RCtl::els_request, wire::Type::els, d_id, payload);
    });
    wire::for_each_message<wire::CtRequests>([&]<class Message>(std::type_identity<Message>) {
      std::vector<std::uint8_t> payload(Message{}.size());
      Message{}.write(payload);
      add(RCtl::unsolicited_control, wire::Type::ct, wire::well_known::name_server, payload);
    });
    for (const RCtl r_ctl : {RCtl::abts, RCtl::ba_acc, RCtl::ba_rjt, RCtl::nop})
      add(r_ctl, wire::Type::bls, fabric.port(1).n_port_id(), std::vector<std::uint8_t>(12));
    for (const RCtl r_ctl : {RCtl::solicited_data, RCtl::unsolicited_control, RCtl::unsolicited_command})
      add(r_ctl, wire::Type::fc_vi, fabric.port(1).n_port_id(), std::vector<std::uint8_t>(64));
    return frames;
  }
  /// As if port 0 had sent it, which is logged in again where a frame before ended that: or the switch would
  /// take no more.
  void inject(FramePtr bad) {
    if (!stands()) log_in_again();
    fabric.fabric.ingress_of(fabric.port(0))->receive(std::move(bad));
    fabric.run_for(10 * microsecond);
  }
  [[nodiscard]] bool stands() {
    const auto id = fabric.port(0).n_port_id();
    const RemotePort* at_service = fabric.fabric.service_port(wire::well_known::name_server).find_remote_port(id);
    const RemotePort* at_port = fabric.port(1).find_remote_port(id);
    return fabric.fabric.logged_in_ports() == fabric.size() && at_service != nullptr && at_service->logged_in() &&
           at_port != nullptr && at_port->logged_in();
  }
  void log_in_again() {
    fabric.detach(0);
    fabric.attach(0);
    ASSERT_TRUE(fabric.run_until([&] { return fabric.port(0).online() && fabric.port(1).online(); }));
    for (const wire::FcId id : {wire::well_known::name_server, fabric.port(1).n_port_id()})
      fabric.port(0).remote_port(id).log_in();
    ASSERT_TRUE(fabric.run_until([&] { return stands(); }));
  }
  [[nodiscard]] std::uint64_t discarded() {
    std::uint64_t sum = fabric.fabric.counters().discarded();
    for (std::size_t i = 0; i < fabric.size(); ++i) sum += fabric.port(i).counters().discarded();
    for (const auto service : {wire::well_known::name_server, wire::well_known::fabric_controller})
      sum += fabric.fabric.service_port(service).counters().discarded();
    return sum;
  }
  /// After all that, two other ports log in with each other, and nothing stays behind.
  void expect_honest_traffic() {
    fabric.run_for(200 * second);
    EXPECT_TRUE(fabric.log_in(2, 3));
    EXPECT_TRUE(fabric.log_in(2, 1));
    fabric.run_for(200 * second);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(fabric.port(i).open_exchanges(), 0U) << i;
    EXPECT_EQ(fabric.fabric.service_port(wire::well_known::name_server).open_exchanges(), 0U);
    EXPECT_EQ(fabric.pool.outstanding(), 0U);
  }

  DataSink sink;
  support::TestFabric fabric{4};
};

// A frame shorter than its header is truncated, wherever it arrives.
TEST_F(BadFramesTest, port_every_short_frame_is_counted) {
  for (std::size_t length = 0; length < 24; ++length) {
    fabric.port(1).receive(frame(std::vector<std::uint8_t>(length)));
    inject(frame(std::vector<std::uint8_t>(length)));
  }
  EXPECT_EQ(fabric.port(1).counters().discarded(Discard::Truncated), 24U);
  EXPECT_EQ(fabric.fabric.counters().discarded(Discard::Truncated), 24U);
  expect_honest_traffic();
}

// Fill bytes that exceed the data field: the frame is cut short.
TEST_F(BadFramesTest, port_fill_above_data_field_is_counted) {
  wire::FcHeader header = support::els_request_header(fabric.port(1).n_port_id(), {}, {});
  header.f_ctl |= 3;
  fabric.port(1).receive(support::made_frame(fabric.pool, header));
  EXPECT_EQ(fabric.port(1).counters().discarded(Discard::Truncated), 1U);
}

// Delimiters of classes that an N_Port does not speak (FC-FS: class F is for switches): the frame counts for nothing.
TEST_F(BadFramesTest, port_frame_of_class_f_is_counted) {
  const wire::FcHeader header{.r_ctl = RCtl::solicited_data,
                              .d_id = fabric.port(1).n_port_id(),
                              .s_id = fabric.port(0).n_port_id(),
                              .type = wire::Type::fc_vi};
  FramePtr bad = frame(with_header(header, std::vector<std::uint8_t>(64)));
  bad->sof = wire::Sof::f;
  fabric.port(1).receive(std::move(bad));
  EXPECT_EQ(fabric.port(1).counters().discarded(Discard::BadHeader), 1U);
  EXPECT_EQ(sink.frames, 0U);
}

// Every prefix of a valid frame of every request, through the switch.
TEST_F(BadFramesTest, switch_every_prefix_of_valid_frames) {
  for (const auto& bytes : valid_frames())
    for (std::size_t length = 0; length <= bytes.size(); ++length)
      inject(frame({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}));
  EXPECT_GT(discarded(), 0U);
  expect_honest_traffic();
}

// Every prefix of the frames to the port, straight into the port.
TEST_F(BadFramesTest, port_every_prefix_of_valid_frames) {
  for (const auto& bytes : valid_frames())
    for (std::size_t length = 0; length <= bytes.size(); ++length)
      fabric.port(1).receive(frame({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}));
  expect_honest_traffic();
}

// Random bytes, half of them with addresses that get through.
TEST_F(BadFramesTest, any_random_bytes_are_survived) {
  std::mt19937 random(1);
  for (int i = 0; i < 30'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 200);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (bytes.size() >= 24 && i % 2 == 0) {
      wire::store_big<3>(std::span(bytes), 1, fabric.port(1).n_port_id().value);
      wire::store_big<3>(std::span(bytes), 5, fabric.port(0).n_port_id().value);
    }
    if (i % 3 == 0)
      fabric.port(1).receive(frame(bytes));
    else
      inject(frame(bytes));
  }
  EXPECT_GT(discarded(), 10'000U);
  expect_honest_traffic();
}

// Valid frames with a few bytes changed, and all delimiters: deep into every handler.
TEST_F(BadFramesTest, any_mutated_frames_are_survived) {
  std::mt19937 random(2);
  const auto frames = valid_frames();
  const std::array sofs{wire::Sof::i3, wire::Sof::n3, wire::Sof::i2, wire::Sof::f};
  const std::array eofs{wire::Eof::t, wire::Eof::n, wire::Eof::ni, wire::Eof::a};
  for (int i = 0; i < 30'000; ++i) {
    auto bytes = frames[random() % frames.size()];
    if (i % 2 == 0)
      wire::store_big<2>(std::span(bytes), 16, static_cast<std::uint16_t>(random() % 4));  // ids that meet
    if (i % 4 == 0) bytes[9] = static_cast<std::uint8_t>(random());                        // F_CTL
    for (auto changes = random() % 4; changes > 0; --changes) {
      std::size_t at = random() % bytes.size();
      if (at >= 1 && at <= 7) at = 8 + at;  // the addresses stay, or nothing would get through
      bytes[at % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    FramePtr bad = frame(bytes);
    bad->sof = sofs[random() % 16 < 12 ? 0 : random() % 4];
    bad->eof = eofs[random() % 16 < 12 ? 0 : random() % 4];
    inject(std::move(bad));
  }
  EXPECT_GT(discarded(), 0U);
  EXPECT_GT(fabric.port(1).counters().frames_received, 1'000U);  // they get there
  expect_honest_traffic();
}

// A peer that opens multi-frame sequences and never ends them takes half of the slots at most, and none for long.
TEST_F(BadFramesTest, port_unfinished_sequences_are_forgotten) {
  for (std::uint16_t i = 0; i < 5000; ++i) {
    const wire::FcHeader header{.r_ctl = RCtl::els_request,
                                .d_id = fabric.port(1).n_port_id(),
                                .s_id = fabric.port(0).n_port_id(),
                                .type = wire::Type::els,
                                .ox_id = {static_cast<std::uint16_t>(0x1000 + i)}};
    FramePtr bad = frame(with_header(header, std::vector<std::uint8_t>(64, 0x10)));
    bad->eof = wire::Eof::n;
    fabric.port(1).receive(std::move(bad));
  }
  EXPECT_EQ(fabric.port(1).counters().discarded(Discard::NoResources), 5000U - 4096U / 2);
  expect_honest_traffic();
}

// Requests of many frames that nobody needs: a service keeps nothing of one that is longer than its longest request.
TEST_F(BadFramesTest, name_server_endless_requests_are_cut) {
  for (std::uint16_t i = 0; i < 50; ++i)
    for (std::uint16_t seq_cnt = 0; seq_cnt < 20; ++seq_cnt) {
      wire::FcHeader header{.r_ctl = RCtl::unsolicited_control,
                            .d_id = wire::well_known::name_server,
                            .s_id = fabric.port(0).n_port_id(),
                            .type = wire::Type::ct,
                            .ox_id = {static_cast<std::uint16_t>(0x1000 + i)}};
      header.seq_cnt = {seq_cnt};
      FramePtr bad = frame(with_header(header, std::vector<std::uint8_t>(2048)));
      bad->sof = seq_cnt == 0 ? wire::Sof::i3 : wire::Sof::n3;
      bad->eof = wire::Eof::n;
      inject(std::move(bad));
    }
  EXPECT_EQ(fabric.fabric.service_port(wire::well_known::name_server).counters().discarded(Discard::TooLong), 50U);
  expect_honest_traffic();
}

// The same at a port, where long IUs may come: what all that peers began takes together is limited, and is free again.
TEST_F(BadFramesTest, port_endless_requests_are_bounded_together) {
  const NPortConfig& config = fabric.port(1).config();
  for (std::uint16_t i = 0; i < 200; ++i)
    for (std::uint16_t seq_cnt = 0; seq_cnt < 100; ++seq_cnt) {
      wire::FcHeader header{.r_ctl = RCtl::els_request,
                            .d_id = fabric.port(1).n_port_id(),
                            .s_id = fabric.port(0).n_port_id(),
                            .type = wire::Type::els,
                            .ox_id = {static_cast<std::uint16_t>(0x1000 + i)}};
      header.seq_cnt = {seq_cnt};
      FramePtr bad = frame(with_header(header, std::vector<std::uint8_t>(2048, 0x10)));
      bad->sof = seq_cnt == 0 ? wire::Sof::i3 : wire::Sof::n3;
      bad->eof = wire::Eof::n;
      fabric.port(1).receive(std::move(bad));
      EXPECT_LE(fabric.port(1).assembled_bytes(), config.max_assembled_bytes);
    }
  EXPECT_GT(fabric.port(1).assembled_bytes(), config.max_assembled_bytes / 2);
  EXPECT_GT(fabric.port(1).counters().discarded(Discard::NoResources), 0U);
  expect_honest_traffic();
  EXPECT_EQ(fabric.port(1).assembled_bytes(), 0U);
}

// A peer asks on and on while our frames cannot go: answers do not pile up without end, and it is answered again later.
TEST_F(BadFramesTest, port_that_cannot_answer_is_not_flooded) {
  Channel& output = fabric.fabric.link_of(fabric.port(1))->b.output();
  output.pause();
  const std::size_t most = fabric.port(1).config().max_waiting_frames;
  for (std::size_t i = 0; i < 2 * most; ++i) {
    const wire::FcHeader header{.r_ctl = i % 2 == 0 ? RCtl::abts : RCtl::els_request,
                                .d_id = fabric.port(1).n_port_id(),
                                .s_id = fabric.port(0).n_port_id(),
                                .type = i % 2 == 0 ? wire::Type::bls : wire::Type::els,
                                .ox_id = {static_cast<std::uint16_t>(i)}};
    fabric.port(1).receive(frame(
        with_header(header, i % 2 == 0 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>{0x10, 0, 0, 0})));
  }
  EXPECT_EQ(fabric.pool.outstanding(), most);
  EXPECT_EQ(fabric.port(1).counters().discarded(Discard::NoResources), most);
  output.resume();
  expect_honest_traffic();
  EXPECT_TRUE(fabric.log_in(0, 1));
}

}  // namespace
}  // namespace fc2
