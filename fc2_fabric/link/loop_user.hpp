// A port on an arbitrated loop: an NL_Port, or the FL_Port of a switch.
#pragma once
#include <cstdint>

#include "fc2_fabric/link/al_pa.hpp"
#include "fc2_fabric/frame/frame_receiver.hpp"
#include "wire/types.hpp"

namespace fsm {
class RowListener;
}

namespace fc2 {
class LoopStation;

/// The properties of a port on its loop.
struct LoopPlace {
  std::uint8_t hard_address = 0;  // claimed before all soft ones; 0: none
  bool is_private = false;        // takes no notice of a FL_Port (FC-AL: a private NL_Port)
  std::uint16_t bb_credit = 0;    // receive buffers; 0: as many as are asked for
  TimeNs processing_ns = 0;       // of the NL_Port: how long it works at each frame before the buffer is free again
};

/// The result of the loop's initialization for one of its ports.
struct LoopState {
  std::uint8_t al_pa = 0;
  bool fl_port = false;         // there is one
  bool login_required = false;  // L_bit: the FL_Port knows of no login
  AlPaMap assigned{};           // to the FL_Port: claimed in LIFA, by those that a fabric gave their address
};

/// Calls come when no operation of the loop is under way: it may be used in them.
class LoopUser {
 public:
  virtual FrameReceiver& receiver() = 0;
  [[nodiscard]] virtual wire::Wwn loop_name() const = 0;
  /// It claims AL_PA 00h and nothing else.
  [[nodiscard]] virtual bool is_fl_port() const = 0;
  /// FL_Port: no earlier login stands; ports must log in anew (L_bit).
  [[nodiscard]] virtual bool requires_login() const { return false; }
  /// A fabric assigned its address: the AL_PA is claimed in LIFA.
  [[nodiscard]] virtual bool has_assigned_address() const { return false; }
  /// AL_PD: the port to open for a frame to `d_id`.
  [[nodiscard]] virtual std::uint8_t al_pd(wire::FcId d_id) const = 0;

  /// A LIP came. `unsent` waited for the loop: take it, or it is sent when the loop works again.
  virtual void loop_interrupted(FramePtr& unsent) = 0;
  virtual void loop_active(LoopStation& station, const LoopState& state) = 0;
  /// The OPN came back: no port has that address.
  virtual void frame_returned(FramePtr /*frame*/) {}
  /// The port is off the loop.
  virtual void loop_gone() = 0;
  /// Hears of the rows that fire in the machine of its place; nullptr: nobody does. Asked at each row.
  [[nodiscard]] virtual fsm::RowListener* row_listener() const { return nullptr; }

  LoopUser() = default;
  LoopUser(const LoopUser&) = delete;
  LoopUser& operator=(const LoopUser&) = delete;
  virtual ~LoopUser() = default;
};

}  // namespace fc2
