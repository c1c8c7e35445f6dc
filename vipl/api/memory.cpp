// VI-DG 3.4, 3.7.4, 3.7.5: memory and protection tags.
#include "vipl/api/call.hpp"
#include "vipl/api/conversions.hpp"
#include "vipl/engine/memory_probe.hpp"

using vipl::address_of;
using vipl::api;
using vipl::Call;
using vipl::MemoryGate;
using vipl::NicObject;
using vipl::TagObject;
using vipl::to_api;

namespace {

VIP_RETURN create_tag(VIP_NIC_HANDLE nic_handle, VIP_PROTECTION_HANDLE* tag_handle) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr || tag_handle == nullptr) return VIP_INVALID_PARAMETER;
  const auto object = std::make_shared<TagObject>();
  if (const vi::Return result = nic->model().memory().create_ptag(object->tag); result != vi::Return::Success)
    return to_api(result);
  void* handle = nic->adopt(object);
  if (handle == nullptr) {
    nic->model().memory().destroy_ptag(object->tag);
    return VIP_ERROR_RESOURCE;
  }
  *tag_handle = handle;
  return VIP_SUCCESS;
}

VIP_RETURN destroy_tag(VIP_NIC_HANDLE nic_handle, VIP_PROTECTION_HANDLE tag_handle) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  TagObject* tag = call.find<TagObject>(tag_handle);
  if (nic == nullptr || tag == nullptr || tag->nic != nic) return VIP_INVALID_PARAMETER;
  const vi::Return result = nic->model().memory().destroy_ptag(tag->tag);
  if (result == vi::Return::Success) nic->release(*tag);
  return to_api(result);
}

VIP_RETURN register_memory(VIP_NIC_HANDLE nic_handle, void* address, VIP_ULONG length, const VIP_MEM_ATTRIBUTES* wanted,
                           VIP_MEM_HANDLE* memory) {
  if (memory == nullptr) return VIP_INVALID_PARAMETER;
  *memory = 0;  // VI-DG 3.4.3: otherwise NULL
  const vipl::MemoryKind kind = vipl::probe_memory(address, length);
  if (kind == vipl::MemoryKind::NotThere) return VIP_INVALID_PARAMETER;
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  vi::MemoryAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*nic, wanted, attributes); result != VIP_SUCCESS) return result;
  wire::MemHandle handle{};
  const MemoryGate::Writer writer(call.domain().memory_gate());
  const vi::Return result = nic->model().register_memory(address_of(address), static_cast<std::byte*>(address), length,
                                                         attributes, handle, kind == vipl::MemoryKind::Writable);
  if (result == vi::Return::Success) *memory = handle.value;
  return to_api(result);
}

VIP_RETURN deregister_memory(VIP_NIC_HANDLE nic_handle, const void* address, VIP_MEM_HANDLE memory) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  const MemoryGate::Writer writer(call.domain().memory_gate());
  return to_api(nic->model().memory().deregister(address_of(address), wire::MemHandle{memory}));
}

VIP_RETURN set_attributes(VIP_NIC_HANDLE nic_handle, const void* address, VIP_MEM_HANDLE memory,
                          const VIP_MEM_ATTRIBUTES* wanted) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr || wanted == nullptr) return VIP_INVALID_PARAMETER;
  vi::MemoryAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*nic, wanted, attributes); result != VIP_SUCCESS) return result;
  const MemoryGate::Writer writer(call.domain().memory_gate());
  return to_api(nic->model().set_memory_attributes(address_of(address), wire::MemHandle{memory}, attributes));
}

VIP_RETURN query_memory(VIP_NIC_HANDLE nic_handle, const void* address, VIP_MEM_HANDLE memory, VIP_MEM_ATTRIBUTES* to) {
  Call call;
  NicObject* nic = call.find<NicObject>(nic_handle);
  if (nic == nullptr || to == nullptr) return VIP_INVALID_PARAMETER;
  vi::MemoryAttributes attributes;
  const vi::Return result = nic->model().memory().query(address_of(address), wire::MemHandle{memory}, attributes);
  if (result == vi::Return::Success) *to = to_api(*nic, attributes);
  return to_api(result);
}

}  // namespace

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* Ptag) {
  return api([=] { return create_tag(NicHandle, Ptag); });
}
VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Ptag) {
  return api([=] { return destroy_tag(NicHandle, Ptag); });
}
VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                          VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
  return api([=] { return register_memory(NicHandle, VirtualAddress, Length, MemAttribs, MemoryHandle); });
}
VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_MEM_HANDLE MemoryHandle) {
  return api([=] { return deregister_memory(NicHandle, VirtualAddress, MemoryHandle); });
}
VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                               VIP_MEM_ATTRIBUTES* MemAttribs) {
  return api([=] { return set_attributes(NicHandle, Address, MemHandle, MemAttribs); });
}
VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                       VIP_MEM_ATTRIBUTES* MemAttribs) {
  return api([=] { return query_memory(NicHandle, Address, MemHandle, MemAttribs); });
}
