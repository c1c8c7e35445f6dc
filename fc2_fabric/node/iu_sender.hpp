// Whole IUs of an N_Port: link services, CT, connection IUs (FC-FS; FC-VI 5.8). Message data goes by SequenceSender.
#pragma once
#include <cstdint>
#include <span>

#include "fc2_fabric/node/login_services.hpp"

namespace fc2 {
class ExchangeTable;
class FrameAcknowledger;

class IuSender final : public LinkRequests {
 public:
  IuSender(const PortServices& port, ExchangeTable& exchanges, FrameAcknowledger& acknowledger)
      : port_(port), exchanges_(exchanges), acknowledger_(acknowledger) {}
  // See NPort.
  void send(Exchange& exchange, wire::RCtl r_ctl, std::span<const std::uint8_t> device_header,
            std::span<const std::uint8_t> payload, SequenceEnd end, TimeNs reply_timeout = 0, std::uint8_t cs_ctl = 0);
  Exchange* request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload,
                    ExchangeUser& user, TimeNs reply_timeout);
  Exchange* request_els(wire::FcId d_id, std::span<const std::uint8_t> payload, ExchangeUser& user,
                        TimeNs reply_timeout) override;
  void accept_els(Exchange& exchange, std::span<const std::uint8_t> payload) override;
  void reject_els(Exchange& exchange, wire::els::RejectReason reason,
                  wire::els::RejectExplanation explanation) override;
  void abort(Exchange& exchange) override;
  void finish(Exchange& exchange) override;

 private:
  const PortServices& port_;
  ExchangeTable& exchanges_;
  FrameAcknowledger& acknowledger_;
};

}  // namespace fc2
