// The table of message types: dispatch, names and the tests that every message must pass come from it.
#pragma once
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include "wire/bls/abts.hpp"
#include "wire/bls/ba_acc.hpp"
#include "wire/bls/ba_rjt.hpp"
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
#include "wire/ct/gnn_id.hpp"
#include "wire/ct/gnn_ip.hpp"
#include "wire/ct/gnn_ft.hpp"
#include "wire/ct/gpn_ft.hpp"
#include "wire/ct/gpn_id.hpp"
#include "wire/ct/gpn_ipp.hpp"
#include "wire/ct/gpt_id.hpp"
#include "wire/ct/gsnn_nn.hpp"
#include "wire/ct/gspn_id.hpp"
#include "wire/ct/port_details.hpp"
#include "wire/ct/reject.hpp"
#include "wire/ct/rff_id.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/ct/rip_nn.hpp"
#include "wire/ct/ripp_id.hpp"
#include "wire/ct/rnn_id.hpp"
#include "wire/ct/rpn_id.hpp"
#include "wire/ct/rpt_id.hpp"
#include "wire/ct/rsnn_nn.hpp"
#include "wire/ct/rspn_id.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/echo.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/farp.hpp"
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
#include "wire/ethernet.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_resp2.hpp"
#include "wire/fcvi/connect_resp3.hpp"
#include "wire/fcvi/connect_rqst.hpp"
#include "wire/fcvi/disconnect_resp.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"
#include "wire/fcvi/read_resp.hpp"
#include "wire/fcvi/read_rqst.hpp"
#include "wire/fcvi/send_resp.hpp"
#include "wire/fcvi/send_rqst.hpp"
#include "wire/fcvi/write_resp.hpp"
#include "wire/fcvi/write_rqst.hpp"
#include "wire/fip.hpp"
#include "wire/link_control.hpp"

namespace wire {

using BlsMessages = boost::mp11::mp_list<bls::Abts, bls::BaAcc, bls::BaRjt>;
using LinkControlMessages = boost::mp11::mp_list<LinkReject, LinkBusy>;

/// Told apart by their first byte.
using ElsRequests =
    boost::mp11::mp_list<els::Login, els::Logo, els::Rtv, els::Echo, els::Rrq, els::Prli, els::Adisc, els::FarpRequest,
                         els::FarpReply, els::Fan, els::Rscn, els::Scr, els::Rls, els::Rnid>;
using ElsReplies =
    boost::mp11::mp_list<els::LsAcc, els::LsRjt, els::RtvAcc, els::RlsAcc, els::RnidAcc, els::RnidTopologyAcc>;

/// Told apart by the command of the CT_IU preamble.
using CtRequests = boost::mp11::mp_list<ct::RippId, ct::RipNn, ct::GidIpp, ct::RnnId, ct::RpnId, ct::RsnnNn, ct::RspnId,
                                        ct::RftId, ct::RffId, ct::GpnFt, ct::GnnFt, ct::GidFt, ct::GidPn, ct::GpnId,
                                        ct::GnnId, ct::GippId, ct::GidNn, ct::GspnId, ct::GsnnNn, ct::DaId, ct::GaNxt,
                                        ct::GftId, ct::GptId, ct::GffId, ct::GippPn, ct::GipNn, ct::GipaNn, ct::GnnIp,
                                        ct::GidPt, ct::GpnIpp, ct::GidFf, ct::RptId, ct::GcsId, ct::GfpnId>;
using CtReplies =
    boost::mp11::mp_list<ct::CtAccept, ct::CtReject, ct::PortIdAccept, ct::NameAccept, ct::PortIdListAccept,
                         ct::IpAddressListAccept, ct::GpnFtAccept, ct::SymbolicNameAccept, ct::Fc4TypesAccept,
                         ct::Fc4FeaturesAccept, ct::PortTypeAccept, ct::NextPortAccept, ct::ClassesOfServiceAccept>;

/// Told apart by FCVI_OPCODE (FC-VI Table 1).
using FcviIus = boost::mp11::mp_list<fcvi::SendRqst, fcvi::WriteRqst, fcvi::ReadRqst, fcvi::SendResp, fcvi::WriteResp,
                                     fcvi::ReadResp, fcvi::ConnectRqst, fcvi::DisconnectRqst, fcvi::ConnectResp1,
                                     fcvi::ConnectResp2, fcvi::ConnectResp3, fcvi::DisconnectResp>;

/// Told apart by type and length.
using FipDescriptors = boost::mp11::mp_list<fip::Priority, fip::Mac, fip::FcMap, fip::NameId, fip::Fabric,
                                            fip::MaxFcoeSize, fip::EncapsulatedFrame, fip::VnPort, fip::FkaAdvPeriod,
                                            fip::VendorId, fip::Vlan, fip::Fc4Features, fip::UnknownDescriptor>;

/// Headers, and what messages hold.
using Parts =
    boost::mp11::mp_list<FcHeader, EthernetHeader, fip::FipHeader, ct::CtHeader, ct::PortEntry, els::ClassParameters,
                         els::PrliPage, els::RscnPage, fcvi::DeviceHeader, fcvi::NetAddress, fcvi::Qos,
                         fcvi::Attributes, fcvi::ConnectPayload, fcvi::ConnectionStatus>;

using AllMessages =
    boost::mp11::mp_append<BlsMessages, LinkControlMessages, ElsRequests, ElsReplies, CtRequests, CtReplies, FcviIus,
                           FipDescriptors, boost::mp11::mp_list<fip::FipMessage>, Parts>;

/// Calls f(std::type_identity<Message>{}) for every type of a list; Messages need no default value.
template <class List, class F>
constexpr void for_each_message(F&& f) {
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, List>>(std::forward<F>(f));
}

}  // namespace wire
