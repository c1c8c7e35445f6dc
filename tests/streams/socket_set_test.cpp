// The set of sockets itself: who is told of what, how often, and who looks.
#include "streams/drivers/socket_set.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/real_time_core.hpp"

namespace streams::drivers {
namespace {
using runtime::drivers::Descriptor;
using For = SetMember::For;

/// Notes what it is told, and does what a test says then.
class Member final : public SetMember {
 public:
  Member(std::shared_ptr<SocketSet> set, For joined) : SetMember(std::move(set)) {
    int pair[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    own = Descriptor(pair[0]);
    far = Descriptor(pair[1]);
    EXPECT_TRUE(join(own.number(), joined));
  }
  ~Member() override { leave(); }

  void come() const { EXPECT_EQ(::write(far.number(), "x", 1), 1); }
  void take() const {
    char octets[16];
    EXPECT_GT(::read(own.number(), octets, sizeof octets), 0);
  }
  [[nodiscard]] int told(For what) const { return static_cast<int>(std::count(heard.begin(), heard.end(), what)); }

  Descriptor own, far;
  std::vector<For> heard;
  std::function<void()> then;

 private:
  void ready(For what) override {
    heard.push_back(what);
    if (then) then();
  }
};

/// A core whose inputs the test may poll.
class PolledCore final : public runtime::drivers::RealTimeCore {
 public:
  using RealTimeCore::RealTimeCore;
  void add_input(runtime::Input& input) override { inputs.push_back(&input); }
  void remove_input(runtime::Input& input) override { std::erase(inputs, &input); }
  std::vector<runtime::Input*> inputs;
};

class SocketSetTest : public ::testing::Test {
 protected:
  ~SocketSetTest() override {
    members_.clear();
    set_->close();
  }
  Member& member(For joined = For::reading) { return *members_.emplace_back(std::make_unique<Member>(set_, joined)); }
  /// Handlers that were due by now, and those that these made due.
  std::size_t run() {
    io_.restart();
    return io_.poll();
  }
  /// As run(), until the condition holds.
  bool run_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);  // only a hang takes so long
    while (!done() && std::chrono::steady_clock::now() < limit) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(10));
    }
    return done();
  }
  bool poll() { return core_.inputs.front()->read_now(); }

  boost::asio::io_context io_;
  PolledCore core_{io_};
  std::shared_ptr<SocketSet> set_ = std::make_shared<SocketSet>(io_, core_);
  std::vector<std::unique_ptr<Member>> members_;
};

TEST_F(SocketSetTest, isToldOnce_forEachQuestion) {
  Member& one = member();
  one.come();
  run();
  EXPECT_TRUE(one.heard.empty()) << "it asked for nothing";
  one.ask(For::reading);
  ASSERT_TRUE(run_until([&] { return !one.heard.empty(); }));
  run();
  EXPECT_EQ(one.heard, std::vector{For::reading}) << "what it has not read is not told again";
  one.ask(For::reading);
  ASSERT_TRUE(run_until([&] { return one.heard.size() == 2; }));
  EXPECT_EQ(one.told(For::reading), 2);
}

TEST_F(SocketSetTest, whatNobodyAsksFor_wakesNobodyForEver) {
  Member& one = member();
  one.come();
  run();
  one.ask(For::writing);  // there is room at once; what came stays unread
  ASSERT_TRUE(run_until([&] { return one.told(For::writing) == 1; }));
  run();
  EXPECT_EQ(run(), 0U) << "the thread would spin";
  ::shutdown(one.far.number(), SHUT_RDWR);
  run();
  run();
  EXPECT_EQ(run(), 0U) << "nor of the end";
  EXPECT_EQ(one.heard.size(), 1U);
}

TEST_F(SocketSetTest, readingAndWriting_areBothTold) {
  Member& one = member();
  one.come();
  one.ask(For::reading);
  one.ask(For::writing);
  ASSERT_TRUE(run_until([&] { return one.heard.size() == 2; }));
  EXPECT_EQ(one.heard, (std::vector{For::reading, For::writing}));
}

TEST_F(SocketSetTest, brokenSocket_isToldToWhoAsksEither) {
  Member& reader = member();
  Member& writer = member(For::writing);
  for (Member* one : {&reader, &writer}) one->far = {};
  reader.ask(For::reading);
  writer.ask(For::writing);
  ASSERT_TRUE(run_until([&] { return reader.told(For::reading) == 1 && writer.told(For::writing) == 1; }));
  reader.ask(For::reading);  // it is known to the kernel again
  ASSERT_TRUE(run_until([&] { return reader.told(For::reading) == 2; }));
}

TEST_F(SocketSetTest, whoIsTold_mayEndTheOthersAndItself) {
  for (int i = 0; i < 3; ++i) {
    Member& one = member();
    one.then = [this] { members_.clear(); };
    one.come();
    one.ask(For::reading);
  }
  ASSERT_TRUE(run_until([&] { return members_.empty(); })) << "and nobody who is gone was told";
  EXPECT_TRUE(core_.inputs.empty());
}

TEST_F(SocketSetTest, whoIsTold_mayCloseTheSet) {
  Member& one = member();
  one.then = [this] { set_->close(); };
  one.come();
  one.ask(For::reading);
  ASSERT_TRUE(run_until([&] { return one.heard.size() == 1; }));
  one.ask(For::reading);
  run();
  EXPECT_EQ(one.heard.size(), 1U);
  EXPECT_TRUE(core_.inputs.empty());
  EXPECT_EQ(run(), 0U);
}

TEST_F(SocketSetTest, moreThanOneLookHolds_areAllTold) {
  constexpr std::size_t count = 200;
  for (std::size_t i = 0; i < count; ++i) {
    Member& one = member();
    one.come();
    one.ask(For::reading);
  }
  ASSERT_TRUE(run_until([&] {
    return std::all_of(members_.begin(), members_.end(), [](const auto& one) { return one->heard.size() == 1; });
  }));
}

TEST_F(SocketSetTest, socketThatIsOpenElsewhere_isOfNoInterestOnceItsMemberIsGone) {
  const Member& one = member();
  const Descriptor elsewhere(::dup(one.own.number())), far(::dup(one.far.number()));
  member();
  members_.erase(members_.begin());
  EXPECT_EQ(::write(far.number(), "x", 1), 1);
  EXPECT_FALSE(poll());
}

TEST_F(SocketSetTest, isAnInput_whileItHasMembers) {
  EXPECT_TRUE(core_.inputs.empty());
  member();
  member();
  EXPECT_EQ(core_.inputs.size(), 1U);
  members_.pop_back();
  EXPECT_EQ(core_.inputs.size(), 1U);
  members_.pop_back();
  EXPECT_TRUE(core_.inputs.empty());
}

TEST_F(SocketSetTest, whoPolls_isToldInItsOwnThread) {
  Member& one = member();
  one.ask(For::reading);
  EXPECT_FALSE(poll());
  one.come();
  EXPECT_TRUE(poll());
  EXPECT_EQ(one.told(For::reading), 1);
  poll();
  EXPECT_FALSE(poll()) << "nobody asks for what is left, which the set has found out";
  EXPECT_EQ(one.told(For::reading), 1);
}

TEST_F(SocketSetTest, whoPolled_leavesTheThreadToSleepAgain) {
  Member& one = member();
  one.ask(For::reading);
  one.come();
  poll();
  one.take();
  run();  // it was polled: the thread looks by the clock
  one.ask(For::reading);
  one.come();
  ASSERT_TRUE(run_until([&] { return one.told(For::reading) == 2; })) << "nobody polls any more, and nobody said so";
  one.take();
  poll();
  core_.inputs.front()->wait_for_input();
  one.ask(For::reading);
  one.come();
  run();
  EXPECT_EQ(one.told(For::reading), 3) << "somebody said that nobody polls: the thread sleeps at the set again at once";
}

TEST_F(SocketSetTest, whileAThreadSleepsAtIt_theIoContextIsNotWoken) {
  Member& one = member();
  one.ask(For::reading);
  runtime::Input& input = *core_.inputs.front();
  input.set_watched(true);
  one.come();
  run();
  EXPECT_TRUE(one.heard.empty()) << "the other thread reads it";
  pollfd wanted{input.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&wanted, 1, 1000), 1);
  EXPECT_TRUE(poll());
  EXPECT_EQ(one.told(For::reading), 1);
  one.take();
  input.set_watched(false);
  one.ask(For::reading);
  one.come();
  ASSERT_TRUE(run_until([&] { return one.told(For::reading) == 2; })) << "nobody sleeps there any more";
}

TEST_F(SocketSetTest, whoJoinsWhileSomebodyPolls_isToldToo) {
  Member& one = member();
  one.ask(For::reading);
  one.come();
  poll();
  run();  // it was polled: the thread looks by the clock
  Member& other = member();
  other.ask(For::reading);
  other.come();
  ASSERT_TRUE(run_until([&] { return other.told(For::reading) == 1; }));
}

}  // namespace
}  // namespace streams::drivers
