// The kit of every machine's test: a recording context, the survey of the whole table, and the tests made from it.
//
// A test program of a machine has an Input: Def, Recorded (a Recorder of its Context), and the samples of each event
// that has fields. FSM_TABLE_TESTS(Suite, Input) then checks the table; the hand-written tests use a Rig.
#pragma once

#include "state_machines/fsm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fsm::testing {

// Puts a machine into any state: for tests only.
struct Access {
  template <class Def>
  static void force(Machine<Def>& machine, std::uint8_t state) {
    machine.state_ = state;
  }
  template <class Def>
  static std::uint8_t index(const Machine<Def>& machine) {
    return machine.state_;  // with the busy bit, if it were left behind
  }
};

// Records every effect as text. The predicates of the context are its knobs, numbered from 0.
template <class Base>
class Recorder : public Base {
 public:
  void on_row(const Row& row) override { rows.push_back(&row); }
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override {
    complaints.push_back(std::string(machine) + ": " + std::string(state) + " x " + std::string(event));
  }
  std::vector<std::string> calls;
  std::vector<std::string> complaints;
  std::vector<const Row*> rows;
  unsigned knobs = 0;

 protected:
  void note(std::string_view effect) { calls.emplace_back(effect); }
  template <class Value>
  void note(std::string_view effect, Value value) {
    std::string argument;
    if constexpr (std::is_enum_v<Value>) {
      argument = to_string(value);
    } else {
      argument = value ? "true" : "false";
    }
    calls.push_back(std::string(effect) + "(" + argument + ")");
  }
  [[nodiscard]] bool knob(unsigned number) const { return ((knobs >> number) & 1U) != 0; }
};

// One event value with the name that it has in the matrix.
template <class Event>
using Samples = std::vector<std::pair<std::string, Event>>;

// --- the survey: every state x event x sample x knobs ---------------------------------------------------------------

struct Trial {
  std::string sample;   // empty if the event has no fields
  std::string guards;   // truth of every atomic guard of this state and event: "Last, !Responds"
  std::string outcome;  // "-> Target / effects  {clause}" or "UNEXPECTED"
  std::size_t row;      // index in the table, or no_row
  std::uint8_t target;
};
inline constexpr std::size_t no_row = ~std::size_t{0};

struct Cell {
  std::string event;
  bool has_rows = false;
  std::vector<Trial> trials;
};

struct Survey {
  std::string machine;
  std::vector<std::string> states;
  std::uint8_t initial = 0;
  std::vector<Row> rows;
  std::vector<std::vector<Cell>> cells;  // by state, then event
  std::vector<std::string> problems;     // what contradicts the rules of a table
  std::string diagram;                   // PlantUML
};

[[nodiscard]] std::string matrix_text(const Survey&);
[[nodiscard]] std::string outcome_text(const Row*, const std::vector<std::string>& calls);
void check_golden(const std::string& file_name, const std::string& actual);
void check_every_row_fires(const Survey&);
void check_every_state_is_reachable(const Survey&);
void check_clauses(const Survey&);

template <class Guard>
struct LeavesOf {
  using type = typename Guard::Leaves;
};
template <>
struct LeavesOf<none> {
  using type = mp::mp_list<>;
};

template <class TableRow, class Event, class Context>
[[nodiscard]] bool accepts(const Event& event, const Context& context) {
  if constexpr (std::is_same_v<typename TableRow::UserGuard, none>) {
    return true;
  } else {
    return TableRow::UserGuard::holds(event, context);
  }
}

template <class Def>
[[nodiscard]] std::string plantuml() {
  std::string text = "@startuml\ntitle " + std::string(Def::name) + "\nhide empty description\n[*] --> " +
                     std::string(name_of<typename Def::initial_state>()) + "\n";
  mp::mp_for_each<mp::mp_transform<mp::mp_identity, rows_of<Def>>>([&](auto tag) {
    using R = typename decltype(tag)::type;
    text += name_of<source_of<R>>();
    if (!R::internal) text += " --> " + std::string(name_of<next_of<R>>());
    text += " : " + std::string(name_of<event_of<R>>());
    if constexpr (!std::is_same_v<typename R::UserGuard, none>) text += " [" + label<typename R::UserGuard>() + "]";
    if constexpr (!std::is_same_v<typename R::UserAction, none>) text += " / " + label<typename R::UserAction>();
    text += "\\n" + std::string(R::clause) + "\n";
  });
  return text + "@enduml\n";
}

template <class Input>
class Surveyor {
 public:
  using Def = typename Input::Def;
  using Recorded = typename Input::Recorded;

  [[nodiscard]] Survey run() {
    survey_.machine = Def::name;
    survey_.initial = state_index<Def, typename Def::initial_state>;
    survey_.diagram = plantuml<Def>();
    for (std::size_t state = 0; state < mp::mp_size<states_of<Def>>::value; ++state) {
      survey_.states.emplace_back(state_name_at<Def>(state));
    }
    mp::mp_for_each<mp::mp_transform<mp::mp_identity, rows_of<Def>>>(
        [&](auto tag) { survey_.rows.push_back(row_of<Def, typename decltype(tag)::type>); });
    survey_.cells.resize(survey_.states.size());
    mp::mp_for_each<mp::mp_transform<mp::mp_identity, events_of<Def>>>(
        [&](auto tag) { survey_event<typename decltype(tag)::type>(); });
    return std::move(survey_);
  }

 private:
  template <class Event>
  struct HasEvent {
    template <class TableRow>
    using fn = std::is_same<event_of<TableRow>, Event>;
  };

  template <class Event>
  void survey_event() {
    for (std::size_t state = 0; state < survey_.states.size(); ++state) {
      Cell cell{std::string(name_of<Event>()), false, {}};
      for (const auto& [name, event] : Input::samples(std::type_identity<Event>{})) {
        for (unsigned knobs = 0; knobs < (1U << Input::knob_count); ++knobs) {
          try_one(cell, static_cast<std::uint8_t>(state), name, event, knobs);
        }
      }
      survey_.cells[state].push_back(std::move(cell));
    }
  }

  template <class Event>
  void try_one(Cell& cell, std::uint8_t state, const std::string& sample, const Event& event, unsigned knobs) {
    Recorded context;
    context.knobs = knobs;
    Trial trial{sample, {}, {}, no_row, state};
    std::set<std::string> seen;
    std::vector<std::size_t> accepting;
    // Every row of this state and event: which guards hold?
    mp::mp_for_each<mp::mp_transform<mp::mp_identity, mp::mp_filter_q<HasEvent<Event>, rows_of<Def>>>>([&](auto tag) {
      using R = typename decltype(tag)::type;
      if (state_index<Def, source_of<R>> != state) return;
      cell.has_rows = true;
      if (accepts<R>(event, context)) accepting.push_back(row_of<Def, R>.index);
      mp::mp_for_each<mp::mp_transform<mp::mp_identity, typename LeavesOf<typename R::UserGuard>::type>>(
          [&](auto leaf) {
            using Leaf = typename decltype(leaf)::type;
            const std::string name(name_of<Leaf>());
            if (!seen.insert(name).second) return;
            trial.guards +=
                (trial.guards.empty() ? "" : ", ") + std::string(Leaf::holds(event, context) ? "" : "!") + name;
          });
    });
    const std::string where = survey_.states[state] + " x " + cell.event + "{" + sample + "} [" + trial.guards + "]";
    if (accepting.size() > 1) survey_.problems.push_back(where + ": more than one row accepts");
    if (cell.has_rows && accepting.empty()) survey_.problems.push_back(where + ": no row accepts, though some exist");

    Machine<Def> machine;
    Access::force(machine, state);
    const Outcome outcome = machine.process(event, context);
    const Row* row = context.rows.empty() ? nullptr : context.rows.front();
    trial.target = Access::index(machine);
    trial.row = row == nullptr ? no_row : row->index;
    trial.outcome = outcome_text(row, context.calls);
    if (trial.target >= survey_.states.size()) {
      survey_.problems.push_back(where + ": left in no state");
      trial.target = state;
    }
    if (outcome == Outcome::Handled) {
      if (context.rows.size() != 1 || accepting != std::vector{trial.row} || !context.complaints.empty() ||
          survey_.states[trial.target] != row->target) {
        survey_.problems.push_back(where + ": not the row that the table names");
      }
    } else if (!context.rows.empty() || !context.calls.empty() || context.complaints.size() != 1 ||
               trial.target != state) {
      survey_.problems.push_back(where + ": an unexpected event must only be reported");
    }
    cell.trials.push_back(std::move(trial));
  }

  Survey survey_;
};

template <class Input>
[[nodiscard]] const Survey& survey_of() {
  static const Survey survey = Surveyor<Input>{}.run();
  return survey;
}

// --- hand-written tests ---------------------------------------------------------------------------------------------

// A machine with its recorder. after(event) is the new state and every effect: "Idle: stop_timer, release",
// or "Idle:" for none; an event that the table does not expect reads "Idle: UNEXPECTED".
template <class Def, class Recorded>
class Rig {
 public:
  template <class Event>
  [[nodiscard]] std::string after(const Event& event) {
    context.calls.clear();
    const Outcome outcome = machine.process(event, context);
    std::string text = std::string(machine.state_name()) + ":";
    if (outcome == Outcome::Unexpected) return text + " UNEXPECTED";
    for (const auto& call : context.calls) text += (&call == &context.calls.front() ? " " : ", ") + call;
    return text;
  }
  // Feeds events whose effects are not the point of the test.
  template <class... Events>
  void given(const Events&... events) {
    (expect_handled(machine.process(events, context)), ...);
  }
  void set(unsigned knob, bool value = true) {
    context.knobs = value ? context.knobs | (1U << knob) : context.knobs & ~(1U << knob);
  }
  Machine<Def> machine;
  Recorded context;

 private:
  static void expect_handled(Outcome outcome) { EXPECT_EQ(outcome, Outcome::Handled); }
};

}  // namespace fsm::testing

// The tests that every table must pass.
#define FSM_TABLE_TESTS(Suite, Input) \
  TEST(Suite, table_matches_golden_matrix) { \
    const auto& survey = fsm::testing::survey_of<Input>(); \
    fsm::testing::check_golden(survey.machine + ".matrix.txt", fsm::testing::matrix_text(survey)); \
  } \
  TEST(Suite, table_matches_golden_diagram) { \
    const auto& survey = fsm::testing::survey_of<Input>(); \
    fsm::testing::check_golden(survey.machine + ".puml", survey.diagram); \
  } \
  TEST(Suite, table_guards_are_exclusive_and_complete) { \
    for (const auto& problem : fsm::testing::survey_of<Input>().problems) ADD_FAILURE() << problem; \
  } \
  TEST(Suite, table_every_row_fires) { fsm::testing::check_every_row_fires(fsm::testing::survey_of<Input>()); } \
  TEST(Suite, table_every_state_is_reachable) { \
    fsm::testing::check_every_state_is_reachable(fsm::testing::survey_of<Input>()); \
  } \
  TEST(Suite, table_every_row_names_its_clause) { fsm::testing::check_clauses(fsm::testing::survey_of<Input>()); } \
  static_assert(true)
