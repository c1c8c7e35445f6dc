// Devices and their attributes, by rdma-core's manual pages.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "verbs/libibverbs/call.hpp"
#include "verbs/queue_pair.hpp"

#undef ibv_query_port
using verbs::Context;
using verbs::Device;

VERBS_CALL ibv_device** ibv_get_device_list(int* count) {
  return verbs::made_by<ibv_device*>([&](ibv_device**& list) {
    verbs::Process& process = verbs::Process::get();
    std::vector<Device*> devices;
    {
      const runtime::CoreSection section(process.host());
      devices = verbs::devices_of(process);
    }
    list = static_cast<ibv_device**>(std::calloc(devices.size() + 1, sizeof *list));
    if (list == nullptr) return ENOMEM;
    std::copy(devices.begin(), devices.end(), list);
    if (count != nullptr) *count = static_cast<int>(devices.size());
    return 0;
  });
}

VERBS_CALL void ibv_free_device_list(ibv_device** list) { std::free(list); }
VERBS_CALL const char* ibv_get_device_name(ibv_device* device) { return device->name; }
VERBS_CALL __be64 ibv_get_device_guid(ibv_device* device) { return static_cast<Device*>(device)->guid(); }
VERBS_CALL int ibv_get_device_index(ibv_device* device) {
  return static_cast<int>(static_cast<Device*>(device)->interface().index);
}

VERBS_CALL ibv_context* ibv_open_device(ibv_device* device) {
  return verbs::made_by<ibv_context>([&](ibv_context*& made) {
    auto* const context = new Context(*static_cast<Device*>(device));
    made = &context->context;
    if (made->async_fd >= 0) return 0;
    delete context;
    return EMFILE;
  });
}

VERBS_CALL int ibv_close_device(ibv_context* context) {
  delete &Context::of(context);
  return 0;
}

VERBS_CALL int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  *attributes = Context::of(context).device().attributes();
  return 0;
}

/// Programs of before port_cap_flags2.
VERBS_CALL int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) {
  if (port != 1) return EINVAL;
  const ibv_port_attr told = Context::of(context).device().port_attributes();
  std::memcpy(static_cast<void*>(attributes), &told, offsetof(ibv_port_attr, port_cap_flags2));
  return 0;
}

VERBS_CALL int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  if (port != 1 || index != 0) return errno = EINVAL, -1;
  *gid = Context::of(context).device().gid();
  return 0;
}

static ibv_gid_entry gid_entry_of(ibv_context* context) {
  const Device& device = Context::of(context).device();
  return {.gid = device.gid(),
          .gid_index = 0,
          .port_num = 1,
          .gid_type = IBV_GID_TYPE_IB,
          .ndev_ifindex = device.interface().index};
}

VERBS_CALL int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry,
                                 std::uint32_t flags, std::size_t octets) {
  if (flags != 0 || port != 1) return EINVAL;
  if (index != 0) return ENODATA;
  const ibv_gid_entry told = gid_entry_of(context);
  std::memcpy(entry, &told, std::min(octets, sizeof told));
  return 0;
}

VERBS_CALL ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t room,
                                        std::uint32_t flags, std::size_t octets) {
  if (flags != 0 || octets > sizeof(ibv_gid_entry) || room == 0) return -EINVAL;
  const ibv_gid_entry told = gid_entry_of(context);
  std::memcpy(entries, &told, octets);
  return 1;
}

/// Of the kernel's table: a name without RoCE.
VERBS_CALL int ibv_query_gid_type(ibv_context*, std::uint8_t port, unsigned index, int* type) {
  if (port != 1 || index != 0) return errno = EINVAL, -1;
  *type = IBV_GID_TYPE_IB;
  return 0;
}

VERBS_CALL int ibv_query_pkey(ibv_context*, std::uint8_t port, int index, __be16* key) {
  if (port != 1 || index != 0) return errno = EINVAL, -1;
  *key = 0;
  return 0;
}

VERBS_CALL int ibv_get_pkey_index(ibv_context*, std::uint8_t port, __be16 key) {
  return port == 1 && key == 0 ? 0 : -1;
}

VERBS_CALL const char* ibv_get_sysfs_path() { return "/sys"; }

VERBS_CALL int ibv_read_sysfs_file(const char*, const char*, char*, std::size_t) { return errno = ENOENT, -1; }

// --- fork: no adapter uses memory behind the process's page tables, so that a copy made on write harms nothing

VERBS_CALL int ibv_fork_init() {
  return verbs::errno_of_call([] { return static_cast<void>(verbs::Process::get()), 0; });
}
VERBS_CALL ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
VERBS_CALL int ibv_dontfork_range(void*, std::size_t) { return 0; }
VERBS_CALL int ibv_dofork_range(void*, std::size_t) { return 0; }

// --- asynchronous events

VERBS_CALL int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  verbs::AsyncEvent got;
  const int error = Context::of(context).events().pop(got);
  if (error != 0) return errno = error, -1;
  if (got.source != nullptr) got.source->given();
  *event = got.event;
  return 0;
}

VERBS_CALL void ibv_ack_async_event(ibv_async_event* event) {
  if (event->event_type == IBV_EVENT_CQ_ERR) return verbs::CompletionQueue::of(event->element.cq).errors().taken();
  if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
    return verbs::SharedReceives::of(event->element.srq).events().taken();
  verbs::QueuePair::of(event->element.qp).events().taken();
}
