// A VI/TCP provider, and octets of a peer in each state of a set-up and of a connection. The first byte chooses the
// state, the second the level, the CRC, whether the rest are octets or steps of a peer that speaks VI/TCP (see Speech),
// and how many octets come at once.
//
// What must hold: no machine meets an event without a row; whatever comes, the provider is consistent after each event;
// when the peer is gone nothing is left of its streams, and an honest pair still talks.
#include "property.hpp"
#include "tests/vitcp/raw_peer.hpp"

namespace {
using namespace vitcp;
using namespace vitcp::testing;
using wire::vitcp::SegmentType;

[[noreturn]] void fail(const char* what) { wire::fuzz::fail(what, "connection over TCP"); }

/// Octets one after another; zeros when there are no more.
class Octets {
 public:
  explicit Octets(wire::Bytes octets) : octets_(octets) {}
  [[nodiscard]] bool empty() const { return octets_.empty(); }
  std::uint8_t take() {
    if (octets_.empty()) return 0;
    const std::uint8_t first = octets_.front();
    octets_ = octets_.subspan(1);
    return first;
  }
  wire::Bytes take(std::size_t count) {
    const wire::Bytes some = octets_.first(std::min(count, octets_.size()));
    octets_ = octets_.subspan(some.size());
    return some;
  }

 private:
  wire::Bytes octets_;
};

/// Segments that are nearly right, made from the input: three octets for each.
class Speech {
 public:
  Speech(const RawPeer& peer, wire::MemHandle handle, std::uint64_t memory)
      : peer_(peer), handle_(handle), memory_(memory) {}

  std::vector<std::uint8_t> next(Octets& input) {
    const std::uint8_t what = input.take(), how = input.take(), much = input.take();
    vt::Segment segment = RawPeer::message(static_cast<SegmentType>(what % 9), number_);
    const std::vector<std::uint8_t> payload(much, how);
    if (vt::info_of(segment.header.type).has_payload) segment.payload = payload;
    segment.header.end_of_message = (how & 1) == 0;
    segment.header.immediate_data_valid = (how & 2) != 0;
    segment.header.transmit_error = (how & 12) == 12;
    segment.header.data_offset = offset_;
    segment.header.rx_descriptors_posted = static_cast<std::uint16_t>(100 + much);
    segment.header.remote_error.vi_descriptor_error = (how & 0xF0) == 0xF0;
    segment.rdma = {memory_, handle_,
                    static_cast<std::uint32_t>(offset_ + much + (segment.header.end_of_message ? 0 : 8))};
    if (segment.header.type == SegmentType::nop) --segment.header.message_number.value;
    if (vt::info_of(segment.header.type).is_connection) segment.ce = RawPeer::request(delivery).ce;
    advance(segment);
    std::vector<std::uint8_t> octets = peer_.octets_of(segment);
    if ((what & 0x80) != 0)
      octets[much % octets.size()] = static_cast<std::uint8_t>(octets[much % octets.size()] ^ how);
    if ((what & 0xC0) == 0xC0) peer_.mend(octets);
    return octets;
  }

 private:
  void advance(const vt::Segment& segment) {
    if (segment.header.type != SegmentType::send && segment.header.type != SegmentType::rdma_write &&
        segment.header.type != SegmentType::rdma_read_request)
      return;
    const bool last = segment.header.end_of_message;
    offset_ = last ? 0 : offset_ + static_cast<std::uint32_t>(segment.payload.size());
    number_ += last ? 1 : 0;
  }
  const RawPeer& peer_;
  wire::MemHandle handle_;
  std::uint64_t memory_;
  std::uint32_t number_ = 1, offset_ = 0;
};

/// One provider under attack, and another host that is honest.
class Siege {
 public:
  Siege(std::uint8_t state, std::uint8_t kind)
      : level_(kind % 3 == 0   ? unreliable
               : kind % 3 == 1 ? delivery
                               : reception),
        crc_((kind & 4) != 0), speaks_((kind & 8) != 0), crowd_(kind >> 4), state_(state % 8) {}

  void run(wire::Bytes octets) {
    reach();
    Octets input(octets);
    Speech speech(peer_, hosts_.server->handle, address_of(memory_));
    while (!input.empty() && !peer_.is_closed()) {
      const auto some = input.take(1 + crowd_ * 16);
      say(speaks_ ? speech.next(input) : std::vector<std::uint8_t>(some.begin(), some.end()));
    }
    leave();
    probe();
  }

 private:
  void say(const std::vector<std::uint8_t>& octets) {
    if (octets.empty() || peer_.is_closed()) return;
    peer_.push(octets);
    settle();
  }
  void settle() {
    hosts_.run(runtime::millisecond);
    if (!hosts_.server->provider.is_consistent()) fail("the provider is not consistent");
  }
  void reach() {
    memory_ = hosts_.server->allocate(4096);
    switch (state_) {
      case 0: return peer_.connect();     // incoming
      case 1: return reach_pending();     // undecided
      case 2: return reach_asked(false);  // our own request awaits its answer
      case 3: return reach_asked(true);   // the same, of a peer
      default: return reach_connected();
    }
  }
  void reach_pending() {
    hosts_.server->provider.connect_wait(hosts_.server->at("x"), runtime::never, wait_);
    peer_.connect();
    say(peer_.octets_of(RawPeer::request(level_, crc_)));
  }
  void reach_asked(bool of_peer) {
    peer_.listen();
    end_.emplace(*hosts_.server, hosts_.server->create(level_));
    const auto remote = vi::NetAddress::make(peer_.address, {});
    if (of_peer)
      static_cast<void>(hosts_.server->provider.connect_peer_request(end_->vi, hosts_.server->at("x"), remote,
                                                                     runtime::second, request_));
    else
      hosts_.server->provider.connect_request(end_->vi, hosts_.server->at("x"), remote, runtime::second, request_);
    settle();
    if (of_peer) peer_.connect();
  }
  void reach_connected() {
    end_.emplace(peer_.connect_to(level_, crc_));
    for (int i = 0; i != 8; ++i) end_->receive(64);
    if (state_ == 5) end_->send("out");
    if (state_ == 6 && is_reliable(level_)) end_->rdma_read(memory_, 64);
    if (state_ == 7) {
      hosts_.server->provider.disconnect(end_->vi, disconnect_);
    }
    settle();
  }
  void leave() {
    peer_.close();
    hosts_.server->provider.withdraw(wait_);
    if (end_ && state_ != 7) hosts_.server->provider.disconnect(end_->vi, disconnect_);
    hosts_.run(20 * runtime::second);
    if (end_ && !disconnect_.result) fail("VipDisconnect does not return");
    if (hosts_.server->provider.counters().unexpected_events != 0) fail("an event without a row");
    if (hosts_.server->provider.streams_without_vi() != 0) fail("a stream is left");
  }
  void probe() {
    auto [a, b] = hosts_.connect(delivery);
    b.receive(8);
    a.send("honest");
    hosts_.settle();
    if (b.receive_error() != 0U || b.received() != "honest") fail("an honest pair is disturbed");
  }

  const vi::ReliabilityLevel level_;
  const bool crc_, speaks_;
  const std::size_t crowd_;
  const int state_;
  WaitCall wait_;
  ConnectCall request_;
  PlainCall disconnect_;
  TwoHosts hosts_;
  RawPeer peer_{hosts_};
  std::optional<End> end_;
  std::byte* memory_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 2048) return 0;
  const wire::fuzz::ExactCopy rest(wire::Bytes(data + 2, size - 2));
  Siege(data[0], data[1]).run(rest.view());
  if (::testing::Test::HasFailure()) fail("an expectation of the honest end");
  return 0;
}
