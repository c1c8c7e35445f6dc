#include "tools/fabricd/control_session.hpp"

#include <algorithm>

#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tools/fabricd/capture_request.hpp"
#include "tools/fabricd/recorder.hpp"
#include "tools/fabricd/status.hpp"

namespace fabricd {

bool AnswerQueue::pump() {
  while (size() > 0) {
    const std::size_t count = std::min(size(), fc2::drivers::max_record_body_bytes);
    if (!stream_.send_record(RecordKind::Reply, std::span(bytes_).subspan(sent_, count))) break;
    sent_ += count;
  }
  const bool worth_moving = sent_ >= bytes_.size() / 2;
  if (worth_moving) bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(std::exchange(sent_, 0)));
  return bytes_.empty();
}

ControlSession::ControlSession(SessionHost& service, std::shared_ptr<FrameStream> stream)
    : Session(service, std::move(stream)), answer_(this->stream()) {}

void ControlSession::frame_received(fc2::FramePtr) { refuse("a frame on a control connection"); }
void ControlSession::stream_closed(const std::string&) { end(); }

void ControlSession::record_received(RecordKind kind, std::span<const std::uint8_t> body) {
  if (kind != RecordKind::Request || answering_) return refuse("one request, please");
  answering_ = true;
  carry_out(std::string(body.begin(), body.end()));
}

void ControlSession::carry_out(std::string_view request) {
  if (request == "status") {
    const std::string text = to_json(service().status());
    answer_.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return pump();
  }
  if (request == "stop") {
    service().stop("asked to");
    return pump();
  }
  if (request.starts_with(CaptureRequest::find_word)) {
    request.remove_prefix(CaptureRequest::find_word.size());
    if (const auto capture = CaptureRequest::parse(request)) return find_ports(capture->choice);
  } else if (const auto capture = CaptureRequest::parse(request)) {
    service().start_capture(shared_stream(), *capture);
    let_go_of_stream();
    return end();
  }
  refuse("an unknown request");
}

// A line for each that is not there.
void ControlSession::find_ports(const CaptureChoice& choice) {
  const Recorder& recorder = service().recorder();
  for (const std::string& port : unknown_ports(choice, recorder.history(), recorder.names())) {
    const auto address = address_of(port);
    if (address && service().fabric().name_server().database().find(*address) != nullptr) continue;
    const std::string line = port + "\n";
    answer_.add({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
  }
  pump();
}

void ControlSession::pump() {
  if (!answering_ || done_ || !answer_.pump()) return;
  done_ = stream().send_record(RecordKind::Done, std::string_view());
  if (done_) stream().finish();  // the client closes
}

void ControlSession::refuse(const std::string& reason) {
  stream().send_record(RecordKind::Refusal, reason);
  stream().close();
  end();
}

}  // namespace fabricd
