// Octets of another host at an RDMAP Stream, behind a start-up and in place of one: as FPDUs that are made right, and
// as they are; with and without markers and CRC. The framing is read in pieces that the input says.
//
// Octet 0: bit 0 markers, bit 1 CRC, bit 2 the octets are raw, bit 3 they stand in place of the start-up, bit 4 an RDMA
// Read of this end is under way; bits 7-5 how the stream is cut. Not raw: chunks, each an octet of length, and so many
// octets of a ULPDU.
#include "iwarp/mpa_listener.hpp"
#include "rdmap_host.hpp"

namespace {
using wire::fuzz::fail;
using Octets = std::vector<std::uint8_t>;

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

class Server final : public fuzz::RdmapHost {
 public:
  explicit Server(const Options& options) : RdmapHost(client_ip, server_ip), options_(options) {
    network_.set_rules([&](const streams::Address&, const streams::Address&) {
      streams::StreamRules rules;
      rules.to_acceptor.segmentation = streams::drawn_segments(options.cut, options.cut == 0 ? 1460 : options.cut * 7);
      return rules;
    });
    if (listener_.listen(server_address)) fail("does not listen", "server");
  }
  void run(wire::Bytes octets) {
    peer_.first = options_.unstarted ? Octets(octets.begin(), octets.end()) : request();
    peer_.stream = peer_host_.connect(server_address, {}, peer_);
    settle();
    if (!options_.unstarted) {
      if (options_.reads) read_100_octets();
      peer_.stream->write(octets);
      settle();
    }
    peer_.stream.reset();
    settle();
    check_so_far();
    settle();
    check_end(options_.reads && !options_.unstarted ? receives + 1 : receives);
  }

 private:
  [[nodiscard]] Octets request() const {
    const wire::mpa::StartupFrame frame{
        .kind = wire::mpa::FrameKind::request, .crc = options_.framing.crc, .revision = 1};
    Octets octets(frame.size());
    frame.write(octets);
    return octets;
  }
  void settle() {
    RdmapHost::settle(60 * runtime::second, [this] { return listener_.is_consistent(); });
  }
  void offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) override {
    RdmapHost::offered(startup, offer);
    decide_soon();
  }

  const Options options_;
  iwarp::MpaListener listener_{
      services_, *this, {.wants_markers = options_.framing.markers, .crc = options_.framing.crc}, 4};
  Peer peer_;
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
