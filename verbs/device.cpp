#include "verbs/device.hpp"

#include <endian.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "verbs/memory.hpp"

namespace verbs {
namespace {

// Of a segment besides its payload: IPv6 and TCP headers, time stamps (RFC 7323).
constexpr std::size_t segment_header_octets = 40 + 20 + 12;
constexpr std::size_t least_emss = 256;

iwarp::Config config_for(const Interface& interface, iwarp::Config config) {
  config.emss = std::max(least_emss, interface.mtu_bytes - std::min(interface.mtu_bytes, segment_header_octets));
  return config;
}

ibv_mtu mtu_of(std::size_t octets) {
  if (octets >= 4096) return IBV_MTU_4096;
  if (octets >= 2048) return IBV_MTU_2048;
  if (octets >= 1024) return IBV_MTU_1024;
  return octets >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

}  // namespace

std::optional<Place> Place::take(std::atomic<int>& taken, int most) {
  int now = taken;
  while (now < most)
    if (taken.compare_exchange_weak(now, now + 1)) return Place(taken);
  return std::nullopt;
}

int Device::most_queue_pairs() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

Device::Device(Process& process, const Interface& interface)
    : ibv_device{}, process_(process), interface_(interface),
      config_(config_for(interface, process.configuration().startup)), services_(process.host().services(config_)) {
  node_type = IBV_NODE_RNIC;
  transport_type = IBV_TRANSPORT_IWARP;
  const std::string own = "iw_" + interface.name;
  own.copy(name, sizeof name - 1);
  ("uverbs_" + own).copy(dev_name, sizeof dev_name - 1);
}

/// All of 127.0.0.0/8 is the loopback interface's.
bool Device::has(const wire::IpAddress& ip) const {
  if (interface_.is_loopback && ip.is_v4_mapped() && ip.bytes[12] == 127) return true;
  return std::find(interface_.addresses.begin(), interface_.addresses.end(), ip) != interface_.addresses.end();
}

std::uint64_t Device::guid() const {
  const auto& mac = interface_.mac;
  if (mac == decltype(interface_.mac){}) return htobe64(std::hash<std::string>{}(interface_.name) | 1U << 25);
  const std::array<std::uint8_t, 8> eui{
      static_cast<std::uint8_t>(mac[0] ^ 2U), mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]};
  std::uint64_t value = 0;
  std::memcpy(&value, eui.data(), sizeof value);
  return value;
}

ibv_gid Device::gid() const {
  ibv_gid gid{};
  std::copy(interface_.mac.begin(), interface_.mac.end(), gid.raw);
  return gid;
}

ibv_device_attr Device::attributes() const {
  const Configuration& configuration = process_.configuration();
  ibv_device_attr attributes{};
  attributes.node_guid = attributes.sys_image_guid = guid();
  std::strcpy(attributes.fw_ver, "0.1.0");
  attributes.max_mr_size = ~std::uint64_t{0} >> 1U;
  attributes.page_size_cap = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  attributes.max_qp = most_queue_pairs();
  attributes.max_qp_wr = static_cast<int>(configuration.depth);
  attributes.max_sge = static_cast<int>(Limits::sges);
  attributes.max_sge_rd = Limits::sges_of_read;
  attributes.max_cq = attributes.max_pd = Limits::objects;
  attributes.max_cqe = Limits::completions;
  attributes.max_mr = Limits::regions;
  attributes.max_srq = Limits::objects;
  attributes.max_srq_wr = attributes.max_qp_wr;
  attributes.max_srq_sge = attributes.max_sge;
  attributes.device_cap_flags = IBV_DEVICE_SRQ_RESIZE;
  attributes.max_qp_rd_atom = attributes.max_qp_init_rd_atom = static_cast<int>(configuration.reads);
  attributes.max_res_rd_atom = attributes.max_qp_rd_atom * std::min(attributes.max_qp, 1 << 20);
  attributes.atomic_cap = IBV_ATOMIC_NONE;
  attributes.max_pkeys = 1;
  attributes.phys_port_cnt = 1;
  return attributes;
}

ibv_port_attr Device::port_attributes() const {
  ibv_port_attr attributes{};
  attributes.state = interface_.is_up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attributes.max_mtu = IBV_MTU_4096;
  attributes.active_mtu = mtu_of(interface_.mtu_bytes);
  attributes.gid_tbl_len = 1;
  attributes.pkey_tbl_len = 1;
  attributes.max_msg_sz = 0xFFFFFFFF;
  attributes.phys_state = interface_.is_up ? 5 : 3;  // LinkUp, Disabled
  attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
  attributes.active_width = 1;
  attributes.active_speed = 1;
  return attributes;
}

ibv_context* Device::shared_context() { return shared_domain()->context; }

ibv_pd* Device::shared_domain() {
  if (shared_domain_ == nullptr)
    shared_domain_ = new ProtectionDomain((new Context(*this))->context, process_.next_domain());
  return shared_domain_;
}

std::vector<Device*> devices_of(Process& process) {
  std::vector<std::shared_ptr<Device>>& made = process.devices();
  std::vector<Device*> present;
  for (const Interface& interface : interfaces_of_system()) {
    if (!process.configuration().has_interface(interface.name)) continue;
    auto found = std::find_if(made.begin(), made.end(),
                              [&](const auto& one) { return one->interface().name == interface.name; });
    if (found == made.end()) found = made.insert(found, std::make_shared<Device>(process, interface));
    (*found)->update(interface);
    present.push_back(found->get());
  }
  return present;
}

/// The system is asked for addresses that are new.
Device* device_at(Process& process, const wire::IpAddress& ip) {
  for (const auto& device : process.devices())
    if (device->has(ip)) return device.get();
  for (Device* const device : devices_of(process))
    if (device->has(ip)) return device;
  return nullptr;
}

Context::Context(Device& device) : verbs_context{}, device_(device) {
  sz = sizeof(verbs_context);
  context.device = &device;
  context.cmd_fd = -1;
  context.async_fd = events_.descriptor();
  context.num_comp_vectors = 1;
  pthread_mutex_init(&context.mutex, nullptr);
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  set_operations(*this);
}

Context& Context::of(ibv_context* context) { return static_cast<Context&>(*verbs_get_ctx(context)); }

}  // namespace verbs
