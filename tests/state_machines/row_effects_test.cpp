// fsm::most_in_a_row, most_pending: what the rows of a table ask for.
#include "state_machines/row_effects.hpp"

#include <gtest/gtest.h>

namespace {
struct Context {
  void tell() {}
};
struct A : fsm::State {};
struct B : fsm::State {};
struct Pushed {};
FSM_ACTION(Tell, context.tell());
FSM_ACTION(Retry, context.tell());
FSM_ACTION(Count, context.tell());
using Both = fsm::Do<Tell, Retry>;
using fsm::Do, fsm::none, fsm::On;

template <class... Rows>
struct Machine {
  using transition_table = fsm::Table<Rows...>;
};
template <class... Actions>
using Row = On<"impl: test", A, Pushed, B, Actions...>;

// A row without an action, one of its own, several, of which some are not asked for.
TEST(RowEffects, row_countsTheActionsAskedFor) {
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<>>, Tell, Retry>), 0U);
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<Tell>>, Tell, Retry>), 1U);
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<Count>>, Tell, Retry>), 0U);
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<Do<Tell, Count, Retry>>>, Tell, Retry>), 2U);
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<Do<Tell, Count, Tell>>>, Tell, Retry>), 2U) << "twice in a row";
}

// Actions that stand together under a name count each.
TEST(RowEffects, row_countsActionsWithinActions) {
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<Do<Both, Tell>>>, Tell, Retry>), 3U);
}

// An action that pushes two effects is named twice.
TEST(RowEffects, actionNamedTwice_countsTwice) {
  EXPECT_EQ((fsm::most_in_a_row<Machine<Row<Do<Tell, Retry>>>, Tell, Tell, Retry>), 3U);
}

// The longest row counts, wherever it stands; once more without the effect that is out of the box.
TEST(RowEffects, rows_theLongestCounts) {
  using Table = Machine<Row<Tell>, Row<Do<Tell, Retry, Tell>>, Row<>>;
  EXPECT_EQ((fsm::most_in_a_row<Table, Tell, Retry>), 3U);
  EXPECT_EQ((fsm::most_pending<Table, Tell, Retry>), 5U);
}

}  // namespace
