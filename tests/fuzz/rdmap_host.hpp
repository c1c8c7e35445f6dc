// A host with one RDMAP Stream, and the host of a peer that the input plays, over emulated TCP.
#pragma once
#include "iwarp/rdmap_stream.hpp"
#include "iwarp/startup_port.hpp"
#include "property.hpp"
#include "streams/emulated.hpp"

namespace fuzz {
using wire::fuzz::fail;

/// The stream has four receives of 250 octets in a region of 1,000, with all rights, amid memory that nobody may touch.
class RdmapHost : public iwarp::StartupPortUser, public iwarp::StreamListener, public iwarp::StartupListener {
 protected:
  using Octets = std::vector<std::uint8_t>;

  RdmapHost(const wire::IpAddress& peer_ip, const wire::IpAddress& our_ip)
      : peer_host_(network_.add_host({peer_ip})), our_host_(network_.add_host({our_ip})) {
    memory_.fill(guard);
    stag_ =
        *table_.add({1}, wire::MutableBytes(memory_).subspan(region_at, region_octets), 0, {true, true, true, true});
    for (std::uint64_t id = 0; id < receives; ++id)
      stream_->post_receive({id, {{stag_, 250 * static_cast<std::uint32_t>(id), 250}}});
  }
  ~RdmapHost() = default;
  void decide_soon() { scheduler_.schedule(decide_, scheduler_.now()); }
  /// An offer that came is accepted, unless the stream is closed.
  void decide() {
    if (waiting_ != nullptr && !closed_) std::exchange(waiting_, nullptr)->accept(*stream_, *this, {});
  }
  void read_100_octets() {
    stream_->post_send({.id = 9, .operation = iwarp::Operation::rdma_read, .pieces = {{stag_, 0, 100}}});
  }
  /// All that happens for so long. `consistent()`: what else is to be looked at behind each event.
  template <class Consistent>
  void settle(runtime::TimeNs time, Consistent consistent) {
    const runtime::TimeNs limit = scheduler_.now() + time;
    while (scheduler_.run_next(limit))
      if (!stream_->is_consistent() || !consistent()) fail("not consistent", "stream");
    scheduler_.run_until(limit);
  }
  void check_so_far() {
    if (counters_.unexpected_events != 0) fail("an event without a row", "machine");
    if (counters_.terminates_sent > 1) fail("more than one", "Terminate Message");
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < region_at || i >= region_at + region_octets) && memory_[i] != guard)
        fail("placed beyond the region", "memory");
    if (connected_ && stream_->state_name() == "HalfClosed") stream_->close();
  }
  /// When nothing more happens.
  void check_end(std::size_t completions) {
    if (connected_ && !closed_) fail("is not closed", "stream");
    if (network_.stream_count() != 0) fail("is left", "stream");
    if (connected_ && completions_ < completions) fail("does not complete", "receive");
  }

  void offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer&) override { waiting_ = &startup; }
  void offer_withdrawn(iwarp::PassiveStartup&) override { waiting_ = nullptr; }
  void completed(const iwarp::Completion&) override { ++completions_; }
  void closed() override { closed_ = true; }
  void connected(const iwarp::PeerOffer&) override { connected_ = true; }
  void startup_failed(machines::iwarp::Failure, const iwarp::PeerOffer&) override {}

  static constexpr std::size_t receives = 4, region_at = 64, region_octets = 1000;
  static constexpr std::uint8_t guard = 0xA7;
  runtime::Scheduler scheduler_;
  streams::EmulatedNetwork network_{scheduler_};
  streams::Streams &peer_host_, &our_host_;
  iwarp::Config config_;
  iwarp::Counters counters_;
  std::unique_ptr<iwarp::Workspace> workspace_ = std::make_unique<iwarp::Workspace>();
  iwarp::MemoryTable table_;
  const iwarp::Services services_{our_host_, scheduler_, config_, counters_, *workspace_, table_};
  std::array<std::uint8_t, 1200> memory_;
  iwarp::STag stag_;
  iwarp::PassiveStartup* waiting_ = nullptr;
  bool connected_ = false, closed_ = false;
  std::size_t completions_ = 0;
  std::unique_ptr<iwarp::RdmapStream> stream_ =
      std::make_unique<iwarp::RdmapStream>(services_, *this, iwarp::StreamConfig{.domain = {1}});
  runtime::Timer<RdmapHost, &RdmapHost::decide> decide_{*this};
};

/// The same where the input plays a part in the start-up, too. Who asks is answered soon, unless the fuzzer decides.
class StartingHost : public RdmapHost {
 protected:
  using RdmapHost::RdmapHost;
  ~StartingHost() = default;
  void offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) override {
    RdmapHost::offered(startup, offer);
    starting_over_ = false;
    if (answers_soon_) decide_soon();
  }
  void offer_withdrawn(iwarp::PassiveStartup& startup) override {
    RdmapHost::offer_withdrawn(startup);
    starting_over_ = true;
  }
  void connected(const iwarp::PeerOffer& offer) override {
    RdmapHost::connected(offer);
    starting_over_ = true;
  }
  void startup_failed(machines::iwarp::Failure, const iwarp::PeerOffer&) override { starting_over_ = true; }
  /// When nothing more happens. `must_connect`: the stages before the input have made a stream.
  void check_end_of_both(bool must_connect) {
    if (!starting_over_) fail("is not over", "start-up");
    check_end(receives);
    if (must_connect && !connected_) fail("never was", "stream");
  }

  bool starting_over_ = true, answers_soon_ = true;
};

}  // namespace fuzz
