#include "vitcp/wait_book.hpp"

#include <cassert>

#include "vitcp/conversions.hpp"

namespace vitcp {
using port_service::Wanted;

void WaitBook::change(const Wanted& wanted, bool more) {
  const auto entry = counts_.try_emplace(wanted, 0).first;
  assert((more || entry->second != 0) && "one less than none");
  more ? ++entry->second : --entry->second;
  const std::size_t count = entry->second;
  if (count == 0) counts_.erase(entry);
  if (listener_ != nullptr) listener_->waiting_changed(wanted, count);
}

void WaitBook::waiting_changed(const vi::NetAddress& local, bool more) {
  change({.called = discriminator_of(local), .at = local.host}, more);
}

}  // namespace vitcp
