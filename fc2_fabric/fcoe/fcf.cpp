#include "fc2_fabric/fcoe/fcf.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace fc2::fcoe {

Fcf::Fcf(Scheduler& scheduler, FramePool& pool, Switch& fabric, FcfConfig config)
    : scheduler_(scheduler), pool_(pool), switch_(fabric), config_(config) {
  assert(config_.period >= FcfTable::least_period);
}

Fcf::~Fcf() { stop(); }

FcfInterface& Fcf::add_interface(EthernetPort& ethernet) {
  return *interfaces_.emplace_back(std::make_unique<FcfInterface>(scheduler_, pool_, switch_, ethernet, config_));
}

void Fcf::remove_interface(FcfInterface& interface) {
  std::erase_if(interfaces_, [&](const auto& known) { return known.get() == &interface; });
}

void Fcf::stop() {
  for (const auto& interface : interfaces_) interface->stop();
}

// --- from one FCF to the next ------------------------------------------------------------------------------------

bool Fcf::is_here(const FormerLogin& login) const {
  return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const auto& interface) {
    return interface->ethernet().interface().name == login.interface && interface->links().contains(login.e_node);
  });
}

std::vector<FormerLogin> Fcf::logins() const {
  std::vector<FormerLogin> logins;
  for (const auto& interface : interfaces_)
    for (const auto& [mac, former] : interface->former_e_nodes())
      if (interface->links().contains(mac))
        logins.push_back({interface->ethernet().interface().name, mac, former.f_port});
  std::copy_if(remembered_.begin(), remembered_.end(), std::back_inserter(logins),
               [&](const FormerLogin& one) { return !is_here(one); });
  return logins;
}

void Fcf::remember(const std::vector<FormerLogin>& logins) {
  for (const FormerLogin& login : logins)
    for (const auto& interface : interfaces_) {
      if (interface->ethernet().interface().name != login.interface || !interface->remember(login.e_node, login.f_port))
        continue;
      remembered_.push_back(login);
      switch_.set_aside(login.f_port);
    }
  if (!remembered_.empty())
    scheduler_.schedule_after(patience_, FcfTable::patience(config_.period) + switch_.config().r_a_tov);
}

void Fcf::forget_absent() {
  remembered_.clear();
  switch_.release_set_aside();
  if (config_.listener != nullptr) config_.listener->logins_changed();
}

}  // namespace fc2::fcoe
