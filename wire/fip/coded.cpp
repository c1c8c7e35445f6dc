// The FIP header and descriptors whose fields are a list and no more.
#include "wire/define_coded.hpp"
#include "wire/fip/descriptors.hpp"
#include "wire/fip/header.hpp"

namespace wire::fip {

WIRE_DEFINE_CODED(Priority)
WIRE_DEFINE_CODED(Mac)
WIRE_DEFINE_CODED(FcMap)
WIRE_DEFINE_CODED(NameId)
WIRE_DEFINE_CODED(Fabric)
WIRE_DEFINE_CODED(MaxFcoeSize)
WIRE_DEFINE_CODED(VnPort)
WIRE_DEFINE_CODED(FkaAdvPeriod)
WIRE_DEFINE_CODED(VendorId)
WIRE_DEFINE_CODED(Vlan)
WIRE_DEFINE_CODED(Fc4Features)
WIRE_DEFINE_CODED(FipHeader)

}  // namespace wire::fip
