// Any octets at the port of VI over TCP. The first byte chooses: 0 a record between the service and a process; 1 the
// first segment of a stream, octet by octet; 2 what streams and processes do to the port, one after another; 3 the
// table of /proc/net/tcp; 4 the service's status.
#include <set>

#include "property.hpp"
#include "tools/vitcp_portd/port_owner.hpp"
#include "tools/vitcp_portd/status.hpp"
#include "vitcp/port_service/port.hpp"
#include "vitcp/port_service/records.hpp"

namespace {
using namespace vitcp::port_service;
using wire::vitcp::SegmentType;

[[noreturn]] void fail(const char* what) { wire::fuzz::fail(what, "port service"); }

template <class Body>
void check_round_trip(wire::Bytes octets) {
  const auto body = Body::parse(octets);
  if (!body) return;
  const Record written = body->write();
  if (written.size() > max_record_bytes) fail("a record that is too long");
  const auto again = Body::parse(wire::Bytes(written).subspan(1));
  if (!again || again->write() != written) fail("does not parse to what it wrote");
}

void check_records(wire::Bytes octets) {
  check_round_trip<Hello>(octets);
  check_round_trip<Wait>(octets);
  if (const auto state = PortState::parse(octets); state && state->write(RecordKind::welcome).size() > max_record_bytes)
    fail("a record that is too long");
  if (const auto id = parse_id(octets); id && id_record(RecordKind::cancel, *id).size() != octets.size() + 1)
    fail("an id of another size");
}

// What was decided stays decided, and never asks for what is there already.
void check_first_segment(wire::Bytes octets) {
  for (std::size_t size = 0; size <= octets.size(); ++size) {
    const auto first = examine(octets.first(size));
    const bool whole = first.finding != Finding::incomplete;
    if (!whole && first.needed_octets <= size) fail("asks for what is there");
    if (!whole) continue;
    if (examine(octets).finding != first.finding) fail("another finding with more octets");
    return;
  }
}

/// Carries out what the port says, and keeps count.
class Streams final : public PortActions {
 public:
  bool hand_over(ConnectionId stream, const Waiter& waiter) override {
    if (waiter.id % 5 == 0) return false;
    return leave(stream), true;
  }
  void refuse(ConnectionId stream, SegmentType) override {
    if (!open.contains(stream)) fail("refuses what is gone");
  }
  void close(ConnectionId stream) override { leave(stream); }
  std::set<ConnectionId> open;

 private:
  void leave(ConnectionId stream) {
    if (open.erase(stream) != 1) fail("a stream leaves twice");
  }
};

std::vector<std::uint8_t> request(std::uint8_t called) {
  wire::vitcp::Segment segment{.header = {.type = SegmentType::connect_request}};
  segment.ce.mtu_size_bytes = 1;
  segment.ce.peer_to_peer = (called & 4) != 0;
  segment.ce.called = wire::vitcp::Discriminator::of(std::array{static_cast<std::uint8_t>(called & 3)});
  std::vector<std::uint8_t> octets(segment.size());
  segment.write(octets);
  return octets;
}

/// Two octets for each step: what, and to which.
class Play {
 public:
  void step(std::uint8_t what, std::uint8_t which) {
    const ConnectionId stream = last_ - std::min<ConnectionId>(last_, which % 8);
    const Wanted wanted{wire::vitcp::Discriminator::of(std::array{static_cast<std::uint8_t>(which & 3)}),
                        (which & 4) != 0};
    switch (what % 10) {
      case 0: return accept(which, false);
      case 1: return accept(which, true);
      case 2: return say(stream, request(which));
      case 3: return say(stream, std::vector<std::uint8_t>(which, what));
      case 4: return port_.broken(stream);
      case 5: return port_.drained(stream);
      case 6: return static_cast<void>(port_.wait(which >> 5, what, wanted));
      case 7: return port_.cancel(which >> 5, what);
      case 8: return port_.client_gone(which >> 5);
      default: return scheduler_.run_until(scheduler_.now() + which * 100 * runtime::millisecond);
    }
  }
  void check() {
    const auto half_open = port_.half_open();
    if (half_open.size() > 5 || half_open.size() != streams_.open.size()) fail("more streams than there may be");
    std::uint64_t left = 0;
    for (const Fate fate : fates) left += port_.counters().of(fate);
    for (const auto& stream : half_open) left += stream.phase == Port::Phase::closing ? 0 : 1;
    if (left != port_.counters().accepted + port_.counters().returned) fail("a stream that is not counted");
  }

 private:
  void accept(std::uint8_t from, bool returned) {
    const wire::IpAddress sender = wire::IpAddress::v4(10, 0, 0, from % 4);
    streams_.open.insert(++last_);
    returned ? port_.returned(last_, sender) : port_.accepted(last_, sender);
  }
  void say(ConnectionId stream, const std::vector<std::uint8_t>& octets) {
    port_.arrived(stream, octets, octets.size() % 7 == 6);
  }

  runtime::Scheduler scheduler_;
  Streams streams_;
  Port port_{scheduler_, {.half_open = 5}, streams_};
  ConnectionId last_ = 0;
};

void check_play(wire::Bytes octets) {
  Play play;
  for (std::size_t at = 0; at + 1 < octets.size(); at += 2) {
    play.step(octets[at], octets[at + 1]);
    play.check();
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const wire::fuzz::ExactCopy rest(wire::Bytes(data + 1, size - 1));
  const std::string text(rest.view().begin(), rest.view().end());
  switch (data[0] % 5) {
    case 0: check_records(rest.view()); break;
    case 1: check_first_segment(rest.view()); break;
    case 2: check_play(rest.view()); break;
    case 3: static_cast<void>(vitcp_portd::owner_in(text, {wire::IpAddress::v4(127, 0, 0, 1), 8474})); break;
    default: static_cast<void>(vitcp_portd::to_text(text));
  }
  return 0;
}
