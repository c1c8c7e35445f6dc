// Work in pieces: by processes, and by ranks, of which the others are played by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include "tools/fcvi_sim/ranks/launch.hpp"
#include "tools/fcvi_sim/share/in_order.hpp"
#include "tools/fcvi_sim/share/packing.hpp"

namespace sim::share {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// --- who started this process --------------------------------------------------------------------------------------

std::optional<ranks::Launch> launched(const std::map<std::string, std::string>& environment) {
  return ranks::launch_of([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launch, nobody_says_anything) {
  EXPECT_FALSE(launched({}));
  EXPECT_FALSE(launched({{"OMPI_COMM_WORLD_SIZE", "x"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
  EXPECT_FALSE(launched({{"SLURM_STEP_NUM_TASKS", "1"}, {"PMI_SIZE", "1"}}));
}

TEST(Launch, mpirun_and_pmix_say_which_rank_of_how_many) {
  const auto by_mpirun = launched({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}});
  ASSERT_TRUE(by_mpirun);
  EXPECT_EQ(by_mpirun->rank, 3);
  EXPECT_EQ(by_mpirun->size, 4);
  EXPECT_EQ(by_mpirun->wrong, "");
  const auto by_srun = launched({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}, {"PMIX_RANK", "5"}});
  ASSERT_TRUE(by_srun);
  EXPECT_EQ(by_srun->rank, 5);
  EXPECT_EQ(by_srun->size, 8);
  EXPECT_EQ(by_srun->wrong, "");
  EXPECT_EQ(launched({{"PMIX_RANK", "1"}})->size, 0);
}

TEST(Launch, what_cannot_find_one_another_is_wrong) {
  EXPECT_THAT(launched({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}})->wrong, HasSubstr("expected mpirun of Open MPI"));
  EXPECT_THAT(launched({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}})->wrong, HasSubstr("srun --mpi=pmix"));
}

// --- bytes ---------------------------------------------------------------------------------------------------------

TEST(Packing, what_is_packed_comes_out_and_what_is_cut_short_is_told) {
  Packer packer;
  packer << std::uint64_t{7} << std::string_view("a\0b", 3) << std::string_view();
  for (std::size_t size = 0; size <= packer.text().size(); ++size) {
    Unpacker unpacker(std::string_view(packer.text()).substr(0, size));
    const std::uint64_t number = unpacker.number();
    const std::string text = unpacker.text(), empty = unpacker.text();
    EXPECT_EQ(unpacker.is_good(), size == packer.text().size()) << size;
    if (!unpacker.is_good()) continue;
    EXPECT_EQ(number, 7U);
    EXPECT_EQ(text, std::string("a\0b", 3));
    EXPECT_EQ(empty, "");
    EXPECT_TRUE(unpacker.at_end());
  }
}

// --- processes -----------------------------------------------------------------------------------------------------

std::string squared(std::uint64_t piece) { return std::to_string(piece * piece); }

std::vector<Result> all_of(Workers& workers) {
  std::vector<Result> results;
  while (workers.is_busy()) workers.wait(1000, results);
  std::ranges::sort(results, {}, &Result::piece);
  return results;
}

// A piece that ends its process is named with what it noted; the others are carried out, by other processes.
TEST(Workers, a_piece_that_kills_its_process_costs_itself_alone) {
  const auto run = [](std::uint64_t piece) -> std::string {
    note_for_death("piece " + std::to_string(piece));
    if (piece % 4 == 2) std::raise(SIGUSR1);
    return squared(piece);
  };
  Workers workers(run, 2);
  EXPECT_TRUE(workers.is_wanting());
  workers.add({0, 5});
  workers.add({5, 5});
  EXPECT_FALSE(workers.is_wanting());
  const std::vector<Result> results = all_of(workers);
  ASSERT_THAT(results, SizeIs(10));
  for (const Result& result : results) {
    const bool died = result.piece % 4 == 2;
    EXPECT_EQ(result.death, died ? "died of User defined signal 1" : "");
    EXPECT_EQ(result.note, died ? "piece " + std::to_string(result.piece) : "");
    EXPECT_EQ(result.text, died ? "" : squared(result.piece));
  }
}

TEST(Workers, results_of_any_size_arrive) {
  Workers workers([](std::uint64_t piece) { return std::string(piece * 300'000, 'x'); }, 1);
  workers.add({0, 4});
  const std::vector<Result> results = all_of(workers);
  ASSERT_THAT(results, SizeIs(4));
  for (const Result& result : results) EXPECT_EQ(result.text, std::string(result.piece * 300'000, 'x'));
}

// --- ranks ---------------------------------------------------------------------------------------------------------

/// What every rank has been sent and has not taken.
using Boxes = std::map<int, std::deque<ranks::Message>>;

class TestRanks final : public ranks::Ranks {
 public:
  TestRanks(Boxes& boxes, int rank, int size) : boxes_(boxes), rank_(rank), size_(size) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void somebody_died() override {}
  void send(int to, ranks::Channel, std::span<const std::uint8_t> bytes) override {
    boxes_[to].push_back({rank_, {bytes.begin(), bytes.end()}});
  }
  std::optional<ranks::Message> take(ranks::Channel) override {
    auto& box = boxes_[rank_];
    if (box.empty()) return std::nullopt;
    ranks::Message message = box.front();
    box.pop_front();
    return message;
  }
  std::optional<ranks::Message> take_from(int, ranks::Channel) override { return std::nullopt; }
  ranks::Message wait_for(int, ranks::Channel) override { return {}; }
  std::uint64_t least(std::uint64_t value) override { return value; }

 private:
  Boxes& boxes_;
  const int rank_, size_;
};

/// A process that does nothing, in place of a rank's.
class Sleeper {
 public:
  Sleeper() : child_(::fork()) {
    if (child_ == 0)
      for (;;) ::pause();
  }
  ~Sleeper() { kill(); }
  void kill() {
    if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  [[nodiscard]] Place place() const {
    Place place = own_place();
    place.pid = static_cast<std::uint64_t>(child_);
    return place;
  }

 private:
  pid_t child_;
};

class OtherRanks : public testing::Test {
 protected:
  Boxes boxes;
  Company company{std::make_unique<TestRanks>(boxes, 0, 3)};
  TestRanks one{boxes, 1, 3}, two{boxes, 2, 3};
  std::vector<Result> results;

  /// What rank 0 said to it last, of that kind.
  template <class Kind>
  static std::optional<Kind> last(TestRanks& rank) {
    std::optional<Kind> found;
    while (const auto heard = hear(rank))
      if (const Kind* said = std::get_if<Kind>(&heard->said)) found = *said;
    return found;
  }
  static void answer(TestRanks& rank, std::uint64_t first, std::uint64_t count) {
    Results said;
    for (std::uint64_t piece = first; piece < first + count; ++piece)
      said.all.push_back({.piece = piece, .text = squared(piece)});
    say(rank, 0, said);
  }
  void wait_until_nothing_is_out(Hands& hands) {
    while (hands.is_busy()) hands.wait(50, results);
  }
  void expect_each_once(std::uint64_t count) {
    std::ranges::sort(results, {}, &Result::piece);
    ASSERT_THAT(results, SizeIs(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(results[i].piece, i);
      EXPECT_EQ(results[i].text, squared(i));
    }
  }
};

TEST_F(OtherRanks, those_that_say_hello_get_pieces_and_at_the_end_all_go) {
  Hands hands(squared, {.company = &company, .identity = "same"});
  say(one, 0, Hello{.place = own_place(), .jobs = 2, .identity = "same"});
  hands.wait(0, results);
  EXPECT_EQ(hands.size(), 3U);
  for (std::uint64_t piece = 0; piece < 3; ++piece) {
    EXPECT_TRUE(hands.is_wanting());
    hands.give({piece, 1});
  }
  EXPECT_EQ(last<Pieces>(one)->first, 1U) << "the first two are the other rank's, which has two processes";
  EXPECT_FALSE(last<Pieces>(two)) << "nobody is there";
  answer(one, 0, 2);
  wait_until_nothing_is_out(hands);
  expect_each_once(3);
  EXPECT_EQ(hands.summary(), "shared by 3 ranks on 1 machine: 1, 2, 0 pieces");
  hands.end(true);
  EXPECT_TRUE(last<End>(one));
  EXPECT_TRUE(last<End>(two));
}

// Also those of which nothing came back yet, and what the dead one had answered counts.
TEST_F(OtherRanks, pieces_of_one_that_dies_are_carried_out_by_others) {
  Sleeper process;
  Hands hands(squared, {.company = &company, .identity = ""});
  say(one, 0, Hello{.place = process.place(), .jobs = 2});
  hands.wait(0, results);
  hands.give({0, 6});
  hands.give({6, 4});
  answer(one, 0, 2);
  process.kill();
  testing::internal::CaptureStderr();
  wait_until_nothing_is_out(hands);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(") died: others carry out what it had\n"));
  answer(one, 2, 4);  // late, of a rank that was given up
  hands.wait(0, results);
  expect_each_once(10);
  EXPECT_EQ(hands.size(), 1U);
  hands.end(true);
  EXPECT_TRUE(last<End>(two)->somebody_died);
}

TEST_F(OtherRanks, one_with_another_program_or_without_the_file_gets_no_work) {
  Hands hands(squared, {.company = &company, .identity = "mine"});
  say(one, 0, Hello{.place = own_place(), .identity = "other"});
  say(two, 0, Hello{.place = own_place(), .identity = "mine", .wrong = "f.yaml: cannot read"});
  testing::internal::CaptureStderr();
  hands.wait(0, results);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("takes no part: another fcvi-sim, or other input files, than rank 0\n"));
  EXPECT_THAT(said, HasSubstr("takes no part: f.yaml: cannot read\n"));
  EXPECT_EQ(hands.size(), 1U);
  hands.give({0, 2});
  wait_until_nothing_is_out(hands);
  expect_each_once(2);
  hands.end(true);
}

// A message that is cut short, or of nobody, changes nothing.
TEST_F(OtherRanks, hostile_messages_are_ignored) {
  Hands hands(squared, {.company = &company});
  say(one, 0, Results{{{.piece = 3, .text = "never given"}}});
  boxes[0].push_back({1, {0, 0, 0}});
  boxes[0].push_back({1, {1, 0, 0, 0, 0, 0, 0, 0, 9}});
  boxes[0].push_back({77, {}});
  hands.wait(0, results);
  EXPECT_THAT(results, SizeIs(0));
  hands.end(true);
}

TEST(InOrder, pieces_are_taken_in_their_order_until_enough) {
  Hands hands(squared, {.jobs = 3});
  std::vector<std::uint64_t> taken;
  volatile std::sig_atomic_t never = 0;
  const auto take = [&](const Result& result) {
    taken.push_back(result.piece);
    return result.piece != 4;
  };
  carry_out_in_order(hands, 100, take, never);
  EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace sim::share
