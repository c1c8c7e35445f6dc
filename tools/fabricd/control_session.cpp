#include "tools/fabricd/control_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>

#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tools/fabricd/capture_request.hpp"
#include "tools/fabricd/control_words.hpp"
#include "tools/fabricd/downed_links.hpp"
#include "tools/fabricd/fault_status.hpp"
#include "tools/fabricd/recorder.hpp"
#include "tools/fabricd/status.hpp"

namespace fabricd {
namespace {
constexpr runtime::TimeNs lines_look_again = runtime::millisecond, lines_patience = 2 * runtime::second;

// Takes what stands before the next line feed; the line feed goes, too.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}
}  // namespace

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
    : Session(service, std::move(stream)), answer_(this->stream()) {
  this->service().core().scheduler().schedule_after(out_of_time_, time_to_ask);
}

void ControlSession::out_of_time() {
  if (!answering_) return refuse("no whole request came");
  stream().close();
  end();
}

void ControlSession::frame_received(fc2::FramePtr) { refuse("a frame on a control connection"); }
void ControlSession::stream_closed(const std::string&) { end(); }

void ControlSession::record_received(RecordKind kind, std::span<const std::uint8_t> body) {
  if (kind != RecordKind::Request || answering_) return refuse("one request, please");
  std::string_view part(reinterpret_cast<const char*>(body.data()), body.size());
  const bool more = part.starts_with(control_word::part);
  if (more) part.remove_prefix(control_word::part.size());
  if (request_.size() + part.size() > control_word::max_request_bytes) return refuse("a request that is too long");
  request_ += part;
  if (more) return;
  answering_ = true;
  service().core().scheduler().cancel(out_of_time_);
  carry_out(request_);
}

void ControlSession::answer(std::string_view text) {
  answer_.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  pump();
}

void ControlSession::carry_out(std::string_view request) {
  const auto is = [&request](std::string_view word) {
    if (!request.starts_with(word)) return false;
    request.remove_prefix(word.size());
    return true;
  };
  if (request == control_word::status) return answer(to_json(service().status()));
  if (request == control_word::stop) {
    done_ = true;  // the end of the connection is the answer: then all files are written
    return service().stop("asked to");
  }
  if (request == control_word::fault_list) return answer(boost::json::serialize(to_array(service().faults().states())));
  if (is(control_word::fault_add)) return add_faults(request);
  if (is(control_word::fault_clear)) return clear_faults(request);
  if (is(control_word::link)) return set_link(request);
  capture(request);
}

void ControlSession::capture(std::string_view request) {
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
  std::string lines;
  for (const std::string& port : unknown_ports(choice, recorder.history(), recorder.names())) {
    const auto address = address_of(port);
    if (address && service().fabric().name_server().database().find(*address) != nullptr) continue;
    lines += port + "\n";
  }
  answer(lines);
}

// --- faults and links --------------------------------------------------------------------------------------------

void ControlSession::add_faults(std::string_view request) {
  const std::string name(take_line(request));
  auto rules = fault_rules_in(std::string(request), name);
  if (!rules) return refuse(rules.error().message);
  if (!service().faults().add(std::move(*rules), added_))
    return refuse(
        fmt::format("{}: the service has {} rules, and can have {}", name, service().faults().count(), max_live_rules));
  spdlog::info("fault rules were added: {}", fmt::join(added_, ", "));
  began_ = service().core().scheduler().now();
  await_direct_paths();
}

// A path ends when both of its ends have said so.
void ControlSession::await_direct_paths() {
  runtime::Scheduler& scheduler = service().core().scheduler();
  const auto passed_by = service().faults().passed_by(added_);
  if (!passed_by.empty() && scheduler.now() - began_ < lines_patience)
    return scheduler.schedule_after(look_, lines_look_again);
  auto states = service().faults().states();
  std::erase_if(
      states, [this](const auto& state) { return std::find(added_.begin(), added_.end(), state.id) == added_.end(); });
  answer(boost::json::serialize(boost::json::object{
      {"rules", to_array(states)}, {"passed_by", boost::json::array(passed_by.begin(), passed_by.end())}}));
}

void ControlSession::clear_faults(std::string_view lines) {
  LiveFaults& faults = service().faults();
  if (lines.empty()) {
    faults.remove_all();
    spdlog::info("all fault rules were cleared");
    return pump();
  }
  std::vector<LiveFaults::Id> wanted;
  const auto states = faults.states();
  while (!lines.empty()) {
    const std::string_view line = take_line(lines);
    LiveFaults::Id id = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), id);
    const bool number = error == std::errc{} && rest == line.data() + line.size();
    const auto is_it = [id](const auto& state) { return state.id == id; };
    if (!number || std::none_of(states.begin(), states.end(), is_it))
      return refuse(fmt::format("there is no rule \"{}\"; fcvi-ctl fault list shows them", line));
    wanted.push_back(id);
  }
  for (const LiveFaults::Id id : wanted) faults.remove(id);
  spdlog::info("fault rules were cleared: {}", fmt::join(wanted, ", "));
  pump();
}

void ControlSession::set_link(std::string_view lines) {
  const std::string_view port = take_line(lines);
  const auto action = link_action_of(lines);
  if (!action) return refuse("a link goes down, up, or is reset");
  const std::string error = service().set_link(port, *action);
  if (!error.empty()) return refuse(error);
  pump();
}

void ControlSession::pump() {
  if (!answering_ || done_ || !answer_.pump()) return;
  done_ = stream().send_record(RecordKind::Done, std::string_view());
  if (!done_) return;
  stream().finish();  // the client closes, or is made to
  service().core().scheduler().schedule_after(out_of_time_, time_to_ask);
}

// A text that fits a record: what is wrong stands at its beginning.
void ControlSession::refuse(const std::string& reason) {
  stream().send_record(RecordKind::Refusal, std::string_view(reason).substr(0, fc2::drivers::max_record_body_bytes));
  stream().close();
  end();
}

}  // namespace fabricd
