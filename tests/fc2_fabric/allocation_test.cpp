// No allocation per frame in steady state: counts every operator new of the program.
#include <gtest/gtest.h>

#include "fc2_fabric/node/sequence_sender.hpp"
#include "tests/support/counted_new.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/port_by_hand.hpp"
#include "tests/support/switched_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

struct DataSink final : DataFrameUser {
  void data_frame_received(const ReceivedFrame& frame) override {
    bytes += frame.data_field.size();
    ++frames;
  }
  bool abort_received(wire::FcId, wire::OxId) override { return false; }
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override { ++ius; }
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  std::uint64_t bytes = 0, frames = 0, ius = 0;
};

struct Responder final : DataFrameUser {
  void data_frame_received(const ReceivedFrame& frame) override {
    Exchange* exchange = port->open_for_reply(frame, *this);
    port->send(*exchange, wire::RCtl::solicited_control, {}, frame.data_field, {.last_of_exchange = true});
  }
  bool abort_received(wire::FcId, wire::OxId) override { return false; }
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  NPort* port = nullptr;
};

// Message data, as FC-VI makes it: exchanges of one sequence of several frames, pulled by the transmitter.
class Stream final : public FrameSource {
 public:
  Stream(NPort& port, wire::FcId to, DataSink& sink) : port_(port), to_(to), sink_(sink) {}
  void start(int messages) {
    left_ = messages * frames_per_message;
    port_.transmitter().submit(*this);
  }
  Next next_frame(Frame& frame) override {
    if (left_ == 0) return Next::Exhausted;
    const int position = frames_per_message - (left_ - 1) % frames_per_message - 1;
    if (position == 0) {
      Exchange* exchange = port_.originate(to_, wire::Type::fc_vi, sink_);
      if (exchange == nullptr ||
          !sequence_.begin(*exchange, wire::RCtl::solicited_data, wire::df_ctl::device_header_16))
        return Next::Blocked;
    }
    const SequenceEnd end{.last_of_exchange = true};
    const bool last = position == frames_per_message - 1;
    sequence_.stamp(frame, sequence_.data_field_bytes(), 0, last ? &end : nullptr);
    --left_;
    return Next::Made;
  }

 private:
  static constexpr int frames_per_message = 4;
  NPort& port_;
  wire::FcId to_;
  DataSink& sink_;
  SequenceSender sequence_;
  int left_ = 0;
};

// Design rule 4: from a source through transmitter, link, switch and link into the receiving port, nothing allocates.
TEST(Allocation, steady_state_frames_do_not_allocate) {
  support::TestFabric fabric(2);
  fabric.link = {.latency_ns = 1000, .bytes_per_second = wire::line_rate_bytes_per_second("32GFC")};
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 1));
  DataSink sink;
  fabric.port(1).set_data_user(support::fc4, sink);
  Stream stream(fabric.port(0), fabric.port(1).n_port_id(), sink);
  stream.start(1000);  // the pool and the tables grow to their working set
  fabric.run_for(second);
  ASSERT_EQ(sink.frames, 4000U);
  stream.start(10'000);
  const std::size_t before = support::allocations;
  fabric.run_for(second);
  EXPECT_EQ(support::allocations - before, 0U);
  EXPECT_EQ(sink.frames, 44'000U);
}

// The same over three switches and equal paths, frame by frame: routing is a look-up.
TEST(Allocation, steady_state_frames_between_switches_do_not_allocate) {
  support::SwitchedFabric f(3, {.multipath = Multipath::Frame});
  f.link = {.latency_ns = 1000, .bytes_per_second = wire::line_rate_bytes_per_second("32GFC")};
  const LinkConfig isl{.latency_ns = 1000, .bytes_per_second = wire::line_rate_bytes_per_second("16GFC")};
  for (int i = 0; i < 2; ++i) {
    f.join(0, 1, isl);
    f.join(1, 2, isl);
  }
  f.add_port(0);
  f.add_port(2);
  f.run_for(second);
  ASSERT_TRUE(f.log_in(0, 1));
  DataSink sink;
  f.port(1).set_data_user(support::fc4, sink);
  Stream stream(f.port(0), f.id(1), sink);
  stream.start(1000);
  f.run_for(second);
  ASSERT_EQ(sink.frames, 4000U);
  stream.start(10'000);
  const std::size_t before = support::allocations;
  f.run_for(second);
  EXPECT_EQ(support::allocations - before, 0U);
  EXPECT_EQ(sink.frames, 44'000U);
}

// Requests that are answered one by one: the exchanges of both sides come from their tables.
TEST(Allocation, steady_state_replies_do_not_allocate) {
  support::TestFabric fabric(2);
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 1));
  Responder responder;
  responder.port = &fabric.port(1);
  DataSink sink;
  fabric.port(0).set_data_user(support::fc4, sink);
  fabric.port(1).set_data_user(support::fc4, responder);
  const std::array<std::uint8_t, 64> payload{};
  std::size_t before = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (i == 10'000) before = support::allocations;
    fabric.port(0).request(fabric.port(1).n_port_id(), wire::RCtl::unsolicited_command, wire::Type::fc_vi, payload,
                           sink, second);
    if (i % 16 == 15) fabric.run_for(10 * microsecond);
  }
  EXPECT_EQ(support::allocations - before, 0U);
  EXPECT_EQ(sink.ius, 20'000U);
}

/// Takes an IU, and is done with its exchange.
struct Reader final : ExchangeUser {
  void sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    bytes += iu.size();
    exchange.port().release(exchange);
  }
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  std::size_t bytes = 0;
};

// NPortConfig::max_assembled_bytes limits what peers began and have not ended: what they ended takes no memory,
// in no exchange.
TEST(Allocation, long_ius_that_are_over_keep_no_memory) {
  support::PortByHand p;
  Reader reader;
  p.port.set_user(wire::Type::ct, reader);
  p.without_fabric();
  constexpr std::array<std::uint8_t, 2048> part{};
  constexpr std::uint16_t frames = 100;
  const auto iu = [&] {
    wire::FcHeader header = p.opening(wire::Type::ct, wire::RCtl::unsolicited_control);
    for (std::uint16_t i = 0; i < frames; ++i) {
      const bool last = i == frames - 1;
      header.seq_cnt = {i};
      header.f_ctl =
          wire::f_ctl::first_sequence | (last ? wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative : 0);
      p.receive(header, part, i == 0 ? wire::Sof::i3 : wire::Sof::n3, last ? wire::Eof::t : wire::Eof::n);
    }
  };
  iu();
  const std::size_t before = support::live_bytes;
  for (int i = 0; i < 50; ++i) iu();
  EXPECT_EQ(reader.bytes, std::size_t{51} * frames * part.size());
  EXPECT_LT(support::live_bytes - before, frames * part.size());
}

// The counter counts: the first frames of a fabric do allocate.
TEST(Allocation, first_frames_allocate) {
  const std::size_t before = support::allocations;
  support::TestFabric fabric(2);
  fabric.bring_up();
  EXPECT_GT(support::allocations, before);
}

}  // namespace
}  // namespace fc2
