// A receiver that is slow, or takes nothing for a while: which frame is processed when (receive_queue.hpp; FC-FS
// buffers, Link Reset).
#include "fc2_fabric/link/receive_queue.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/made_frame.hpp"

namespace fc2 {
namespace {

class ReceiveQueueTest : public testing::Test {
 protected:
  using Processed = std::vector<std::pair<int, TimeNs>>;  // which, and how long after the beginning
  void receive(ReceiveQueue& queue, std::uint8_t number) { queue.receive(support::made_frame(pool, {}, {&number, 1})); }
  void run_to(TimeNs time) { scheduler.run_until(port.begun + time); }

  Scheduler scheduler;
  FramePool pool;
  struct Port final : FrameReceiver {
    explicit Port(Scheduler& its_scheduler) : scheduler(its_scheduler), begun(its_scheduler.now()) {}
    void receive(FramePtr frame) override { processed.emplace_back(frame->data_field()[0], scheduler.now() - begun); }
    Scheduler& scheduler;
    const TimeNs begun;
    Processed processed;
  } port{scheduler};
};

// Who needs no time has the frame at once; who needs a nanosecond, a nanosecond later.
TEST_F(ReceiveQueueTest, free_frame_comes_is_processed_in_its_time) {
  ReceiveQueue quick{scheduler, 0, port}, slow{scheduler, 1, port};
  receive(quick, 1);
  receive(slow, 2);
  EXPECT_EQ(port.processed, (Processed{{1, 0}}));
  EXPECT_EQ(slow.waiting(), 1U);
  run_to(1);
  EXPECT_EQ(port.processed, (Processed{{1, 0}, {2, 1}}));
}

// FC-VI 8.1: what waited while the port took nothing is processed before what comes then.
TEST_F(ReceiveQueueTest, paused_resumed_keeps_the_order) {
  ReceiveQueue queue{scheduler, 0, port};
  queue.pause();
  receive(queue, 1);
  queue.resume();
  receive(queue, 2);
  run_to(0);
  EXPECT_EQ(port.processed, (Processed{{1, 0}, {2, 0}}));
}

// One after the other, each for its time: what comes meanwhile does not make the first last longer.
TEST_F(ReceiveQueueTest, working_next_frame_comes_waits_its_turn) {
  ReceiveQueue queue{scheduler, 100, port};
  receive(queue, 1);
  run_to(50);
  receive(queue, 2);
  run_to(1000);
  EXPECT_EQ(port.processed, (Processed{{1, 100}, {2, 200}}));
}

// A port that takes nothing is not given the frame that is being worked at; that begins anew.
TEST_F(ReceiveQueueTest, working_paused_processes_nothing) {
  ReceiveQueue queue{scheduler, 100, port};
  receive(queue, 1);
  queue.pause();
  run_to(1000);
  EXPECT_TRUE(port.processed.empty());
  queue.resume();
  run_to(2000);
  EXPECT_EQ(port.processed, (Processed{{1, 1100}}));
}

// FC-FS Link Reset: what waits is processed at once. The next frame takes its own time.
TEST_F(ReceiveQueueTest, working_flushed_processes_all_at_once) {
  ReceiveQueue queue{scheduler, 100, port};
  receive(queue, 1);
  receive(queue, 2);
  run_to(50);
  queue.flush();
  EXPECT_EQ(port.processed, (Processed{{1, 50}, {2, 50}}));
  run_to(60);
  receive(queue, 3);
  run_to(1000);
  EXPECT_EQ(port.processed, (Processed{{1, 50}, {2, 50}, {3, 160}}));
  EXPECT_EQ(queue.lost(), 0U);
}

// FC-FS Link Reset: buffers have to be free; a port that takes nothing loses what they held.
TEST_F(ReceiveQueueTest, paused_flushed_loses_what_waits) {
  ReceiveQueue queue{scheduler, 100, port};
  queue.pause();
  for (std::uint8_t number = 1; number <= 3; ++number) receive(queue, number);
  queue.flush();
  EXPECT_EQ(queue.lost(), 3U);
  EXPECT_EQ(queue.waiting(), 0U);
  queue.resume();
  run_to(1000);
  EXPECT_TRUE(port.processed.empty());
}

// The link went, with what came over it; the first frame of the next takes its own time.
TEST_F(ReceiveQueueTest, working_cleared_begins_anew) {
  ReceiveQueue queue{scheduler, 100, port};
  receive(queue, 1);
  run_to(50);
  queue.clear();
  run_to(60);
  receive(queue, 2);
  run_to(1000);
  EXPECT_EQ(port.processed, (Processed{{2, 160}}));
  EXPECT_EQ(queue.lost(), 0U);
}

}  // namespace
}  // namespace fc2
