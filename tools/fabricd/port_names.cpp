#include "tools/fabricd/port_names.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace fabricd {

std::optional<wire::FcId> address_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::string digits(text);
  if (digits.size() == 8 && digits[2] == '.' && digits[5] == '.') std::erase(digits, '.');
  std::uint32_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, 16);
  const bool whole = digits.size() == 6 && error == std::errc{} && end == last;
  return whole ? std::optional(wire::FcId{value}) : std::nullopt;
}

PortNames::Number PortNames::add(NamedPort port) {
  const Number number = ++last_;
  if (port.address != wire::FcId{}) last_at_[port.address.value] = number;
  ports_.emplace(number, std::move(port));
  return number;
}

void PortNames::sent(Number number, std::uint64_t frame) {
  const auto found = ports_.find(number);
  if (found != ports_.end()) found->second.last_sent = frame;
}

void PortNames::set_more_names(Number number, std::vector<std::string> names) {
  const auto found = ports_.find(number);
  if (found != ports_.end()) found->second.more_names = std::move(names);
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
  const bool by_address = port.address != wire::FcId{} && address_of(wanted) == port.address;
  const std::string_view program = std::string_view(port.name).substr(0, port.name.find('['));
  const bool by_other = std::find(port.more_names.begin(), port.more_names.end(), wanted) != port.more_names.end();
  return wanted == port.name || wanted == program || wanted == port.text || by_process || by_address || by_other;
}

void PortNames::note_fault(unsigned rule, std::string_view what) {
  if (!faults_.try_emplace(rule, what).second || faults_.size() <= most_faults) return;
  faults_.erase(faults_.begin());
}

std::string_view PortNames::fault_note(unsigned rule) const {
  const auto found = faults_.find(rule);
  return found == faults_.end() ? std::string_view() : found->second;
}

}  // namespace fabricd
