// The kit of every machine in this folder: rows with their clause, and a machine object of one byte.
//
// Light on purpose: it includes Boost.MSM's functor rows and no more. The back-end is in `fsm_backend.hpp`, which only
// the `.cpp` of each machine includes. `README.md` tells how to read a table and how to add a row.
#pragma once

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>
#include <boost/mpl/bool.hpp>
#include <boost/mpl/vector/vector0.hpp>
#include <boost/msm/front/functor_row.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace fsm {

namespace mp = boost::mp11;
using boost::msm::front::none;

// The name of a type without its namespaces (gcc and clang).
template <class T>
[[nodiscard]] constexpr std::string_view name_of() {
  std::string_view text = __PRETTY_FUNCTION__;
  const auto begin = text.find("T = ") + 4;
  text = text.substr(begin, text.find_first_of(";]", begin) - begin);
  if (const auto colon = text.rfind("::"); colon != std::string_view::npos) text.remove_prefix(colon + 2);
  return text;
}

namespace detail {
// "Verdict::Accept" of the enumerator, or "(Verdict)7" where there is none.
template <auto Value>
[[nodiscard]] constexpr std::string_view enumerator_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const auto begin = text.find("Value = ") + 8;
  text = text.substr(begin, text.find_first_of(";]", begin) - begin);
  if (text.starts_with('(')) return {};
  if (const auto colon = text.rfind("::"); colon != std::string_view::npos) text.remove_prefix(colon + 2);
  return text;
}
}  // namespace detail

// The name of an enumerator, for the small dense enums (at most 16 values) of the machines; "?" for another value.
template <class Enum>
requires std::is_enum_v<Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) {
  std::string_view found = "?";
  mp::mp_for_each<mp::mp_iota_c<16>>([&](auto index) {
    constexpr auto candidate = static_cast<Enum>(decltype(index)::value);
    constexpr auto name = detail::enumerator_name<candidate>();
    if (candidate == value && !name.empty()) found = name;
  });
  return found;
}

// The clause of a row as a template argument: "FC-VI 8.5.3 a) 2)", or "impl: why" for a row that we invented.
template <std::size_t N>
struct Clause {
  char text[N]{};
  constexpr Clause(const char (&literal)[N]) { std::copy_n(literal, N, text); }  // NOLINT: implicit by design
};

// The row that fired, passed to Context::on_row before the actions of the row run. One object per row:
// compare by address.
struct Row {
  std::string_view machine;
  std::string_view source;
  std::string_view event;
  std::string_view target;  // == source for an internal row
  std::string_view clause;
  std::size_t index;  // position in the table
};

// Hears of the rows that fire in machines of several owners, while they fire: it takes note, and calls nobody back.
class RowListener {
 public:
  virtual void row_fired(const Row& row) = 0;

 protected:
  ~RowListener() = default;
};
inline void tell(RowListener* listener, const Row& row) {
  if (listener != nullptr) listener->row_fired(row);
}

// The base of every machine's Context, which names all effects that the machine may have.
//
// Rules for implementations:
// - An effect never calls process() of the same machine (asserted), not even through another machine, and never
//   destroys it: it posts to an outbox. Machine::processing() tells whether an event is being processed.
// - start_x() restarts a running timer; stop_x() may be called when it does not run. After stop_x(), and after the row
//   of its expiry, the timer's event never arrives: the owner drops an expiry that raced with the stop.
// - Effects do not throw. Predicates have no effect.
// - A Context may be a short-lived adapter on the stack: the machine keeps no reference to it.
class Context {
 public:
  Context() = default;
  Context(const Context&) = default;
  Context& operator=(const Context&) = default;
  virtual ~Context() = default;

  // A row fired: for traces and clause coverage.
  virtual void on_row(const Row&) {}
  // No row accepted the event: the table's author considered it impossible. Count it, trace it, never
  // ignore it silently.
  virtual void unexpected(std::string_view machine, std::string_view state, std::string_view event) = 0;
};

enum class Outcome : std::uint8_t {
  Handled,     // a row fired
  Unexpected,  // no row for this state and event, or every guard refused: Context::unexpected was called
};

// The base of all states: what the back-end needs of a state, without the headers of boost::msm::front::state.
struct State {
  using needs_sm = boost::mpl::bool_<false>;
  using flag_list = boost::mpl::vector0<>;
  using internal_flag_list = boost::mpl::vector0<>;
  using deferred_events = boost::mpl::vector0<>;
  using internal_transition_table = boost::mpl::vector0<>;
  template <class Event, class Machine>
  void on_entry(const Event&, Machine&) {}
  template <class Event, class Machine>
  void on_exit(const Event&, Machine&) {}
};

template <class... Rows>
using Table = mp::mp_list<Rows...>;

// Runs first in every row: tells the context which row fired, then the row's own action.
template <class TableRow, class Action>
struct Traced {
  template <class Event, class Machine, class Source, class Target>
  void operator()(const Event& event, Machine& machine, Source& source, Target& target) const {
    machine.template on_row<TableRow>();
    if constexpr (!std::is_same_v<Action, none>) Action{}(event, machine, source, target);
  }
};

// One row of a transition table. A target `none` makes it internal: the state stays, nothing is left or entered.
template <Clause Reference, class S, class E, class T, class A = none, class G = none>
struct On : boost::msm::front::Row<S, E, T, Traced<On<Reference, S, E, T, A, G>, A>, G> {
  using UserAction = A;
  using UserGuard = G;
  using Next = std::conditional_t<std::is_same_v<T, none>, S, T>;
  static constexpr std::string_view clause{Reference.text};
  static constexpr bool internal = std::is_same_v<T, none>;
};

// --- actions and guards ----------------------------------------------------------------------------------------

// FSM_ACTION(StartT3, context.start_t3()): one verb, no decision. `context` and `event` are in scope.
#define FSM_ACTION(Name, ...) \
  struct Name { \
    template <class Event, class Machine, class Source, class Target> \
    void operator()([[maybe_unused]] const Event& event, Machine& machine, Source&, Target&) const { \
      Context& context = *machine.context; \
      __VA_ARGS__; \
    } \
  }
// FSM_GUARD(RetriesLeft, context.retries_left()): one predicate over `context` (const) and `event`.
#define FSM_GUARD(Name, ...) \
  struct Name { \
    using Leaves = fsm::mp::mp_list<Name>; \
    template <class Event> \
    static bool holds([[maybe_unused]] const Event& event, [[maybe_unused]] const Context& context) { \
      return __VA_ARGS__; \
    } \
    template <class Event, class Machine, class Source, class Target> \
    bool operator()(const Event& event, Machine& machine, Source&, Target&) const { \
      return holds(event, *machine.context); \
    } \
  }

template <class T>
[[nodiscard]] std::string label() {
  if constexpr (requires { T::text(); }) {
    return T::text();
  } else {
    return std::string(name_of<T>());
  }
}

template <class... Parts>
[[nodiscard]] std::string joined_labels(std::string_view separator) {
  std::string text;
  ((text += (text.empty() ? "" : std::string(separator)) + label<Parts>()), ...);
  return text;
}

// Actions, left to right.
template <class... Actions>
struct Do {
  static std::string text() { return joined_labels<Actions...>(", "); }
  template <class Event, class Machine, class Source, class Target>
  void operator()(const Event& event, Machine& machine, Source& source, Target& target) const {
    (Actions{}(event, machine, source, target), ...);
  }
};

template <class... Guards>
struct All {
  using Leaves = mp::mp_unique<mp::mp_append<typename Guards::Leaves...>>;
  static std::string text() { return joined_labels<Guards...>(" && "); }
  template <class Event, class Ctx>
  static bool holds(const Event& event, const Ctx& context) {
    return (Guards::holds(event, context) && ...);
  }
  template <class Event, class Machine, class Source, class Target>
  bool operator()(const Event& event, Machine& machine, Source&, Target&) const {
    return holds(event, *machine.context);
  }
};

template <class Guard>
struct Not {
  using Leaves = typename Guard::Leaves;
  static std::string text() { return "!" + label<Guard>(); }
  template <class Event, class Ctx>
  static bool holds(const Event& event, const Ctx& context) {
    return !Guard::holds(event, context);
  }
  template <class Event, class Machine, class Source, class Target>
  bool operator()(const Event& event, Machine& machine, Source&, Target&) const {
    return holds(event, *machine.context);
  }
};

// --- what a table tells about itself ---------------------------------------------------------------------------

template <class TableRow>
using source_of = typename TableRow::Source;
template <class TableRow>
using next_of = typename TableRow::Next;
template <class TableRow>
using event_of = typename TableRow::Evt;
template <class Def>
using rows_of = typename Def::transition_table;
// Sources in table order, then targets that are no source: the numbering of the back-end (asserted there).
template <class Def>
using states_of =
    mp::mp_unique<mp::mp_append<mp::mp_transform<source_of, rows_of<Def>>, mp::mp_transform<next_of, rows_of<Def>>>>;
template <class Def>
using events_of = mp::mp_unique<mp::mp_transform<event_of, rows_of<Def>>>;

template <class Def, class S>
inline constexpr std::uint8_t state_index = std::uint8_t{mp::mp_find<states_of<Def>, S>::value};
template <class Def, class S>
concept StateOf = mp::mp_contains<states_of<Def>, S>::value;
template <class Def, class E>
concept EventOf = mp::mp_contains<events_of<Def>, E>::value;

template <class Def>
[[nodiscard]] constexpr std::string_view state_name_at(std::size_t index) {
  std::string_view found = "?";
  std::size_t position = 0;
  mp::mp_for_each<mp::mp_transform<mp::mp_identity, states_of<Def>>>([&](auto tag) {
    if (position++ == index) found = name_of<typename decltype(tag)::type>();
  });
  return found;
}

template <class Def, class TableRow>
inline constexpr Row row_of{Def::name,
                            name_of<source_of<TableRow>>(),
                            name_of<event_of<TableRow>>(),
                            name_of<next_of<TableRow>>(),
                            TableRow::clause,
                            mp::mp_find<rows_of<Def>, TableRow>::value};

// --- the machine -----------------------------------------------------------------------------------------------

namespace testing {
struct Access;
}

// One byte. A hundred thousand connections hold several of these each; the back-end is built on the stack per event.
//
// `Def` has: name, Context, initial_state, transition_table.
template <class Def>
class Machine {
 public:
  using Context = typename Def::Context;

  // Runs the one row that accepts the event. Defined in the machine's own .cpp (FSM_INSTANTIATE).
  template <class E>
  requires EventOf<Def, E> Outcome process(const E& event, Context& context);

  template <class S>
  requires StateOf<Def, S>
  [[nodiscard]] bool is() const { return index() == state_index<Def, S>; }
  template <class... States>
  [[nodiscard]] bool is_any_of() const {
    return (is<States>() || ...);
  }
  // An effect is running: an effect of another machine that would feed this one must post the event instead.
  [[nodiscard]] bool processing() const { return (state_ & busy) != 0; }
  [[nodiscard]] std::string_view state_name() const { return state_name_at<Def>(index()); }
  [[nodiscard]] static constexpr std::string_view name() { return Def::name; }

 private:
  friend struct testing::Access;
  static constexpr std::uint8_t busy = 0x80;  // set while an event is processed: finds effects that call back
  static_assert(mp::mp_size<states_of<Def>>::value < busy);

  [[nodiscard]] std::uint8_t index() const { return static_cast<std::uint8_t>(state_ & ~busy); }

  std::uint8_t state_ = state_index<Def, typename Def::initial_state>;
};

}  // namespace fsm
