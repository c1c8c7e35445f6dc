#include "tools/fcvi_sim/scenario/message_names.hpp"

#include "wire/ct/command.hpp"
#include "wire/els/command.hpp"
#include "wire/fcvi/opcode.hpp"
#include "wire/text.hpp"

namespace sim {
namespace {

template <class Code>
void add_named_codes(std::vector<std::string_view>& names, unsigned last) {
  for (unsigned code = 0; code <= last; ++code)
    if (const auto name = to_string(static_cast<Code>(code)); name != wire::text::unknown) names.push_back(name);
}

std::vector<std::string_view> frame_message_names() {
  std::vector<std::string_view> names{"ABTS", "BA_ACC", "BA_RJT", "ACK_1", "ACK_0", "P_RJT", "F_RJT", "P_BSY", "F_BSY"};
  for (const wire::fcvi::IuInfo& row : wire::fcvi::iu_table) names.push_back(row.name);
  add_named_codes<wire::els::Command>(names, 0xFF);
  add_named_codes<wire::ct::Command>(names, 0xFFFF);
  return names;
}

}  // namespace

// 65,792 codes are asked for it, and a scenario names several messages.
std::vector<std::string_view> known_message_names() {
  static const std::vector<std::string_view> names = frame_message_names();
  return names;
}

std::vector<std::string_view> all_message_names() {
  std::vector<std::string_view> names = known_message_names();
  for (const std::string_view segment : segment_names()) names.push_back(segment);
  return names;
}

std::vector<std::string_view> message_names_of(TopologyKind topology) {
  return topology == TopologyKind::Tcp ? segment_names() : known_message_names();
}

}  // namespace sim
