// The tables of a mutation build (CMake option FCVI_MUTATION): each row can be changed at run time, to find out whether
// a test notices. Nothing else includes this header; without the option the back-end sees the tables themselves.
//
// `choice_of` (tests/mutation/active.cpp) decides what to change: one row and one way per process.
#pragma once

#include "state_machines/fsm.hpp"

#include <boost/mp11/algorithm.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fsm::mutation {

enum class Kind : std::uint8_t {
  None,      // the row as it is written
  Remove,    // as if the row were not there: no other row accepts its event, so that it is unexpected
  Invert,    // accepts what its guard refuses, before the rows beside it, and refuses what it accepts
  Stay,      // does its effects, but the state stays
  Drop,      // does not do one of its effects
  Swap,      // does one of its effects behind the next one
  Retarget,  // leads to another state than it should
};
struct Choice {
  Kind kind = Kind::None;
  std::string effect;  // of Drop and Swap: the action's label
};

// "machine/State/Event/guard", unique among all rows: guards of one state and event exclude each other.
template <class Def, class R>
[[nodiscard]] std::string key_of() {
  std::string key(Def::name);  // not by "+": g++ 12 sees array bounds exceeded in some
  for (const std::string_view part : {name_of<source_of<R>>(), name_of<event_of<R>>()}) {
    key += '/';
    key += part;
  }
  key += '/';
  key += label<typename R::UserGuard>();
  return key;
}

// The change of the row in this process. Called once per row.
[[nodiscard]] Choice choice_of(const std::string& row_key);
// The row fired for the first time in this process.
void first_fired(const std::string& row_key);

template <class Def, class R>
[[nodiscard]] const Choice& choice() {
  static const Choice chosen = choice_of(key_of<Def, R>());
  return chosen;
}

// The single actions of a row, however its lists are nested.
template <class Action>
struct Flatten {
  using type = mp::mp_list<Action>;
};
template <>
struct Flatten<none> {
  using type = mp::mp_list<>;
};
template <class... Actions>
struct Flatten<Do<Actions...>> {
  using type = mp::mp_append<typename Flatten<Actions>::type...>;
};
template <class R>
using actions_of = typename Flatten<typename R::UserAction>::type;

// The first state of the machine after the row's own target that is neither that target nor the row's source.
template <class Def, class R>
[[nodiscard]] constexpr std::size_t wrong_target() {
  constexpr std::size_t count = mp::mp_size<states_of<Def>>::value;
  constexpr std::size_t source = state_index<Def, source_of<R>>, target = state_index<Def, next_of<R>>;
  std::size_t wrong = (target + 1) % count;
  if (wrong == source) wrong = (wrong + 1) % count;
  return wrong;
}

// The row that fired leads there, under Kind::Retarget.
void retarget(std::size_t wrong);
// The state after an event, where `state` is what the table says.
[[nodiscard]] std::uint8_t state_after(std::uint8_t state);

template <class Def, class R>
struct Action {
  using Effects = actions_of<R>;
  static constexpr std::size_t count = mp::mp_size<Effects>::value;

  template <class Event, class Machine, class Source, class Target>
  void operator()(const Event& event, Machine& machine, Source& source, Target& target) const {
    static const bool noted = (first_fired(key_of<Def, R>()), true);
    static_cast<void>(noted);
    machine.template on_row<R>();
    const Choice& chosen = choice<Def, R>();
    for (const std::size_t index : order(chosen)) {
      mp::mp_with_index<std::max<std::size_t>(count, 1)>(index, [&](auto at) {
        if constexpr (at < count) mp::mp_at<Effects, decltype(at)>{}(event, machine, source, target);
      });
    }
    if (chosen.kind == Kind::Retarget) retarget(wrong_target<Def, R>());
  }

 private:
  static std::vector<std::size_t> order(const Choice& chosen) {
    std::vector<std::size_t> indices;
    std::size_t named = count;
    mp::mp_for_each<mp::mp_iota_c<count>>([&](auto at) {
      const bool is_named = chosen.effect == label<mp::mp_at<Effects, decltype(at)>>();
      if (is_named && named == count) named = at;
      if (!(is_named && chosen.kind == Kind::Drop)) indices.push_back(at);
    });
    if (chosen.kind == Kind::Swap && named + 1 < count) std::swap(indices[named], indices[named + 1]);
    return indices;
  }
};

template <class R, class Event, class Machine, class Source, class Target>
[[nodiscard]] bool holds(const Event& event, Machine& machine, Source& source, Target& target) {
  if constexpr (std::is_same_v<typename R::UserGuard, none>)
    return true;
  else
    return typename R::UserGuard{}(event, machine, source, target);
}

// Another row of the same state and event is inverted and takes the event. The back-end tries the last row first:
// without this an inverted row would be tried too late, and be no more than a removed one.
template <class Def, class R>
struct TakenBeside {
  template <class Other>
  using beside = mp::mp_bool<std::is_same_v<source_of<Other>, source_of<R>> &&
                             std::is_same_v<event_of<Other>, event_of<R>> && !std::is_same_v<Other, R>>;
  template <class Event, class Machine, class Source, class Target>
  static bool holds(const Event& event, Machine& machine, Source& source, Target& target) {
    bool taken = false;
    mp::mp_for_each<mp::mp_transform<mp::mp_identity, mp::mp_filter<beside, rows_of<Def>>>>([&](auto tag) {
      using Other = typename decltype(tag)::type;
      taken = taken ||
              (choice<Def, Other>().kind == Kind::Invert && !mutation::holds<Other>(event, machine, source, target));
    });
    return taken;
  }
};

// Stays: the row's twin without a target, which replaces it under Kind::Stay.
template <class Def, class R, bool Stays>
struct Guard {
  template <class Event, class Machine, class Source, class Target>
  bool operator()(const Event& event, Machine& machine, Source& source, Target& target) const {
    const Kind kind = choice<Def, R>().kind;
    if (kind == Kind::Remove || (kind == Kind::Stay) != Stays) return false;
    if (TakenBeside<Def, R>::holds(event, machine, source, target)) return false;
    return holds<R>(event, machine, source, target) != (kind == Kind::Invert);
  }
};

template <class Def, class R>
using Changeable =
    boost::msm::front::Row<source_of<R>, event_of<R>, typename R::Target, Action<Def, R>, Guard<Def, R, false>>;
template <class Def, class R>
using Twin = boost::msm::front::Row<source_of<R>, event_of<R>, none, Action<Def, R>, Guard<Def, R, true>>;

template <class Def>
struct Rewritten {
  template <class R>
  using rows =
      std::conditional_t<R::internal, mp::mp_list<Changeable<Def, R>>, mp::mp_list<Changeable<Def, R>, Twin<Def, R>>>;
  using type = mp::mp_flatten<mp::mp_transform<rows, rows_of<Def>>>;
};

template <class Def>
using table_of = typename Rewritten<Def>::type;

}  // namespace fsm::mutation
