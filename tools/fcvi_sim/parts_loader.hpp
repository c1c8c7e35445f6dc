// The loader's parts: faults and expectations, and the values that several of them have.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "settings/reader.hpp"
#include "tools/fcvi_sim/scenario.hpp"

namespace sim {

inline constexpr fc2::TimeNs max_time = 100'000 * fc2::second;
inline constexpr fc2::TimeNs max_latency = 10 * fc2::second;  // of a link

/// What faults and expectations name, by position.
struct Names {
  std::vector<std::string_view> ports, switches, switch_links;
  std::vector<bool> on_loop;  // by port
};

// Each throws settings::BadInput. `ports`: the names of the scenario's ports, by position.
std::vector<FaultSpec> load_faults(const settings::Tree& tree, const Names& names, TopologyKind topology);
/// Into the scenario what concerns switches, into `link` what all links to ports have that say nothing else.
void load_topology(const settings::Tree& tree, Scenario& scenario, fc2::LinkConfig& link);
void load_link(const settings::MapReader& map, fc2::LinkConfig& link);
std::vector<std::string_view> names_of(const std::vector<SwitchSpec>& switches);
Expectations load_expectations(const settings::Tree& tree, const std::vector<std::string_view>& ports);
WorkloadExpectation load_workload_expectation(const settings::Tree& tree, const std::string& what);

vi::Return read_return(const settings::Tree& tree, std::string_view key);
Bound read_bound(const settings::Tree& tree, std::string_view key);
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

}  // namespace sim
