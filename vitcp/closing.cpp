#include "vitcp/closing.hpp"

#include "state_machines/consistency.hpp"

namespace vitcp {
namespace vc = machines::vitcp_closing;

bool Closing::is_consistent() const {
  return has_stream() != machine_.is<vc::Closed>() &&
         linger_.pending() == machine_.is_any_of<vc::Finishing, vc::Draining, vc::Answering>();
}

template <class Event>
void Closing::process(const Event& event) {
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
  const bool gone = !effects_.empty();
  effects_.clear();
  if (gone) user_.stream_gone();
}

void Closing::disconnect() { process(vc::DisconnectRequested{}); }
void Closing::fail() { process(vc::ConnectionFailed{}); }
void Closing::output_finished() { process(vc::OutputFinished{}); }
void Closing::end_received() { process(vc::EndReceived{}); }
void Closing::stream_broken() { process(vc::StreamBroken{}); }
void Closing::linger_expired() { process(vc::LingerExpired{}); }

void Closing::read_and_drop() {
  const streams::ReadResult result = stream_->read(wire::MutableBytes(services_.workspace.in));
  result.end ? end_received() : stream_->ask_readable();
}

void Closing::reset_stream() {
  ++services_.counters.closed_by_timeout;
  stream_->reset();
  stream_.reset();
}

void Closing::unexpected(std::string_view, std::string_view, std::string_view) {
  ++services_.counters.unexpected_events;
}

}  // namespace vitcp
