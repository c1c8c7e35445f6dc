// The only header that includes Boost.MSM's back-end. Only the .cpp of each machine includes it.
#pragma once

#include "state_machines/fsm.hpp"
#include "state_machines/fsm_dispatch.hpp"

#include <boost/mp11/mpl.hpp>  // makes mp_list an MPL sequence: no limit of 20 or 50 rows
#include <boost/msm/back/state_machine.hpp>
#include <boost/msm/front/state_machine_def.hpp>

#include <tuple>
#include <utility>

#ifdef FCVI_MUTATION  // one row may be changed at run time (tools/mutation)
#include "state_machines/fsm_mutation.hpp"
#endif

namespace fsm {

namespace detail {

// A row by its number: the back-end's types and symbols name their rows over and over, and an On<> has a long name.
template <class Def, std::size_t Number>
struct Numbered {
  using On = mp::mp_at_c<rows_of<Def>, Number>;
  using Source = typename On::Source;
  using Evt = typename On::Evt;
  using Target = typename On::Target;
  using row_type_tag = typename On::row_type_tag;

  template <class Event, class Machine, class From, class To, class AllStates>
  static boost::msm::back::HandledEnum action_call(Machine& machine, const Event& event, From& from, To& to,
                                                   AllStates&) {
    typename On::Action{}(event, machine, from, to);
    return boost::msm::back::HANDLED_TRUE;
  }
  template <class Event, class Machine, class From, class To, class AllStates>
  static bool guard_call(Machine& machine, const Event& event, From& from, To& to, AllStates&) {
    return typename On::Guard{}(event, machine, from, to);
  }
};

template <class Def, std::size_t... Numbers>
mp::mp_list<Numbered<Def, Numbers>...> number_rows(std::index_sequence<Numbers...>);

#ifdef FCVI_MUTATION
template <class Def>
using table_of = mutation::table_of<Def>;
#else
template <class Def>
using table_of = decltype(number_rows<Def>(std::make_index_sequence<mp::mp_size<rows_of<Def>>::value>{}));
#endif
}  // namespace detail

// A machine definition as Boost.MSM needs it: no queue, no deferral, no exceptions.
template <class Def>
struct FrontEnd : boost::msm::front::state_machine_def<FrontEnd<Def>> {
  using transition_table = detail::table_of<Def>;
  using initial_state = typename Def::initial_state;
  using no_exception_thrown = int;
  using no_message_queue = int;

  explicit FrontEnd(typename Def::Context& effects) : context(&effects) {}

  // Does nothing here: Machine::process reports this and the refusal of all guards in the same way.
  template <class Event, class Machine>
  void no_transition(const Event&, Machine&, int) {}

  template <class TableRow>
  void on_row() {
    context->on_row(row_of<Def, TableRow>);
  }

  typename Def::Context* context;
};

namespace detail {

// An "archive" that puts region 0 into a state through the public serialize() of the back-end.
struct StateForcer {
  int index;
  template <class T>
  StateForcer& operator&(T& member) {
    if constexpr (std::is_array_v<T>) member[0] = index;  // the back-end's m_states
    return *this;
  }
};

template <class BackEnd, class State>
using back_end_index = typename boost::msm::back::get_state_id<typename BackEnd::stt, State>::type;

template <class Def, class BackEnd, class... States>
constexpr bool same_numbering(mp::mp_list<States...>) {
  return ((back_end_index<BackEnd, States>::value == state_index<Def, States>)&&...);
}

template <class... States>
constexpr bool all_simple(mp::mp_list<States...>) {
  return (std::is_base_of_v<State, States> && ...);
}

// Its explicit instantiation takes the address of process() for every event, and so instantiates them all.
template <class Def, class Events>
struct Emit;
template <class Def, class... Events>
struct Emit<Def, mp::mp_list<Events...>> {
  static const std::tuple<Outcome (Machine<Def>::*)(const Events&, typename Def::Context&)...> processes;
};
template <class Def, class... Events>
const std::tuple<Outcome (Machine<Def>::*)(const Events&, typename Def::Context&)...>
    Emit<Def, mp::mp_list<Events...>>::processes{&Machine<Def>::template process<Events>...};

}  // namespace detail

template <class Def>
template <class E>
requires EventOf<Def, E> Outcome Machine<Def>::process(const E& event, Context& context) {
  using BackEnd = boost::msm::back::state_machine<FrontEnd<Def>, detail::RowsOfOneEvent<Def>>;
  static_assert(detail::same_numbering<Def, BackEnd>(states_of<Def>{}));
  static_assert(StateOf<Def, typename Def::initial_state>, "some row leaves it or leads to it");
  static_assert(detail::all_simple(states_of<Def>{}), "no composite states, no deferred events: fsm_dispatch.hpp");
  assert((state_ & busy) == 0 && "an effect must not call back into its own machine");

  BackEnd back_end(context);
  detail::StateForcer forcer{state_};
  back_end.serialize(forcer, 0U);
  state_ |= busy;
  const auto handled = back_end.process_event(event);
  state_ = static_cast<std::uint8_t>(back_end.current_state()[0]);
#ifdef FCVI_MUTATION
  state_ = mutation::state_after(state_);
#endif
  if (handled == boost::msm::back::HANDLED_TRUE) return Outcome::Handled;
  context.unexpected(Def::name, state_name(), name_of<E>());
  return Outcome::Unexpected;
}

}  // namespace fsm

// Once per machine, in its .cpp, at global scope.
#define FSM_INSTANTIATE(Def) template struct fsm::detail::Emit<Def, fsm::events_of<Def>>
