// How Boost.MSM's back-end finds the rows of an event, for `fsm_backend.hpp` alone. It changes how long a machine takes
// to compile, not what the machine does.
//
// Two steps of the back-end look at every row of the table again, with MPL: for each state (has it tables of its own to
// add?) and for each event (which rows accept it?). They took three quarters of the time of a machine's source. Here
// the first is answered at once for simple states, which all of ours are (asserted in fsm_backend.hpp), and the second
// is asked with mp11: an MPL algorithm for the back-end's kind of sequence, and a compile policy of the back-end.
#pragma once

#include "state_machines/fsm.hpp"

#include <boost/mp11/mpl.hpp>  // before the back-end: makes mp_list an MPL sequence
#include <boost/mpl/at.hpp>
#include <boost/mpl/empty.hpp>
#include <boost/mpl/insert_range.hpp>
#include <boost/mpl/vector.hpp>
#include <boost/msm/back/state_machine.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

// Composite states have tables of their own to add to the machine's; ours are simple, and add nothing.
template <>
struct boost::mpl::insert_range_impl<boost::mpl::aux::vector_tag> {
  template <class Sequence, class Position, class Range>
  struct apply : boost::mpl::eval_if<boost::mpl::empty<Range>, boost::mpl::identity<Sequence>,
                                     insert_range_impl<void>::apply<Sequence, Position, Range>> {};
};

namespace fsm::detail {

// The compile policy (a parameter of the back-end) under which the specialization below makes the tables.
template <class Def>
struct RowsOfOneEvent {
  using compile_policy = int;
  using add_forwarding_rows = boost::mpl::false_;
};

// The back-end's rows, in the order of the table. Named once for each machine.
template <class Stt, std::size_t... Numbers>
mp::mp_list<typename boost::mpl::at_c<Stt, Numbers>::type...> list_rows(std::index_sequence<Numbers...>);
template <class Stt>
using rows_in = decltype(list_rows<Stt>(std::make_index_sequence<boost::mpl::size<Stt>::value>{}));

template <class Event>
struct Accepts {
  template <class Row>
  using fn = std::is_base_of<typename Row::transition_event, Event>;
};
template <class State>
struct Leaves {
  template <class Row>
  using fn = std::is_same<typename Row::current_state_type, State>;
};

// The rows of one state and event, none of them perhaps. The last of the table is asked first, as in Boost.MSM.
template <class Fsm, class Event, class... Rows>
struct OneOf {
  static boost::msm::back::HandledEnum execute([[maybe_unused]] Fsm& machine, [[maybe_unused]] int region,
                                               [[maybe_unused]] int state, [[maybe_unused]] const Event& event) {
    using namespace boost::msm::back;
    HandledEnum outcome = HANDLED_FALSE;
    (void)(((outcome = Rows::execute(machine, region, state, event)) == HANDLED_TRUE) || ...);
    return outcome;
  }
};
}  // namespace fsm::detail

// What the machine does with an event in each of its states. Entry 0 is for rows of the machine as a whole, of which we
// have none.
template <class Fsm, class Stt, class Event, class Def>
struct boost::msm::back::dispatch_table<Fsm, Stt, Event, fsm::detail::RowsOfOneEvent<Def>> {
  using Cell = HandledEnum (*)(Fsm&, int, int, const Event&);

  static const dispatch_table instance;

  Cell entries[1 + fsm::mp::mp_size<fsm::states_of<Def>>::value];

 private:
  using Rows = fsm::mp::mp_filter_q<fsm::detail::Accepts<Event>, fsm::detail::rows_in<Stt>>;

  template <class... States>
  constexpr explicit dispatch_table(fsm::mp::mp_list<States...>)
      : entries{&fsm::detail::OneOf<Fsm, Event>::execute, cell<States>()...} {}

  template <class State>
  static constexpr Cell cell() {
    using Choices = fsm::mp::mp_reverse<fsm::mp::mp_filter_q<fsm::detail::Leaves<State>, Rows>>;
    return &fsm::mp::mp_apply<fsm::detail::OneOf, fsm::mp::mp_append<fsm::mp::mp_list<Fsm, Event>, Choices>>::execute;
  }
};
template <class Fsm, class Stt, class Event, class Def>
constinit const boost::msm::back::dispatch_table<Fsm, Stt, Event, fsm::detail::RowsOfOneEvent<Def>>
    boost::msm::back::dispatch_table<Fsm, Stt, Event, fsm::detail::RowsOfOneEvent<Def>>::instance{
        fsm::states_of<Def>{}};
