#include "tools/fcvi_sim/host/rdma_program.hpp"

#include <algorithm>
#include <cassert>

#include "iwarp/ift_listener.hpp"
#include "iwarp/mpa_initiator.hpp"
#include "iwarp/mpa_listener.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"
#include "tools/fcvi_sim/scenario/rdma_names.hpp"

namespace sim {
namespace {

using iwarp::RdmapStream;
using Outcome = RdmaOutcome;

/// Of a workload: its own, and one that no stream has.
iwarp::ProtectionDomain domain_of(std::size_t workload) { return {static_cast<std::uint32_t>(2 * workload + 1)}; }
iwarp::ProtectionDomain other_domain_of(std::size_t workload) { return {static_cast<std::uint32_t>(2 * workload + 2)}; }
iwarp::StreamScope scope_of(std::size_t workload) { return {static_cast<std::uint32_t>(workload + 1)}; }

RdmaOutcome outcome_of(iwarp::Status status) {
  switch (status) {
    case iwarp::Status::success: return Outcome::Success;
    case iwarp::Status::flushed: return Outcome::Flushed;
    case iwarp::Status::local_protection: return Outcome::LocalProtection;
    case iwarp::Status::local_length: return Outcome::LocalLength;
  }
  return Outcome::Refused;
}

std::vector<std::uint8_t> octets_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const std::vector<std::uint8_t>& octets) { return {octets.begin(), octets.end()}; }

/// Which operation a request or a receive is of.
constexpr std::uint64_t receive_bit = std::uint64_t{1} << 63;

class Connection;

/// One end of the stream. What it is told it notes; the program goes on when the model has settled.
class End final : public iwarp::StreamListener, public iwarp::StartupListener {
 public:
  End(Connection& connection, Side side, RdmaHost host, RdmaWorkload workload, RdmaEndResult& result);

  // iwarp::StartupListener
  void connected(const iwarp::PeerOffer& peer) override;
  void startup_failed(machines::iwarp::Failure failure, const iwarp::PeerOffer& peer) override;
  // iwarp::StreamListener
  void completed(const iwarp::Completion& completion) override;
  void error_found(const iwarp::CapturedError& error) override { result_.found = error.cause; }
  void terminate_received(const wire::rdmap::Cause& cause, wire::Bytes) override {
    result_.told = cause;
    ++result_.times_told;
  }
  void disconnected() override;
  void lost() override { was_lost_ = true; }
  void closed() override;

  /// Posts a receive; before the start-up, too.
  void receive(std::uint64_t id, const iwarp::LocalPieces& pieces) { (void)stream_->post_receive({id, pieces}); }
  /// What it owes, between events: to close when the other end did.
  void settle();
  void give_up();
  [[nodiscard]] bool is_open() const { return stream_->is_operational() || stream_->state_name() == "HalfClosed"; }
  /// There will be nothing more of it.
  [[nodiscard]] bool is_over() const { return stream_->is_closed() || stream_->is_idle(); }
  [[nodiscard]] RdmapStream& stream() { return *stream_; }
  [[nodiscard]] const RdmapStream& stream() const { return *stream_; }
  [[nodiscard]] const iwarp::Services& services() const { return services_; }
  [[nodiscard]] RdmaCore& core() { return core_; }
  [[nodiscard]] RdmaEndResult& result() { return result_; }
  [[nodiscard]] bool was_answered() const { return result_.start != rdma_no_start; }
  [[nodiscard]] bool is_connected() const { return result_.start == rdma_connected; }
  /// The latest start-up was refused, or is over: another stream takes its place.
  void renew();

 private:
  [[nodiscard]] iwarp::StreamConfig stream_config() const;
  void take_counts();
  Connection& connection_;
  const Side side_;
  RdmaCore& core_;
  const RdmaWorkload workload_;
  RdmaEndResult& result_;
  iwarp::Config config_;
  const iwarp::Services services_;
  std::unique_ptr<RdmapStream> stream_;
  bool was_lost_ = false, gave_up_ = false, disconnected_ = false;
};

/// The whole of it.
class Connection final : public iwarp::StartupPortUser, private RdmaOwner {
 public:
  Connection(Driver& driver, RdmaHost client, RdmaHost server, RdmaWorkload workload, RdmaResult& result);
  ~Connection();
  Task<> run();

  // what its ends tell
  void news() { news_.set(); }
  void completed(Side side, const iwarp::Completion& completion);
  [[nodiscard]] runtime::TimeNs now() const { return driver_.now(); }

 private:
  struct Region {
    iwarp::STag stag{};
    std::vector<std::uint8_t> octets, before;  // `before`: as it was at first
  };
  /// What is under way of an operation.
  struct Progress {
    std::uint32_t requests = 0, receives = 0;
    std::vector<std::uint8_t> data = {};  // that it moves
  };

  void register_regions(RdmaWorkload workload);
  void post_receives(Side side);
  void listen();
  void ask();
  void ask_over_mpa();
  void ask_over_ift();
  [[nodiscard]] iwarp::IftOptions ift_options(Side side);
  [[nodiscard]] End& end(Side side) { return side == Side::Client ? client_ : server_; }
  [[nodiscard]] iwarp::LocalPieces piece_of(std::size_t region, std::uint64_t offset, std::uint64_t size_bytes) const;
  [[nodiscard]] iwarp::SendRequest request_of(std::size_t operation) const;
  Task<> operate();
  void note_data(std::size_t operation);
  Task<> begin(std::size_t operation);
  Task<> end_stream(const RdmaOperationSpec& operation);
  Task<> finish();
  template <class Done>
  Task<> until(Done done);
  void impatient();
  void note(std::size_t operation, Outcome outcome);
  void conclude();
  void judge_placement();
  [[nodiscard]] RdmaContentResult judge(const RdmaContentExpectation& expected) const;
  void judge_rest();
  // RdmaOwner
  [[nodiscard]] bool is_consistent() const override {
    return client_.stream().is_consistent() && server_.stream().is_consistent() &&
           (port_ == nullptr || port_->is_consistent());
  }

  // iwarp::StartupPortUser
  void offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) override;
  void offer_withdrawn(iwarp::PassiveStartup& startup) override;
  void decide();

  Driver& driver_;
  const WorkloadSpec& workload_;
  const RdmaSpec& spec_;
  RdmaResult& result_;
  Random random_;
  Signal news_;
  std::vector<Region> regions_;
  std::vector<Progress> progress_;
  End client_, server_;
  std::unique_ptr<iwarp::StartupPort> port_;
  std::unique_ptr<iwarp::ActiveStartup> startup_;
  iwarp::PassiveStartup* offer_ = nullptr;  // to be decided
  bool gave_up_ = false;
  runtime::Timer<Connection, &Connection::decide> decision_{*this};
  runtime::Timer<Connection, &Connection::impatient> patience_{*this};
};

// --- an end --------------------------------------------------------------------------------------------------------

iwarp::StreamConfig End::stream_config() const {
  const RdmaSpec& spec = *workload_.spec.rdma;
  const RdmaEndSpec& end = spec.ends.of(side_);
  std::size_t receives = 1;
  for (const RdmaOperationSpec& operation : spec.operations)
    if (operation.by != side_ && operation.action == RdmaAction::Send) receives += operation.repeat;
  return {.domain = domain_of(workload_.index),
          .scope = scope_of(workload_.index),
          .receive_depth = receives,
          .ird = end.ird,
          .ord = end.ord};
}

End::End(Connection& connection, Side side, RdmaHost host, RdmaWorkload workload, RdmaEndResult& result)
    : connection_(connection), side_(side), core_(host.core), workload_(workload),
      result_(result), config_{.startup_timeout = workload.spec.rdma->startup_timeout,
                               .close_timeout = workload.spec.rdma->close_timeout,
                               .emss = host.segment_bytes},
      services_(host.core.services(config_)),
      stream_(std::make_unique<RdmapStream>(services_, *this, stream_config())) {}

void End::renew() {
  stream_ = std::make_unique<RdmapStream>(services_, *this, stream_config());
  was_lost_ = disconnected_ = false;
}

void End::connected(const iwarp::PeerOffer& peer) {
  result_.start = rdma_connected;
  result_.private_data = text_of(peer.private_data);
  connection_.news();
}

void End::startup_failed(machines::iwarp::Failure failure, const iwarp::PeerOffer& peer) {
  result_.start = rdma_failure_name(failure);
  result_.private_data = text_of(peer.private_data);
  connection_.news();
}

void End::completed(const iwarp::Completion& completion) { connection_.completed(side_, completion); }

void End::disconnected() {
  disconnected_ = true;
  connection_.news();
}

void End::closed() {
  take_counts();
  result_.ending = gave_up_ ? RdmaEnding::GivenUp : was_lost_ ? RdmaEnding::Lost : RdmaEnding::Closed;
  connection_.news();
}

void End::take_counts() {
  result_.fpdus_sent = stream_->counts().sent;
  result_.fpdus_received = stream_->counts().received;
}

void End::settle() {
  if (std::exchange(disconnected_, false) && is_open()) stream_->close();
}

void End::give_up() {
  gave_up_ = true;
  if (!is_over()) stream_->abort();
}

// --- begin ---------------------------------------------------------------------------------------------------------

Connection::Connection(Driver& driver, RdmaHost client, RdmaHost server, RdmaWorkload workload, RdmaResult& result)
    : driver_(driver), workload_(workload.spec), spec_(*workload.spec.rdma), result_(result),
      random_(workload.seed, "rdma " + workload.spec.name), news_(driver), progress_(spec_.operations.size()),
      client_(*this, Side::Client, client, workload, result.ends.client),
      server_(*this, Side::Server, server, workload, result.ends.server) {
  result.operations.resize(spec_.operations.size());
  register_regions(workload);
  post_receives(Side::Client);
  post_receives(Side::Server);
  client_.core().add(*this);
}

Connection::~Connection() {
  client_.core().remove(*this);
  for (std::size_t i = 0; i < regions_.size(); ++i)
    (void)end(spec_.regions[i].at).core().memory.remove(regions_[i].stag);
}

void Connection::register_regions(RdmaWorkload workload) {
  for (const RdmaRegionSpec& spec : spec_.regions) {
    Region& region = regions_.emplace_back();
    region.octets.resize(static_cast<std::size_t>(spec.size_bytes));
    if (spec.random) Random(workload.seed, "region " + workload_.name + " " + spec.name).fill(region.octets);
    region.before = region.octets;
    const auto scope = spec.rights.remote_invalidate ? scope_of(workload.index) : iwarp::StreamScope{};
    const auto domain = spec.other_domain ? other_domain_of(workload.index) : domain_of(workload.index);
    region.stag = *end(spec.at).core().memory.add(domain, region.octets, 0, spec.rights, 0, scope);
  }
}

/// In the order in which Sends will need them.
void Connection::post_receives(Side side) {
  for (std::size_t i = 0; i < spec_.operations.size(); ++i) {
    const RdmaOperationSpec& operation = spec_.operations[i];
    if (operation.action != RdmaAction::Send || !operation.to || operation.by == side) continue;
    for (std::uint32_t turn = 0; turn < operation.repeat; ++turn)
      end(side).receive(i | receive_bit, piece_of(*operation.to, operation.to_offset, operation.receive_bytes));
    progress_[i].receives = operation.repeat;
  }
}

void Connection::listen() {
  const RdmaEndSpec& own = spec_.ends.server;
  constexpr std::size_t backlog = 4;
  if (spec_.framing == RdmaFraming::Ift)
    port_ = std::make_unique<iwarp::IftListener>(
        server_.services(), *this, [this] { return ift_options(Side::Server); }, backlog);
  else
    port_ = std::make_unique<iwarp::MpaListener>(
        server_.services(), *this, iwarp::MpaOptions{.wants_markers = own.markers, .crc = own.crc}, backlog);
  [[maybe_unused]] const auto failure = port_->listen({workload_.server_address, spec_.tcp_port});
  assert(!failure && "the loader saw to it that no two wait at the same port");
}

iwarp::IftOptions Connection::ift_options(Side side) {
  const bool crc = spec_.ends.of(side).crc;
  return {.vtag = {static_cast<std::uint16_t>(random_.next())},
          .header_crc = crc,
          .payload_crc = crc,
          .ignores_header_crc = !crc,
          .ignores_payload_crc = !crc,
          .requires_crcs = crc};
}

void Connection::ask() { spec_.framing == RdmaFraming::Ift ? ask_over_ift() : ask_over_mpa(); }

void Connection::ask_over_mpa() {
  const RdmaEndSpec& own = spec_.ends.client;
  iwarp::MpaRequest request{.to = {workload_.server_address, spec_.tcp_port},
                            .from = {workload_.client_address, 0},
                            .private_data = octets_of(own.private_data),
                            .options = {.wants_markers = own.markers, .crc = own.crc},
                            .revision = spec_.revision,
                            .may_fall_back = spec_.fall_back,
                            .peer_to_peer = spec_.peer_to_peer,
                            .send_rtr = spec_.send_rtr,
                            .rdma_write_rtr = spec_.rdma_write_rtr,
                            .rdma_read_rtr = spec_.rdma_read_rtr};
  auto initiator = std::make_unique<iwarp::MpaInitiator>(client_.services(), client_, client_.stream(), request);
  iwarp::MpaInitiator& started = *initiator;
  startup_ = std::move(initiator);
  started.start();
}

void Connection::ask_over_ift() {
  auto adaption = std::make_unique<iwarp::IftAdaption>(client_.services(), ift_options(Side::Client));
  iwarp::IftAdaption& started = *adaption;
  startup_ = std::move(adaption);
  started.connect({workload_.server_address, spec_.tcp_port}, {workload_.client_address, 0}, client_.stream(), client_);
}

// The ULP decides after the event that brings the offer.
void Connection::offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& /*offer*/) {
  offer_ = &startup;
  driver_.scheduler().schedule(decision_, now());
}

void Connection::offer_withdrawn(iwarp::PassiveStartup& startup) {
  if (offer_ == &startup) offer_ = nullptr;
}

/// Who falls back asks again.
void Connection::decide() {
  if (offer_ == nullptr) return;
  iwarp::PassiveStartup& startup = *std::exchange(offer_, nullptr);
  const auto data =
      startup.carries_private_data() ? octets_of(spec_.ends.server.private_data) : std::vector<std::uint8_t>{};
  if (spec_.rejects) return startup.reject(data);
  if (!server_.stream().is_idle()) {
    if (!server_.is_over()) return startup.reject(data);
    server_.renew();
    post_receives(Side::Server);
  }
  startup.accept(server_.stream(), server_, data);
}

// --- operations ----------------------------------------------------------------------------------------------------

iwarp::LocalPieces Connection::piece_of(std::size_t region, std::uint64_t offset, std::uint64_t size_bytes) const {
  return {{regions_[region].stag, offset, static_cast<std::uint32_t>(size_bytes)}};
}

iwarp::SendRequest Connection::request_of(std::size_t operation) const {
  const RdmaOperationSpec& spec = spec_.operations[operation];
  iwarp::SendRequest request{.id = operation, .solicited_event = spec.solicited_event, .fence = spec.fence};
  const auto stag_of = [&](std::size_t region) { return regions_[region].stag; };
  if (spec.invalidates) request.invalidates = stag_of(*spec.invalidates);
  if (spec.action == RdmaAction::Invalidate) {
    request.operation = iwarp::Operation::local_invalidate;
    request.remote_stag = *std::exchange(request.invalidates, std::nullopt);
  } else if (spec.action == RdmaAction::RdmaRead) {
    request.operation = iwarp::Operation::rdma_read;
    request.pieces = piece_of(*spec.to, spec.to_offset, spec.size_bytes);
    request.remote_stag = stag_of(*spec.from);
    request.remote_offset = spec.from_offset;
  } else {
    if (spec.from) request.pieces = piece_of(*spec.from, spec.from_offset, spec.size_bytes);
    if (spec.action == RdmaAction::RdmaWrite) {
      request.operation = iwarp::Operation::rdma_write;
      request.remote_stag = stag_of(*spec.to);
      request.remote_offset = spec.to_offset;
    }
  }
  return request;
}

void Connection::note(std::size_t operation, Outcome outcome) {
  RdmaOperationResult& result = result_.operations[operation];
  if (outcome == spec_.operations[operation].outcome)
    ++result.ended;
  else if (!result.other)
    result.other = outcome;
}

void Connection::completed(Side side, const iwarp::Completion& completion) {
  SeenRdmaCompletion seen{.at = now(),
                          .operation = completion.operation,
                          .outcome = outcome_of(completion.status),
                          .octets = completion.octets,
                          .solicited_event = completion.solicited_event};
  if (completion.invalidated)
    for (std::size_t i = 0; i < regions_.size(); ++i)
      if (spec_.regions[i].at == side && regions_[i].stag == *completion.invalidated) seen.invalidated = i;
  result_.ends.of(side).completions.push_back(seen);
  const auto operation = static_cast<std::size_t>(completion.id & ~receive_bit);
  Progress& progress = progress_[operation];
  const bool is_receive = (completion.id & receive_bit) != 0;
  if ((is_receive ? progress.receives : progress.requests) == 0) {
    ++result_.strange_completions;
  } else if (is_receive) {
    --progress.receives;
    if (seen.outcome == Outcome::Success) ++result_.operations[operation].received;
  } else {
    --progress.requests;
    note(operation, seen.outcome);
    // A Read moves what stood at the other end later.
    if (spec_.operations[operation].action == RdmaAction::RdmaRead) note_data(operation);
  }
  news();
}

/// What it moves is what stands there now, as far as there is memory.
void Connection::note_data(std::size_t operation) {
  const RdmaOperationSpec& spec = spec_.operations[operation];
  if (!spec.from) return;
  const std::vector<std::uint8_t>& octets = regions_[*spec.from].octets;
  const std::size_t first = std::min<std::uint64_t>(octets.size(), spec.from_offset);
  const std::size_t size = std::min<std::uint64_t>(octets.size() - first, spec.size_bytes);
  progress_[operation].data.assign(octets.begin() + static_cast<std::ptrdiff_t>(first),
                                   octets.begin() + static_cast<std::ptrdiff_t>(first + size));
}

Task<> Connection::begin(std::size_t operation) {
  const RdmaOperationSpec& spec = spec_.operations[operation];
  Progress& progress = progress_[operation];
  note_data(operation);
  RdmapStream& stream = end(spec.by).stream();
  for (std::uint32_t turn = 0; turn < spec.repeat && !gave_up_; ++turn) {
    ++result_.operations[operation].begun;
    ++progress.requests;
    auto posted = RdmapStream::Posted::full;
    co_await until([&] { return (posted = stream.post_send(request_of(operation))) != RdmapStream::Posted::full; });
    if (posted == RdmapStream::Posted::taken) continue;
    --progress.requests;
    note(operation, Outcome::Refused);
  }
}

Task<> Connection::end_stream(const RdmaOperationSpec& operation) {
  End& own = end(operation.by);
  if (!own.is_open()) co_return;
  if (operation.action == RdmaAction::Close) own.stream().close();
  if (operation.action == RdmaAction::Abort) own.stream().abort();
  if (operation.action == RdmaAction::Terminate)
    own.stream().terminate({.cause = wire::rdmap::Cause::of(wire::rdmap::OperationError::unspecified)});
}

Task<> Connection::operate() {
  for (std::size_t i = 0; i < spec_.operations.size() && !gave_up_; ++i) {
    const RdmaOperationSpec& operation = spec_.operations[i];
    if (operation.action == RdmaAction::Wait) {
      co_await driver_.sleep(operation.wait);
    } else if (ends_stream(operation.action)) {
      co_await end_stream(operation);
    } else {
      co_await begin(i);
      const Progress& progress = progress_[i];
      End& receiver = end(other(operation.by));
      if (!operation.overlaps)
        co_await until([&] { return progress.requests == 0 && (progress.receives == 0 || receiver.is_over()); });
    }
  }
  co_await until(
      [this] { return std::ranges::all_of(progress_, [](const Progress& one) { return one.requests == 0; }); });
}

// --- the run -------------------------------------------------------------------------------------------------------

/// Until it is so, or nothing was heard for too long.
template <class Done>
Task<> Connection::until(Done done) {
  while (!gave_up_) {
    client_.settle();
    server_.settle();
    if (done()) break;
    news_.clear();
    driver_.scheduler().schedule_after(patience_, spec_.patience);
    co_await news_;
  }
  driver_.scheduler().cancel(patience_);
}

void Connection::impatient() {
  gave_up_ = true;
  news();
}

/// What a start-up at the server leaves, nobody is told of: it is asked.
Task<> Connection::finish() {
  constexpr runtime::TimeNs step = 10 * runtime::millisecond;
  if (client_.is_open() &&
      std::ranges::none_of(spec_.operations, [](const RdmaOperationSpec& one) { return ends_stream(one.action); }))
    client_.stream().close();
  co_await until([this] { return client_.is_over() && (server_.is_over() || !server_.was_answered()); });
  for (runtime::TimeNs waited = 0; !gave_up_ && port_->size() != 0 && waited < spec_.patience; waited += step)
    co_await driver_.sleep(step);
  co_await until([this] { return server_.is_over(); });
  if (!gave_up_) co_return;
  client_.give_up();
  server_.give_up();
  if (startup_ && !client_.was_answered()) startup_->withdraw();
  co_await driver_.sleep(step);
}

Task<> Connection::run() {
  listen();
  co_await driver_.sleep(workload_.start);
  const runtime::TimeNs began = now();
  ask();
  co_await until([this] { return client_.was_answered(); });
  result_.startup_duration = now() - began;
  if (client_.is_connected()) co_await until([this] { return server_.was_answered(); });
  if (client_.is_connected() && server_.is_connected()) co_await operate();
  co_await finish();
  conclude();
}

void Connection::conclude() {
  judge_placement();
  judge_rest();
  for (const RdmaContentExpectation& expected : spec_.expect.contents) result_.contents.push_back(judge(expected));
  result_.ended = true;
}

void Connection::judge_placement() {
  for (std::size_t i = 0; i < spec_.operations.size(); ++i) {
    const RdmaOperationSpec& operation = spec_.operations[i];
    if (!moves_data(operation.action) || !operation.to) continue;
    const Region& target = regions_[*operation.to];
    const std::size_t first = std::min<std::uint64_t>(target.octets.size(), operation.to_offset);
    const std::size_t size = std::min<std::uint64_t>(target.octets.size() - first, operation.size_bytes);
    const auto now = std::span(target.octets).subspan(first, size),
               before = std::span(target.before).subspan(first, size);
    result_.operations[i].all_equal = std::ranges::equal(now, progress_[i].data);
    result_.operations[i].any_changed = !std::ranges::equal(now, before);
  }
}

void Connection::judge_rest() {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    std::vector<std::uint8_t> allowed = regions_[i].before;  // with all that may be placed
    for (const RdmaOperationSpec& operation : spec_.operations) {
      if (!moves_data(operation.action) || operation.to != i) continue;
      const std::size_t first = std::min<std::uint64_t>(allowed.size(), operation.to_offset);
      const std::size_t size = std::min<std::uint64_t>(allowed.size() - first, operation.size_bytes);
      std::copy_n(regions_[i].octets.begin() + static_cast<std::ptrdiff_t>(first), size,
                  allowed.begin() + static_cast<std::ptrdiff_t>(first));
    }
    for (std::size_t at = 0; at < allowed.size(); ++at) result_.stray_octets += allowed[at] != regions_[i].octets[at];
  }
  for (std::size_t i = 0; i < progress_.size(); ++i) {
    result_.open_operations += progress_[i].requests;
    if (end(other(spec_.operations[i].by)).stream().is_closed()) result_.open_operations += progress_[i].receives;
  }
}

RdmaContentResult Connection::judge(const RdmaContentExpectation& expected) const {
  const auto part = [](const std::vector<std::uint8_t>& all, std::uint64_t offset, std::uint64_t size_bytes) {
    return std::span(all).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size_bytes));
  };
  const Region& region = regions_[expected.region];
  const auto octets = part(region.octets, expected.offset, expected.size_bytes);
  const std::string digest = "SHA-256 " + to_string(sha256(octets));
  if (!expected.sha256.empty()) return {to_string(sha256(octets)) == expected.sha256, digest};
  const auto wanted = expected.unchanged
                          ? part(region.before, expected.offset, expected.size_bytes)
                          : part(regions_[*expected.equals].before, expected.equals_offset, expected.size_bytes);
  const auto [differs, there] = std::ranges::mismatch(octets, wanted);
  if (differs == octets.end()) return {true, "the same"};
  return {false, "another octet at " +
                     std::to_string(expected.offset + static_cast<std::uint64_t>(differs - octets.begin())) + ", " +
                     digest};
}

}  // namespace

Task<> rdma_program(Driver& driver, RdmaHost client, RdmaHost server, RdmaWorkload workload, RdmaResult& result) {
  Connection connection(driver, client, server, workload, result);
  co_await connection.run();
}

}  // namespace sim
