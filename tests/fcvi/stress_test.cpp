// Random operations on several VIs at all levels, with random disconnects, logouts and reconnects; every message that
// arrives is the one that was sent, nothing is left over. One number, the seed, repeats a run.
#include <deque>
#include <random>

#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Connect;
using support::Done;
using support::Host;
using support::Wait;
using vi::Return;

constexpr std::uint32_t most = 12'000, slots = 8;

/// One end of a pair of VIs: a send ring and a receive ring in its host's memory.
struct End {
  Host* host = nullptr;
  vi::Vi* vi = nullptr;
  std::uint64_t memory = 0;  // 2 * slots buffers, then one RDMA target
  std::uint64_t sends[slots]{}, receives[slots]{};
  std::uint32_t next_send = 0, open_sends = 0, next_receive = 0, open_receives = 0;
  std::deque<std::uint32_t> expected;  // numbers of the Sends on their way to this end
  [[nodiscard]] std::uint64_t target() const { return memory + std::uint64_t{2} * slots * most; }
};

struct Pair {
  std::size_t index = 0;
  Level level{};
  End client, server;
  Wait wait;
  Connect request;
  Done accept;
  bool asked = false, accepting = false;
};

class Stress : public support::TwoNodes, public ::testing::WithParamInterface<std::uint32_t> {
 public:
  Stress()
      : TwoNodes({.address = {}, .max_iu_bytes = 5000, .pipeline_depth = 5},
                 {.latency_ns = 5 * runtime::microsecond, .bytes_per_second = 400'000'000}),
        random(GetParam()) {}
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

  void make_pairs() {
    const Level levels[] = {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception};
    for (std::size_t i = 0; i < 6; ++i) {
      Pair& pair = pairs.emplace_back();
      pair.index = i;
      pair.level = levels[i % 3];
      for (End* end : {&pair.client, &pair.server}) {
        end->host = end == &pair.client ? client.get() : server.get();
        end->vi = &end->host->make_vi(pair.level);
        end->memory = Host::data + i * (2 * slots + 1) * most;
      }
    }
  }
  End& other(Pair& pair, const End& end) { return &end == &pair.client ? pair.server : pair.client; }

  void set_up(Pair& pair) {
    if (pair.asked) return;
    pair.wait.result.reset(), pair.request.result.reset(), pair.accept.result.reset();
    pair.client.expected.clear(), pair.server.expected.clear();
    const std::string name = "pair " + std::to_string(pair.index);
    server->provider.connect_wait(server->net(name), runtime::second, pair.wait);
    client->provider.connect_request(*pair.client.vi, client->net("c"), server->net(name), runtime::second,
                                     pair.request);
    pair.asked = true;
    pair.accepting = false;
  }
  void accept_offer(Pair& pair) {
    if (!pair.asked || pair.accepting || pair.wait.result != Return::Success) return;
    pair.accepting = true;
    for (std::uint32_t i = pair.server.open_receives; i < slots; ++i) post_receive(pair.server);
    server->provider.connect_accept(pair.wait.token, *pair.server.vi, pair.accept);
  }
  void post_receive(End& end) {
    if (end.open_receives == slots) return;
    const std::uint32_t slot = end.next_receive++ % slots;
    end.receives[slot] = descriptor(end, 0x8000u + slot, 0, end.memory + std::uint64_t{slots + slot} * most, most);
    end.vi->post_receive(end.receives[slot], end.host->handle);
    ++end.open_receives;
  }
  /// Descriptors have fixed places, so that a run of any length needs no more.
  std::uint64_t descriptor(End& end, std::uint32_t place, std::uint16_t control, std::uint64_t at, std::uint32_t length,
                           std::uint64_t remote = 0, std::uint32_t immediate = 0) {
    const auto pair = (end.memory - Host::data) / ((2 * slots + 1) * most);
    const std::uint64_t old = std::exchange(
        end.host->next_descriptor, Host::base + (pair * 2 * slots + (place & 0x7FFF) + (place >> 15) * slots) * 128);
    const auto made =
        end.host->descriptor(control, {{at, length}}, remote, other(pairs[pair], end).host->handle, immediate);
    end.host->next_descriptor = old;
    return made;
  }
  void post_send(Pair& pair, End& end) {
    if (end.open_sends == slots || end.vi->state() != vi::State::Connected) return;
    const std::uint32_t number = end.next_send++, slot = number % slots, length = 8 + draw(most - 8);
    const std::uint64_t at = end.memory + std::uint64_t{slot} * most;
    End& peer = other(pair, end);
    const std::uint32_t kind = draw(4);
    const bool reads = kind == 3 && vi::is_reliable(pair.level);
    const std::uint16_t operation = reads       ? vi::control::op_rdma_read
                                    : kind == 2 ? vi::control::op_rdma_write
                                                : std::uint16_t{0};
    if (!reads) fill(end.host->bytes(at), number, length);
    const auto control =
        static_cast<std::uint16_t>(operation | (draw(4) == 0 ? vi::control::queue_fence : 0) | vi::control::immediate);
    if (operation == 0) peer.expected.push_back(number);
    end.sends[slot] = descriptor(end, slot, control & (operation == 0 ? 0xFFFF : ~vi::control::immediate & 0xFFFF), at,
                                 length, operation == 0 ? 0 : peer.target(), number);
    ++end.open_sends;
    end.vi->post_send(end.sends[slot], end.host->handle);
    ++messages;
  }
  static void fill(std::uint8_t* at, std::uint32_t number, std::uint32_t length) {
    for (std::uint32_t i = 0; i < length; ++i) at[i] = static_cast<std::uint8_t>(number * 7 + i * 13 + (i >> 8));
  }

  /// Takes what completed; checks the content of every Send that arrived.
  void reap(Pair& pair, End& end) {
    std::uint64_t at = 0;
    while (end.open_sends != 0 && end.vi->send_done(at) != Return::NotDone) --end.open_sends;
    while (end.open_receives != 0) {
      const Return result = end.vi->receive_done(at);
      if (result == Return::NotDone) return;
      --end.open_receives;
      if (result == Return::Success) check(pair, end, at);
    }
  }
  void check(Pair& pair, End& end, std::uint64_t at) {
    const vi::ControlSegment control = end.host->control(at);
    const std::uint32_t number = control.immediate_data;
    // VI-ARCH 2.5: in order and exactly once; at Unreliable Delivery at most once.
    while (!vi::is_reliable(pair.level) && !end.expected.empty() && end.expected.front() != number)
      end.expected.pop_front();
    ASSERT_FALSE(end.expected.empty());
    EXPECT_EQ(end.expected.front(), number);
    end.expected.pop_front();
    std::vector<std::uint8_t> wanted(control.length_bytes);
    fill(wanted.data(), number, control.length_bytes);
    const auto segment = end.host->get<vi::Segment>(at + sizeof(vi::ControlSegment));
    EXPECT_EQ(std::memcmp(end.host->bytes(segment.address), wanted.data(), wanted.size()), 0);
    ++arrived;
  }

  void disconnect_now(Pair& pair, End& end) {
    Done& done = *disconnects.emplace_back(std::make_unique<Done>());
    end.host->provider.disconnect(*end.vi, done);
    static_cast<void>(pair);
  }
  /// Both ends Idle and all calls returned: the next set-up may begin.
  void recover(Pair& pair) {
    const bool failed = pair.request.result.has_value() && (pair.client.vi->state() != vi::State::Connected);
    const bool lost = pair.accept.result.has_value() && pair.server.vi->state() == vi::State::Error;
    if (!pair.asked || (!failed && !lost)) return;
    for (End* end : {&pair.client, &pair.server})
      if (end->vi->state() != vi::State::Idle) disconnect_now(pair, *end);
    const bool quiet = pair.request.result && pair.wait.result && (!pair.accepting || pair.accept.result);
    if (quiet && pair.client.vi->state() == vi::State::Idle && pair.server.vi->state() == vi::State::Idle)
      pair.asked = false;
  }
  void act(Pair& pair) {
    End& end = draw(2) == 0 ? pair.client : pair.server;
    set_up(pair);
    accept_offer(pair);
    post_receive(end), post_receive(end);
    for (std::uint32_t i = draw(4); i > 0; --i) post_send(pair, end);
    if (draw(60) == 0) disconnect_now(pair, end);
    if (draw(400) == 0) client->port.remote_port(server->port.n_port_id()).log_out();
    recover(pair);
    reap(pair, pair.client), reap(pair, pair.server);
  }
  void quiet_down() {
    fabric.run_for(50 * runtime::second);
    for (Pair& pair : pairs) {
      Done rejected;
      if (pair.asked && !pair.accepting && pair.wait.result == Return::Success)
        server->provider.connect_reject(pair.wait.token, rejected);
      for (End* end : {&pair.client, &pair.server}) {
        EXPECT_EQ(disconnect(*end->host, *end->vi), Return::Success);
        reap(pair, *end);
        EXPECT_EQ(end->open_sends + end->open_receives, 0u);
        EXPECT_EQ(end->vi->unexpected_events(), 0u);
      }
    }
    fabric.run_for(60 * runtime::second);
  }
  std::mt19937 random;
  std::deque<Pair> pairs;
  std::vector<std::unique_ptr<Done>> disconnects;
  std::uint64_t messages = 0, arrived = 0;
};

// FC-VI 8.4.1, VI-ARCH 2.5, 6.3: order, content and exactly once at the reliable levels, whatever else happens;
// afterwards all exchanges, frames, handles and set-ups are returned.
TEST_P(Stress, random_operations) {
  make_pairs();
  for (int step = 0; step < 6000; ++step) {
    act(pairs[draw(static_cast<std::uint32_t>(pairs.size()))]);
    fabric.run_for(draw(200) * runtime::microsecond);
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
  quiet_down();
  EXPECT_GT(arrived, messages / 8);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
  for (Host* host : {client.get(), server.get()}) {
    EXPECT_EQ(host->port.open_exchanges(), 0u);
    EXPECT_EQ(host->provider.handles_in_use(), 0u);
    EXPECT_EQ(host->provider.open_setups(), 0u);
  }
  EXPECT_EQ(unexpected(), 0u);
  RecordProperty("messages", static_cast<int>(messages));
  RecordProperty("arrived", static_cast<int>(arrived));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Stress, ::testing::Range(1u, 9u));
}  // namespace
