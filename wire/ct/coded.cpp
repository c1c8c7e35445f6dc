// The CT messages whose fields are a list and no more.
#include "wire/ct/accept.hpp"
#include "wire/ct/da_id.hpp"
#include "wire/ct/ga_nxt.hpp"
#include "wire/ct/gcs_id.hpp"
#include "wire/ct/gff_id.hpp"
#include "wire/ct/gfpn_id.hpp"
#include "wire/ct/gft_id.hpp"
#include "wire/ct/gid_ff.hpp"
#include "wire/ct/gid_ft.hpp"
#include "wire/ct/gid_ipp.hpp"
#include "wire/ct/gid_nn.hpp"
#include "wire/ct/gid_pn.hpp"
#include "wire/ct/gid_pt.hpp"
#include "wire/ct/gip_nn.hpp"
#include "wire/ct/gipa_nn.hpp"
#include "wire/ct/gipp_id.hpp"
#include "wire/ct/gipp_pn.hpp"
#include "wire/ct/gnn_ft.hpp"
#include "wire/ct/gnn_id.hpp"
#include "wire/ct/gnn_ip.hpp"
#include "wire/ct/gpn_ft.hpp"
#include "wire/ct/gpn_id.hpp"
#include "wire/ct/gpn_ipp.hpp"
#include "wire/ct/gpt_id.hpp"
#include "wire/ct/gsnn_nn.hpp"
#include "wire/ct/gspn_id.hpp"
#include "wire/ct/port_details.hpp"
#include "wire/ct/preamble.hpp"
#include "wire/ct/reject.hpp"
#include "wire/ct/rff_id.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/ct/rip_nn.hpp"
#include "wire/ct/ripp_id.hpp"
#include "wire/ct/rnn_id.hpp"
#include "wire/ct/rpn_id.hpp"
#include "wire/ct/rpt_id.hpp"
#include "wire/define_coded.hpp"

namespace wire::ct {

WIRE_DEFINE_CODED(CtAccept)
WIRE_DEFINE_CODED(PortIdAccept)
WIRE_DEFINE_CODED(NameAccept)
WIRE_DEFINE_CODED(PortEntry)
WIRE_DEFINE_CODED(DaId)
WIRE_DEFINE_CODED(GaNxt)
WIRE_DEFINE_CODED(GcsId)
WIRE_DEFINE_CODED(ClassesOfServiceAccept)
WIRE_DEFINE_CODED(GffId)
WIRE_DEFINE_CODED(GfpnId)
WIRE_DEFINE_CODED(GftId)
WIRE_DEFINE_CODED(GidFf)
WIRE_DEFINE_CODED(GidFt)
WIRE_DEFINE_CODED(GidIpp)
WIRE_DEFINE_CODED(GidNn)
WIRE_DEFINE_CODED(GidPn)
WIRE_DEFINE_CODED(GidPt)
WIRE_DEFINE_CODED(GipNn)
WIRE_DEFINE_CODED(GipaNn)
WIRE_DEFINE_CODED(GippId)
WIRE_DEFINE_CODED(GippPn)
WIRE_DEFINE_CODED(GnnFt)
WIRE_DEFINE_CODED(GnnId)
WIRE_DEFINE_CODED(GnnIp)
WIRE_DEFINE_CODED(GpnFt)
WIRE_DEFINE_CODED(GpnId)
WIRE_DEFINE_CODED(GpnIpp)
WIRE_DEFINE_CODED(GptId)
WIRE_DEFINE_CODED(GsnnNn)
WIRE_DEFINE_CODED(GspnId)
WIRE_DEFINE_CODED(Fc4TypesAccept)
WIRE_DEFINE_CODED(Fc4FeaturesAccept)
WIRE_DEFINE_CODED(PortTypeAccept)
WIRE_DEFINE_CODED(NextPortAccept)
WIRE_DEFINE_CODED(CtHeader)
WIRE_DEFINE_CODED(CtReject)
WIRE_DEFINE_CODED(RffId)
WIRE_DEFINE_CODED(RftId)
WIRE_DEFINE_CODED(RipNn)
WIRE_DEFINE_CODED(RippId)
WIRE_DEFINE_CODED(RnnId)
WIRE_DEFINE_CODED(RpnId)
WIRE_DEFINE_CODED(RptId)

}  // namespace wire::ct
