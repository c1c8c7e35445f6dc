// Two ends of one DDP Stream Session over SCTP, each with sctp_session and ddp_stream: every order in which chunks,
// acknowledgements, the ULPs and time can come. No control message overtakes one before it (RFC 5043 6.6), no event is
// unexpected, and the stream identifier is released by both in the end, or retired.
#include "state_machines/ddp_stream.hpp"
#include "state_machines/sctp_session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace machines::sctp_meeting {
namespace {

enum Chunk : char { Initiate = 'i', Accept = 'a', Reject = 'j', Terminate = 't', Segment = 's', Garbage = 'x' };
enum class Post : std::uint8_t { EndReceived, Lost, Acknowledged, OutputFinished, CloseDdp };

struct End {
  sctp_session::Machine session = {};
  ddp_stream::Machine ddp = {};
  bool timer = false, linger = false, awaits = false, released = false, retired = false, rdmap_over = false;
  bool has_session = false;  // ddp_stream has it
  std::deque<Post> posted = {};
  std::string told = {};            // to the ULP: C connected, F failed, O offered, W withdrawn, L lost, D half-closed
  std::string abilities = {};       // of the ULP and of fate
  std::string unacknowledged = {};  // what SCTP has of it, in the order of the DDP-SSN
};

struct World {
  std::array<End, 2> ends = {};
  std::array<std::string, 2> wire = {};  // towards each end, in the order of the DDP-SSN
  bool has_room = true;
  std::string complaint = {};
};

template <class Base>
class Part : public Base {
 public:
  Part(World& world, int who) : world_(world), end_(world.ends[who]), who_(who) {}
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override {
    world_.complaint = std::string(machine) + ": " + std::string(state) + " x " + std::string(event);
  }

 protected:
  void post(Post what) { end_.posted.push_back(what); }
  World& world_;
  End& end_;
  int who_;
};

class Ddp final : public Part<ddp_stream::Context> {
 public:
  using Part::Part;
  void enable() override {}
  void discard_input() override {}
  void report_error() override { post(Post::CloseDdp); }
  void report_half_closed() override { end_.told += 'D'; }
  void report_lost() override { over('L'); }
  void finish_output() override { post(Post::OutputFinished); }
  void start_linger_timer() override { end_.linger = true; }
  void stop_linger_timer() override { end_.linger = false; }
  void shut_down_llp() override;
  void drop_llp() override;
  void reset_llp() override { drop_llp(); }
  void stream_gone() override { over('G'); }
  void count_stale() override {}

 private:
  void over(char how) {
    end_.told += how;
    end_.rdmap_over = true;
  }
};

class Session final : public Part<sctp_session::Context> {
 public:
  using Part::Part;
  void start_timer() override { end_.timer = true; }
  void stop_timer() override { end_.timer = false; }
  void send_initiate() override { send(Initiate); }
  void send_accept() override { send(Accept); }
  void send_reject() override { send(Reject); }
  void send_terminate() override { send(Terminate); }
  void await_acknowledgement() override {
    end_.awaits = !end_.unacknowledged.empty();
    if (!end_.awaits) post(Post::Acknowledged);
  }
  void offer() override { end_.told += 'O'; }
  void withdraw_offer() override { end_.told += 'W'; }
  void enter_session() override {
    Ddp context(world_, who_);
    end_.has_session = true;
    end_.ddp.process(ddp_stream::StreamEnabled{}, context);
  }
  void terminate(iwarp::StartupError) override { post(Post::CloseDdp); }
  void connected() override { end_.told += 'C'; }
  void fail_connect(iwarp::Failure) override { end_.told += 'F'; }
  void end_received() override {
    if (end_.has_session) post(Post::EndReceived);
  }
  void lost() override {
    if (end_.has_session) post(Post::Lost);
  }
  void drop_chunk() override {}
  void release_identifier() override {
    end_.released = true;
    const std::string& outstanding = world_.wire[1 - who_];
    if (!outstanding.empty()) world_.complaint = "released while there is outstanding " + outstanding;
  }
  void retire_identifier() override { end_.retired = true; }
  [[nodiscard]] bool has_room() const override { return world_.has_room; }

 private:
  void send(char chunk) {
    // RFC 5043 6.6: a control message that is not acknowledged, nor answered, may be overtaken.
    const bool behind = end_.unacknowledged.find_first_of("iajt") != std::string::npos;
    if (behind) world_.complaint = std::string("overtakes: ") + chunk + " behind " + end_.unacknowledged;
    end_.unacknowledged += chunk;
    world_.wire[1 - who_] += chunk;
  }
};

template <class Event>
void session(World& world, int who, const Event& event) {
  Session context(world, who);
  world.ends[who].session.process(event, context);
}
template <class Event>
void ddp(World& world, int who, const Event& event) {
  Ddp context(world, who);
  world.ends[who].ddp.process(event, context);
}
void Ddp::shut_down_llp() { session(world_, who_, sctp_session::CloseRequested{}); }
void Ddp::drop_llp() {
  end_.has_session = false;
  session(world_, who_, sctp_session::DropRequested{});
}

void run_post(World& world, int who, Post what) {
  End& end = world.ends[who];
  switch (what) {
    case Post::EndReceived:
      if (end.has_session) ddp(world, who, ddp_stream::LlpCloseReceived{});
      break;
    case Post::Lost:
      if (end.has_session) ddp(world, who, ddp_stream::LlpLost{});
      break;
    case Post::Acknowledged: session(world, who, sctp_session::OutputAcknowledged{}); break;
    case Post::OutputFinished: ddp(world, who, ddp_stream::OutputFinished{}); break;
    case Post::CloseDdp: ddp(world, who, ddp_stream::CloseRequested{}); break;
  }
}

void drain(World& world) {
  for (int who : {0, 1}) {
    auto& posted = world.ends[who].posted;
    while (!posted.empty()) {
      const Post what = posted.front();
      posted.pop_front();
      run_post(world, who, what);
    }
  }
}

void deliver(World& world, int who) {
  using namespace sctp_session;
  const End& end = world.ends[who];
  const char chunk = world.wire[who].front();
  world.wire[who].erase(0, 1);
  const bool fresh = end.session.is_any_of<Idle, AwaitAnswer>();
  if (end.released || end.retired) return;  // no session: another one's chunk, or dropped
  if (chunk == Terminate) return session(world, who, TerminateReceived{});
  if (chunk == Initiate && fresh) return session(world, who, InitiateReceived{});
  if (chunk == Accept && awaits_answer(end.session)) return session(world, who, AcceptReceived{});
  if (chunk == Reject && awaits_answer(end.session)) return session(world, who, RejectReceived{});
  if (chunk != Segment || !takes_segments(end.session)) session(world, who, ChunkIllegal{});
}

// Of what one end sent all that was delivered is acknowledged.
[[nodiscard]] std::size_t acknowledged(const World& world, int who) {
  return world.ends[who].unacknowledged.size() - world.wire[1 - who].size();
}
void acknowledge(World& world, int who) {
  End& end = world.ends[who];
  end.unacknowledged.erase(0, acknowledged(world, who));
  if (!end.awaits || !end.unacknowledged.empty()) return;
  end.awaits = false;
  session(world, who, sctp_session::OutputAcknowledged{});
}

void lose_association(World& world) {
  world.wire = {};
  for (End& end : world.ends) {
    end.unacknowledged.clear();
    end.awaits = false;
  }
  for (int who : {0, 1}) {
    const End& end = world.ends[who];
    if (!end.released && !end.retired) session(world, who, sctp_session::AssociationLost{});
  }
}

// '1' a chunk arrives, '2' an acknowledgement. Of the ULP and of fate: 'q' connects, 'y' accepts, 'n' rejects, 'k'
// closes, 'w' gives up, 'e' DDP finds an error, 's' sends, 'x' garbage, 'o' time is over, 'g' the teardown's is, 'l'
// the association is lost.
struct Step {
  char what;
  int who;
};

void do_step(World& world, Step step) {
  using namespace sctp_session;
  End& end = world.ends[step.who];
  switch (step.what) {
    case '1': deliver(world, step.who); break;
    case '2': acknowledge(world, step.who); break;
    case 'q': session(world, step.who, ConnectRequested{}); break;
    case 'y': session(world, step.who, AcceptRequested{}); break;
    case 'n': session(world, step.who, RejectRequested{}); break;
    case 'w': session(world, step.who, Withdrawn{}); break;
    case 'k': ddp(world, step.who, ddp_stream::CloseRequested{}); break;
    case 'e': ddp(world, step.who, ddp_stream::SegmentInvalid{}); break;
    case 'o':
      end.timer = false;
      session(world, step.who, TimeExpired{});
      break;
    case 'g':
      end.linger = false;
      ddp(world, step.who, ddp_stream::LingerExpired{});
      break;
    case 'l': lose_association(world); break;
    default: end.unacknowledged += step.what; world.wire[1 - step.who] += step.what;
  }
  if (step.what > '3' && step.what != 'o' && step.what != 'g') end.abilities.erase(end.abilities.find(step.what), 1);
  drain(world);
}

[[nodiscard]] bool allowed(const World& world, Step step) {
  using namespace sctp_session;
  const End& end = world.ends[step.who];
  switch (step.what) {
    case 'q': return end.session.is<Idle>();
    case 'y':
    case 'n': return end.session.is<AwaitDecision>();
    case 'w': return awaits_answer(end.session);
    case 'k': return end.ddp.is_any_of<ddp_stream::Open, ddp_stream::PeerClosed>();
    case 'e': return ddp_stream::receives(end.ddp);
    case 'o': return end.timer;
    case 'g': return end.linger;
    case 'l': return !end.session.is<Idle>();
    case 's': return end.session.is_any_of<Established, PeerEnded>() && ddp_stream::may_submit(end.ddp);
    default: return end.session.is_any_of<AwaitAnswer, AwaitDecision, Established, PeerEnded>();
  }
}

[[nodiscard]] std::vector<Step> choices(const World& world) {
  std::vector<Step> steps;
  for (int who : {0, 1}) {
    const End& end = world.ends[who];
    if (!world.wire[who].empty()) steps.push_back({'1', who});
    if (acknowledged(world, who) != 0) steps.push_back({'2', who});
    for (const char ability : std::set<char>(end.abilities.begin(), end.abilities.end())) {
      if (allowed(world, {ability, who})) steps.push_back({ability, who});
    }
  }
  return steps;
}

[[nodiscard]] std::string key_of(const World& world) {
  std::string key;
  for (int who : {0, 1}) {
    const End& end = world.ends[who];
    key += end.session.state_name();
    key += end.ddp.state_name();
    for (const bool flag : {end.timer, end.linger, end.awaits, end.released, end.retired, end.has_session}) {
      key += flag ? '+' : '-';
    }
    key += end.told + '/' + end.abilities + '/' + end.unacknowledged + '/' + world.wire[who] + '/';
  }
  return key;
}

[[nodiscard]] std::string left_behind(const World& world) {
  std::string left;
  for (const End& end : world.ends) {
    if (end.session.is<sctp_session::Idle>()) continue;
    if (!end.session.is<sctp_session::Closed>()) left += "session ";
    if (end.released == end.retired) left += "identifier ";
    if (end.timer || end.linger) left += "timer ";
    if (!end.ddp.is_any_of<ddp_stream::Disabled, ddp_stream::Closed>()) left += "ddp ";
    if (end.ddp.is<ddp_stream::Closed>() != end.rdmap_over) left += "not told ";
  }
  return left;
}

struct Explored {
  std::size_t worlds = 0, ends = 0, retired = 0;
  std::string complaint = {};
};

Explored explore(const World& first) {
  Explored found;
  std::set<std::string> seen;
  std::vector<std::pair<World, std::string>> open{{first, ""}};
  while (!open.empty() && found.complaint.empty()) {
    const auto [world, path] = std::move(open.back());
    open.pop_back();
    ++found.worlds;
    const auto steps = choices(world);
    std::string wrong = world.complaint;
    if (steps.empty()) {
      ++found.ends;
      found.retired += world.ends[0].retired || world.ends[1].retired ? 1 : 0;
      wrong += left_behind(world);
    }
    if (!wrong.empty()) found.complaint = wrong + " after " + path;
    for (const Step step : steps) {
      World next = world;
      do_step(next, step);
      if (seen.insert(key_of(next)).second) {
        open.emplace_back(std::move(next), path + step.what + std::to_string(step.who) + ' ');
      }
    }
  }
  return found;
}

Explored every_order(const std::string& active, const std::string& passive, bool has_room = true) {
  World world;
  world.has_room = has_room;
  world.ends[0].abilities = active;
  world.ends[1].abilities = passive;
  Explored found = explore(world);
  EXPECT_EQ(found.complaint, "");
  EXPECT_GT(found.ends, 0U);
  std::printf("%zu worlds, %zu ends, %zu with an identifier retired\n", found.worlds, found.ends, found.retired);
  return found;
}

// RFC 5043 6.2, 6.6, ruling M-18: accepted; closed by one end or both. Where no time is over, each identifier is
// released.
TEST(SctpMeeting, every_order_of_an_accepted_session) {
  EXPECT_EQ(every_order("qsk", "ysk").retired, 0U);
  EXPECT_EQ(every_order("qek", "ysk").retired, 0U);
  EXPECT_GT(every_order("qkog", "ykog").retired, 0U);
}

// RFC 5043 6.3, 6.4: rejected by the ULP, or without it.
TEST(SctpMeeting, every_order_of_a_rejected_session) {
  EXPECT_EQ(every_order("q", "n").retired, 0U);
  EXPECT_EQ(every_order("q", "", false).retired, 0U);
  every_order("qwo", "no");
  every_order("qwo", "o", false);
}

// RFC 5043 6.1: both ends begin; the active side gives up; chunks that fit no legal pattern.
TEST(SctpMeeting, every_order_of_an_illegal_session) {
  EXPECT_EQ(every_order("qkyn", "qykn").retired, 0U);
  EXPECT_EQ(every_order("qwsk", "ysk").retired, 0U);
  every_order("qxkog", "ykog");
  every_order("qkog", "yxkog");
}

// RFC 5043 11.3: the association is lost.
TEST(SctpMeeting, every_order_of_a_lost_association) {
  every_order("qskl", "ysk");
  every_order("qk", "nkl");
}

}  // namespace
}  // namespace machines::sctp_meeting
