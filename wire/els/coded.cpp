// The ELSs whose fields are a list and no more.
#include "wire/define_coded.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/els/prli.hpp"
#include "wire/els/rls.hpp"
#include "wire/els/rnid.hpp"
#include "wire/els/rrq.hpp"
#include "wire/els/rscn.hpp"
#include "wire/els/rtv.hpp"
#include "wire/els/scr.hpp"

namespace wire::els {

WIRE_DEFINE_CODED(Adisc)
WIRE_DEFINE_CODED(Fan)
WIRE_DEFINE_CODED(ClassParameters)
WIRE_DEFINE_CODED(Login)
WIRE_DEFINE_CODED(Logo)
WIRE_DEFINE_CODED(LsAcc)
WIRE_DEFINE_CODED(LsRjt)
WIRE_DEFINE_CODED(PrliPage)
WIRE_DEFINE_CODED(Rls)
WIRE_DEFINE_CODED(RlsAcc)
WIRE_DEFINE_CODED(Rnid)
WIRE_DEFINE_CODED(RnidAcc)
WIRE_DEFINE_CODED(RnidTopologyAcc)
WIRE_DEFINE_CODED(Rrq)
WIRE_DEFINE_CODED(RscnPage)
WIRE_DEFINE_CODED(Rtv)
WIRE_DEFINE_CODED(RtvAcc)
WIRE_DEFINE_CODED(Scr)

}  // namespace wire::els
