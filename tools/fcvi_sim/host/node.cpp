#include "tools/fcvi_sim/host/node.hpp"

#include "tools/fcvi_sim/host/endpoint.hpp"

namespace sim {
namespace {

constexpr std::uint64_t first_address = 0x1000'0000'0000, addresses_per_node = 0x0100'0000'0000;

}  // namespace

Node::Node(Driver& driver, HostTransport& transport, std::size_t index)
    : driver_(driver), host_(transport), ready_(driver), nic_(transport.transport(), *this),
      addresses_(first_address + index * addresses_per_node) {
  host_.set_ready_listener(*this);
}

std::vector<HostTransport::Held> Node::held() const {
  std::vector<HostTransport::Held> all = host_.held();
  all.push_back({"VIs", nic_.vi_count()});
  all.push_back({"memory regions", nic_.memory().region_count()});
  all.push_back({"protection tags", nic_.memory().ptag_count()});
  return all;
}

bool Node::completed(vi::Vi& vi, bool receive_queue, std::uint64_t descriptor_address, bool /*error*/) {
  auto* const endpoint = static_cast<Endpoint*>(vi.consumer_context);
  if (endpoint != nullptr) endpoint->completed(receive_queue, descriptor_address);
  return true;
}

std::uint64_t Node::taken_count(const vi::Vi& vi, bool receive_queue) const {
  const auto* const endpoint = static_cast<const Endpoint*>(vi.consumer_context);
  return endpoint != nullptr ? endpoint->taken_count(receive_queue) : 0;
}

void Node::row_fired(vi::Vi&, const fsm::Row& row) {
  if (rows_ != nullptr) rows_->row_fired({row.machine, row.source, row.event, row.target, row.clause, row.index});
}

void Node::asynchronous_error(vi::Vi* vi, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                              vi::ErrorCode error) {
  errors_.push_back({driver_.now(), error});
  if (vi != nullptr && vi->consumer_context != nullptr)
    static_cast<Endpoint*>(vi->consumer_context)->asynchronous_error(error);
}

}  // namespace sim
