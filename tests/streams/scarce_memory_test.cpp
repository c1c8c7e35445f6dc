// A set of sockets without memory to watch, or to look later: the call throws, nothing is noted that is not there,
// and the next call begins anew. Each of these once left the set deaf for ever.
#include <malloc.h>

#include "tests/streams/socket_set_fixture.hpp"
#include "tests/support/counted_new.hpp"

/// Asio takes its own from here, outside of the io_context's thread.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return support::no_memory ? nullptr : ::memalign(alignment, size);
}

namespace streams::drivers {
namespace {

class ScarceMemoryTest : public SocketSetTest {
 protected:
  template <class Call>
  static void expect_no_memory(Call call) {
    support::no_memory = true;
    try {
      call();
      support::no_memory = false;
      ADD_FAILURE() << "there was memory";
    } catch (const std::bad_alloc&) {
      support::no_memory = false;
    }
  }
  runtime::Input& input() { return *core_.inputs.front(); }
  /// Of an octet that comes, without that anybody polls.
  void expect_told(Member& one) {
    one.ask(For::reading);
    one.come();
    ASSERT_TRUE(run_until([&] { return one.told(For::reading) == 1; }));
  }
};

// Of the descriptor: it is not watched yet.
TEST_F(ScarceMemoryTest, watch_thatCannotBegin_beginsLater) {
  core_.inputs.reserve(1);
  members_.reserve(1);
  auto& one = members_.emplace_back(std::make_unique<Member>(set_));
  expect_no_memory([&] { one->join_late(For::reading); });
  input().wait_for_input();
  expect_told(*one);
}

// Of the wait for its events.
TEST_F(ScarceMemoryTest, waitForEvents_thatCannotBegin_beginsLater) {
  Member& one = member();
  input().set_watched(true);
  input().set_watched(false);  // it looks after a tick
  expect_no_memory([&] { input().wait_for_input(); });
  input().wait_for_input();
  expect_told(one);
}

// Of the timer.
TEST_F(ScarceMemoryTest, checkLater_thatCannotBegin_beginsLater) {
  Member& one = member();
  input().set_watched(true);
  expect_no_memory([&] { input().set_watched(false); });
  input().set_watched(true);
  input().set_watched(false);
  expect_told(one);
}

}  // namespace
}  // namespace streams::drivers
