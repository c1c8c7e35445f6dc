// Random Sends, RDMA Writes, RDMA Reads and invalidations against a model: what memory holds, and what completes.
//
// The model knows no segments: each operation changes memory at once, in the order of its submission, which the
// operations of one end make good by a fence behind each RDMA Read.
#include <random>

#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {

struct ModelCase {
  bool markers, crc;
  std::size_t emss;
  std::optional<IftOptions> ift{};
  bool any_order = false;  // TCP segments are lost, come twice, and in any order
  std::optional<AssociationRules> sctp{};
};
ModelCase over_sctp(const AssociationRules& rules) {
  return {.markers = false, .crc = true, .emss = 1460, .sctp = rules};
}

/// One end writes, reads and sends; the other has the memory.
class Model {
 public:
  Model(const ModelCase& of, unsigned seed) : random_(seed), ends_(settings(of)) {
    ends_.world.network.set_rules([seed, any_order = of.any_order](const streams::Address&, const streams::Address&) {
      streams::StreamRules rules;
      rules.to_acceptor.segmentation = streams::drawn_segments(seed, 1460);
      rules.to_connector.segmentation = streams::drawn_segments(seed + 1, 1460);
      rules.to_acceptor.send_buffer_bytes = any_order ? 12'000 : 4000;
      if (any_order) rules.to_acceptor.trips = streams::drawn_trips(seed, 5, 5, 2 * runtime::millisecond);
      if (any_order) rules.to_connector.trips = streams::drawn_trips(seed + 1, 5, 5, 2 * runtime::millisecond);
      if (any_order && seed % 2 == 0) rules.to_acceptor.segmentation = rules.to_connector.segmentation = nullptr;
      return rules;
    });
    ends_.connect();
    local_stag_ = ends_.client->add(local_);
    remote_stag_ = ends_.server->add(remote_);
    inbox_stag_ = ends_.server->add(inbox_);
  }
  void run(std::size_t operations) {
    for (std::size_t i = 0; i < operations; ++i) {
      const runtime::TimeNs limit = ends_.world.scheduler.now() + 60 * runtime::second;
      while (!submit()) {
        ASSERT_LT(ends_.world.scheduler.now(), limit) << "it stands still";
        step();
      }
      if (draw(8) == 0) step();
    }
    ends_.run(10 * runtime::second);
    check();
  }
  [[nodiscard]] const SpeculationCounts& speculation(bool of_the_client) const {
    return (of_the_client ? ends_.client_core : ends_.server_core).counters.speculation;
  }

 private:
  static constexpr std::uint32_t size = 20'000, receive_octets = 3000;
  static constexpr std::size_t depth = 8;

  static Settings settings(const ModelCase& of) {
    Settings settings;
    settings.request.options = settings.answer = {.wants_markers = of.markers, .crc = of.crc};
    settings.client_emss = settings.server_emss = of.emss;
    settings.ift = of.ift;
    settings.sctp = of.sctp;
    settings.client.send_depth = 2 * depth;
    settings.client.ord = 4;
    settings.server.ird = 4;
    settings.server.receive_depth = depth;
    return settings;
  }
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  void step() { ends_.run(runtime::millisecond); }
  /// Local memory is written anew where no operation that is under way reads it: each has a slice of its own.
  std::uint32_t slice() const { return static_cast<std::uint32_t>(submitted_ % (2 * depth)) * receive_octets; }

  /// False: there is no room now.
  bool submit() {
    if (submitted_ - ends_.client->completions.size() >= 2 * depth) return false;
    switch (draw(4)) {
      case 0: return send();
      case 1: return read();
      default: return write();
    }
  }
  SendRequest request(Operation operation, std::uint32_t octets) {
    return {.id = submitted_, .operation = operation, .pieces = {{local_stag_, slice(), octets}}, .fence = fence_};
  }
  bool post(const SendRequest& of) {
    EXPECT_EQ(ends_.client->post(of), RdmapStream::Posted::taken);
    ++submitted_;
    fence_ = of.operation == Operation::rdma_read;
    return true;
  }
  wire::Bytes fill(std::uint32_t octets) {
    const wire::MutableBytes piece = wire::MutableBytes(local_).subspan(slice(), octets);
    for (std::uint8_t& octet : piece) octet = static_cast<std::uint8_t>(random_());
    return piece;
  }
  bool write() {
    const std::uint32_t octets = draw(receive_octets), at = draw(size - octets);
    const wire::Bytes piece = fill(octets);
    std::copy(piece.begin(), piece.end(), expected_remote_.begin() + at);
    SendRequest of = request(Operation::rdma_write, octets);
    of.remote_stag = remote_stag_;
    of.remote_offset = at;
    return post(of);
  }
  bool read() {
    const std::uint32_t octets = draw(receive_octets), at = draw(size - octets);
    SendRequest of = request(Operation::rdma_read, octets);
    of.remote_stag = remote_stag_;
    of.remote_offset = at;
    reads_[submitted_] = {slice(), {expected_remote_.begin() + at, expected_remote_.begin() + at + octets}};
    return post(of);
  }
  bool send() {
    if (sends_.size() - ends_.server->completions.size() >= depth) return false;
    const std::uint32_t octets = draw(receive_octets);
    const std::uint32_t inbox = static_cast<std::uint32_t>(sends_.size() % depth) * receive_octets;
    EXPECT_EQ(ends_.server->receive(sends_.size(), inbox_stag_, receive_octets, inbox), RdmapStream::Posted::taken);
    const wire::Bytes piece = fill(octets);
    SendRequest of = request(Operation::send, octets);
    of.solicited_event = draw(2) == 0;
    if (draw(3) == 0) of.invalidates = victims_.emplace_back(ends_.server->add(inbox_));
    sends_.push_back({{piece.begin(), piece.end()}, of.solicited_event, of.invalidates});
    return post(of);
  }

  void check() const {
    EXPECT_EQ(remote_, expected_remote_);
    const auto& done = ends_.client->completions;
    ASSERT_EQ(done.size(), submitted_);
    for (std::size_t i = 0; i < done.size(); ++i) {
      ASSERT_EQ(done[i].id, i);
      ASSERT_EQ(done[i].status, Status::success);
    }
    check_received();
    for (const STag victim : victims_)
      EXPECT_FALSE(ends_.server_core.memory.reach(victim, domain, 0, 1, Right::local_read));
    check_reads();
  }
  void check_received() const {
    const auto& received = ends_.server->completions;
    ASSERT_EQ(received.size(), sends_.size());
    for (std::size_t i = 0; i < received.size(); ++i) {
      ASSERT_EQ(received[i].id, i);
      ASSERT_EQ(received[i].octets, sends_[i].octets.size());
      ASSERT_EQ(received[i].solicited_event, sends_[i].solicited);
      ASSERT_EQ(received[i].invalidated, sends_[i].invalidates);
      if (i + depth >= received.size()) {  // its place was not used again
        ASSERT_TRUE(std::equal(sends_[i].octets.begin(), sends_[i].octets.end(),
                               inbox_.begin() + static_cast<std::ptrdiff_t>(i % depth * receive_octets)));
      }
    }
  }
  /// Those whose slice was not used again.
  void check_reads() const {
    for (const auto& [id, read] : reads_) {
      if (id + 2 * depth < submitted_) continue;
      ASSERT_TRUE(std::equal(read.second.begin(), read.second.end(), local_.begin() + read.first)) << id;
    }
  }

  struct Sent {
    std::vector<std::uint8_t> octets;
    bool solicited;
    std::optional<STag> invalidates;
  };
  std::mt19937 random_;
  std::vector<std::uint8_t> local_ = std::vector<std::uint8_t>(2 * depth * receive_octets),
                            remote_ = std::vector<std::uint8_t>(size), expected_remote_ = remote_,
                            inbox_ = std::vector<std::uint8_t>(depth * receive_octets);
  TwoEnds ends_;
  STag local_stag_, remote_stag_, inbox_stag_;
  std::size_t submitted_ = 0;
  bool fence_ = false;
  std::vector<Sent> sends_;
  std::vector<STag> victims_;
  std::map<std::size_t, std::pair<std::uint32_t, std::vector<std::uint8_t>>> reads_;
};

class ModelTest : public ::testing::TestWithParam<ModelCase> {};

// 20 runs of 100 operations: what is left in memory at the end of each is compared.
// RFC 5040 5.1, 5.3, 5.5 rules 10, 15; RFC 5041 3; RFC 5043 6.1; RFC 5044 4.3; WARP 7.
TEST_P(ModelTest, random_operations) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Model(GetParam(), seed).run(100);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}
/// IFT with speculative placement.
class SpeculativeModelTest : public ModelTest {};

// Segments of TCP are lost, come twice and in any order: memory and completions are those of the model, and much was
// placed before its turn at both ends. Also where the other end does not permit it: nothing was then.
// IFT 4.2, IFT 6, IFT 8; WARP 7, WARP 14, WARP 19.
TEST_P(SpeculativeModelTest, random_segments) {
  SpeculationCounts server, client;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Model model(GetParam(), seed);
    model.run(100);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    for (const bool of_the_client : {false, true}) {
      SpeculationCounts& sum = of_the_client ? client : server;
      const SpeculationCounts& counts = model.speculation(of_the_client);
      sum.placed += counts.placed;
      sum.right += counts.right;
      EXPECT_EQ(counts.placed, counts.right + counts.misaligned + counts.overwritten + counts.elsewhere);
    }
  }
  const bool permitted = GetParam().ift->permits_speculation;
  EXPECT_EQ(server.right > 100, permitted) << server.placed << ' ' << server.right;
  EXPECT_EQ(client.right > 0, permitted) << client.placed << ' ' << client.right;
  EXPECT_EQ(server.placed + client.placed > 0, permitted);
}
/// They place speculatively, and the other end does not permit it.
IftOptions unpermitted_ift() {
  IftOptions options = speculative_ift_with(true, true);
  options.permits_speculation = false;
  return options;
}

// One long run. FCVI_IWARP_OPERATIONS=1000000 for more.
TEST_P(ModelTest, many_operations) {
  const char* const asked = std::getenv("FCVI_IWARP_OPERATIONS");
  Model(GetParam(), 99).run(asked != nullptr ? std::stoul(asked) : 2000);
}

INSTANTIATE_TEST_SUITE_P(Framings, ModelTest,
                         ::testing::Values(ModelCase{false, false, 1460}, ModelCase{false, true, 1460},
                                           ModelCase{true, false, 1460}, ModelCase{true, true, 1460},
                                           ModelCase{true, true, 65'535}, ModelCase{false, false, 65'535}));
INSTANTIATE_TEST_SUITE_P(AnyOrder, ModelTest,
                         ::testing::Values(ModelCase{false, true, 1460, {}, true},
                                           ModelCase{true, true, 1460, {}, true},
                                           ModelCase{true, false, 1460, {}, true}));
INSTANTIATE_TEST_SUITE_P(Ift, SpeculativeModelTest,
                         ::testing::Values(ModelCase{false, false, 1460, speculative_ift_with(true, true), true},
                                           ModelCase{false, false, 1460, speculative_ift_with(true, false), true},
                                           ModelCase{false, false, 1460, speculative_ift_with(false, false), true},
                                           ModelCase{false, false, 500, speculative_ift_with(true, true), true},
                                           ModelCase{false, false, 1460, unpermitted_ift(), true}));
INSTANTIATE_TEST_SUITE_P(Ift, ModelTest,
                         ::testing::Values(ModelCase{false, false, 1460, ift_with(true, true)},
                                           ModelCase{false, false, 1460, ift_with(true, false)},
                                           ModelCase{false, false, 1460, ift_with(false, false)},
                                           ModelCase{false, false, 65'535, ift_with(true, true)},
                                           ModelCase{false, false, 65'535, ift_with(false, false)}));
// In order; in any order; few under way; large ones, in any order.
INSTANTIATE_TEST_SUITE_P(Sctp, ModelTest,
                         ::testing::Values(over_sctp({}), over_sctp({.seed = 1}),
                                           over_sctp({.messages_under_way = 3, .seed = 2}),
                                           over_sctp({.max_message = 32'000, .seed = 3})));

}  // namespace
}  // namespace iwarp::testing
