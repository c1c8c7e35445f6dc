#include "verbs/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

namespace verbs {
namespace {

constexpr unsigned optional_access =
    static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE) | static_cast<unsigned>(IBV_ACCESS_HUGETLB);
constexpr unsigned known_access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED | optional_access;

int judge_access(unsigned access) {
  if ((access & ~known_access) != 0) return EOPNOTSUPP;
  const bool writes = (access & IBV_ACCESS_REMOTE_WRITE) != 0;
  return writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

bool is_mapped(const void* address, std::size_t octets) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 4096> pages;
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(address) + octets;
  if (end < at) return false;
  while (at < end) {
    const std::size_t here = std::min<std::size_t>(end - at, pages.size() * page);
    if (::mincore(reinterpret_cast<void*>(at), here, pages.data()) != 0) return false;
    at += here;
  }
  return true;
}

iwarp::Rights rights_of(unsigned access) {
  return {.local_write = (access & IBV_ACCESS_LOCAL_WRITE) != 0,
          .remote_read = (access & IBV_ACCESS_REMOTE_READ) != 0,
          .remote_write = (access & IBV_ACCESS_REMOTE_WRITE) != 0};
}

ibv_mr* failed(int error) {
  errno = error;
  return nullptr;
}

}  // namespace

ibv_mr* register_memory(ProtectionDomain& domain, void* address, std::size_t octets, std::uint64_t iova,
                        unsigned access) {
  if (const int error = judge_access(access); error != 0) return failed(error);
  if (!is_mapped(address, octets)) return failed(EFAULT);
  iwarp::drivers::Host& host = Context::of(domain.context).host();
  std::optional<iwarp::STag> stag;
  {
    const runtime::CoreSection section(host);
    const wire::MutableBytes memory(static_cast<std::uint8_t*>(address), octets);
    const std::uint64_t base = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
    stag = host.memory().add(domain.number(), memory, base, rights_of(access));
  }
  if (!stag) return failed(ENOMEM);
  domain.add_user();
  auto* const region = new ibv_mr{};
  region->context = domain.context;
  region->pd = &domain;
  region->addr = address;
  region->length = octets;
  region->lkey = region->rkey = region->handle = stag->value;
  return region;
}

int deregister_memory(ibv_mr* region) {
  iwarp::drivers::Host& host = Context::of(region->context).host();
  {
    const runtime::CoreSection section(host);
    host.memory().remove({region->lkey});
  }
  ProtectionDomain::of(region->pd).remove_user();
  delete region;
  return 0;
}

}  // namespace verbs
