// The set of sockets itself: who is told of what, how often, and who looks.
#include "tests/streams/socket_set_fixture.hpp"

namespace streams::drivers {
namespace {

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
