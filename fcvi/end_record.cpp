#include "fcvi/end_record.hpp"

namespace fcvi {
using machines::message_responder::ReceiveError;
using wire::fcvi::Reason;

EndCause EndRecord::told() const {
  switch (cause_) {
    case Ended::No: return {};
    case Ended::ByUs: return {"VipDisconnect was called here"};
    case Ended::NoReceive: return {"the peer sent a message for which no receive was posted here"};
    case Ended::TooLong:
      return {"the peer sent a message that was longer than its receive here, or the receive was not valid"};
    case Ended::Protection: return {"the peer's message met memory here that is not registered for it"};
    case Ended::Transport:
      return {"frames or answers of the peer did not come in time, or not as they should (transport error)"};
    case Ended::Descriptor: return {"a descriptor of this VI failed before"};
    case Ended::PeerLeft: return {"the peer disconnected", true};
    case Ended::PeerGone: return {"the peer's port left the fabric: its process ended, or its link", true};
    case Ended::LinkLost: return {"the link of this NIC to its fabric was lost"};
    case Ended::PeerTransport:
      return {"the peer ended the connection: it missed frames or answers of ours (Transport Error, 40h)"};
    case Ended::PeerProtection:
      return {
          "the peer ended the connection: an RDMA of ours named memory that it does not allow (RDMA Protection Error)"};
    case Ended::PeerDescriptor:
      return {
          "the peer ended the connection: it had no receive for a message of ours, or one that did not fit "
          "(Remote Descriptor Error, 42h)"};
    case Ended::PeerProtocol: return {"the peer ended the connection: another error of it or of the protocol"};
  }
  return {};
}

Ended ended_by(ReceiveError error) {
  switch (error) {
    case ReceiveError::QueueEmpty: return Ended::NoReceive;
    case ReceiveError::TooSmall: return Ended::TooLong;
    case ReceiveError::Protection: return Ended::Protection;
    case ReceiveError::Transport: break;
  }
  return Ended::Transport;
}

Ended ended_by(Reason reason) {
  if (reason == Reason::transport_error || reason == Reason::remote_rdma_transport_error) return Ended::PeerTransport;
  if (reason == Reason::remote_descriptor_error) return Ended::PeerDescriptor;
  const bool protection = reason == Reason::rdma_protection_error ||
                          reason == Reason::remote_rdma_write_protection_error ||
                          reason == Reason::remote_rdma_read_protection_error;
  return protection ? Ended::PeerProtection : Ended::PeerProtocol;
}

Ended EndRecord::ended_here_by(Reason reason) const {
  const bool transport = reason == Reason::transport_error || reason == Reason::remote_rdma_transport_error;
  return transport ? Ended::Transport : peer_knows ? ended_by(reason) : Ended::Descriptor;
}

}  // namespace fcvi
