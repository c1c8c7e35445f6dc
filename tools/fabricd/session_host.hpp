// What sessions ask of the service that holds them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/drivers/frame_stream.hpp"

namespace fc2 {
class Switch;
}

namespace fabricd {
class LiveFaults;
class Paths;
class PortSession;
class Recorder;
class Session;
class WaitingLink;
enum class LinkAction : std::uint8_t;
struct CaptureRequest;
struct Status;
using fc2::drivers::FrameStream;
using fc2::drivers::Hello;
using fc2::drivers::RecordKind;

/// Calls are made inside the core.
class SessionHost {
 public:
  virtual fc2::drivers::FabricCore& core() = 0;
  virtual fc2::Switch& fabric() = 0;
  virtual Paths& paths() = 0;
  virtual Recorder& recorder() = 0;
  virtual LiveFaults& faults() = 0;
  [[nodiscard]] virtual std::uint32_t process_id() const = 0;
  virtual std::shared_ptr<FrameStream> make_stream(fc2::drivers::StreamUser& user, int descriptor) = 0;
  /// Makes a session of that role. Empty, or why not.
  virtual std::string admit(const Hello& hello, const std::shared_ptr<FrameStream>& stream) = 0;
  /// The link that was to wait is up. Empty, or why it cannot be.
  virtual std::string admit(WaitingLink& waiting) = 0;
  /// Takes the link of that port down or up. Empty, or why not.
  virtual std::string set_link(std::string_view port, LinkAction action) = 0;
  /// Memory between the two ports, where both are of this host and nobody wants to see their frames.
  virtual void make_path(PortSession& from, wire::FcId to) = 0;
  /// It is called otherwise than before.
  virtual void names_changed(PortSession& port) = 0;
  virtual void start_capture(const std::shared_ptr<FrameStream>& stream, const CaptureRequest& request) = 0;
  /// The session is over, and goes when nothing of it is under way.
  virtual void end(Session& session) = 0;
  [[nodiscard]] virtual Status status() = 0;
  virtual void stop(const std::string& reason) = 0;

 protected:
  ~SessionHost() = default;
};

}  // namespace fabricd
