// Chunks of another host in each state of a DDP Stream Session and of its start-up, at either end, over SCTP (RFC
// 5043).
//
// Octet 0: bits 0-2 the state (Stage), bits 4-5 the order in which chunks arrive (0: as they were sent), bit 7 chunks
// have their own DDP-SSN. Then chunks: an octet of length, one of kind (modulo 4; 0, 1 a segment, 2 session control, 3
// of another protocol), and so many octets.
#include "iwarp/sctp_startup.hpp"
#include "rdmap_host.hpp"
#include "tests/iwarp/emulated_associations.hpp"
#include "wire/iwarp/sctp/session_control.hpp"

namespace {
using wire::fuzz::fail;
using wire::sctp::FunctionCode;
using wire::sctp::SessionControl;

const wire::IpAddress peer_ip = wire::IpAddress::v4(10, 0, 0, 1), our_ip = wire::IpAddress::v4(10, 0, 0, 2);
const streams::Address peer_address{peer_ip, 4421}, our_address{our_ip, 4420};

/// What this end is about when the chunks come.
enum class Stage : std::uint8_t {
  asked,        // it listens: they stand in place of the Initiate
  offered,      // the Initiate came, and the ULP has not decided
  asking,       // it asked: they stand in place of the answer
  answered,     // the start-up that it asked for is over
  accepted,     // the start-up that it was asked for is over
  reading,      // an RDMA Read is outstanding
  closing,      // its ULP has closed
  terminating,  // its ULP found an error
};

struct Options {
  explicit Options(std::uint8_t first)
      : stage(static_cast<Stage>(first & 7)), order((first >> 4) & 3U), own_ssn((first & 0x80) != 0) {}
  Stage stage;
  unsigned order;
  bool own_ssn;
  [[nodiscard]] bool active() const { return stage == Stage::asking || stage == Stage::answered; }
  [[nodiscard]] bool starting() const { return stage <= Stage::asking; }
};

class Ours final : public fuzz::StartingHost, public iwarp::AssociationUser, public iwarp::AssociationListenerUser {
 public:
  explicit Ours(const Options& options) : StartingHost(peer_ip, our_ip), options_(options) {
    answers_soon_ = options.stage != Stage::offered;
    associations_.rules.seed = options.order;
  }
  void run(wire::Bytes input) {
    input_ = input;
    options_.active() ? ask() : listen();
    if (!options_.starting()) {
      reach_stage();
      give_chunks();
    }
    settle(runtime::second);
    association_.reset();
    raw_listener_.reset();
    settle();
    check();
  }

 private:
  // --- the peer
  void accepted(std::unique_ptr<iwarp::Association> association) override {
    association_ = std::move(association);
    association_->set_user(*this);
  }
  void message_received(std::uint16_t stream, std::uint32_t, wire::Bytes) override {
    if (!options_.active() || std::exchange(answered_, true)) return;
    stream_number_ = stream;
    options_.stage == Stage::asking ? give_chunks() : send_control(FunctionCode::accept);
  }
  void room_again() override {}
  void acknowledged() override {}
  void association_lost(streams::Reason) override { lost_ = true; }
  void send_control(FunctionCode function) {
    const SessionControl message{.ssn = ssn_++, .function = function};
    Octets octets(message.size());
    message.write(octets);
    send(wire::sctp::session_control_chunk, octets);
  }
  void send(std::uint32_t protocol, const Octets& octets) {
    if (association_ != nullptr && !lost_) association_->send(stream_number_, protocol, octets);
  }
  void give_chunks() {
    constexpr std::array<std::uint32_t, 4> protocols{wire::sctp::segment_chunk, wire::sctp::segment_chunk,
                                                     wire::sctp::session_control_chunk, 18};
    while (input_.size() >= 2) {
      const std::size_t length = std::min<std::size_t>(input_[0], input_.size() - 2);
      const std::uint32_t protocol = protocols.at(input_[1] & 3U);
      Octets chunk;
      if (!options_.own_ssn) {
        chunk = {static_cast<std::uint8_t>(ssn_ >> 8), static_cast<std::uint8_t>(ssn_)};
        ++ssn_;
      }
      chunk.insert(chunk.end(), input_.begin() + 2, input_.begin() + 2 + static_cast<std::ptrdiff_t>(length));
      send(protocol, chunk);
      input_ = input_.subspan(2 + length);
    }
  }

  // --- the start-up
  void listen() {
    port_ = std::make_unique<iwarp::SctpListener>(services_, peers_, *this, 4);
    if (port_->listen(our_address)) fail("does not listen", "port");
    association_ = associations_.connect(our_address, {peer_ip, 0}, *this);
    settle(runtime::millisecond);
    if (options_.stage != Stage::asked) send_control(FunctionCode::initiate);
    settle(runtime::millisecond);
    if (options_.starting()) give_chunks();
    settle(runtime::millisecond);
    if (options_.stage == Stage::offered && waiting_ != nullptr) decide();
    settle(runtime::millisecond);
  }
  void ask() {
    raw_listener_ = std::move(*associations_.listen(peer_address, *this));
    starting_over_ = false;
    initiator_ = std::make_unique<iwarp::SctpInitiator>(services_, peers_, *this, *stream_,
                                                        iwarp::SctpRequest{.to = peer_address, .enhanced = false});
    initiator_->start();
    settle(runtime::millisecond);
  }
  void reach_stage() {
    switch (options_.stage) {
      case Stage::reading: read_100_octets(); break;
      case Stage::closing: stream_->close(); break;
      case Stage::terminating:
        stream_->terminate({.cause = wire::rdmap::Cause::local_catastrophic(wire::rdmap::Layer::rdma)});
        break;
      case Stage::asked:
      case Stage::offered:
      case Stage::asking:
      case Stage::answered:
      case Stage::accepted: break;
    }
    settle(runtime::millisecond);
  }
  void settle(runtime::TimeNs time = 60 * runtime::second) {
    RdmapHost::settle(time, [this] { return peers_.is_consistent() && (port_ == nullptr || port_->is_consistent()); });
  }
  void check() {
    check_so_far();
    settle();
    check_end_of_both(!options_.starting());
    if (peers_.session_count() != 0) fail("is left", "session");
  }

  // --- what is told
  void offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) override {
    if (waiting_ != nullptr || connected_) return startup.reject({});  // another session
    StartingHost::offered(startup, offer);
  }

  const Options options_;
  wire::Bytes input_{};
  bool answered_ = false, lost_ = false;
  std::uint16_t stream_number_ = 0, ssn_ = 0;
  iwarp::testing::EmulatedAssociations associations_{scheduler_};
  iwarp::SctpPeers peers_{services_, associations_};
  std::unique_ptr<iwarp::StartupPort> port_;
  std::unique_ptr<iwarp::SctpInitiator> initiator_;
  std::unique_ptr<iwarp::Association> association_;
  std::unique_ptr<iwarp::AssociationListener> raw_listener_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  Ours(Options(data[0])).run(wire::Bytes(data + 1, size - 1));
  return 0;
}
