// Gives what the N_Port brings to whom it belongs: frames of messages by FCVI_HANDLE, IUs that begin or end a
// connection, logins and logouts.
#pragma once
#include <array>

#include "fcvi/connections.hpp"
#include "fcvi/setup_book.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace fcvi {

class Dispatcher final : public fc2::DataFrameUser, private fc2::PortListener {
 public:
  Dispatcher(const Services& services, Connections& connections, SetupBook& setups);
  /// From begin() to end() the port brings what comes.
  void begin();
  void end();

 private:
  // fc2::DataFrameUser
  void data_frame_received(const fc2::ReceivedFrame& frame) override;
  [[nodiscard]] std::size_t data_run_received(const fc2::ReceivedFrame& first, const fc2::FrameRun& run) override;
  [[nodiscard]] bool whole_frame_received(const fc2::Frame& frame) override;
  bool abort_received(wire::FcId source, wire::OxId ox_id) override;
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;
  // fc2::PortListener
  void fabric_logged_in() override;
  void fabric_login_failed() override {}
  void remote_port_logged_in(fc2::RemotePort& port) override;
  void remote_port_login_failed(fc2::RemotePort& port) override;
  void remote_port_logged_out(fc2::RemotePort& port) override;

  void disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DisconnectRqst& request);
  [[nodiscard]] Connection* find_disconnected(wire::FcId peer, const wire::fcvi::DisconnectRqst& request);
  void discard_frame(const fc2::ReceivedFrame& frame, fc2::Discard reason);
  void stray_frame(wire::FcId source);
  /// The Device_Header is the same, byte for byte, as that of the frame before.
  [[nodiscard]] bool repeats_header(const fc2::ReceivedFrame& frame) const;
  [[nodiscard]] bool take_header(const fc2::ReceivedFrame& frame);

  const Services& services_;
  Connections& connections_;
  SetupBook& setups_;
  // Of the last data frame. The frames of a message have the same header (FC-VI 5.9.1), which is parsed once.
  bool has_header_bytes_ = false;  // it had 32 bytes, and was good
  std::array<std::uint8_t, 32> header_bytes_{};
  wire::fcvi::DeviceHeader header_;
  const wire::fcvi::IuInfo* iu_ = nullptr;
};

}  // namespace fcvi
