#include "streams/emulated.hpp"

#include <boost/circular_buffer.hpp>
#include <cassert>
#include <utility>

#include "streams/octet_ring.hpp"
#include "streams/segment_order.hpp"

namespace streams {

using runtime::TimeNs;
using Kind = SegmentSeen::Kind;
constexpr std::size_t usual_segment_bytes = 1460;  // of Ethernet
constexpr std::uint16_t first_chosen_port = 49'152, last_port = 65'535;

namespace {

/// xorshift64*
class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U | 1) {}
  std::uint64_t operator()(std::uint64_t below) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545F4914F6CDD1DU) >> 33) % below;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Segmentation drawn_segments(std::uint64_t seed, std::size_t most) {
  return [draw = Drawn(seed), most](std::uint64_t, std::size_t available) mutable {
    return std::min(available, 1 + static_cast<std::size_t>(draw(most)));
  };
}

Trips drawn_trips(std::uint64_t seed, unsigned lost, unsigned twice, runtime::TimeNs most_late) {
  constexpr unsigned hundred = 100;
  return [draw = Drawn(seed), lost, twice, most_late](std::uint64_t, std::size_t) mutable {
    std::vector<TimeNs> arrivals;
    const auto arrive = [&] {
      arrivals.push_back(static_cast<TimeNs>(draw(static_cast<std::uint64_t>(most_late) + 1)));
    };
    const std::uint64_t fate = draw(hundred);
    if (fate >= lost) arrive();
    if (fate >= lost && fate < lost + twice) arrive();
    return arrivals;
  };
}

std::string_view to_string(Cut cut) {
  switch (cut) {
    case Cut::none: return "none";
    case Cut::reset: return "reset";
    case Cut::end: return "end";
    case Cut::silence: return "silence";
  }
  return "unknown";
}

std::string_view to_string(Reception reception) {
  switch (reception) {
    case Reception::normal: return "normal";
    case Reception::refuse: return "refuse";
    case Reception::unreachable: return "unreachable";
    case Reception::silence: return "silence";
  }
  return "unknown";
}

namespace emulated {

class ListenerOf;

/// What one end of a pair is told of.
class Side {
 public:
  Side(Pair& pair, runtime::Scheduler& scheduler) : pair_(pair), scheduler_(scheduler) {}

  StreamUser* user = nullptr;
  Address address{};
  bool owned = false;   // a Stream stands for it
  bool up = false;      // connected
  bool broken = false;  // nothing more is written, and nothing more arrives
  bool reads_asked = false, writes_asked = false;

  void tell_connected() { connected_due_ = true, look(); }
  void tell_closed(Reason reason) { closed_due_ = reason, look(); }
  [[nodiscard]] bool is_told_closed() const { return closed_told_; }
  /// Later, as an event: whatever is due then.
  void look() { scheduler_.schedule(notice_, scheduler_.now()); }
  void forget() { user = nullptr, connected_due_ = false, closed_due_.reset(), reads_asked = writes_asked = false; }

 private:
  enum class Due : std::uint8_t { nothing, connected, readable, writable, closed };
  [[nodiscard]] Due due() const;
  void notice();

  Pair& pair_;
  runtime::Scheduler& scheduler_;
  bool connected_due_ = false, closed_told_ = false;
  std::optional<Reason> closed_due_;
  runtime::Timer<Side, &Side::notice> notice_{*this};
};

/// Octets from one side to the other.
class Flow final : public EarlyOctets {
 public:
  Flow(Pair& pair, EmulatedNetwork& network, runtime::Scheduler& scheduler, Side& from, Side& to, Way way);

  [[nodiscard]] std::size_t room() const {
    return way_.send_buffer_bytes - static_cast<std::size_t>(written_ - arrived_);
  }
  [[nodiscard]] bool has_unread() const { return arrived_ > read_; }
  [[nodiscard]] bool at_end() const { return end_arrived_ && read_ == arrived_; }
  /// A segment came early since the last read.
  [[nodiscard]] bool has_news() const { return news_; }
  void was_read() { news_ = false; }
  /// nullptr: segments arrive in order.
  [[nodiscard]] EarlyOctets* early_octets() {
    if (!way_.trips) return nullptr;
    order_.watch();
    return this;
  }
  [[nodiscard]] bool ends() const { return finished_; }
  [[nodiscard]] bool quiet() const {
    return flights_.empty() && trips_.empty() && !pump_.pending() && !again_.pending() && !give_up_.pending() &&
           !resend_.pending();
  }
  [[nodiscard]] TimeNs delay() const { return way_.delay; }
  /// What the receiver says of it: see SegmentSeen.
  void describe(SegmentSeen& segment) const;
  /// Takes what there is room for; pump() sends.
  std::size_t put(wire::Bytes octets);
  std::size_t get(wire::MutableBytes room);
  void pump();
  void mark_urgent() { urgent_ = written_, has_urgent_ = true; }
  void finish();
  /// The receiver hears of a reset after the delay; what was not sent is lost.
  void send_reset();
  /// What was not sent never will be.
  void drop();

  // EarlyOctets, of who reads
  [[nodiscard]] std::uint64_t position() const override { return read_; }
  [[nodiscard]] std::optional<std::uint64_t> next_segment() override { return order_.take_early_segment(); }
  [[nodiscard]] std::size_t peek(std::uint64_t at, wire::MutableBytes room) override;
  void let_go(std::uint64_t at, std::size_t octets) override { order_.let_go(at, at + octets); }
  void pass_over(std::size_t octets) override;
  void call_back(std::uint64_t at, std::size_t octets) override { order_.call_back(at, at + octets); }

 private:
  struct Flight {
    TimeNs at;
    std::uint64_t end;
    bool fin;
  };
  struct Trip {
    std::uint64_t at, end;
    bool fin;
  };
  void ask_gate();
  bool send_segment();
  void send_fin();
  void send_cut();
  void fly(bool fin, std::size_t octets);
  void set_out(const Trip& trip);
  void trip_ends();
  void moved_on();
  void resend();
  void update_window(bool was_full);
  [[nodiscard]] bool window_is_full() const { return sent_ - read_ >= way_.receive_buffer_bytes; }
  void arrive();
  void sever();
  void give_up();
  [[nodiscard]] std::size_t next_segment_bytes();
  void saw(Kind kind, std::size_t octets) { saw(kind, sent_, octets); }
  void saw(Kind kind, std::uint64_t at, std::size_t octets);
  void acknowledge();

  Pair& pair_;
  EmulatedNetwork& network_;
  runtime::Scheduler& scheduler_;
  Side& from_;
  Side& to_;
  Way way_;
  OctetRing ring_;
  // read <= arrived <= sent <= passed <= written
  std::uint64_t read_ = 0, arrived_ = 0, sent_ = 0, passed_ = 0, written_ = 0, urgent_ = 0;
  bool has_urgent_ = false, finished_ = false, fin_sent_ = false, end_arrived_ = false, severed_ = false;
  Cut cut_due_ = Cut::none;  // the gate's, behind what passed
  bool cut_sent_ = false;
  TimeNs line_free_ = 0;
  boost::circular_buffer<Flight> flights_{16};
  // With Way::trips: segments that are on their way by their times, and what came of them.
  std::multimap<TimeNs, Trip> trips_;
  SegmentOrder order_;
  bool fin_came_ = false, news_ = false;
  runtime::Timer<Flow, &Flow::pump> pump_{*this};
  runtime::Timer<Flow, &Flow::pump> again_{*this};  // of the gate
  runtime::Timer<Flow, &Flow::arrive> arrival_{*this};
  runtime::Timer<Flow, &Flow::give_up> give_up_{*this};
  runtime::Timer<Flow, &Flow::trip_ends> trip_end_{*this};
  runtime::Timer<Flow, &Flow::resend> resend_{*this};
};

/// A stream, and what is left of it while octets of it are on their way.
class Pair {
 public:
  Pair(EmulatedNetwork& network, runtime::Scheduler& scheduler, StreamRules rules);
  [[nodiscard]] Flow& out_of(const Side& side) { return &side == &connector ? forward : backward; }
  [[nodiscard]] Flow& into(const Side& side) { return &side == &connector ? backward : forward; }
  [[nodiscard]] Side& other(const Side& side) { return &side == &connector ? acceptor : connector; }
  void begin(const Address& from, const Address& to);
  /// `side` reads and writes no more, and is told.
  void break_side(Side& side, Reason reason);
  /// Its Stream is destroyed, or it gave up.
  void let_go(Side& side, bool with_reset);
  [[nodiscard]] bool gone() const;

  Side connector, acceptor;
  Flow forward, backward;

 private:
  void request_arrives();
  void answer_arrives();
  [[nodiscard]] ListenerOf* listener() const;

  EmulatedNetwork& network_;
  runtime::Scheduler& scheduler_;
  Reception reception_;
  std::optional<Reason> refusal_;
  runtime::Timer<Pair, &Pair::request_arrives> request_{*this};
  runtime::Timer<Pair, &Pair::answer_arrives> answer_{*this};
};

class StreamOf final : public Stream {
 public:
  StreamOf(Pair& pair, Side& side) : pair_(pair), side_(side) { side.owned = true; }
  ~StreamOf() override {
    side_.forget();
    side_.owned = false;
    pair_.let_go(side_, false);
  }
  void set_user(StreamUser& user) override { side_.user = &user, side_.look(); }
  [[nodiscard]] Address local() const override { return side_.address; }
  [[nodiscard]] Address remote() const override { return pair_.other(side_).address; }
  using Stream::read;
  using Stream::write;
  std::size_t write(std::span<const wire::Bytes> pieces) override;
  ReadResult read(std::span<const wire::MutableBytes> pieces) override;
  void ask_readable() override { side_.reads_asked = true, side_.look(); }
  void ask_writable() override { side_.writes_asked = true, side_.look(); }
  bool mark_urgent() override { return pair_.out_of(side_).mark_urgent(), true; }
  [[nodiscard]] EarlyOctets* early_octets() override { return pair_.into(side_).early_octets(); }
  void shut_down() override {
    if (side_.up && !side_.broken) pair_.out_of(side_).finish();
  }
  void reset() override {
    side_.forget();
    pair_.let_go(side_, true);
  }

 private:
  Pair& pair_;
  Side& side_;
};

class ListenerOf final : public Listener {
 public:
  ListenerOf(Host& host, const Address& at, ListenerUser& user) : host_(host), address_(at), user_(user) {}
  ~ListenerOf() override;
  [[nodiscard]] Address address() const override { return address_; }
  ListenerUser& user() { return user_; }

 private:
  Host& host_;
  Address address_;
  ListenerUser& user_;
};

class Host final : public Streams {
 public:
  Host(EmulatedNetwork& network, runtime::Scheduler& scheduler, std::vector<wire::IpAddress> addresses)
      : network_(network), scheduler_(scheduler), addresses_(std::move(addresses)) {}
  std::unique_ptr<Stream> connect(const Address& to, const Address& from, StreamUser& user) override;
  boost::system::result<std::unique_ptr<Listener>, Reason> listen(const Address& at, ListenerUser& user) override;
  [[nodiscard]] bool has(const wire::IpAddress& ip) const {
    return std::find(addresses_.begin(), addresses_.end(), ip) != addresses_.end();
  }
  [[nodiscard]] ListenerOf* listener_at(const Address& at) const;
  void remove(const Address& at) { listeners_.erase(at); }

 private:
  [[nodiscard]] wire::IpAddress source_for(const wire::IpAddress& to) const;
  [[nodiscard]] std::uint16_t choose_port();

  EmulatedNetwork& network_;
  runtime::Scheduler& scheduler_;
  std::vector<wire::IpAddress> addresses_;
  std::map<Address, ListenerOf*> listeners_;
  std::uint16_t next_port_ = first_chosen_port;
};

// --- Side ----------------------------------------------------------------------------------------------------------

Side::Due Side::due() const {
  if (user == nullptr) return Due::nothing;
  if (connected_due_) return Due::connected;
  const Flow& in = pair_.into(*this);
  if (up && reads_asked && !closed_told_ && (in.has_unread() || in.at_end() || in.has_news())) return Due::readable;
  if (up && !broken && writes_asked && pair_.out_of(*this).room() > 0) return Due::writable;
  return closed_due_ ? Due::closed : Due::nothing;
}

// One notice in an event, and the next in another: the user may have destroyed the stream.
void Side::notice() {
  const Due now = due();
  if (now == Due::nothing) return;
  look();
  switch (now) {
    case Due::nothing: return;
    case Due::connected: connected_due_ = false; return user->connected();
    case Due::readable: reads_asked = false; return user->readable();
    case Due::writable: writes_asked = false; return user->writable();
    case Due::closed: break;
  }
  closed_told_ = true;
  const Reason reason = *closed_due_;
  closed_due_.reset();
  user->closed(reason);
}

// --- Flow ----------------------------------------------------------------------------------------------------------

Flow::Flow(Pair& pair, EmulatedNetwork& network, runtime::Scheduler& scheduler, Side& from, Side& to, Way way)
    : pair_(pair), network_(network), scheduler_(scheduler), from_(from), to_(to), way_(std::move(way)),
      ring_(way_.send_buffer_bytes + way_.receive_buffer_bytes) {
  assert(way_.send_buffer_bytes > 0 && way_.receive_buffer_bytes > 0);
  assert(!way_.trips || (way_.cut == Cut::none && way_.gate == nullptr));
}

std::size_t Flow::put(wire::Bytes octets) {
  assert(!finished_ && "nothing is written after shut_down()");
  const wire::Bytes taken = octets.first(std::min(octets.size(), room()));
  ring_.put(written_, taken);
  written_ += taken.size();
  return taken.size();
}

std::size_t Flow::get(wire::MutableBytes room) {
  const bool was_full = window_is_full();
  const wire::MutableBytes filled = room.first(std::min(room.size(), static_cast<std::size_t>(arrived_ - read_)));
  ring_.get(read_, filled);
  read_ += filled.size();
  if (!filled.empty()) update_window(was_full);
  return filled.size();
}

void Flow::update_window(bool was_full) {
  if (was_full && !pump_.pending()) scheduler_.schedule_after(pump_, way_.delay);
}

void Flow::finish() {
  finished_ = true;
  pump();
}

void Flow::pump() {
  if (severed_) return;
  ask_gate();
  for (bool sent = true; sent;) {
    if (line_free_ > scheduler_.now()) return scheduler_.schedule(pump_, line_free_);
    sent = send_segment();
  }
  if (cut_due_ != Cut::none) return sent_ == passed_ ? send_cut() : void();
  if (finished_ && !fin_sent_ && sent_ == written_) send_fin();
}

void Flow::ask_gate() {
  if (way_.gate == nullptr) passed_ = written_;
  if (passed_ == written_ || cut_due_ != Cut::none) return;
  const auto [first, rest] = ring_.pieces(passed_, static_cast<std::size_t>(written_ - passed_));
  const Passage passage = way_.gate->pass(scheduler_.now(), passed_, first, rest);
  passed_ += passage.octets;
  cut_due_ = passage.cut;
  if (passage.again != runtime::never) scheduler_.schedule(again_, passage.again);
}

/// What passed arrives; its end takes the way of a segment, so that it comes even if nothing passed.
void Flow::send_cut() {
  if (std::exchange(cut_sent_, true)) return;
  way_.cut = cut_due_;
  way_.cut_after = passed_;
  if (way_.cut == Cut::reset) saw(Kind::rst, 0);
  if (way_.cut == Cut::end) saw(Kind::fin, 0);
  fly(false, 0);
}

std::size_t Flow::next_segment_bytes() {
  const auto window = way_.receive_buffer_bytes - static_cast<std::size_t>(sent_ - read_);
  const std::size_t available = std::min(static_cast<std::size_t>(passed_ - sent_), window);
  if (available == 0 || !way_.segmentation) return std::min(available, usual_segment_bytes);
  const std::size_t chosen = way_.segmentation(sent_, available);
  return chosen == 0 ? available : std::min(chosen, available);
}

bool Flow::send_segment() {
  const std::size_t octets = next_segment_bytes();
  if (octets == 0) return false;
  saw(Kind::data, octets);
  sent_ += octets;
  fly(false, octets);
  return true;
}

void Flow::send_fin() {
  saw(Kind::fin, 0);
  fin_sent_ = true;
  fly(true, 0);
}

void Flow::saw(Kind kind, std::uint64_t at, std::size_t octets) {
  const auto [first, rest] = ring_.pieces(at, octets);
  const bool urgent = has_urgent_ && urgent_ >= at && urgent_ < at + octets;
  SegmentSeen segment{kind, from_.address, to_.address, at, first, rest, urgent, urgent_};
  pair_.into(from_).describe(segment);
  network_.saw(segment);
}

void Flow::describe(SegmentSeen& segment) const {
  segment.acknowledged = arrived_;
  segment.end_acknowledged = end_arrived_;
  segment.window_bytes = way_.receive_buffer_bytes - static_cast<std::size_t>(arrived_ - read_);
}

/// Of what arrived here, by who got it.
void Flow::acknowledge() {
  SegmentSeen segment{Kind::data, to_.address, from_.address, pair_.out_of(to_).sent_};
  describe(segment);
  network_.saw_acknowledgment(segment);
}

void Flow::fly(bool fin, std::size_t octets) {
  const TimeNs transmission =
      way_.octets_per_second == 0 ? 0 : static_cast<TimeNs>(octets * runtime::second / way_.octets_per_second);
  line_free_ = scheduler_.now() + transmission;
  if (way_.trips) return set_out({sent_ - octets, sent_, fin});
  if (flights_.full()) flights_.set_capacity(2 * flights_.capacity());
  flights_.push_back({line_free_ + way_.delay, sent_, fin});
  if (!arrival_.pending()) scheduler_.schedule(arrival_, flights_.front().at);
}

void Flow::arrive() {
  const Flight flight = flights_.front();
  flights_.pop_front();
  if (!flights_.empty()) scheduler_.schedule(arrival_, flights_.front().at);
  if (to_.broken) return network_.sweep_soon();
  if (way_.cut != Cut::none && flight.end >= way_.cut_after) return sever();
  const bool has_octets = flight.end > arrived_;
  arrived_ = flight.end;
  end_arrived_ = flight.fin;
  if (to_.owned || !has_octets) acknowledge();
  if (!to_.owned && has_octets) pair_.break_side(to_, Reason::reset), pair_.out_of(to_).send_reset();
  from_.look();
  to_.look();
  if (!to_.owned) network_.sweep_soon();
}

// --- segments that take their own ways ------------------------------------------------------------------------------

/// The end is never lost: it waits for all octets.
void Flow::set_out(const Trip& trip) {
  const TimeNs usual = line_free_ + way_.delay;
  if (trip.fin) {
    trips_.emplace(usual, trip);
  } else {
    for (const TimeNs late : way_.trips(trip.at, static_cast<std::size_t>(trip.end - trip.at)))
      trips_.emplace(usual + late, trip);
    if (!resend_.pending()) scheduler_.schedule_after(resend_, way_.retransmission_time);
  }
  if (!trips_.empty()) scheduler_.schedule(trip_end_, trips_.begin()->first);
}

void Flow::trip_ends() {
  const Trip trip = trips_.begin()->second;
  trips_.erase(trips_.begin());
  if (!trips_.empty()) scheduler_.schedule(trip_end_, trips_.begin()->first);
  if (to_.broken) return network_.sweep_soon();
  fin_came_ = fin_came_ || trip.fin;
  const bool has_octets = order_.arrive(trip.at, trip.end);
  news_ = news_ || (has_octets && order_.has_early_segment());
  if (!to_.owned && has_octets) pair_.break_side(to_, Reason::reset), pair_.out_of(to_).send_reset();
  moved_on();
}

void Flow::moved_on() {
  if (order_.front() > arrived_) scheduler_.cancel(resend_);
  arrived_ = order_.front();
  end_arrived_ = fin_came_ && arrived_ == sent_;
  if (arrived_ < sent_ && !resend_.pending()) scheduler_.schedule_after(resend_, way_.retransmission_time);
  acknowledge();
  from_.look();
  to_.look();
  if (!to_.owned) network_.sweep_soon();
}

/// The first segment that was not acknowledged.
void Flow::resend() {
  if (to_.broken || from_.broken || arrived_ == sent_) return network_.sweep_soon();
  const auto available = static_cast<std::size_t>(sent_ - arrived_);
  const std::size_t chosen = way_.segmentation ? way_.segmentation(arrived_, available) : usual_segment_bytes;
  const std::size_t octets = chosen == 0 ? available : std::min(chosen, available);
  saw(Kind::data, arrived_, octets);
  line_free_ = std::max(line_free_, scheduler_.now());
  scheduler_.schedule_after(resend_, way_.retransmission_time);
  set_out({arrived_, arrived_ + octets, false});
}

std::size_t Flow::peek(std::uint64_t at, wire::MutableBytes room) {
  const std::uint64_t end = order_.end_of_run(at);
  const wire::MutableBytes filled = room.first(std::min(room.size(), static_cast<std::size_t>(end - at)));
  ring_.get(at, filled);
  return filled.size();
}

void Flow::pass_over(std::size_t octets) {
  const bool was_full = window_is_full();
  order_.pass_over(read_, read_ + octets);
  read_ += octets;
  update_window(was_full);
  moved_on();
}

void Flow::sever() {
  arrived_ = std::max(arrived_, way_.cut_after);
  severed_ = true;
  scheduler_.cancel(arrival_);
  scheduler_.cancel(pump_);  // what is still to be sent never arrives
  scheduler_.cancel(again_);
  flights_.clear();
  if (way_.cut == Cut::end) end_arrived_ = true;
  to_.look();
  if (way_.cut != Cut::reset) return network_.sweep_soon();
  if (way_.gate != nullptr && !to_.broken) pair_.out_of(to_).saw(Kind::rst, 0);
  pair_.break_side(to_, Reason::reset);
  pair_.break_side(from_, Reason::reset);
}

void Flow::drop() {
  written_ = passed_ = sent_;
  finished_ = fin_sent_ = cut_sent_ = true;
  scheduler_.cancel(pump_);
  scheduler_.cancel(again_);
}

void Flow::send_reset() {
  if (severed_ || give_up_.pending()) return;
  drop();
  saw(Kind::rst, 0);
  scheduler_.schedule_after(give_up_, way_.delay);
}

void Flow::give_up() {
  pair_.break_side(to_, Reason::reset);
  network_.sweep_soon();  // both ends may have gone before
}

// --- Pair ----------------------------------------------------------------------------------------------------------

Pair::Pair(EmulatedNetwork& network, runtime::Scheduler& scheduler, StreamRules rules)
    : connector(*this, scheduler), acceptor(*this, scheduler),
      forward(*this, network, scheduler, connector, acceptor, std::move(rules.to_acceptor)),
      backward(*this, network, scheduler, acceptor, connector, std::move(rules.to_connector)), network_(network),
      scheduler_(scheduler), reception_(rules.reception) {}

void Pair::begin(const Address& from, const Address& to) {
  connector.address = from;
  acceptor.address = to;
  network_.saw({Kind::syn, from, to});
  if (reception_ != Reception::silence) scheduler_.schedule_after(request_, forward.delay());
}

ListenerOf* Pair::listener() const {
  const Host* host = network_.host_of(acceptor.address.ip);
  if (host == nullptr || reception_ != Reception::normal) return nullptr;
  return host->listener_at(acceptor.address);
}

void Pair::request_arrives() {
  if (!connector.owned) return network_.sweep_soon();
  scheduler_.schedule_after(answer_, backward.delay());
  ListenerOf* const found = listener();
  const bool unreachable = reception_ == Reception::unreachable || network_.host_of(acceptor.address.ip) == nullptr;
  if (found == nullptr) {
    if (!unreachable) network_.saw({.kind = Kind::rst, .from = acceptor.address, .to = connector.address});
    return refusal_ = unreachable ? Reason::unreachable : Reason::refused, void();
  }
  acceptor.up = true;
  network_.saw({Kind::syn_ack, acceptor.address, connector.address});
  found->user().accepted(std::make_unique<StreamOf>(*this, acceptor));
}

void Pair::answer_arrives() {
  if (!connector.owned || connector.broken) return network_.sweep_soon();
  if (refusal_) return break_side(connector, *refusal_);
  connector.up = true;
  connector.tell_connected();
}

void Pair::break_side(Side& side, Reason reason) {
  if (side.broken) return;
  side.broken = true;
  out_of(side).drop();
  if (side.owned) side.tell_closed(reason);
  network_.sweep_soon();
}

void Pair::let_go(Side& side, bool with_reset) {
  network_.sweep_soon();
  if (side.broken) return;
  if (!side.up) with_reset = acceptor.up;  // given up before the answer came
  if (!side.up && !with_reset) {
    side.broken = true;
  } else if (with_reset || into(side).has_unread()) {
    side.broken = true;
    out_of(side).send_reset();
  } else {
    out_of(side).finish();
  }
}

bool Pair::gone() const {
  return !connector.owned && !acceptor.owned && forward.quiet() && backward.quiet() && !request_.pending() &&
         !answer_.pending();
}

// --- StreamOf ------------------------------------------------------------------------------------------------------

std::size_t StreamOf::write(std::span<const wire::Bytes> pieces) {
  if (!side_.up || side_.broken) return 0;
  Flow& flow = pair_.out_of(side_);
  std::size_t taken = 0;
  for (const wire::Bytes piece : pieces) {
    const std::size_t here = flow.put(piece);
    taken += here;
    if (here < piece.size()) break;
  }
  flow.pump();
  return taken;
}

ReadResult StreamOf::read(std::span<const wire::MutableBytes> pieces) {
  ReadResult result;
  if (side_.is_told_closed()) return result;
  Flow& flow = pair_.into(side_);
  for (const wire::MutableBytes piece : pieces) result.octets += flow.get(piece);
  result.end = flow.at_end();
  flow.was_read();
  return result;
}

// --- Host ----------------------------------------------------------------------------------------------------------

ListenerOf::~ListenerOf() { host_.remove(address_); }

wire::IpAddress Host::source_for(const wire::IpAddress& to) const {
  const auto same_family = [&](const wire::IpAddress& own) { return own.is_v4_mapped() == to.is_v4_mapped(); };
  const auto found = std::find_if(addresses_.begin(), addresses_.end(), same_family);
  return found == addresses_.end() ? wire::IpAddress{} : *found;
}

std::uint16_t Host::choose_port() {
  if (next_port_ == last_port) next_port_ = first_chosen_port;
  return next_port_++;
}

std::unique_ptr<Stream> Host::connect(const Address& to, const Address& from, StreamUser& user) {
  Address own = from;
  if (own.ip.is_unspecified()) own.ip = source_for(to.ip);
  if (own.port == 0) own.port = choose_port();
  network_.pairs_.push_back(
      std::make_unique<Pair>(network_, scheduler_, network_.rules_ ? network_.rules_(own, to) : StreamRules{}));
  Pair& pair = *network_.pairs_.back();
  auto stream = std::make_unique<StreamOf>(pair, pair.connector);
  pair.connector.user = &user;
  if (has(own.ip))
    pair.begin(own, to);
  else
    pair.break_side(pair.connector, from.ip.is_unspecified() ? Reason::unreachable : Reason::no_such_address);
  return stream;
}

boost::system::result<std::unique_ptr<Listener>, Reason> Host::listen(const Address& at, ListenerUser& user) {
  if (!at.ip.is_unspecified() && !has(at.ip)) return Reason::no_such_address;
  Address chosen = at;
  if (chosen.port == 0) chosen.port = choose_port();
  const auto clashes = [&](const auto& entry) {
    const Address& other = entry.first;
    return other.port == chosen.port &&
           (other.ip == chosen.ip || other.ip.is_unspecified() || chosen.ip.is_unspecified());
  };
  if (std::any_of(listeners_.begin(), listeners_.end(), clashes)) return Reason::address_in_use;
  auto listener = std::make_unique<ListenerOf>(*this, chosen, user);
  listeners_[chosen] = listener.get();
  return std::unique_ptr<Listener>(std::move(listener));
}

ListenerOf* Host::listener_at(const Address& at) const {
  auto found = listeners_.find(at);
  if (found == listeners_.end()) found = listeners_.find({wire::IpAddress{}, at.port});
  return found == listeners_.end() ? nullptr : found->second;
}

}  // namespace emulated

// --- EmulatedNetwork -----------------------------------------------------------------------------------------------

EmulatedNetwork::EmulatedNetwork(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}
EmulatedNetwork::~EmulatedNetwork() = default;

Streams& EmulatedNetwork::add_host(std::vector<wire::IpAddress> addresses) {
  for ([[maybe_unused]] const wire::IpAddress& address : addresses) assert(host_of(address) == nullptr);
  hosts_.push_back(std::make_unique<emulated::Host>(*this, scheduler_, std::move(addresses)));
  return *hosts_.back();
}

emulated::Host* EmulatedNetwork::host_of(const wire::IpAddress& ip) {
  for (const auto& host : hosts_)
    if (host->has(ip)) return host.get();
  return nullptr;
}

void EmulatedNetwork::ask_gates() {
  for (const auto& pair : pairs_) pair->forward.pump(), pair->backward.pump();
}

void EmulatedNetwork::sweep() {
  pairs_.remove_if([](const auto& pair) { return pair->gone(); });
}

}  // namespace streams
