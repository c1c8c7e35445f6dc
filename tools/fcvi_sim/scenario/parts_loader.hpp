// Parts of the loader: faults and expectations, and kinds of values that several parts use.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "settings/reader.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

inline constexpr runtime::TimeNs max_time = 100'000 * runtime::second;
inline constexpr runtime::TimeNs max_latency = 10 * runtime::second;  // of a link
inline constexpr settings::Range bb_credits{0, 0x7FFF};               // of a link; 0: no limit

/// Names that faults and expectations use, by position.
struct Names {
  std::vector<std::string_view> ports, switches, switch_links;
  std::vector<bool> on_loop;                                 // by port
  std::vector<std::string_view> workloads, workload_groups;  // a group's name for each workload, or none
};

/// The items that one entry of a list with a `count` made: NAME-1, NAME-2, ...
struct Group {
  std::string name;  // empty: the item has no count, and made one
  std::size_t first = 0, count = 1;
};
/// One of them.
struct Member {
  std::string what;  // names it in messages: "ports[1]"
  std::string group = {};
  std::size_t index = 0;  // from 0
  bool of_group = false;
  [[nodiscard]] std::string name(const std::string& base) const {
    return of_group ? base + "-" + std::to_string(index + 1) : base;
  }
};
inline constexpr std::size_t max_count = 1'000'000;
inline constexpr settings::Range counts{1, max_count};
/// Calls `make` as often as the item's `count` says, or once without one. More than `room`: BadInput, `too_many`.
/// Returns the group, without `first`.
Group for_each_member(const settings::Tree& item, const std::string& what, std::size_t room,
                      const std::string& too_many, const std::function<void(const Member&)>& make);

/// Items by name, and groups of them.
class Roster {
 public:
  Roster() = default;
  /// The owner of the names outlives it.
  Roster(std::vector<std::string_view> names, const std::vector<Group>& groups);
  /// The position of the named item; if a group is named, and `by` belongs to a group too, its members in turn.
  [[nodiscard]] std::size_t pick(const settings::Tree& tree, std::string_view key, const Member& by) const;

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> positions_;
  std::unordered_map<std::string, Group> groups_;
};

// Each throws settings::BadInput. `ports`: the names of the scenario's ports, by position.
std::vector<FaultSpec> load_faults(const settings::Tree& tree, const Names& names, TopologyKind topology);
/// Frames are at most as long as both ports' receive_data_field.
std::vector<BackgroundSpec> load_background(const settings::Tree& tree, const std::vector<PortSpec>& ports,
                                            const std::vector<std::string_view>& names);
/// Writes the switches into the scenario, and the defaults of all links to ports into `link` and `tcp`. Returns the
/// groups of switches.
std::vector<Group> load_topology(const settings::Tree& tree, Scenario& scenario, fc2::LinkConfig& link, TcpSpec& tcp);
/// `topology` and `ports` of the scenario. Returns the groups of ports.
std::vector<Group> load_ports(const settings::MapReader& map, Scenario& scenario);
void load_link(const settings::MapReader& map, fc2::LinkConfig& link);
/// Of a host on TCP, or of all.
void load_tcp(const settings::MapReader& map, TcpSpec& tcp);
/// Of `topology` or of one of `ports`: what only Fibre Channel has where hosts are on TCP, and the other way round.
void refuse_keys_of_others(const settings::MapReader& map, TopologyKind topology);
/// From a host to the next switch; there is one between two hosts.
inline constexpr fc2::LinkConfig usual_tcp_link{.latency_ns = 10 * runtime::microsecond,
                                                .bytes_per_second = 1'250'000'000};
std::vector<std::string_view> names_of(const std::vector<SwitchSpec>& switches);
Expectations load_expectations(const settings::Tree& tree, const std::vector<std::string_view>& ports,
                               TopologyKind topology);
/// `standard`: what it does not say.
WorkloadExpectation load_workload_expectation(const settings::Tree& tree, const std::string& what,
                                              const WorkloadExpectation& standard);
/// `rdma` of a workload; its port is 0 where it does not say one.
RdmaSpec load_rdma(const settings::Tree& tree, const std::string& what);
GroupExpectation load_group_expectation(const settings::Tree& tree, const std::string& what);

vi::Return read_return(const settings::Tree& tree, std::string_view key);
Bound read_bound(const settings::Tree& tree, std::string_view key);
/// 0.95: 0 to 1.
double read_share(const settings::Tree& tree, std::string_view key);
/// One value, as `read` reads it, or {min, max} of such.
template <class AnyBound, class Read, class... Arguments>
AnyBound read_bound_of(const settings::Tree& tree, std::string_view key, Read read, Arguments... arguments) {
  AnyBound bound;
  if (tree.kind != settings::Tree::Kind::Map) {
    bound.min = bound.max = read(tree, key, arguments...);
    return bound;
  }
  const settings::MapReader map(tree, std::string(key), {"min", "max"});
  map.optional("min", bound.min, read, arguments...);
  map.optional("max", bound.max, read, arguments...);
  if (bound.min > bound.max) settings::fail_expected(tree, key, "min not above max");
  return bound;
}
TimeBound read_time_bound(const settings::Tree& tree, std::string_view key);
/// Position of the text in a list of names.
std::size_t read_position(const settings::Tree& tree, std::string_view key, const std::vector<std::string_view>& names);
/// One of these names.
std::string read_known(const settings::Tree& tree, std::string_view key, const std::vector<std::string_view>& known);
/// Names of FCVI_FLAGS of `message`, an IU of FC-VI.
std::vector<std::string> read_flags(const settings::Tree& tree, std::string_view key, const std::string& message);
wire::fcvi::Reason read_reason(const settings::Tree& tree, std::string_view key);
/// {seq_cnt: 3, fcvi_msg_id: {min: 5}}
std::vector<faults::FieldRange> read_fields(const settings::Tree& tree, std::string_view key);
/// {message_number: 3, rdma_length: {min: 5}}
std::vector<SegmentFieldRange> read_segment_fields(const settings::Tree& tree, std::string_view key);
/// {type: 9}
std::vector<SegmentPatch> read_segment_patches(const settings::Tree& tree, std::string_view key);
/// BadInput for the first of these keys that is there: it means nothing over TCP.
void refuse_keys_of_frames(const settings::MapReader& map, std::span<const std::string_view> keys);

}  // namespace sim
