// Octets of another host in each state of an RDMAP Stream and of its start-up, at either end, over MPA and IFT.
//
// Octet 0: bits 0-2 the framing (of `framings`), bits 3-6 the state (of Stage), bit 7 the octets are raw. Octet 1: how
// the stream is cut. Then octets as they are, or chunks, each an octet of length and so many octets of a ULPDU, in
// frames that are made right. Of a start-up that is not over the octets are raw always.
#include "iwarp/ift_listener.hpp"
#include "iwarp/mpa_initiator.hpp"
#include "iwarp/mpa_listener.hpp"
#include "rdmap_host.hpp"

namespace {
using wire::fuzz::fail;
using wire::ift::AdaptionIndication;
using wire::mpa::StartupFrame;
using Octets = std::vector<std::uint8_t>;

const wire::IpAddress peer_ip = wire::IpAddress::v4(10, 0, 0, 1), our_ip = wire::IpAddress::v4(10, 0, 0, 2);
const streams::Address peer_address{peer_ip, 4421}, our_address{our_ip, 4420};
constexpr wire::ift::VTag our_vtag{0x1234}, peer_vtag{0x4321};

struct FramingKind {
  bool ift, markers, crc;
};
constexpr std::array<FramingKind, 5> framings{
    {{false, false, false}, {false, false, true}, {false, true, true}, {true, false, true}, {true, false, false}}};

/// What this end is about when the octets come.
enum class Stage : std::uint8_t {
  asked,        // it listens: they stand in place of the first frame
  offered,      // the first frame came, and the ULP has not decided
  asking,       // it asked: they stand in place of the answer
  answered,     // the start-up that it asked for is over
  accepted,     // the start-up that it was asked for is over
  reading,      // an RDMA Read is outstanding
  blocked,      // much is to be sent, and nobody reads
  closing,      // its ULP has closed the stream
  terminating,  // its ULP found an error: a Terminate Message is out
  terminated,   // a Terminate Message came before
};
constexpr std::size_t stages = 10;

struct Options {
  Options(std::uint8_t first, std::uint8_t second)
      : framing(framings.at((first & 7) % framings.size())), stage(static_cast<Stage>((first >> 3 & 15) % stages)),
        raw((first & 0x80) != 0), cut(second) {}
  FramingKind framing;
  Stage stage;
  bool raw;
  unsigned cut;
  [[nodiscard]] bool active() const { return stage == Stage::asking || stage == Stage::answered; }
  [[nodiscard]] bool starting() const { return stage <= Stage::asking; }
};

template <class Frame>
Octets octets_of(const Frame& frame) {
  Octets octets(frame.size());
  frame.write(octets);
  return octets;
}

/// `position` of the first octet of `to`.
void add_fpdu(Octets& to, wire::Bytes ulpdu, const FramingKind& kind, std::size_t position) {
  const wire::mpa::Framing framing{kind.markers, kind.crc};
  const wire::mpa::Fpdu fpdu{Octets(ulpdu.begin(), ulpdu.end())};
  const std::size_t at = to.size();
  to.resize(at + fpdu.size(framing, position + at));
  fpdu.write(wire::MutableBytes(to).subspan(at), framing, position + at);
}

void add_crc(Octets& to, std::size_t from) {
  const std::uint32_t crc = wire::iwarp::crc32c(wire::Bytes(to).subspan(from));
  to.resize(to.size() + wire::iwarp::crc_bytes);
  wire::iwarp::store_crc(to.data() + to.size() - wire::iwarp::crc_bytes, crc);
}

void add_ift_frame(Octets& to, wire::Bytes ulpdu, const FramingKind& kind) {
  const bool tagged = !ulpdu.empty() && (ulpdu[0] & 0x80) != 0;
  const std::size_t header = std::min(wire::ddp::header_bytes(tagged), ulpdu.size()), begin = to.size();
  const Octets first = octets_of(wire::ift::FrameHeader{static_cast<std::uint16_t>(wire::ddp::header_bytes(tagged)),
                                                        static_cast<std::uint16_t>(ulpdu.size() - header), our_vtag});
  to.insert(to.end(), first.begin(), first.end());
  to.insert(to.end(), ulpdu.begin(), ulpdu.begin() + static_cast<std::ptrdiff_t>(header));
  if (kind.crc) add_crc(to, begin);
  const std::size_t payload = to.size();
  to.insert(to.end(), ulpdu.begin() + static_cast<std::ptrdiff_t>(header), ulpdu.end());
  if (kind.crc) add_crc(to, payload);
}

Octets frames_of(wire::Bytes input, const FramingKind& kind, std::size_t position) {
  Octets octets;
  while (!input.empty()) {
    const std::size_t length = std::min<std::size_t>(input[0], input.size() - 1);
    const wire::Bytes ulpdu = input.subspan(1, length);
    kind.ift ? add_ift_frame(octets, ulpdu, kind) : add_fpdu(octets, ulpdu, kind, position);
    input = input.subspan(1 + length);
  }
  return octets;
}

/// The other host: it connects, or is connected to; it reads unless it is told not to.
class Peer final : public streams::StreamUser, public streams::ListenerUser {
 public:
  explicit Peer(bool reads) : reads_(reads) {}
  std::unique_ptr<streams::Stream> stream;
  Octets answer;  // when a frame came
  void connected() override { listen_to(); }
  void accepted(std::unique_ptr<streams::Stream> accepted) override {
    stream = std::move(accepted);
    stream->set_user(*this);
    listen_to();
  }
  void readable() override {
    std::array<std::uint8_t, 4096> room;
    const auto result = stream->read(wire::MutableBytes(room));
    if (result.octets != 0 && !answer.empty()) stream->write(wire::Bytes(std::exchange(answer, {})));
    if (!result.end) listen_to();
  }
  void closed(streams::Reason) override {}

 private:
  void listen_to() {
    if (reads_) stream->ask_readable();
  }
  const bool reads_;
};

class Ours final : public fuzz::StartingHost {
 public:
  explicit Ours(const Options& options)
      : StartingHost(peer_ip, our_ip), options_(options), peer_(options.stage != Stage::blocked) {
    answers_soon_ = options.stage != Stage::offered;
    network_.set_rules([&](const streams::Address&, const streams::Address&) {
      streams::StreamRules rules;
      const auto cut = streams::drawn_segments(options.cut, options.cut == 0 ? 1460 : 1 + options.cut * 3);
      rules.to_acceptor.segmentation = rules.to_connector.segmentation = cut;
      if (options_.stage == Stage::blocked)
        rules.to_connector.send_buffer_bytes = rules.to_connector.receive_buffer_bytes = 4096;
      return rules;
    });
  }
  void run(wire::Bytes input) {
    const Octets raw(input.begin(), input.end());
    options_.active() ? ask(raw) : listen(raw);
    if (!options_.starting()) {
      reach_stage();
      give(options_.raw ? raw : frames_of(input, options_.framing, position_));
    }
    peer_.stream.reset();
    peer_listener_.reset();
    settle();
    check();
  }

 private:
  // --- the start-up
  [[nodiscard]] Octets frame_of_peer(bool first) const {
    const FramingKind& kind = options_.framing;
    if (kind.ift)
      return octets_of(
          AdaptionIndication{.phase_1 = !first, .header_crc = kind.crc, .payload_crc = kind.crc, .vtag = peer_vtag});
    return octets_of(StartupFrame{
        .kind = first ? wire::mpa::FrameKind::request : wire::mpa::FrameKind::reply, .crc = kind.crc, .revision = 1});
  }
  [[nodiscard]] iwarp::MpaOptions mpa_options() const {
    return {.wants_markers = options_.framing.markers, .crc = options_.framing.crc};
  }
  [[nodiscard]] iwarp::IftOptions ift_options() const {
    const bool crc = options_.framing.crc;
    return {.vtag = our_vtag, .header_crc = crc, .payload_crc = crc, .requires_crcs = crc};
  }
  void listen(const Octets& octets) {
    if (options_.framing.ift)
      port_ = std::make_unique<iwarp::IftListener>(
          services_, *this, [this] { return ift_options(); }, 4);
    else
      port_ = std::make_unique<iwarp::MpaListener>(services_, *this, mpa_options(), 4);
    if (port_->listen(our_address)) fail("does not listen", "port");
    peer_.stream = peer_host_.connect(our_address, {}, peer_);
    settle(runtime::second);
    if (options_.stage != Stage::asked) give(frame_of_peer(true));
    if (options_.starting()) give(octets);
    if (options_.stage == Stage::offered && waiting_ != nullptr) decide();
    settle(runtime::second);
  }
  void ask(const Octets& octets) {
    peer_.answer = options_.stage == Stage::asking ? octets : frame_of_peer(false);
    peer_listener_ = std::move(*peer_host_.listen(peer_address, peer_));
    starting_over_ = false;
    if (options_.framing.ift) {
      auto adaption = std::make_unique<iwarp::IftAdaption>(services_, ift_options());
      adaption->connect(peer_address, {}, *stream_, *this);
      asking_ = std::move(adaption);
    } else {
      auto initiator = std::make_unique<iwarp::MpaInitiator>(
          services_, *this, *stream_, iwarp::MpaRequest{.to = peer_address, .options = mpa_options(), .revision = 1});
      initiator->start();
      asking_ = std::move(initiator);
    }
    settle(runtime::second);
  }

  // --- the stream
  void reach_stage() {
    const iwarp::LocalPieces piece{{stag_, 0, 1000}};
    switch (options_.stage) {
      case Stage::reading: read_100_octets(); break;
      case Stage::blocked:
        for (std::uint64_t id = 20; id < 140; ++id) stream_->post_send({.id = id, .pieces = piece});
        break;
      case Stage::closing: stream_->close(); break;
      case Stage::terminating:
        stream_->terminate({.cause = wire::rdmap::Cause::local_catastrophic(wire::rdmap::Layer::rdma)});
        break;
      case Stage::terminated: {
        const Octets octets = frames_of(terminate(), options_.framing, 0);
        give(octets);
        position_ = octets.size();
        break;
      }
      case Stage::asked:
      case Stage::offered:
      case Stage::asking:
      case Stage::answered:
      case Stage::accepted: break;
    }
    settle(runtime::second);
  }
  /// As a chunk.
  [[nodiscard]] static Octets terminate() {
    const wire::ddp::Header header{
        .last = true,
        .rsvd_ulp = wire::rdmap::Control{.opcode = wire::rdmap::Opcode::terminate}.to_rsvd_ulp(),
        .queue_number = wire::rdmap::terminate_queue,
        .msn = {1}};
    const Octets first = octets_of(header), last = octets_of(wire::rdmap::Terminate{});
    Octets chunk{static_cast<std::uint8_t>(first.size() + last.size())};
    chunk.insert(chunk.end(), first.begin(), first.end());
    chunk.insert(chunk.end(), last.begin(), last.end());
    return chunk;
  }
  void give(const Octets& octets) {
    if (peer_.stream != nullptr) peer_.stream->write(wire::Bytes(octets));
    settle(runtime::second);
  }
  void settle(runtime::TimeNs time = 60 * runtime::second) {
    RdmapHost::settle(time, [this] { return port_ == nullptr || port_->is_consistent(); });
  }
  void check() {
    check_so_far();
    settle();
    check_end_of_both(!options_.starting());
  }

  const Options options_;
  std::size_t position_ = 0;
  std::unique_ptr<iwarp::StartupPort> port_;
  std::unique_ptr<iwarp::ActiveStartup> asking_;
  Peer peer_;
  std::unique_ptr<streams::Listener> peer_listener_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  const Options options(data[0], data[1]);
  Ours(options).run(wire::Bytes(data + 2, size - 2));
  return 0;
}
