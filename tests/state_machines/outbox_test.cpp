// fsm::Outbox: effects are drained once, in the order in which they were pushed.
#include "state_machines/outbox.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {
using testing::ElementsAre;
using testing::IsEmpty;

enum class Effect : std::uint8_t { None, Tell, Retry, Release };
using Outbox = fsm::Outbox<Effect, 3>;

std::vector<Effect> drained(Outbox& outbox) {
  std::vector<Effect> effects;
  outbox.drain([&](Effect effect) { effects.push_back(effect); });
  return effects;
}

TEST(Outbox, starts_empty) {
  Outbox outbox;
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.size(), 0U);
  EXPECT_THAT(drained(outbox), IsEmpty());
}

TEST(Outbox, drains_in_order_of_push) {
  Outbox outbox;
  outbox.push(Effect::Release);
  outbox.push(Effect::Tell);
  outbox.push(Effect::Release);  // twice asked, twice done
  EXPECT_EQ(outbox.size(), 3U);
  EXPECT_THAT(drained(outbox), ElementsAre(Effect::Release, Effect::Tell, Effect::Release));
}

TEST(Outbox, drains_each_effect_once) {
  Outbox outbox;
  outbox.push(Effect::Tell);
  EXPECT_THAT(drained(outbox), ElementsAre(Effect::Tell));
  EXPECT_TRUE(outbox.empty());
  EXPECT_THAT(drained(outbox), IsEmpty());
}

TEST(Outbox, drains_what_is_pushed_while_draining) {
  Outbox outbox;
  outbox.push(Effect::Tell);
  outbox.push(Effect::Release);
  std::vector<Effect> effects;
  outbox.drain([&](Effect effect) {
    effects.push_back(effect);
    if (effect == Effect::Tell) outbox.push(Effect::Retry);
  });
  EXPECT_THAT(effects, ElementsAre(Effect::Tell, Effect::Release, Effect::Retry));
}

TEST(Outbox, drain_within_a_handler_takes_what_is_left) {
  // The inner one handles the rest, in order; the outer one finds nothing more.
  Outbox outbox;
  outbox.push(Effect::Tell);
  outbox.push(Effect::Retry);
  outbox.push(Effect::Release);
  std::vector<Effect> outer, inner;
  outbox.drain([&](Effect effect) {
    outer.push_back(effect);
    inner = drained(outbox);
  });
  EXPECT_THAT(outer, ElementsAre(Effect::Tell));
  EXPECT_THAT(inner, ElementsAre(Effect::Retry, Effect::Release));
}

TEST(Outbox, goes_round_its_places_many_times) {
  Outbox outbox;
  outbox.push(Effect::Tell);
  int handled = 0;
  outbox.drain([&](Effect effect) {
    if (++handled == 300) return;
    outbox.push(effect == Effect::Tell ? Effect::Retry : Effect::Tell);
  });
  EXPECT_EQ(handled, 300);
  outbox.push(Effect::Tell);
  outbox.push(Effect::Retry);
  outbox.push(Effect::Release);
  EXPECT_THAT(drained(outbox), ElementsAre(Effect::Tell, Effect::Retry, Effect::Release));
}

TEST(Outbox, handler_that_says_false_stops_the_drain) {
  Outbox outbox;
  outbox.push(Effect::Tell);
  outbox.push(Effect::Retry);
  std::vector<Effect> effects;
  outbox.drain([&](Effect effect) {
    effects.push_back(effect);
    return false;
  });
  EXPECT_THAT(effects, ElementsAre(Effect::Tell));
  EXPECT_THAT(drained(outbox), ElementsAre(Effect::Retry));
}

TEST(Outbox, handler_that_destroys_the_outbox_says_false) {
  // The sanitizers see any touch after that.
  auto outbox = std::make_unique<Outbox>();
  outbox->push(Effect::Release);
  outbox->push(Effect::Tell);
  int handled = 0;
  outbox->drain([&](Effect) {
    ++handled;
    outbox.reset();
    return false;
  });
  EXPECT_EQ(handled, 1);
}

TEST(Outbox, clear_forgets_what_is_pending) {
  Outbox outbox;
  outbox.push(Effect::Tell);
  outbox.clear();
  EXPECT_TRUE(outbox.empty());
  EXPECT_THAT(drained(outbox), IsEmpty());
}

TEST(Outbox, contains_tells_what_is_pending) {
  Outbox outbox;
  outbox.push(Effect::Tell);
  EXPECT_TRUE(outbox.contains(Effect::Tell));
  EXPECT_FALSE(outbox.contains(Effect::None));  // no empty place counts
  outbox.drain([&](Effect effect) { EXPECT_FALSE(outbox.contains(effect)); });
}

TEST(Outbox, carries_variants) {
  struct Retry {
    int attempt = 0;
  };
  fsm::Outbox<std::variant<std::monostate, Retry, std::string>, 2> outbox;
  outbox.push(Retry{7});
  outbox.push(std::string("lost"));
  int attempt = 0;
  std::string text;
  outbox.drain([&](auto effect) {
    if (const auto* retry = std::get_if<Retry>(&effect)) attempt = retry->attempt;
    if (const auto* said = std::get_if<std::string>(&effect)) text = *said;
  });
  EXPECT_EQ(attempt, 7);
  EXPECT_EQ(text, "lost");
}

TEST(OutboxDeathTest, push_beyond_capacity_asserts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Outbox outbox;
  for (std::size_t i = 0; i < Outbox::capacity; ++i) outbox.push(Effect::Tell);
  EXPECT_DEATH(outbox.push(Effect::Tell), "count_ < Capacity");
}

static_assert(sizeof(fsm::Outbox<Effect, 6>) == 8);

}  // namespace
