// VI-DG 3.4, 3.7.4, 3.7.5: memory and protection tags.
#include "vipl/call.hpp"
#include "vipl/conversions.hpp"
#include "vipl/memory_probe.hpp"

using vipl::address_of;
using vipl::Call;
using vipl::NicObject;
using vipl::TagObject;
using vipl::to_api;

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* Ptag) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || Ptag == nullptr) return VIP_INVALID_PARAMETER;
  vi::Ptag tag;
  if (const vi::Return result = nic->model().memory().create_ptag(tag); result != vi::Return::Success)
    return to_api(result);
  void* handle = nic->adopt(std::make_shared<TagObject>(*nic, tag));
  if (handle == nullptr) {
    nic->model().memory().destroy_ptag(tag);
    return VIP_ERROR_RESOURCE;
  }
  *Ptag = handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Ptag) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  TagObject* tag = call.find<TagObject>(Ptag);
  if (nic == nullptr || tag == nullptr || tag->nic != nic) return VIP_INVALID_PARAMETER;
  const vi::Return result = nic->model().memory().destroy_ptag(tag->tag);
  if (result == vi::Return::Success) nic->release(*tag);
  return to_api(result);
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                          VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
  if (MemoryHandle == nullptr) return VIP_INVALID_PARAMETER;
  *MemoryHandle = 0;  // VI-DG 3.4.3: otherwise NULL
  if (!vipl::is_writable_memory(VirtualAddress, Length)) return VIP_INVALID_PARAMETER;
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  vi::MemoryAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*nic, MemAttribs, attributes); result != VIP_SUCCESS) return result;
  wire::MemHandle handle{};
  const vi::Return result = nic->model().register_memory(
      address_of(VirtualAddress), static_cast<std::byte*>(VirtualAddress), Length, attributes, handle);
  if (result == vi::Return::Success) *MemoryHandle = handle.value;
  return to_api(result);
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_MEM_HANDLE MemoryHandle) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  return to_api(nic->model().memory().deregister(address_of(VirtualAddress), wire::MemHandle{MemoryHandle}));
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                               VIP_MEM_ATTRIBUTES* MemAttribs) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || MemAttribs == nullptr) return VIP_INVALID_PARAMETER;
  vi::MemoryAttributes attributes;
  if (const VIP_RETURN result = vipl::from_api(*nic, MemAttribs, attributes); result != VIP_SUCCESS) return result;
  return to_api(nic->model().set_memory_attributes(address_of(Address), wire::MemHandle{MemHandle}, attributes));
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                       VIP_MEM_ATTRIBUTES* MemAttribs) {
  Call call;
  NicObject* nic = call.find<NicObject>(NicHandle);
  if (nic == nullptr || MemAttribs == nullptr) return VIP_INVALID_PARAMETER;
  vi::MemoryAttributes attributes;
  const vi::Return result =
      nic->model().memory().query(address_of(Address), wire::MemHandle{MemHandle}, attributes);
  if (result == vi::Return::Success) *MemAttribs = to_api(*nic, attributes);
  return to_api(result);
}
