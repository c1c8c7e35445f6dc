// Octets of another host at an RDMAP Stream, behind a start-up and in place of one: as FPDUs that are made right, and
// as they are; with and without markers and CRC. The framing is read in pieces that the input says.
//
// Octet 0: bit 0 markers, bit 1 CRC, bit 2 the octets are raw, bit 3 they stand in place of the start-up, bit 4 an RDMA
// Read of this end is under way; bits 7-5 how the stream is cut. Not raw: chunks, each an octet of length, and so many
// octets of a ULPDU.
#include "iwarp/mpa_listener.hpp"
#include "property.hpp"
#include "streams/emulated.hpp"

namespace {
using iwarp::RdmapStream;
using wire::fuzz::fail;
using Octets = std::vector<std::uint8_t>;

constexpr std::uint8_t guard = 0xA7;
const wire::IpAddress client_ip = wire::IpAddress::v4(10, 0, 0, 1), server_ip = wire::IpAddress::v4(10, 0, 0, 2);
const streams::Address server_address{server_ip, 4420};

struct Options {
  explicit Options(std::uint8_t octet)
      : framing{(octet & 1) != 0, (octet & 2) != 0}, raw((octet & 4) != 0), unstarted((octet & 8) != 0),
        reads((octet & 16) != 0), cut(octet >> 5) {}
  wire::mpa::Framing framing;
  bool raw, unstarted, reads;
  unsigned cut;
};

/// FPDUs of the chunks.
Octets fpdus_of(wire::Bytes input, const wire::mpa::Framing& framing) {
  Octets octets;
  while (!input.empty()) {
    const std::size_t length = std::min<std::size_t>(input[0], input.size() - 1);
    wire::mpa::Fpdu fpdu{Octets(input.begin() + 1, input.begin() + 1 + static_cast<std::ptrdiff_t>(length))};
    const std::size_t at = octets.size();
    octets.resize(at + fpdu.size(framing, at));
    fpdu.write(wire::MutableBytes(octets).subspan(at), framing, at);
    input = input.subspan(1 + length);
  }
  return octets;
}

class Peer final : public streams::StreamUser {
 public:
  std::unique_ptr<streams::Stream> stream;
  Octets first;
  void connected() override { stream->write(wire::Bytes(first)), stream->ask_readable(); }
  void readable() override {
    std::array<std::uint8_t, 4096> room;
    if (!stream->read(wire::MutableBytes(room)).end) stream->ask_readable();
  }
  void closed(streams::Reason) override {}
};

class Server final : public iwarp::StartupPortUser, public iwarp::StreamListener, public iwarp::StartupListener {
 public:
  explicit Server(const Options& options) : options_(options) {
    network_.set_rules([&](const streams::Address&, const streams::Address&) {
      streams::StreamRules rules;
      rules.to_acceptor.segmentation = streams::drawn_segments(options.cut, options.cut == 0 ? 1460 : options.cut * 7);
      return rules;
    });
    memory_.fill(guard);
    if (listener_.listen(server_address)) fail("does not listen", "server");
    stag_ = *table_.add({1}, wire::MutableBytes(memory_).subspan(64, 1000), 0, {true, true, true, true});
    for (std::uint64_t id = 0; id < 4; ++id)
      stream_->post_receive({id, {{stag_, 250 * static_cast<std::uint32_t>(id), 250}}});
  }
  void run(wire::Bytes octets) {
    peer_.first = options_.unstarted ? Octets(octets.begin(), octets.end()) : request();
    peer_.stream = client_.connect(server_address, {}, peer_);
    settle();
    if (!options_.unstarted) {
      if (options_.reads) read();
      peer_.stream->write(octets);
      settle();
    }
    peer_.stream.reset();
    settle();
    check();
  }

 private:
  [[nodiscard]] Octets request() const {
    const wire::mpa::StartupFrame frame{
        .kind = wire::mpa::FrameKind::request, .crc = options_.framing.crc, .revision = 1};
    Octets octets(frame.size());
    frame.write(octets);
    return octets;
  }
  void read() { stream_->post_send({.id = 9, .operation = iwarp::Operation::rdma_read, .pieces = {{stag_, 0, 100}}}); }
  void settle() {
    const runtime::TimeNs limit = scheduler_.now() + 60 * runtime::second;
    while (scheduler_.run_next(limit))
      if (!stream_->is_consistent() || !listener_.is_consistent()) fail("not consistent", "stream");
    scheduler_.run_until(limit);
  }
  void check() {
    if (counters_.unexpected_events != 0) fail("an event without a row", "machine");
    if (counters_.terminates_sent > 1) fail("more than one", "Terminate Message");
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < 64 || i >= 1064) && memory_[i] != guard) fail("placed beyond the region", "memory");
    if (connected_ && stream_->state_name() == "HalfClosed") stream_->close();
    settle();
    if (connected_ && !closed_) fail("is not closed", "stream");
    if (network_.stream_count() != 0) fail("is left", "stream");
    if (connected_ && completions_ < (options_.reads && !options_.unstarted ? 5U : 4U))
      fail("does not complete", "receive");
  }

  void offered(iwarp::PassiveStartup& responder, const iwarp::PeerOffer&) override {
    waiting_ = &responder;
    scheduler_.schedule(decide_, scheduler_.now());
  }
  void offer_withdrawn(iwarp::PassiveStartup&) override { waiting_ = nullptr; }
  void decide() {
    if (waiting_ != nullptr && !closed_) waiting_->accept(*stream_, *this, {});
    waiting_ = nullptr;
  }
  void completed(const iwarp::Completion&) override { ++completions_; }
  void closed() override { closed_ = true; }
  void connected(const iwarp::PeerOffer&) override { connected_ = true; }
  void startup_failed(machines::iwarp::Failure, const iwarp::PeerOffer&) override {}

  const Options options_;
  runtime::Scheduler scheduler_;
  streams::EmulatedNetwork network_{scheduler_};
  streams::Streams& client_ = network_.add_host({client_ip});
  streams::Streams& host_ = network_.add_host({server_ip});
  iwarp::Config config_;
  iwarp::Counters counters_;
  std::unique_ptr<iwarp::Workspace> workspace_ = std::make_unique<iwarp::Workspace>();
  iwarp::MemoryTable table_;
  const iwarp::Services services_{host_, scheduler_, config_, counters_, *workspace_, table_};
  std::array<std::uint8_t, 1200> memory_;
  iwarp::STag stag_;
  iwarp::PassiveStartup* waiting_ = nullptr;
  bool connected_ = false, closed_ = false;
  std::size_t completions_ = 0;
  std::unique_ptr<RdmapStream> stream_ =
      std::make_unique<RdmapStream>(services_, *this, iwarp::StreamConfig{.domain = {1}});
  iwarp::MpaListener listener_{
      services_, *this, {.wants_markers = options_.framing.markers, .crc = options_.framing.crc}, 4};
  Peer peer_;
  runtime::Timer<Server, &Server::decide> decide_{*this};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const Options options(data[0]);
  const wire::Bytes rest(data + 1, size - 1);
  const Octets octets =
      options.raw || options.unstarted ? Octets(rest.begin(), rest.end()) : fpdus_of(rest, options.framing);
  Server(options).run(octets);
  return 0;
}
