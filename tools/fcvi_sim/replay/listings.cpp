#include "tools/fcvi_sim/replay/listings.hpp"

#include "wire/ct/accept.hpp"
#include "wire/ct/gipp_id.hpp"
#include "wire/ct/gsnn_nn.hpp"
#include "wire/describe.hpp"

namespace sim::replay {

void Listings::add(std::size_t at, const CapturedFrame& frame) {
  if (frame.header.type != wire::Type::ct || frame.message.empty()) return;
  if (frame.sent)
    asked(at, frame);
  else
    answered(frame);
}

void Listings::asked(std::size_t at, const CapturedFrame& frame) {
  const std::string_view name = wire::message_name(frame.message_header, frame.message);
  auto& question = questions_[frame.header.ox_id.value];
  question = {name, {}};
  if (name == "GPN_FT") listings_.push_back({at});
  if (const auto asks = wire::ct::GsnnNn::parse(frame.message)) question.second = asks->node_name;
  if (const auto asks = wire::ct::GippId::parse(frame.message)) want(asks->port_id);
}

void Listings::answered(const CapturedFrame& frame) {
  const auto question = questions_.find(frame.header.ox_id.value);
  if (question == questions_.end()) return;
  const auto& [name, node] = question->second;
  if (name == "GNN_FT")
    if (const auto list = wire::ct::GpnFtAccept::parse(frame.message))
      for (const wire::ct::PortEntry& entry : list->entries) nodes_[entry.port_id.value] = entry.world_wide_name;
  if (name != "GSNN_NN") return;
  if (auto answer = wire::ct::SymbolicNameAccept::parse(frame.message)) names_[node.value] = answer->symbolic_name;
}

void Listings::want(wire::FcId port) {
  const auto node = nodes_.find(port.value);
  if (listings_.empty() || node == nodes_.end()) return;
  const auto name = names_.find(node->second.value);
  if (name != names_.end()) listings_.back().wanted.insert(name->second);
}

}  // namespace sim::replay
