// The keys of scenarios: the loader refuses any other, and the JSON Schema of `fcvi-sim schema` is made of them. Each
// part of the loader has the tables of what it reads.
#pragma once
#include <string_view>
#include <vector>

#include "settings/reader.hpp"

namespace sim {

/// How a value is written.
enum class Form {
  None,  // only as a mapping, see Key::table
  Text,
  Flag,       // true, false
  Number,     // decimal or 0x...
  Count,      // the same, from 1
  Share,      // 0 to 1
  Bytes,      // 64KiB
  Time,       // 2.5ms
  Interval,   // the same, not 0
  LineRate,   // 16GFC, 400MB/s
  Rate,       // so many messages, 5000/s, or bytes, 400MB/s
  Wwn,        // 20:00:02:fc:f0:00:00:01
  Address,    // IPv4 or IPv6
  Choice,     // one of Key::names
  Bound,      // a Number, or {min, max}
  ByteBound,  // the same of Bytes, ...
  TimeBound,
  RateBound,
  ShareBound,
  BoundsByName,   // a mapping of Key::names to Bounds
  NumbersByName,  // ... to Numbers
  TablesByName,   // of any name to mappings: Key::table
  AnyMapping,     // of anything
  AnyMappings,    // the same, or a list of them
};

/// Whether a list of them may stand there. Mappings, Numbers: a single value, or a list of these.
enum class InList { No, Also, Only, Mappings, Numbers };

/// Names that a value may be.
struct NameSet {
  std::string_view name;  // in the schema
  std::vector<std::string_view> (*list)() = nullptr;
};

struct KeyTable;
/// Of which a mapping is: one table, or the one of several that it fits.
using Tables = std::vector<const KeyTable*>();

struct Key {
  std::string_view name;
  Form form = Form::None;
  std::string_view what;  // one line
  bool required = false;
  InList list = InList::No;
  Tables* tables = nullptr;  // it may be a mapping of one of these
  NameSet names = {};
  settings::Range range = {};  // of a Number, Count or Bytes: what the loader reads it with
};

/// The same with a range.
inline Key within(Key key, settings::Range range) {
  key.range = range;
  return key;
}

struct KeyTable {
  std::string_view name;  // in the schema: "port"
  std::vector<Key> keys;
  std::string_view choice = {};                     // of an action of faults: the value of its key `action`
  std::vector<std::string_view> alternatives = {};  // of these keys a mapping has one at most
  bool needs_alternative = false;                   // ... and one at least
  [[nodiscard]] std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const Key& key : keys) all.push_back(key.name);
    return all;
  }
};

/// The whole scenario: all other tables are found from it.
const KeyTable& scenario_keys();

// Of the parts, each where it is read.
const KeyTable& topology_keys();
const KeyTable& port_keys();
/// Of a host on TCP: of the topology, and of each port.
const std::vector<Key>& tcp_keys();
const KeyTable& background_keys();
const KeyTable& rdma_keys();
const KeyTable& workload_expectation_keys();
const KeyTable& group_expectation_keys();
const KeyTable& expectation_keys();
/// One for each action.
std::vector<const KeyTable*> fault_keys();

/// The names of a list of choices, for Key::names.
template <const auto& choices>
std::vector<std::string_view> names_in() {
  std::vector<std::string_view> names;
  for (const auto& choice : choices) names.push_back(choice.name);
  return names;
}

/// For Key::tables.
template <const KeyTable& (*table)()>
std::vector<const KeyTable*> one() {
  return {&table()};
}

}  // namespace sim
