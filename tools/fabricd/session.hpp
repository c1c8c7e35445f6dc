// One connection to the service. It begins with a Hello, which decides its kind.
#pragma once
#include <memory>

#include "tools/fabricd/session_host.hpp"

namespace fabricd {

/// Closes its stream when destroyed, unless another session took it over.
class Session : public fc2::drivers::StreamUser {
 public:
  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 protected:
  Session(SessionHost& service, std::shared_ptr<FrameStream> stream);
  /// The session ends later.
  void end();
  [[nodiscard]] SessionHost& service() const { return service_; }
  [[nodiscard]] FrameStream& stream() { return *stream_; }
  [[nodiscard]] const FrameStream& stream() const { return *stream_; }
  [[nodiscard]] const std::shared_ptr<FrameStream>& shared_stream() const { return stream_; }
  /// Another session has the stream now.
  void let_go_of_stream() { stream_ = nullptr; }

 private:
  SessionHost& service_;
  std::shared_ptr<FrameStream> stream_;
};

/// Waits for the Hello, for a limited time.
class Greeting final : public Session {
 public:
  static constexpr runtime::TimeNs patience = 5 * runtime::second;
  Greeting(SessionHost& service, int descriptor);

 private:
  void frame_received(fc2::FramePtr frame) override;
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void refuse(const std::string& reason);
  void out_of_patience();

  runtime::Timer<Greeting, &Greeting::out_of_patience> timer_{*this};
};

}  // namespace fabricd
