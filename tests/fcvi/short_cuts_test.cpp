// ProviderConfig::short_cuts changes nothing that anybody can see: the same random history of two connected nodes, with
// them and without, gives the same frames at the same times, descriptors, data, counters, states and errors.
#include <cstring>
#include <random>

#include "tests/fcvi/message_nodes.hpp"

namespace {
using support::Fate;
using support::Host;
using support::Level;
using support::MessageFrame;
using vi::Return;

struct ShortCutsSetting {
  bool short_cuts = true, in_order = true;
};

/// One of the two runs. All draws come from outside.
class ShortCutsRun final : public support::MessageNodes {
 public:
  explicit ShortCutsRun(const ShortCutsSetting& setting)
      : MessageNodes({.address = {}, .pipeline_depth = 3, .short_cuts = setting.short_cuts}, {},
                     {.in_order = setting.in_order}) {}
  void TestBody() override {}

  struct Shape {
    std::uint16_t control = 0;
    std::vector<std::uint32_t> segments;
    int length_error = 0;
    bool bad_handle = false;
    std::uint32_t number = 0;  // of the message: its immediate data and its content
  };
  void post(bool at_client, bool receive, const Shape& shape) {
    Host& host = at_client ? *client : *server;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> segments;
    for (const std::uint32_t bytes : shape.segments) {
      std::uint64_t& next = next_data_[at_client];
      if (!receive)
        for (std::uint32_t i = 0; i != bytes; ++i) host.bytes(next)[i] = content(shape.number, i);
      segments.emplace_back(next, bytes);
      next += bytes;
    }
    const Host& other = at_client ? *server : *client;
    const std::uint64_t at =
        host.descriptor(shape.control, segments, Host::data + (20u << 20), other.handle, shape.number);
    if (shape.length_error != 0 || shape.bad_handle) spoil(host, at, shape);
    descriptors_.emplace_back(&host, at);
    vi::Vi& vi = at_client ? *client_vi : *server_vi;
    receive ? vi.post_receive(at, host.handle) : vi.post_send(at, host.handle);
  }
  /// What becomes of the next frames of messages: one letter each.
  void bring(std::string fates) {
    fates_ += fates;
    faults.on_frame = [this](MessageFrame& frame) { return next_fate(frame); };
  }
  void begin_disconnect(bool at_client) {
    ends_.push_back(std::make_unique<support::Done>());
    Host& host = at_client ? *client : *server;
    host.provider.disconnect(at_client ? *client_vi : *server_vi, *ends_.back());
  }
  void pass_time(runtime::TimeNs time) { fabric.run_for(time); }

  std::string seen() {
    std::string text;
    for (const auto& frame : log.frames()) {
      text += std::to_string(frame.at) + (frame.outbound ? '>' : '<') + frame.header.to_string();
      text.append(frame.data.begin(), frame.data.end());
    }
    for (const auto& [host, at] : descriptors_) append(text, host->control(at));
    for (const bool of_client : {false, true}) {
      Host& host = of_client ? *client : *server;
      text.append(reinterpret_cast<const char*>(host.bytes(Host::data)), next_data_[of_client] - Host::data);
      text.append(reinterpret_cast<const char*>(host.bytes(Host::data + (20u << 20))), 8192);
      fcvi::ProviderCounters counters = host.provider.counters();
      taken += counters.short_cuts - std::exchange(taken_before_[of_client], counters.short_cuts);
      counters.short_cuts = 0;
      append(text, counters);
      append(text, host.port.counters());
      text += std::to_string(host.sends_completed) + ' ' + std::to_string(host.receives_completed);
      for (const auto& error : host.errors) text += std::string(to_string(error.error)) + error.cause;
      text += (of_client ? client_vi : server_vi)->endpoint_state_name();
      EXPECT_TRUE(host.provider.is_consistent());
    }
    for (const auto& end : ends_) text += end->result ? std::to_string(int(*end->result)) : "under way";
    return text + std::to_string(fabric.scheduler.now());
  }

  std::uint64_t taken = 0;

 private:
  template <class T>
  static void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static void spoil(Host& host, std::uint64_t at, const Shape& shape) {
    auto control = host.control(at);
    control.length_bytes += static_cast<std::uint32_t>(shape.length_error);
    host.put(at, control);
    if (!shape.bad_handle || shape.segments.empty()) return;
    auto segment = host.get<vi::Segment>(at + sizeof control);
    segment.handle ^= 0x10000;
    host.put(at + sizeof control, segment);
  }
  Fate next_fate(MessageFrame& frame) {
    if (fates_.empty()) return support::pass;
    const char fate = fates_.front();
    fates_.erase(0, 1);
    switch (fate) {
      case 'l': return support::lose;
      case 't': return support::twice;
      case 'h': return support::hold;
      case 'd': return support::late(200 * runtime::microsecond);
      case 'm': frame.header.msg_id = wire::advance(frame.header.msg_id); break;
      case 'n': frame.header.tot_len_or_connection_id ^= 1; break;
      case 'f': frame.header.flags ^= 0xFF; break;
      case 'o': frame.fc.parameter ^= 4; break;
      case 's': frame.fc.seq_cnt.value ^= 1; break;
      case 'e': frame.fc.f_ctl ^= wire::f_ctl::last_sequence; break;
      case 'i': frame.fc.f_ctl ^= wire::f_ctl::sequence_initiative; break;
      case 'q': frame.header.opcode = wire::fcvi::Opcode::write_rqst; break;
      case 'v': frame.header.handle.value ^= 1; break;
      case 'z': frame.frame.eof = wire::Eof::n; break;
      default: return support::pass;
    }
    frame.rewrite();
    return support::pass;
  }

  std::array<std::uint64_t, 2> next_data_{Host::data, Host::data}, taken_before_{};
  std::vector<std::pair<Host*, std::uint64_t>> descriptors_;
  std::string fates_;
  std::vector<std::unique_ptr<support::Done>> ends_;
};

struct ShortCutsCase {
  Level level;
  bool in_order;
};

class ShortCutsHistory {
 public:
  ShortCutsHistory(const ShortCutsCase& given, std::uint32_t seed)
      : level_(given.level), random_(seed), with_({true, given.in_order}), without_({false, given.in_order}) {
    both([&](ShortCutsRun& run) { run.begin(given.level); });
  }

  void step() {
    const std::uint32_t draw = number(100);
    const bool at_client = number(4) != 0;
    if (draw < 35) return post(!at_client, true);
    if (draw < 70) return post(at_client, false);
    if (draw < 76) {
      const std::string letters = "..........lthdmnfosieqvz";
      const char fate = letters[number(static_cast<std::uint32_t>(letters.size()))];
      return both([fate](ShortCutsRun& run) { run.bring(std::string(1, fate)); });
    }
    if (draw < 77) return both([at_client](ShortCutsRun& run) { run.begin_disconnect(at_client); });
    const runtime::TimeNs time = number(8) == 0 ? runtime::second : number(60) * runtime::microsecond;
    both([time](ShortCutsRun& run) { run.pass_time(time); });
  }
  [[nodiscard]] bool same() { return with_.seen() == without_.seen(); }
  void end() {
    both([](ShortCutsRun& run) { run.pass_time(60 * runtime::second); });
    EXPECT_EQ(without_.taken, 0u);
    EXPECT_EQ(with_.unexpected() + without_.unexpected(), 0u);
  }
  [[nodiscard]] std::uint64_t taken() const { return with_.taken; }

 private:
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  bool seldom() { return number(24) == 0; }
  template <class Do>
  void both(Do what) {
    what(with_);
    what(without_);
  }
  void post(bool at_client, bool receive) {
    ShortCutsRun::Shape shape;
    shape.number = number(1u << 16);
    for (std::uint32_t left = seldom() ? number(4) : 1; left != 0; --left)
      shape.segments.push_back(receive ? (seldom() ? number(16) : 6000) : size());
    if (!receive) shape.control = control();
    if (!receive && seldom()) shape.length_error = 1;
    shape.bad_handle = number(64) == 0;
    both([&](ShortCutsRun& run) { run.post(at_client, receive, shape); });
  }
  std::uint32_t size() {
    constexpr std::uint32_t full = support::MessageNodes::frame_bytes;
    const std::uint32_t draw = number(12);
    return draw < 8 ? 1 + number(64) : draw < 9 ? number(3000) : draw < 10 ? full - 1 + number(3) : number(2);
  }
  std::uint16_t control() {
    const std::uint32_t draw = number(16);
    const std::uint16_t immediate = number(4) == 0 ? vi::control::immediate : 0;
    const std::uint16_t fence = seldom() ? vi::control::queue_fence : 0;
    const std::uint16_t kind = draw == 0 ? vi::control::op_rdma_write : draw == 1 ? vi::control::op_rdma_read : 0;
    return static_cast<std::uint16_t>(kind | immediate | fence);
  }

  const Level level_;
  std::mt19937 random_;
  ShortCutsRun with_, without_;
};

class ShortCuts : public ::testing::TestWithParam<ShortCutsCase> {};

TEST_P(ShortCuts, no_history_shows_whether_they_are_taken) {
  std::uint64_t taken = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    ShortCutsHistory history(GetParam(), seed);
    for (int step = 1; step <= 60; ++step) {
      history.step();
      if (step % 12 != 0) continue;
      ASSERT_TRUE(history.same()) << "seed " << seed << ", step " << step;
    }
    history.end();
    ASSERT_TRUE(history.same()) << "seed " << seed;
    taken += history.taken();
  }
  // At Reliable Reception an answer is due, which the machines wait for.
  EXPECT_EQ(taken > 500, GetParam().level != Level::ReliableReception) << taken;
}
INSTANTIATE_TEST_SUITE_P(
    Levels, ShortCuts,
    ::testing::Values(ShortCutsCase{Level::UnreliableDelivery, true}, ShortCutsCase{Level::ReliableDelivery, true},
                      ShortCutsCase{Level::ReliableReception, true}, ShortCutsCase{Level::UnreliableDelivery, false},
                      ShortCutsCase{Level::ReliableDelivery, false}, ShortCutsCase{Level::ReliableReception, false}),
    [](const auto& given) {
      return std::string(given.param.level == Level::UnreliableDelivery ? "Unreliable"
                         : given.param.level == Level::ReliableDelivery ? "Delivery"
                                                                        : "Reception") +
             (given.param.in_order ? "InOrder" : "OutOfOrder");
    });

}  // namespace
