/* A VIPL library that has three calls and lacks the others. */
#include <string.h>

#include "vipl.h"

static int nic;

VIP_RETURN VipOpenNic(const VIP_CHAR* name, VIP_NIC_HANDLE* handle) {
  if (name == NULL || handle == NULL) return VIP_INVALID_PARAMETER;
  *handle = &nic;
  return VIP_SUCCESS;
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE handle) { return handle == &nic ? VIP_SUCCESS : VIP_INVALID_PARAMETER; }

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE handle, VIP_NIC_ATTRIBUTES* attributes) {
  if (handle != &nic || attributes == NULL) return VIP_INVALID_PARAMETER;
  memset(attributes, 0, sizeof *attributes);
  return VIP_SUCCESS;
}
