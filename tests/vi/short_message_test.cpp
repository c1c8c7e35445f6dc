// The short cuts for messages of one data segment do what the functions do that they pass by: the same random history
// of two VIs, one with them and one without, shows the same at every step.
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "tests/support/vi_node.hpp"
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using enum ReliabilityLevel;

constexpr std::uint32_t most_short_bytes =
    48;  // of a message and of a frame; some are placed word by word, some copied

/// One of the two. All that a history says of memory is relative to it.
class ShortMessageEnd {
 public:
  ShortMessageEnd(ReliabilityLevel level, bool short_cuts, bool takes)
      : bench_({.level = level, .max_transfer_size_bytes = 40, .guard = &guard_}), short_cuts_(short_cuts) {
    bench_.listener.takes = takes;
    extra_ = bench_.allocate(4096 + 128 * 40, 64);
    bench_.allocate(64, 64);  // what is said to end there may go on
    small_ = bench_.allocate(64, 64);
    EXPECT_EQ(
        bench_.nic.memory().register_region(small_.address(), small_.host, sizeof(ControlSegment), {}, small_handle_),
        Return::Success);
    register_extra();
    bench_.connect();
  }

  // --- the consumer -----------------------------------------------------------------------------------------------
  struct Shape {
    bool receive = false;
    std::uint16_t control = 0;
    std::uint32_t reserved = 0;
    int length_error = 0;
    std::vector<std::uint32_t> segments;  // their lengths
    std::uint32_t bad_segment = 99;       // its handle is wrong
    bool in_extra = false;                // the data lie there
    bool at_its_end = false;              // or one byte behind
    bool itself_in_extra = false;         // the descriptor
    std::uint8_t content = 0;
  };
  void post(const Shape& shape) {
    const Piece place = shape.itself_in_extra ? Piece{extra_.host + 4096 + 128 * (posted_.size() % 40), 96}
                                              : bench_.allocate(sizeof(ControlSegment) + 4 * sizeof(Segment), 64);
    const Posted posted{place.host};
    std::uint32_t sum = 0;
    const bool rdma = !shape.receive && (shape.control & control::op_mask) != 0;
    std::size_t at = 0;
    if (rdma) posted.segment(at++) = {Bench::remote_address, Bench::remote_handle.value, 0};
    for (std::uint32_t index = 0; index != shape.segments.size(); ++index) {
      const std::uint32_t bytes = shape.segments[index];
      const std::size_t offset =
          shape.at_its_end ? extra_.size - bytes + shape.content % 2 : 64 * (posted_.size() % 60);
      const Piece data = shape.in_extra ? Piece{extra_.host + offset, bytes} : bench_.allocate(bytes);
      if (!shape.receive)
        for (std::uint32_t byte = 0; byte != bytes; ++byte)
          data.bytes()[byte] = static_cast<std::uint8_t>(shape.content + byte);
      posted.segment(at) = bench_.segment(data);
      if (shape.in_extra) posted.segment(at).handle = extra_handle_.value;
      if (index == shape.bad_segment) posted.segment(at).handle ^= 0x40000;
      ++at;
      buffers_.push_back(data);
      sum += bytes;
    }
    posted.control() = {.segment_count = static_cast<std::uint16_t>(at),
                        .control = shape.control,
                        .reserved = shape.reserved,
                        .immediate_data = 0xABCD0000u + shape.content,
                        .length_bytes = sum + static_cast<std::uint32_t>(shape.length_error)};
    posted_.push_back(posted);
    if (at != 1) long_.push_back(posted);
    const wire::MemHandle handle = shape.itself_in_extra ? extra_handle_ : bench_.arena_handle;
    shape.receive ? bench_.vi->post_receive(posted.address(), handle) : bench_.vi->post_send(posted.address(), handle);
  }
  /// A descriptor of a control segment, at the end of its region, to which a data segment is added when it is posted.
  void post_growing(bool receive) {
    const Posted posted{small_.host};
    posted.control() = {};
    receive ? bench_.vi->post_receive(posted.address(), small_handle_)
            : bench_.vi->post_send(posted.address(), small_handle_);
    posted.segment(0) = bench_.segment(bench_.allocate(8));
    posted.control().segment_count = 1;
    posted.control().length_bytes = 8;
    posted_.push_back(posted);
  }
  /// A program that writes into a descriptor that it has posted. Of a short one it may count or not.
  void meddle(std::uint32_t draw) {
    if (long_.empty()) return;
    const Posted& posted = long_[long_.size() - 1 - draw % std::min<std::size_t>(4, long_.size())];
    switch (draw / 16 % 5) {
      case 0: posted.control().segment_count = static_cast<std::uint16_t>(draw / 256 % 3); break;
      case 1: posted.control().control = static_cast<std::uint16_t>(draw / 256 % 32); break;
      case 2: posted.control().length_bytes = draw / 256 % 44; break;
      case 3: posted.segment(0).length_or_reserved = draw / 256 % 44; break;
      case 4: posted.segment(0).address += 1 + draw / 256 % 3; break;
    }
  }
  void dequeue() {
    if (bench_.listener.takes) return;
    for (const bool receives : {false, true}) {
      std::uint64_t address = 1;
      while (address != 0) {
        const Return result = receives ? bench_.vi->receive_done(address) : bench_.vi->send_done(address);
        tell(receives ? "receive done" : "send done", static_cast<std::uint32_t>(result));
      }
    }
  }
  void register_again() {
    EXPECT_EQ(bench_.nic.memory().deregister(extra_.address(), extra_handle_), Return::Success);
    register_extra();
  }
  void set_gone(bool gone) {
    guard_.allows = [gone](const std::byte*, std::size_t) { return !gone; };
  }

  // --- the transport ----------------------------------------------------------------------------------------------
  /// `error_bits`: with what the next message completes; `leave`: not now.
  void send(std::uint32_t error_bits, bool leave) {
    std::array<std::uint8_t, most_short_bytes> frame{};
    if (!bench_.vi->can_transmit()) return;
    if (short_cuts_ && error_bits == 0 && !leave)
      if (const auto found = bench_.vi->read_short_send(frame)) {
        ++taken;
        tell_send(SendKind::Send, found->has_immediate, found->immediate_data, found->length_bytes, frame);
        return bench_.vi->complete_short_send(*found);
      }
    auto work = bench_.vi->begin_send();
    if (!work) return tell("nothing to send", 0);
    if (work->kind != SendKind::RdmaRead && work->length_bytes <= most_short_bytes) {
      const std::span room = std::span(frame).first(work->length_bytes);
      if (!work->data.gather(room)) {
        tell("gone", 0);
        return bench_.vi->complete_send(*work, status::protection_error);
      }
    }
    tell_send(work->kind, work->has_immediate, work->immediate_data, work->length_bytes, frame);
    if (leave) return sends_.push_back(*work);
    bench_.vi->complete_send(*work, error_bits);
  }
  void receive(std::span<const std::uint8_t> data, std::optional<std::uint32_t> immediate, bool leave) {
    if (!bench_.vi->can_receive()) return;
    if (short_cuts_ && !leave && bench_.vi->receive_short(data, immediate)) {
      ++taken;
      return;
    }
    auto work = bench_.vi->claim_receive(data.size());
    if (!work) return tell("no receive", 0);
    std::uint32_t error_bits = work->error_bits;
    if (error_bits == 0 && !work->data.scatter(data)) error_bits = status::protection_error;
    const auto length = static_cast<std::uint32_t>(data.size());
    if (leave && error_bits == 0) return receives_.push_back({*work, length});
    bench_.vi->complete_receive(*work, error_bits, status::op_receive, error_bits == 0 ? length : 0,
                                error_bits == 0 ? immediate : std::nullopt);
  }
  /// The oldest message that was left.
  void finish_one() {
    if (!sends_.empty()) {
      bench_.vi->complete_send(sends_.front(), 0);
      sends_.erase(sends_.begin());
    }
    if (!receives_.empty()) {
      bench_.vi->complete_receive(receives_.front().first, 0, status::op_receive, receives_.front().second, {});
      receives_.erase(receives_.begin());
    }
  }
  void lose_connection() { bench_.vi->endpoint_event(endpoint::ConnectionLost{}); }
  void connect_again() {
    if (bench_.vi->state() != State::Error) return;
    bench_.vi->endpoint_event(endpoint::DisconnectRequested{});
    bench_.vi->endpoint_event(endpoint::DisconnectAnswered{});
    dequeue();
    sends_.clear();
    receives_.clear();
    bench_.connect();
    tell(to_string(bench_.vi->state()), 0);
  }

  /// All that can be seen: signals, descriptors, data, queues.
  std::string seen() {
    std::string text = std::move(told_);
    told_.clear();
    for (const auto& signal : bench_.signals()) text += signal + '\n';
    for (const Posted& posted : posted_) append(text, &posted.control(), sizeof(ControlSegment));
    for (const Piece& buffer : buffers_) append(text, buffer.host, buffer.size);
    const Vi& vi = *bench_.vi;
    for (const std::uint64_t number : {std::uint64_t(vi.state()), vi.unclaimed_receives(), vi.posted_count(false),
                                       vi.posted_count(true), std::uint64_t(vi.send_queue_empty()),
                                       std::uint64_t(vi.receive_queue_empty()), std::uint64_t(vi.unexpected_events())})
      text += ' ' + std::to_string(number);
    EXPECT_TRUE(vi.is_consistent());
    return text;
  }

  int taken = 0;  // short cuts

 private:
  static std::string_view to_string(State state) { return state == State::Connected ? "connected" : "not connected"; }
  static void append(std::string& text, const void* bytes, std::size_t size) {
    text.append(static_cast<const char*>(bytes), size);
  }
  void tell(std::string_view what, std::uint32_t value) {
    told_ += std::string(what) + ' ' + std::to_string(value) + '\n';
  }
  void tell_send(SendKind kind, bool has_immediate, std::uint32_t immediate, std::uint32_t length,
                 std::span<const std::uint8_t> frame) {
    tell("kind", static_cast<std::uint32_t>(kind));
    tell("immediate", has_immediate ? immediate : 0);
    tell("length", length);
    if (kind != SendKind::RdmaRead) append(told_, frame.data(), std::min<std::size_t>(length, frame.size()));
  }
  void register_extra() {
    EXPECT_EQ(bench_.nic.memory().register_region(extra_.address(), extra_.host, extra_.size, {}, extra_handle_),
              Return::Success);
  }

  support::UnmappedMemory guard_;
  Bench bench_;
  const bool short_cuts_;
  Piece extra_, small_;
  wire::MemHandle extra_handle_{}, small_handle_{};
  std::vector<Posted> posted_, long_;
  std::vector<Piece> buffers_;
  std::vector<SendWork> sends_;
  std::vector<std::pair<ReceiveWork, std::uint32_t>> receives_;
  std::string told_;
};

/// Does to both what one number says, so that they can differ by the short cuts only.
class ShortMessageHistory {
 public:
  ShortMessageHistory(ReliabilityLevel level, std::uint32_t seed)
      : random_(seed), with_(level, true, seed % 2 == 0), without_(level, false, seed % 2 == 0) {}

  void step() {
    if (number(4) == 0) both([](ShortMessageEnd& end) { end.connect_again(); });  // where it is in Error
    const std::uint32_t draw = number(100);
    if (draw < 28) return post();
    if (draw < 53) return send();
    if (draw < 78) return receive();
    both([draw, more = number(1u << 16)](ShortMessageEnd& end) {
      if (draw < 84)
        end.dequeue();
      else if (draw < 90)
        end.finish_one();
      else if (draw < 93)
        end.meddle(more);
      else if (draw < 95)
        end.register_again();
      else if (draw < 97)
        end.set_gone(more % 4 == 0);
      else if (draw < 98)
        end.lose_connection();
      else
        end.post_growing(more % 2 == 0);
    });
  }
  [[nodiscard]] bool same() { return with_.seen() == without_.seen(); }
  [[nodiscard]] int taken() const { return with_.taken; }

 private:
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  bool seldom() { return number(16) == 0; }
  template <class Do>
  void both(Do what) {
    what(with_);
    what(without_);
  }
  void post() {
    ShortMessageEnd::Shape shape;
    shape.receive = number(2) == 0;
    shape.control = seldom() ? static_cast<std::uint16_t>(number(32)) : number(4) == 0 ? control::immediate : 0;
    if (seldom()) shape.reserved = 1;
    if (seldom()) shape.length_error = 1 - 2 * static_cast<int>(number(2));
    for (std::uint32_t left = seldom() ? number(4) : 1; left != 0; --left)
      shape.segments.push_back(seldom() ? 0 : 1 + number(44));
    if (seldom()) shape.bad_segment = 0;
    shape.in_extra = number(4) == 0;
    shape.at_its_end = number(4) == 0;
    shape.itself_in_extra = number(6) == 0;
    shape.content = static_cast<std::uint8_t>(number(256));
    both([&](ShortMessageEnd& end) { end.post(shape); });
  }
  void send() {
    const std::uint32_t error = number(32) == 0 ? status::transport_error : 0;
    const bool leave = number(8) == 0;
    both([&](ShortMessageEnd& end) { end.send(error, leave); });
  }
  void receive() {
    std::array<std::uint8_t, most_short_bytes> data;
    std::ranges::generate(data, [&] { return static_cast<std::uint8_t>(number(256)); });
    const std::uint32_t size = number(4) == 0 ? number(most_short_bytes) : number(12);
    const auto immediate = number(4) == 0 ? std::optional(number(1000)) : std::nullopt;
    const bool leave = number(8) == 0;
    both([&](ShortMessageEnd& end) { end.receive(std::span(data).first(size), immediate, leave); });
  }

  std::mt19937 random_;
  ShortMessageEnd with_, without_;
};

// VI-ARCH 2.3: from its post on a descriptor is the provider's. A short one goes as it was posted.
TEST(ShortDescriptor, posted_and_then_written_to_goes_as_it_was_posted) {
  Bench bench({.level = ReliableDelivery});
  bench.connect();
  const Piece data = bench.allocate(8);
  const Posted posted{bench.allocate(64, 64).host};
  posted.control() = {.segment_count = 1, .control = control::immediate, .immediate_data = 7, .length_bytes = 8};
  posted.segment(0) = bench.segment(data);
  bench.vi->post_send(posted.address(), bench.arena_handle);
  posted.control() = {.segment_count = 9, .control = 0xFFFF, .immediate_data = 8, .length_bytes = 4};
  posted.segment(0) = {};
  std::array<std::uint8_t, 64> frame{};
  const auto found = bench.vi->read_short_send(frame);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length_bytes, 8U);
  EXPECT_TRUE(found->has_immediate);
  EXPECT_EQ(found->immediate_data, 7U);
}

// VI-ARCH 3.2.2.1: a receive that was posted under another tag is judged by the one that the VI has.
TEST(ShortDescriptor, posted_before_the_VI_has_another_tag_is_judged_anew) {
  Bench bench({.level = ReliableDelivery});
  Ptag mine{}, other{};
  ASSERT_EQ(bench.nic.memory().create_ptag(mine), Return::Success);
  ASSERT_EQ(bench.nic.memory().create_ptag(other), Return::Success);
  ViAttributes attributes = bench.vi->attributes();
  attributes.ptag = mine;
  ASSERT_EQ(bench.nic.set_vi_attributes(*bench.vi, attributes), Return::Success);
  const Piece memory = bench.allocate(128, 64);
  wire::MemHandle handle{};
  ASSERT_EQ(bench.nic.memory().register_region(memory.address(), memory.host, memory.size, {.ptag = mine}, handle),
            Return::Success);
  const Posted posted{memory.host};
  posted.control() = {.segment_count = 1};
  posted.segment(0) = {memory.address() + 64, handle.value, 8};
  bench.vi->post_receive(posted.address(), handle);
  attributes.ptag = other;
  ASSERT_EQ(bench.nic.set_vi_attributes(*bench.vi, attributes), Return::Success);
  bench.connect();
  const std::array<std::uint8_t, 8> data{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_FALSE(bench.vi->receive_short(data, std::nullopt));
  EXPECT_EQ(memory.bytes()[64], 0);
}

class ShortMessage : public ::testing::TestWithParam<ReliabilityLevel> {};

TEST_P(ShortMessage, any_history_is_the_same_without_short_cuts) {
  int taken = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    ShortMessageHistory history(GetParam(), seed);
    for (int step = 0; step != 80; ++step) {
      history.step();
      ASSERT_TRUE(history.same()) << "seed " << seed << ", step " << step;
    }
    taken += history.taken();
  }
  EXPECT_GT(taken, 1500);
}
INSTANTIATE_TEST_SUITE_P(Levels, ShortMessage,
                         ::testing::Values(UnreliableDelivery, ReliableDelivery, ReliableReception));

}  // namespace
}  // namespace vi::testing
