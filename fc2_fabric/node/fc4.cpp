#include "fc2_fabric/node/fc4.hpp"

#include <algorithm>

namespace fc2 {

Fc4Table::Fc4Table() {
  for (std::size_t i = 0; i < fc4s_.size(); ++i) fc4s_[i].type = static_cast<wire::Type>(i);
}

void Fc4Table::add(const Fc4& fc4) {
  fc4s_[static_cast<std::uint8_t>(fc4.type)] = fc4;
  if (!has(fc4.type)) types_.insert(std::upper_bound(types_.begin(), types_.end(), fc4.type), fc4.type);
}

void Fc4Table::remove(wire::Type type) {
  fc4s_[static_cast<std::uint8_t>(type)] = {.type = type};
  std::erase(types_, type);
}

bool Fc4Table::has(wire::Type type) const { return std::binary_search(types_.begin(), types_.end(), type); }

}  // namespace fc2
