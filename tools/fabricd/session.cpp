#include "tools/fabricd/session.hpp"

#include <spdlog/spdlog.h>

namespace fabricd {

Session::Session(SessionHost& service, std::shared_ptr<FrameStream> stream)
    : service_(service), stream_(std::move(stream)) {
  stream_->set_user(*this);
}

Session::~Session() {
  if (stream_ != nullptr) stream_->close();
}
void Session::end() { service_.end(*this); }

// The stream's user is set by the base class: it is told of nothing before.
Greeting::Greeting(SessionHost& service, int descriptor) : Session(service, service.make_stream(*this, descriptor)) {
  service.core().scheduler().schedule_after(timer_, patience);
}

void Greeting::record_received(RecordKind kind, std::span<const std::uint8_t> body) {
  const auto hello = kind == RecordKind::Hello ? Hello::parse(body) : std::nullopt;
  if (!hello) return refuse("this is fcvi-fabricd, the first record must be a Hello");
  const int own = fc2::drivers::protocol_version;
  if (hello->version != own)
    return refuse("fcvi-fabricd (process " + std::to_string(service().process_id()) + ") speaks version " +
                  std::to_string(own) + " of the local fabric's protocol, the program version " +
                  std::to_string(hello->version) + "; end the older one (fcvi-fabricd stop)");
  if (const std::string error = service().admit(*hello, shared_stream()); !error.empty()) return refuse(error);
  let_go_of_stream();
  end();
}

void Greeting::frame_received(fc2::FramePtr) { refuse("a frame before the Hello"); }

void Greeting::refuse(const std::string& reason) {
  spdlog::warn("a connection was refused: {}", reason);
  stream().send_record(RecordKind::Refusal, reason);
  stream().close();
  end();
}

void Greeting::stream_closed(const std::string& reason) {
  spdlog::debug("a connection ended before its Hello: {}", reason);
  end();
}

void Greeting::out_of_patience() { refuse("no Hello came"); }

}  // namespace fabricd
