// What a run notes for a report besides frames.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/parts/byte_stream.hpp"

namespace sim {

/// An endpoint's state, as VI-ARCH 5 and FC-VI 8.2 name them.
struct StateChange {
  runtime::TimeNs at = 0;  // of the simulation's clock
  std::size_t port = 0;
  std::string connection;
  std::string_view from, to;
};

/// Rows of the tables of state_machines/ that fired: each row once, with its number of times, and when each fired. Some
/// fire with every frame: of each machine the first are kept, all are counted.
class RowLog {
 public:
  struct Row {
    FiredRow row;
    std::uint64_t times = 0, kept = 0;
    runtime::TimeNs first = 0;  // when and where it fired first
    std::uint32_t first_place = 0;
  };
  struct Fired {
    runtime::TimeNs at = 0;
    std::uint32_t place = 0;  // a port of the scenario; behind those a switch
    std::uint32_t row = 0;    // position in rows()
  };
  static constexpr std::size_t most_of_a_machine = 100'000;

  /// Of one instant in an order that does not depend on who simulates what (see OrderedNotes). Before the first note.
  void order_instants() { orders_instants_ = true; }
  /// Of one run, not before those that were noted already.
  void note(runtime::TimeNs at, std::size_t place, const FiredRow& row);
  /// In the order in which they fired first.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// In the order of time.
  [[nodiscard]] const std::vector<Fired>& fired() const { return fired_; }
  /// What another part of the same run noted, whose places are others.
  void add(const RowLog& other);
  /// The end of a run whose instants are ordered.
  void conclude();
  void write(ByteWriter& to) const;
  /// As write() left it: names become constants, which `constant` finds.
  using Constant = std::string_view (*)(const std::string& text);
  static RowLog read(ByteReader& from, Constant constant);

 private:
  /// Of one machine.
  struct Kept {
    std::size_t count = 0;
    runtime::TimeNs last = 0;
  };
  std::uint32_t number_of(const FiredRow& row, runtime::TimeNs at, std::uint32_t place);
  void order_rows();
  using Key = std::pair<const char*, std::size_t>;  // where the machine's name stands, position in its table
  std::vector<Row> rows_;
  std::vector<Fired> fired_;
  boost::unordered_flat_map<Key, std::uint32_t> numbers_;
  boost::unordered_flat_map<const char*, Kept> kept_;  // by machine
  bool orders_instants_ = false;
};

/// A fault befell the frame of that record of the capture.
struct FaultHit {
  std::uint64_t record = 0;  // from 1
  std::size_t rule = 0;      // position among the scenario's faults
};

/// A value that a run measures: each holds until the next.
struct Series {
  std::string group, name;  // "Buffer credit", "client"; an empty name: of another part of the run
  std::string_view unit;    // "B"; empty: a count
  std::size_t order = 0;    // of its port, or queue behind all ports, in all parts of a run
  std::vector<runtime::TimeNs> at;
  std::vector<std::uint64_t> values;
};

struct RunRecord {
  std::vector<StateChange> states;
  RowLog rows;
  std::vector<Series> series;
  std::uint64_t values_left_out = 0;  // of those, behind the most
  std::size_t queues_left_out = 0;    // of switches, not measured
  std::vector<FaultHit> hits;

  /// The end of a run whose instants are ordered: what was noted of one instant is in the order of places.
  void conclude();

  static constexpr std::size_t most_measured = 64;  // ports, and queues of switches
  static constexpr std::size_t most_values = 2'000'000;
};

}  // namespace sim
