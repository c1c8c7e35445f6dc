// How a driver's thread becomes the only user of the protocol core.
#pragma once

namespace fc2::drivers {

/// The core is single-threaded and reads no clock. Around each handler that touches it, a driver calls enter() and
/// leave().
class CoreGuard {
 public:
  virtual ~CoreGuard() = default;
  /// Waits until the caller is the only user of the core, and brings its clock up to now.
  virtual void enter() = 0;
  /// Lets the core settle, sets the timer for what comes next, and lets go.
  virtual void leave() = 0;
};

}  // namespace fc2::drivers
