// How many effects one row of a table can ask for: what its owner's fsm::Outbox must hold, checked when it compiles.
#pragma once

#include <algorithm>
#include <cstddef>

#include "state_machines/fsm.hpp"

namespace fsm {
namespace detail {
template <class Action, class... Wanted>
struct CountOf {
  static constexpr std::size_t value = ((std::is_same_v<Action, Wanted> ? 1 : 0) + ... + 0);
};
template <class... Actions, class... Wanted>
struct CountOf<Do<Actions...>, Wanted...> {
  static constexpr std::size_t value = (CountOf<Actions, Wanted...>::value + ... + 0);
};

template <class Table, class... Wanted>
struct MostInARow;
template <class... Rows, class... Wanted>
struct MostInARow<mp::mp_list<Rows...>, Wanted...> {
  static constexpr std::size_t value =
      std::max({std::size_t{0}, std::size_t{CountOf<typename Rows::UserAction, Wanted...>::value}...});
};
}  // namespace detail

/// The most of the actions `Wanted` that one row of the machine `Def` does. An action that pushes two effects is named
/// twice.
template <class Def, class... Wanted>
inline constexpr std::size_t most_in_a_row = detail::MostInARow<typename Def::transition_table, Wanted...>::value;

/// Effects pending at most, if each of the actions `Wanted` pushes one: those that a row left, when the first of them,
/// which is out of the box, leads to another event. The owner drains before it returns to whoever fed that.
template <class Def, class... Wanted>
inline constexpr std::size_t most_pending = 2 * most_in_a_row<Def, Wanted...> - 1;

}  // namespace fsm
