#include "tools/fabricd/port_names.hpp"

#include <algorithm>
#include <utility>

namespace fabricd {

PortNames::Number PortNames::add(NamedPort port) {
  const Number number = ++last_;
  if (port.address != wire::FcId{}) last_at_[port.address.value] = number;
  ports_.emplace(number, std::move(port));
  return number;
}

void PortNames::gone(Number number, std::string end, bool orderly, std::uint64_t last_frame) {
  NamedPort& port = ports_.at(number);
  port.end = std::move(end);
  port.orderly_end = orderly;
  port.last_frame = last_frame;
}

void PortNames::forget_before(std::uint64_t first_frame) {
  std::erase_if(ports_,
                [&](const auto& entry) { return !entry.second.end.empty() && entry.second.last_frame < first_frame; });
  std::erase_if(last_at_, [&](const auto& entry) { return !ports_.contains(entry.second); });
}

const NamedPort* PortNames::find(Number number) const {
  const auto found = ports_.find(number);
  return found == ports_.end() ? nullptr : &found->second;
}

std::string_view PortNames::text_of(Number number) const {
  if (number == fabric) return text_of_fabric;
  const NamedPort* port = find(number);
  return port == nullptr ? "a port that is gone" : std::string_view(port->text);
}

PortNames::Number PortNames::last_at(wire::FcId address) const {
  const auto found = last_at_.find(address.value);
  return found == last_at_.end() ? fabric : found->second;
}

bool PortNames::is_called(const NamedPort& port, std::string_view wanted) {
  const bool by_process = port.process_id != 0 && std::to_string(port.process_id) == wanted;
  const bool by_address = port.address != wire::FcId{} && to_string(port.address) == wanted;
  return wanted == port.name || wanted == port.text || by_process || by_address;
}

}  // namespace fabricd
