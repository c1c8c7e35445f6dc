#include "tools/fcvi_sim/scenario/discard_names.hpp"

#include "fc2_fabric/frame/counters.hpp"
#include "fcvi/counters.hpp"
#include "tools/fcvi_sim/scenario/rdma_names.hpp"
#include "vitcp/counters.hpp"

namespace sim {
namespace {

template <class Reason>
void add_reasons(std::vector<std::string_view>& names) {
  for (int reason = 0; reason < static_cast<int>(Reason::Count); ++reason)
    names.push_back(to_string(static_cast<Reason>(reason)));
}

}  // namespace

std::vector<std::string_view> known_discard_names() {
  std::vector<std::string_view> names;
  add_reasons<fc2::Discard>(names);
  add_reasons<fcvi::Discard>(names);
  for (std::size_t refusal = 0; refusal < vitcp::refusal_count; ++refusal)
    names.push_back(to_string(static_cast<vitcp::Refusal>(refusal)));
  for (const wire::ParseError& error : wire::vitcp::refusals) names.push_back(error.field);
  for (const auto& list : {rdma_error_names(), rdma_startup_names()})
    names.insert(names.end(), list.begin(), list.end());
  return names;
}

}  // namespace sim
