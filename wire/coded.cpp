// Link control, BLSs and parts of FC-VI payloads whose fields are a list and no more.
#include "wire/bls/abts.hpp"
#include "wire/bls/ba_acc.hpp"
#include "wire/bls/ba_rjt.hpp"
#include "wire/define_coded.hpp"
#include "wire/fcvi/attributes.hpp"
#include "wire/fcvi/qos.hpp"
#include "wire/fcvi/reason.hpp"
#include "wire/link_control.hpp"

namespace wire {

WIRE_DEFINE_CODED(LinkReject)
WIRE_DEFINE_CODED(LinkBusy)

}  // namespace wire

namespace wire::bls {

WIRE_DEFINE_CODED(Abts)
WIRE_DEFINE_CODED(BaAcc)
WIRE_DEFINE_CODED(BaRjt)

}  // namespace wire::bls

namespace wire::fcvi {

WIRE_DEFINE_CODED(Attributes)
WIRE_DEFINE_CODED(Qos)
WIRE_DEFINE_CODED(ConnectionStatus)

}  // namespace wire::fcvi
