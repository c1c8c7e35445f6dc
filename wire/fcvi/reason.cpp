#include "wire/fcvi/reason.hpp"

namespace wire::fcvi {

std::string_view to_string(Reason value) {
  switch (value) {
    case Reason::no_discriminator_match: return "No Discriminator Match";
    case Reason::connect_timeout: return "Connect Timeout";
    case Reason::no_waiting_remote_connectionpoint: return "No Waiting Remote Connectionpoint";
    case Reason::connect_reject: return "Connect Reject";
    case Reason::connect_reject_concurrent_matching_peer_requests:
      return "Connect Reject - Concurrent Matching Peer Requests";
    case Reason::connect_reject_invalid_service_parm: return "Connect Reject - Invalid Service Parm";
    case Reason::connect_reject_protocol_error: return "Connect Reject - Protocol Error";
    case Reason::connect_reject_transport_error: return "Connect Reject - Transport Error";
    case Reason::transport_error: return "Transport Error";
    case Reason::rdma_protection_error: return "RDMA Protection Error";
    case Reason::remote_descriptor_error: return "Remote Descriptor Error";
    case Reason::remote_rdma_write_protection_error: return "Remote RDMA Write Protection Error";
    case Reason::remote_rdma_write_data_error: return "Remote RDMA Write Data Error";
    case Reason::remote_rdma_write_packet_abort: return "Remote RDMA Write Packet Abort";
    case Reason::remote_rdma_transport_error: return "Remote RDMA Transport Error";
    case Reason::remote_rdma_read_protection_error: return "Remote RDMA Read Protection Error";
    case Reason::protocol_error: return "Protocol Error";
    case Reason::connection_setup_timeout: return "Connection Setup Timeout";
    case Reason::connection_does_not_exist: return "Connection Does Not Exist";
    case Reason::disconnect_accept: return "Disconnect Accept";
  }
  return text::unknown;
}

}  // namespace wire::fcvi
