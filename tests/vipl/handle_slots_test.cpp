// vipl/engine/handle_slots.hpp. Run under ThreadSanitizer too.
#include "vipl/engine/handle_slots.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

using vipl::HandleSlots;

namespace {
struct Thing {
  std::atomic<std::uintptr_t> handle{0};
};
void* plus(void* handle, std::uintptr_t difference) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(handle) + difference);
}
}  // namespace

TEST(HandleSlots, finds_only_what_is_in_it) {
  HandleSlots<Thing> slots;
  Thing first, second;
  void* a = slots.insert(first, 1);
  void* b = slots.insert(second, 2);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(slots.find(a, 1), &first);
  EXPECT_EQ(slots.find(b, 2), &second);
  EXPECT_EQ(slots.find(a, 2), nullptr);  // of another kind
  EXPECT_EQ(slots.find(nullptr, 1), nullptr);
  EXPECT_EQ(slots.find(&first, 1), nullptr);
  for (const std::uintptr_t change : {1UL, 8UL, 1UL << 23, 1UL << 40, ~0UL})
    EXPECT_EQ(slots.find(plus(a, change), 1), nullptr);
  for (unsigned kind = 0; kind < 8; ++kind)
    EXPECT_EQ(slots.find(reinterpret_cast<void*>(~7UL | kind), kind), nullptr);  // all bits
}

TEST(HandleSlots, stale_handles_stay_stale_when_slots_are_used_again) {
  HandleSlots<Thing> slots;
  Thing thing;
  std::set<void*> seen;
  void* last = nullptr;
  for (int i = 0; i < 5000; ++i) {
    void* handle = slots.insert(thing, 3);
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_EQ(slots.find(last, 3), nullptr);
    slots.erase(handle);
    EXPECT_EQ(slots.find(handle, 3), nullptr);
    last = handle;
  }
}

TEST(HandleSlots, other_tables_do_not_know_them) {
  HandleSlots<Thing> parent(0), child(1u << 24);
  Thing thing, other;
  void* handle = parent.insert(thing, 1);
  child.insert(other, 1);
  EXPECT_EQ(child.find(handle, 1), nullptr);
}

TEST(HandleSlots, full_says_so_and_goes_on_after_an_erase) {
  HandleSlots<Thing> slots;
  Thing thing;
  void* last = nullptr;
  for (std::uint32_t i = 0; i < HandleSlots<Thing>::max_handles; ++i) ASSERT_NE(last = slots.insert(thing, 1), nullptr);
  EXPECT_EQ(slots.insert(thing, 1), nullptr);
  slots.erase(last);
  EXPECT_NE(slots.insert(thing, 1), nullptr);
}

// Whoever finds something finds what the handle was given for, though others take and give slots all the time.
TEST(HandleSlots, looked_up_by_one_thread_and_changed_by_another) {
  HandleSlots<Thing> slots;
  std::vector<Thing> things(64);
  std::vector<std::atomic<void*>> handles(things.size());
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop)
      for (auto& handle : handles) {
        void* const wanted = handle.load();
        // A thing that is found may have another handle by now, but never an older one.
        const Thing* found = slots.find(wanted, 1);
        const std::uintptr_t has = found == nullptr ? ~std::uintptr_t{0} : found->handle.load();
        ASSERT_GE(has >> 23, reinterpret_cast<std::uintptr_t>(wanted) >> 23);
      }
  });
  for (int round = 0; round < 2000; ++round)
    for (std::size_t i = 0; i < things.size(); ++i) {
      if (void* old = handles[i].load()) slots.erase(old);
      void* const handle = slots.insert(things[i], 1);
      things[i].handle = reinterpret_cast<std::uintptr_t>(handle);
      handles[i] = handle;
    }
  stop = true;
  reader.join();
}

TEST(HandleSlots, each_of_many_is_found_and_slots_are_used_again) {
  HandleSlots<Thing> slots(41);
  std::vector<Thing> things(3000);
  std::vector<void*> handles;
  for (Thing& thing : things) handles.push_back(slots.insert(thing, 1));
  EXPECT_EQ(vipl::handle_generation(handles.front()), 42U);
  EXPECT_EQ(vipl::handle_generation(handles.back()), 41U + things.size());
  for (std::size_t i = 0; i < things.size(); ++i) ASSERT_EQ(slots.find(handles[i], 1), &things[i]) << i;
  slots.erase(handles[0]);
  EXPECT_EQ(slots.find(reinterpret_cast<void*>(std::uintptr_t{1}), 1), nullptr);  // no generation
  slots.erase(handles[2047]);
  Thing other, another;
  void* const again = slots.insert(other, 1);
  void* const also = slots.insert(another, 1);
  constexpr auto slots_mask = HandleSlots<Thing>::max_handles - 1;
  const auto slot_of = [](void* handle) { return reinterpret_cast<std::uintptr_t>(handle) >> 3 & slots_mask; };
  EXPECT_EQ(slot_of(again), slot_of(handles[2047]));
  EXPECT_EQ(slot_of(also), slot_of(handles[0]));
  EXPECT_EQ(slots.find(again, 1), &other);
  EXPECT_EQ(slots.find(also, 1), &another);
  EXPECT_EQ(slot_of(slots.insert(other, 1)), 3000U);
}
