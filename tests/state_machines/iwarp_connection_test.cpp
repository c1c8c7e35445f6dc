// One connection over MPA, both ends: how the machines of its start-up, of DDP and of RDMAP are joined, followed unit
// by unit; and every order in which it can go. However that is, no event is unexpected, and nothing is left behind.
#include "state_machines/ddp_stream.hpp"
#include "state_machines/mpa_initiator.hpp"
#include "state_machines/mpa_responder.hpp"
#include "state_machines/rdmap_read_responder.hpp"
#include "state_machines/rdmap_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace machines::iwarp_connection {
namespace {

// What passes on the wire: frames of the start-up, FPDUs, and the end of a half connection.
enum Unit : char {
  Request = 'q',     // revision 2
  OldRequest = 'o',  // revision 1
  Accept = 'a',      // client-server
  AcceptRtr = 'p',   // peer-to-peer
  Reject = 'j',
  Rtr = 'r',
  Send = 's',
  Invalid = 'x',  // DDP refuses the segment
  Corrupt = 'c',  // wrong CRC: MPA delivers nothing more
  Read = 'd',
  Response = 'e',
  Terminate = 't',
  Malformed = 'u',  // a Terminate Message that makes no sense
  Fin = '.',
  Reset = '!',
};

// What the owner's outbox holds.
enum class Post : std::uint8_t {
  ConnectionEnded,
  AbortRdmap,
  StartupError,
  DdpError,
  HalfClosed,
  Lost,
  Gone,
  ReceptionStopped,
  CloseDdp,
  AbortDdp,
  OutputFinished,
  ReadError,
  ReadsEnded,
};

struct End {
  bool initiates = false;
  mpa_initiator::Machine initiator = {};
  mpa_responder::Machine responder = {};
  ddp_stream::Machine ddp = {};
  rdmap_stream::Machine rdmap = {};
  rdmap_read_responder::Machine reads = {};
  bool stream = false, shut_down = false;  // TCP's
  bool startup_timer = false, linger_timer = false;
  bool finishing = false, framing_failed = false, one_revision = false;
  unsigned held = 0;        // RDMA Read Requests
  std::string output = {};  // what TCP has not taken
  std::deque<Post> posted = {};
  std::string told = {};       // to the ULP: C connected, F failed, O offered, W withdrawn, E error, T Terminate, D, L
  bool gone = false;           // rdmap_stream closed()
  std::string abilities = {};  // what the ULP, or fate, may still do: see World::choices()
};

struct World {
  std::array<End, 2> ends = {};
  std::array<std::string, 2> wire = {};  // towards each end
  std::array<std::string, 2> sent = {};  // by each end, for the tests
  bool peer_to_peer = false, may_fall_back = false, fallen_back = false, connecting = false;
  std::string complaint = {};

  void put(int from, char unit) {
    sent[from] += unit;
    wire[1 - from] += unit;
  }
  void let_go(int who) {
    End& end = ends[who];
    if (end.stream && !end.shut_down) wire[1 - who] += Fin;
    forget(who);
  }
  void reset(int who) {
    if (ends[who].stream) wire[1 - who] = Reset;
    forget(who);
  }
  void forget(int who) {
    End& end = ends[who];
    if (who == 0) connecting = false;
    end.stream = false;
    end.output.clear();
    wire[who].clear();
  }
};

// The effects, of which each names the machine that it feeds by what it posts.
template <class Base>
class Part : public Base {
 public:
  Part(World& world, int who) : world_(world), end_(world.ends[who]), who_(who) {}
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override {
    world_.complaint = std::string(machine) + ": " + std::string(state) + " x " + std::string(event);
  }

 protected:
  void post(Post what) { end_.posted.push_back(what); }
  void tell(char what) { end_.told += what; }
  void write(char unit) { end_.output += unit; }
  void enable();
  World& world_;
  End& end_;
  int who_;
};

class Initiator final : public Part<mpa_initiator::Context> {
 public:
  using Part::Part;
  void start_timer() override { end_.startup_timer = true; }
  void stop_timer() override { end_.startup_timer = false; }
  void open_stream() override { world_.connecting = true; }
  void send_request() override { write(world_.fallen_back ? OldRequest : Request); }
  void fall_back() override { world_.fallen_back = true; }
  void drop_stream() override { world_.let_go(who_); }
  void exit_mpa() override { world_.let_go(who_); }
  void enter_full_operation() override { enable(); }
  void send_rtr() override { write(Rtr); }
  void terminate(iwarp::StartupError) override { post(Post::StartupError); }
  void abort_stream() override { post(Post::AbortRdmap); }
  void connected() override { tell('C'); }
  void fail_connect(iwarp::Failure) override { tell('F'); }
  [[nodiscard]] bool may_fall_back() const override { return world_.may_fall_back && !world_.fallen_back; }
};

class Responder final : public Part<mpa_responder::Context> {
 public:
  using Part::Part;
  void start_timer() override { end_.startup_timer = true; }
  void stop_timer() override { end_.startup_timer = false; }
  void offer() override { tell('O'); }
  void withdraw_offer() override { tell('W'); }
  void send_accept() override { write(peer_to_peer() ? AcceptRtr : Accept); }
  void send_reject() override { write(Reject); }
  void drop_stream() override { world_.let_go(who_); }
  void exit_mpa() override { world_.let_go(who_); }
  void enter_full_operation() override { enable(); }
  void permit_sending() override {}
  void abort_stream() override { post(Post::AbortRdmap); }
  void connected() override { tell('C'); }
  void fail_accept(iwarp::Failure) override { tell('F'); }
  [[nodiscard]] bool has_room() const override { return true; }
  [[nodiscard]] bool peer_to_peer() const override { return world_.peer_to_peer && !world_.fallen_back; }
};

class Ddp final : public Part<ddp_stream::Context> {
 public:
  using Part::Part;
  void enable() override {}
  void discard_input() override {}
  void report_error() override { post(Post::DdpError); }
  void report_half_closed() override { post(Post::HalfClosed); }
  void report_lost() override { post(Post::Lost); }
  void finish_output() override {
    end_.finishing = true;
    if (end_.output.empty()) post(Post::OutputFinished);
  }
  void start_linger_timer() override { end_.linger_timer = true; }
  void stop_linger_timer() override { end_.linger_timer = false; }
  void shut_down_llp() override {
    end_.shut_down = true;
    world_.wire[1 - who_] += Fin;
  }
  void drop_llp() override { world_.let_go(who_); }
  void reset_llp() override { world_.reset(who_); }
  void stream_gone() override { post(Post::Gone); }
  void count_stale() override {}
};

class Rdmap final : public Part<rdmap_stream::Context> {
 public:
  using Part::Part;
  void begin() override {}
  void send_terminate() override { end_.output = Terminate; }
  void flush() override { post(Post::ReadsEnded); }
  void refuse_operations() override { post(Post::ReadsEnded); }
  void stop_receiving() override { post(Post::ReceptionStopped); }
  void close_stream() override { post(Post::CloseDdp); }
  void abort_stream() override { post(Post::AbortDdp); }
  void report_error() override { tell('E'); }
  void report_terminate() override { tell('T'); }
  void count_malformed() override {}
  void report_disconnected() override { tell('D'); }
  void report_lost() override { tell('L'); }
  void closed() override {
    end_.gone = true;
    post(Post::ConnectionEnded);
  }
  void answer_close() override {}
  void count_stale() override {}
  [[nodiscard]] bool terminate_possible() const override {
    return end_.initiates || mpa_responder::may_send(end_.responder);
  }
};

class Reads final : public Part<rdmap_read_responder::Context> {
 public:
  using Part::Part;
  void enqueue() override { ++end_.held; }
  void begin_response() override { write(Response); }
  void send_segment() override { write(Response); }
  void finish_response() override { --end_.held; }
  void capture_no_buffer() override {}
  void fail_stream() override { post(Post::ReadError); }
  void clear_queue() override { end_.held = 0; }
  void count_stale() override {}
  [[nodiscard]] bool has_place() const override { return end_.held < 1; }  // IRD
  [[nodiscard]] bool another_waits() const override { return end_.held > 1; }
};

template <class Event>
void rdmap(World& world, int who, const Event& event) {
  Rdmap context(world, who);
  world.ends[who].rdmap.process(event, context);
}
template <class Event>
void ddp(World& world, int who, const Event& event) {
  Ddp context(world, who);
  world.ends[who].ddp.process(event, context);
}
template <class Event>
void reads(World& world, int who, const Event& event) {
  Reads context(world, who);
  world.ends[who].reads.process(event, context);
}
template <class Event>
void initiator(World& world, int who, const Event& event) {
  Initiator context(world, who);
  world.ends[who].initiator.process(event, context);
}
template <class Event>
void responder(World& world, int who, const Event& event) {
  Responder context(world, who);
  world.ends[who].responder.process(event, context);
}

template <class Base>
void Part<Base>::enable() {
  ddp(world_, who_, ddp_stream::StreamEnabled{});
  rdmap(world_, who_, rdmap_stream::StreamEnabled{});
}

void run_post(World& world, int who, Post what) {
  const bool initiates = world.ends[who].initiates;
  switch (what) {
    case Post::ConnectionEnded:
      if (initiates) return initiator(world, who, mpa_initiator::ConnectionEnded{});
      return responder(world, who, mpa_responder::ConnectionEnded{});
    case Post::AbortRdmap: return rdmap(world, who, rdmap_stream::AbortRequested{});
    case Post::StartupError:
    case Post::DdpError:
    case Post::ReadError: return rdmap(world, who, rdmap_stream::ErrorFound{});
    case Post::HalfClosed: return rdmap(world, who, rdmap_stream::PeerClosed{});
    case Post::Lost: return rdmap(world, who, rdmap_stream::LlpLost{});
    case Post::Gone: return rdmap(world, who, rdmap_stream::StreamGone{});
    case Post::ReceptionStopped: return ddp(world, who, ddp_stream::ReceptionStopped{});
    case Post::CloseDdp: return ddp(world, who, ddp_stream::CloseRequested{});
    case Post::AbortDdp: return ddp(world, who, ddp_stream::AbortRequested{});
    case Post::OutputFinished: return ddp(world, who, ddp_stream::OutputFinished{});
    case Post::ReadsEnded: return reads(world, who, rdmap_read_responder::StreamEnded{});
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

// --- what TCP and the ULP do ----------------------------------------------------------------------------------------

// TCP takes the next unit; who waits for that is told.
void take(World& world, int who) {
  End& end = world.ends[who];
  const char unit = end.output.front();
  end.output.erase(0, 1);
  world.put(who, unit);
  if (unit == Rtr) initiator(world, who, mpa_initiator::RtrSent{});
  if (unit == Reject) responder(world, who, mpa_responder::ReplySent{});
  if (unit == Response) reads(world, who, rdmap_read_responder::SegmentSent{.last = true});
  if (end.finishing && end.output.empty()) end.posted.push_back(Post::OutputFinished);
}

void deliver_reply(World& world, int who, char unit) {
  using namespace mpa_initiator;
  if (unit == Accept) return initiator(world, who, AcceptReceived{});
  if (unit == AcceptRtr) return initiator(world, who, AcceptReceived{Agreement::PeerToPeer});
  if (unit == Reject) return initiator(world, who, RejectReceived{});
  if (unit == Request || unit == OldRequest) return initiator(world, who, RequestReceived{});
  if (unit == Fin || unit == Reset) return initiator(world, who, StreamClosed{});
  initiator(world, who, ReplyInvalid{});
}

void deliver_request(World& world, int who, char unit) {
  using namespace mpa_responder;
  const End& end = world.ends[who];
  if (unit == Fin || unit == Reset) return responder(world, who, StreamClosed{});
  if (!end.responder.is<AwaitRequest>()) return responder(world, who, OctetsReceived{});
  if (unit == OldRequest || (unit == Request && !end.one_revision)) return responder(world, who, RequestReceived{});
  responder(world, who, RequestInvalid{});
}

void deliver_message(World& world, int who, char unit) {
  End& end = world.ends[who];
  const bool terminates = unit == Terminate || unit == Malformed;
  if (terminates && !end.framing_failed) {
    return rdmap(world, who, rdmap_stream::TerminateReceived{.well_formed = unit == Terminate});
  }
  if (!ddp_stream::receives(end.ddp)) return;
  if (end.responder.is_any_of<mpa_responder::AwaitRtr, mpa_responder::AwaitFirstFpdu>()) {
    responder(world, who, mpa_responder::FpduReceived{});
  }
  if (unit == Invalid) ddp(world, who, ddp_stream::SegmentInvalid{});
  if (unit == Read && rdmap_stream::delivers(end.rdmap)) reads(world, who, rdmap_read_responder::RequestDelivered{});
}

void deliver_fpdu(World& world, int who, char unit) {
  End& end = world.ends[who];
  if (unit == Fin) return ddp(world, who, ddp_stream::LlpCloseReceived{});
  if (unit == Reset) return ddp(world, who, ddp_stream::LlpLost{});
  if (unit != Corrupt) return deliver_message(world, who, unit);
  if (!end.framing_failed) ddp(world, who, ddp_stream::LlpErrorFound{});
  end.framing_failed = true;
}

void deliver(World& world, int who) {
  End& end = world.ends[who];
  const char unit = world.wire[who].front();
  world.wire[who].erase(0, 1);
  if (end.initiator.is<mpa_initiator::AwaitReply>()) return deliver_reply(world, who, unit);
  if (!end.initiates && end.ddp.is<ddp_stream::Disabled>()) return deliver_request(world, who, unit);
  deliver_fpdu(world, who, unit);
}

// TCP is set up, the responder's end anew.
void establish(World& world) {
  world.connecting = false;
  world.wire = {};
  End& other = world.ends[1];
  const End fresh{.one_revision = other.one_revision, .abilities = other.abilities};
  other = fresh;
  world.ends[0].stream = other.stream = true;
  world.ends[0].shut_down = false;
  responder(world, 1, mpa_responder::MpaEnabled{});
  initiator(world, 0, mpa_initiator::StreamEstablished{});
}

void expire_startup(World& world, int who) {
  world.ends[who].startup_timer = false;
  if (who == 0) return initiator(world, who, mpa_initiator::TimeExpired{});
  responder(world, who, mpa_responder::TimeExpired{});
}

[[nodiscard]] bool may_send(const End& end) {
  const bool started = end.initiates ? mpa_initiator::may_send(end.initiator) : mpa_responder::may_send(end.responder);
  return started && rdmap_stream::may_submit(end.rdmap);
}

// The ULP ends it: what that means depends on how far it is.
void close(World& world, int who) {
  End& end = world.ends[who];
  if (end.initiates && end.told.empty()) return initiator(world, who, mpa_initiator::Withdrawn{});
  if (end.responder.is<mpa_responder::AwaitRtr>()) return responder(world, who, mpa_responder::Withdrawn{});
  rdmap(world, who, rdmap_stream::CloseRequested{});
}
[[nodiscard]] bool may_close(const World& world, int who) {
  const End& end = world.ends[who];
  if (end.initiates && end.told.empty()) return true;
  return end.responder.is<mpa_responder::AwaitRtr>() || end.told.find('C') != std::string::npos;
}

// One way that it can go on: what, and at which end. '1' to '3': a unit arrives, TCP takes one, TCP is set up. Of the
// ULP and of fate: 'y' accepts, 'n' rejects, 'k' closes, 'f' finds an error, 'i' the start-up's time is over, 'g' the
// teardown's, 'l' the LLP is lost; any other is a Unit that is sent.
struct Step {
  char what;
  int who;
};

void do_step(World& world, Step step) {
  End& end = world.ends[step.who];
  switch (step.what) {
    case '1': deliver(world, step.who); break;
    case '2': take(world, step.who); break;
    case '3': establish(world); break;
    case 'y': responder(world, step.who, mpa_responder::AcceptRequested{}); break;
    case 'n': responder(world, step.who, mpa_responder::RejectRequested{}); break;
    case 'i': expire_startup(world, step.who); break;
    case 'g':
      end.linger_timer = false;
      ddp(world, step.who, ddp_stream::LingerExpired{});
      break;
    case 'k': close(world, step.who); break;
    case 'f': rdmap(world, step.who, rdmap_stream::ErrorFound{}); break;
    case 'l': ddp(world, step.who, ddp_stream::LlpLost{}); break;
    default: end.output += step.what; break;  // the ULP sends it, or fate does
  }
  if (step.what > '3' && step.what != 'i' && step.what != 'g') {  // time may be over again
    if (const auto at = end.abilities.find(step.what); at != std::string::npos) end.abilities.erase(at, 1);
  }
  drain(world);
}

[[nodiscard]] bool allowed(const World& world, Step step) {
  const End& end = world.ends[step.who];
  const bool decides = end.responder.is<mpa_responder::AwaitDecision>();
  switch (step.what) {
    case 'y':
    case 'n': return decides;
    case 'i': return end.startup_timer;
    case 'g': return end.linger_timer;
    case 'k': return may_close(world, step.who);
    case 'f': return rdmap_stream::may_submit(end.rdmap);
    case 'l': return end.stream && !end.ddp.is<ddp_stream::Disabled>();
    default: return may_send(end);
  }
}

// What can happen next. Of the abilities of an end each is used once, in any order.
[[nodiscard]] std::vector<Step> choices(const World& world) {
  std::vector<Step> steps;
  if (world.connecting) steps.push_back({'3', 0});
  for (int who : {0, 1}) {
    const End& end = world.ends[who];
    if (end.stream && !world.wire[who].empty()) steps.push_back({'1', who});
    if (end.stream && !end.output.empty()) steps.push_back({'2', who});
    for (const char ability : std::set<char>(end.abilities.begin(), end.abilities.end())) {
      if (allowed(world, {ability, who})) steps.push_back({ability, who});
    }
  }
  return steps;
}

struct Setting {
  bool peer_to_peer = true;
  bool may_fall_back = false;
  bool one_revision = false;  // the responder has revision 1 only
  std::string initiator = {}, responder = "y";
};

World begin(const Setting& setting) {
  World world;
  world.peer_to_peer = setting.peer_to_peer;
  world.may_fall_back = setting.may_fall_back;
  world.ends[0].initiates = true;
  world.ends[0].abilities = setting.initiator;
  world.ends[1].abilities = setting.responder;
  world.ends[1].one_revision = setting.one_revision;
  initiator(world, 0, mpa_initiator::ConnectRequested{});
  return world;
}

// --- one order: what is under way first, then the abilities in the order of the text --------------------------------

World followed(const Setting& setting, std::string order = {}) {
  World world = begin(setting);
  for (int budget = 200; budget > 0 && world.complaint.empty(); --budget) {
    const auto steps = choices(world);
    const auto under_way = std::find_if(steps.begin(), steps.end(), [](Step step) { return step.what <= '3'; });
    if (under_way != steps.end()) {
      do_step(world, *under_way);
      continue;
    }
    if (order.empty()) break;
    const Step next{order[0], order[1] - '0'};
    order.erase(0, 2);
    EXPECT_TRUE(allowed(world, next)) << next.what << next.who;
    do_step(world, next);
  }
  EXPECT_EQ(world.complaint, "");
  EXPECT_EQ(order, "");
  return world;
}

// Both ends have let go of everything, and the ULPs were told what they must be.
[[nodiscard]] std::string left_behind(const World& world) {
  std::string left;
  for (const End& end : world.ends) {
    if (end.stream) left += "stream ";
    if (end.startup_timer || end.linger_timer) left += "timer ";
    if (!end.ddp.is_any_of<ddp_stream::Disabled, ddp_stream::Closed>()) left += "ddp ";
    if (!end.rdmap.is_any_of<rdmap_stream::Idle, rdmap_stream::Closed>()) left += "rdmap ";
    if (end.rdmap.is<rdmap_stream::Closed>() && !end.reads.is<rdmap_read_responder::Ended>()) left += "reads ";
    if (end.held != 0) left += "requests ";
  }
  if (!world.ends[0].initiator.is<mpa_initiator::Closed>()) left += "initiator ";
  if (!world.ends[1].responder.is_any_of<mpa_responder::Idle, mpa_responder::Closed>()) left += "responder ";
  if (world.ends[0].told.find_first_of("CF") == std::string::npos) left += "nothing told ";
  return left;
}
[[nodiscard]] std::string told_twice(const World& world) {
  for (const End& end : world.ends) {
    const auto count = [&](char what) { return std::count(end.told.begin(), end.told.end(), what); };
    if (count('C') + count('F') > 1 || count('T') > 1 || count('E') > 1 || count('L') > 1 || count('D') > 1) {
      return end.told;
    }
  }
  return {};
}

// RFC 6581 9.3: revision 2 with RTR; then both ULPs terminate gracefully (RFC 5040 6.2).
TEST(IwarpConnection, followed_peer_to_peer) {
  const World world = followed({.initiator = "k", .responder = "yk"}, "y1k0k1");
  EXPECT_EQ(world.sent[0], "qr");
  EXPECT_EQ(world.sent[1], "p");
  EXPECT_EQ(world.ends[0].told, "C");
  EXPECT_EQ(world.ends[1].told, "OCD");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 6581 10, ruling M-3: the responder has revision 1 only: it closes, and is asked again in that.
TEST(IwarpConnection, followed_fallback) {
  const Setting setting{.may_fall_back = true, .one_revision = true, .initiator = "sk", .responder = "yk"};
  const World world = followed(setting, "y1s0k0k1");
  EXPECT_EQ(world.sent[0], "qos");
  EXPECT_EQ(world.sent[1], "a");
  EXPECT_EQ(world.ends[0].told, "C");
  EXPECT_EQ(world.ends[1].told, "OCD");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5044 7.1.2 rules 2, 3: rejected by the ULP.
TEST(IwarpConnection, followed_reject) {
  const World world = followed({.responder = "n"}, "n1");
  EXPECT_EQ(world.sent[1], "j");
  EXPECT_EQ(world.ends[0].told, "F");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5044 7.1.2 rule 10: the responder's ULP never decides; the initiator's time is over.
TEST(IwarpConnection, followed_time_out) {
  const World world = followed({.initiator = "i", .responder = ""}, "i0");
  EXPECT_EQ(world.ends[0].told, "F");
  EXPECT_EQ(world.ends[1].told, "OWF");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5044 7.1.2 rule 2: octets before the reply.
TEST(IwarpConnection, followed_octets_before_the_reply) {
  World world = followed({.responder = ""});
  world.put(0, Send);
  while (!choices(world).empty()) do_step(world, choices(world).front());
  EXPECT_EQ(world.complaint, "");
  EXPECT_EQ(world.ends[0].told, "F");
  EXPECT_EQ(world.ends[1].told, "OWF");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5044 7.1.2 rule 8: what answers is a request.
TEST(IwarpConnection, followed_crossing) {
  World world = followed({.responder = ""});
  world.put(1, Request);
  while (!choices(world).empty()) do_step(world, choices(world).front());
  EXPECT_EQ(world.complaint, "");
  EXPECT_EQ(world.ends[0].told, "F");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5040 5.2: one RDMA Read.
TEST(IwarpConnection, followed_read) {
  const World world = followed({.initiator = "dk", .responder = "yk"}, "y1d0k0k1");
  EXPECT_EQ(world.sent[0], "qrd");
  EXPECT_EQ(world.sent[1], "pe");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5040 6.2.1, 7.1: DDP refuses a segment: one Terminate Message, graceful teardown by both ends.
TEST(IwarpConnection, followed_terminate) {
  const World world = followed({.initiator = "x", .responder = "y"}, "y1x0");
  EXPECT_EQ(world.sent[0], "qrx");
  EXPECT_EQ(world.sent[1], "pt");
  EXPECT_EQ(world.ends[0].told, "CT");
  EXPECT_EQ(world.ends[1].told, "OCE");
  EXPECT_EQ(left_behind(world), "");
}

// RFC 5040 5.4, ruling M-6: a Terminate Message that makes no sense.
TEST(IwarpConnection, followed_terminate_malformed) {
  const World world = followed({.initiator = "uk", .responder = "y"}, "y1u0k0");
  EXPECT_EQ(world.sent[1], "p");
  EXPECT_EQ(world.ends[0].told, "CD");
  EXPECT_EQ(world.ends[1].told, "OCT");
  EXPECT_EQ(left_behind(world), "");
}

// --- every order ----------------------------------------------------------------------------------------------------

[[nodiscard]] std::string key_of(const World& world) {
  std::string key;
  for (int who : {0, 1}) {
    const End& end = world.ends[who];
    for (const auto name : {end.initiator.state_name(), end.responder.state_name(), end.ddp.state_name(),
                            end.rdmap.state_name(), end.reads.state_name()}) {
      key += name;
      key += ',';
    }
    for (const bool flag : {end.stream, end.shut_down, end.startup_timer, end.linger_timer, end.finishing,
                            end.framing_failed, end.gone}) {
      key += flag ? '+' : '-';
    }
    key += std::to_string(end.held) + '/' + end.output + '/' + world.wire[who] + '/' + end.told + '/' + end.abilities;
  }
  key += world.connecting ? 'c' : '-';
  key += world.fallen_back ? 'f' : '-';
  return key;
}

struct Explored {
  std::size_t worlds = 0, ends = 0;
  std::string complaint = {};
};

Explored explore(const Setting& setting) {
  Explored found;
  std::set<std::string> seen;
  std::vector<std::pair<World, std::string>> open{{begin(setting), ""}};
  while (!open.empty() && found.complaint.empty()) {
    const auto [world, path] = std::move(open.back());
    open.pop_back();
    ++found.worlds;
    const auto steps = choices(world);
    std::string wrong = world.complaint.empty() ? told_twice(world) : world.complaint;
    if (steps.empty()) {
      ++found.ends;
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

void expect_every_order_ends(const Setting& setting) {
  const Explored found = explore(setting);
  EXPECT_EQ(found.complaint, "");
  EXPECT_GT(found.ends, 1U);
  std::printf("%zu worlds, %zu ends\n", found.worlds, found.ends);
}

// RFC 5044 7.1.2, RFC 6581 9: each start-up, given up or too late anywhere.
TEST(IwarpConnection, every_order_of_a_startup) {
  for (const bool peer_to_peer : {false, true}) {
    expect_every_order_ends({.peer_to_peer = peer_to_peer, .initiator = "kisg", .responder = "yigsk"});
    expect_every_order_ends({.peer_to_peer = peer_to_peer, .initiator = "kig", .responder = "nig"});
    expect_every_order_ends({.peer_to_peer = peer_to_peer,
                             .may_fall_back = true,
                             .one_revision = true,
                             .initiator = "kig",
                             .responder = "ykig"});
  }
}

// RFC 5040 5.4, 6.2.1, 7.1: errors at both ends: Terminate Messages sent, received, crossing, badly formed, lost.
TEST(IwarpConnection, every_order_of_a_terminate) {
  expect_every_order_ends({.initiator = "xkgf", .responder = "ykgf"});
  expect_every_order_ends({.peer_to_peer = false, .initiator = "xskg", .responder = "yfkg"});
  expect_every_order_ends({.initiator = "ckg", .responder = "yxkgf"});
  expect_every_order_ends({.initiator = "ukg", .responder = "yfkgl"});
}

// RFC 5040 5.2, 6.2: RDMA Reads, one more than IRD, while the stream is closed, fails or is lost.
TEST(IwarpConnection, every_order_of_reads) {
  expect_every_order_ends({.initiator = "ddkg", .responder = "ykg"});
  expect_every_order_ends({.initiator = "dkgl", .responder = "ydkg"});
}

}  // namespace
}  // namespace machines::iwarp_connection
