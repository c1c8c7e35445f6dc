// Work queues (VI-ARCH 6.3.1) by themselves.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "vi/work_queue.hpp"

namespace vi {
namespace {

WorkQueue::Entry entry(std::uint64_t address) { return {address, {}, 0}; }

TEST(WorkQueue, empty_look) {
  // VI-DG 3.5.2: nothing posted, nothing to dequeue.
  WorkQueue queue(nullptr, 4);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.has_unprocessed());
  EXPECT_EQ(queue.completed_head(), nullptr);
  EXPECT_FALSE(queue.is_open(0));
  EXPECT_EQ(queue.first_open(), queue.tail());
}

TEST(WorkQueue, full_post) {
  // VI-DG 3.8.1 VI Overrun: what is completed and not dequeued counts too.
  WorkQueue queue(nullptr, 2);
  EXPECT_TRUE(queue.post(entry(1)));
  EXPECT_TRUE(queue.post(entry(2)));
  EXPECT_FALSE(queue.post(entry(3)));
  EXPECT_EQ(queue.complete(queue.take_next(), status::done), 1u);
  EXPECT_FALSE(queue.post(entry(3)));
  queue.pop_head();
  EXPECT_TRUE(queue.post(entry(3)));
  EXPECT_EQ(queue.size(), 2u);
}

TEST(WorkQueue, taken_countsForOverrun) {
  // VI-DG 3.8.1 VI Overrun: what the consumer holds counts as if it were here.
  WorkQueue queue(nullptr, 2);
  EXPECT_TRUE(queue.has_room(1));
  EXPECT_FALSE(queue.post(entry(1), 2));
  EXPECT_TRUE(queue.post(entry(1), 1));
  EXPECT_FALSE(queue.has_room(1));
  EXPECT_FALSE(queue.post(entry(2), 1));
  EXPECT_TRUE(queue.post(entry(2)));
}

TEST(WorkQueue, posted_complete_out_of_order) {
  // VI-ARCH 6.3.1.1, VI-DG 6.1: dequeued in posting order, however they complete.
  WorkQueue queue(nullptr, 8);
  for (std::uint64_t i = 0; i != 3; ++i) {
    queue.post(entry(i + 10));
    queue.take_next();
  }
  EXPECT_EQ(queue.complete(1, status::done), 0u);
  EXPECT_EQ(queue.completed_head(), nullptr);
  EXPECT_FALSE(queue.completed_before(1));
  EXPECT_EQ(queue.complete(0, status::done | status::flushed), 2u);
  EXPECT_TRUE(queue.completed_before(2));
  EXPECT_EQ(queue.completed_head()->address, 10u);
  EXPECT_EQ(queue.completed_head()->status, status::done | status::flushed);
  queue.pop_head();
  EXPECT_EQ(queue.completed_head()->address, 11u);
  queue.pop_head();
  EXPECT_EQ(queue.completed_head(), nullptr);
  EXPECT_TRUE(queue.is_open(2));
  EXPECT_FALSE(queue.is_open(1));
  EXPECT_FALSE(queue.is_open(3));
}

TEST(WorkQueue, unbegun_complete) {
  // impl: a flush completes entries that were never begun; they are not processed later.
  WorkQueue queue(nullptr, 8);
  queue.post(entry(1));
  queue.post(entry(2));
  EXPECT_EQ(queue.complete(0, status::done), 1u);
  EXPECT_EQ(queue.next_index(), 1u);
  EXPECT_FALSE(queue.is_begun(1));
}

TEST(WorkQueue, begun_rewind) {
  // impl: begun entries that are not completed are begun again; completed ones are not.
  WorkQueue queue(nullptr, 8);
  for (std::uint64_t i = 0; i != 4; ++i) queue.post(entry(i));
  for (int i = 0; i != 3; ++i) queue.take_next();
  queue.complete(0, status::done);
  queue.complete(2, status::done);
  queue.rewind();
  EXPECT_FALSE(queue.is_begun(1));
  EXPECT_EQ(queue.take_next(), 1u);
  EXPECT_TRUE(queue.is_begun(1));
  EXPECT_EQ(queue.take_next(), 3u);
  EXPECT_FALSE(queue.has_unprocessed());
}

TEST(WorkQueue, random_walk_against_model) {
  // impl: growth, wrap and order against a plain deque.
  WorkQueue queue(nullptr, 100);
  struct Item {
    std::uint64_t address;
    bool completed;
  };
  std::deque<Item> model;
  std::mt19937 random(1);
  std::uint64_t posted = 0, dequeued = 0;
  for (int step = 0; step != 20'000; ++step) {
    switch (random() % 4) {
      case 0:
      case 1:
        ASSERT_EQ(queue.post(entry(posted)), model.size() < 100);
        if (model.size() < 100) model.push_back({posted++, false});
        break;
      case 2:
        if (!model.empty()) {
          const std::size_t pick = random() % std::min<std::size_t>(model.size(), 8);
          ASSERT_EQ(queue.is_open(dequeued + pick), !model[pick].completed);
          if (!model[pick].completed) queue.complete(dequeued + pick, status::done);
          model[pick].completed = true;
        }
        break;
      default: {
        const WorkQueue::Entry* head = queue.completed_head();
        ASSERT_EQ(head != nullptr, !model.empty() && model.front().completed);
        if (head == nullptr) break;
        ASSERT_EQ(head->address, model.front().address);
        queue.pop_head();
        model.pop_front();
        ++dequeued;
      }
    }
    ASSERT_EQ(queue.size(), model.size());
  }
  EXPECT_GT(dequeued, 1000u);
}

}  // namespace
}  // namespace vi
