// Protection domains and memory regions. lkey and rkey of a region are its STag; its Tagged Offsets are addresses.
#pragma once
#include "verbs/device.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {

class ProtectionDomain final : public ibv_pd {
 public:
  ProtectionDomain(ibv_context& of, iwarp::ProtectionDomain number, Place place = {})
      : ibv_pd{}, number_(number), place_(std::move(place)) {
    context = &of;
  }
  static ProtectionDomain& of(ibv_pd* domain) { return static_cast<ProtectionDomain&>(*domain); }
  [[nodiscard]] iwarp::ProtectionDomain number() const { return number_; }
  void add_user() { ++users_; }
  void remove_user() { --users_; }
  [[nodiscard]] bool is_used() const { return users_ != 0; }

 private:
  const iwarp::ProtectionDomain number_;
  const Place place_;
  std::atomic<int> users_{0};  // regions, queue pairs
};

/// `iova`: the address by which work requests and the other end name the first octet. nullptr: errno says why; EINVAL:
/// remote write without local write, EOPNOTSUPP: atomics or memory windows, EFAULT: memory that is not mapped, ENOMEM.
[[nodiscard]] ibv_mr* register_memory(ProtectionDomain& domain, void* address, std::size_t octets, std::uint64_t iova,
                                      unsigned access);
/// 0.
int deregister_memory(ibv_mr* region);

}  // namespace verbs
#pragma GCC visibility pop
