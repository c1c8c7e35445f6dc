// Two peers on one host (ruling V-13), each with vitcp_peer, vitcp_active and a vitcp_passive per incoming stream:
// every order in which what they ask for can happen. However it goes, both have the same stream in the end.
#include "state_machines/vitcp_active.hpp"
#include "state_machines/vitcp_passive.hpp"
#include "state_machines/vitcp_peer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace machines {
namespace {

constexpr int nobody = -1;

// What one end writes. End: it dropped or closed the stream.
enum class Octets : char { Request = 'q', Accept = 'a', Reject = 'r', NoMatch = 'n', End = 'e' };

struct Stream {
  int opener = nobody;
  bool established = false, opener_gone = false, acceptor_gone = false;
  unsigned number = 0;                           // of the request
  std::string to_acceptor = {}, to_opener = {};  // under way
  vitcp_passive::Machine passive = {};
};

struct Host {
  vitcp_peer::Machine peer = {};
  vitcp_active::Machine active = {};
  std::vector<unsigned> numbers = {};  // initial Message Numbers that it draws, the next one last
  bool in_pool = false, retry_scheduled = false;
  int own = nobody;  // its own stream, while it has one
  unsigned number = 0;
  int connected_on = nobody;
};

// One way that it can go on, or what an effect asked for.
enum class Kind : std::uint8_t {
  Post,
  Establish,
  ToAcceptor,
  ToOpener,
  Retry,  // steps; at: a host, or a stream
  Matched,
  PeerRequested,
  AcceptRequest,
  RejectRequest,  // effects; at: a stream
  NoMatch,
  Ask,
  WithdrawSetup,
  RequestSent,
  RequestEnded,
  SetupSucceeded,
  SetupFailed,
};
struct Step {
  Kind kind;
  int at;
};

// The two hosts and their streams: a value, so that every way can be gone from here.
class Meeting {
 public:
  Meeting(std::vector<unsigned> first, std::vector<unsigned> second) {
    hosts_[0].numbers = std::move(first);
    hosts_[1].numbers = std::move(second);
  }

  [[nodiscard]] std::vector<Step> steps() const;
  void take(Step step);
  [[nodiscard]] std::string text() const;  // of everything that decides how it goes on
  [[nodiscard]] const Host& host(std::size_t index) const { return hosts_[index]; }
  std::vector<std::string> complaints;

 private:
  // Contexts are made for the call; what they ask for is done when it is over.
  class PeerContext;
  class ActiveContext;
  class PassiveContext;
  template <class Event>
  void feed_peer(int host, const Event& event);
  template <class Event>
  void feed_active(int host, const Event& event);
  template <class Event>
  void feed_passive(int stream, const Event& event);
  void carry_out(Step effect);
  void to_acceptor(int stream, Octets octets);
  void to_opener(int stream, Octets octets);
  void offer(int stream);
  [[nodiscard]] int acceptor(int stream) const { return 1 - streams_[static_cast<std::size_t>(stream)].opener; }
  Stream& stream(int index) { return streams_[static_cast<std::size_t>(index)]; }
  Host& host(int index) { return hosts_[static_cast<std::size_t>(index)]; }

  std::array<Host, 2> hosts_;
  std::vector<Stream> streams_;
  std::vector<Step> pending_;
  int asked_by_ = nobody;  // the stream whose request vitcp_peer is about to judge
};

template <class Base>
class Complaining : public Base {
 public:
  explicit Complaining(Meeting& owner) : meeting(owner) {}
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override {
    meeting.complaints.push_back(std::string(machine) + ": " + std::string(state) + " x " + std::string(event));
  }
  Meeting& meeting;
};

class Meeting::PeerContext final : public Complaining<vitcp_peer::Context> {
 public:
  PeerContext(Meeting& owner, int host) : Complaining(owner), host_(host) {}
  void start_timeout() override {}
  void stop_timeout() override {}
  void ask() override { push(Kind::Ask); }
  void withdraw_setup() override { push(Kind::WithdrawSetup); }
  void withdraw_request() override {}
  void accept_request() override { meeting.pending_.push_back({Kind::AcceptRequest, meeting.asked_by_}); }
  void reject_request() override { meeting.pending_.push_back({Kind::RejectRequest, meeting.asked_by_}); }
  void answer_no_match() override { meeting.pending_.push_back({Kind::NoMatch, meeting.asked_by_}); }
  void fail_request(vitcp_peer::PeerFailure) override {}
  void leave_pool() override { meeting.host(host_).in_pool = false; }
  [[nodiscard]] bool attributes_match() const override { return true; }

 private:
  void push(Kind kind) { meeting.pending_.push_back({kind, host_}); }
  int host_;
};

class Meeting::ActiveContext final : public Complaining<vitcp_active::Context> {
 public:
  ActiveContext(Meeting& owner, int host) : Complaining(owner), host_(host) {}
  void start_timeout() override {}
  void stop_timeout() override {}
  void open_stream() override {
    host().own = static_cast<int>(meeting.streams_.size());
    meeting.streams_.push_back({.opener = host_});
  }
  void send_connect_request() override {
    host().number = host().numbers.back();
    host().numbers.pop_back();
    meeting.stream(host().own).number = host().number;
    meeting.stream(host().own).to_acceptor += static_cast<char>(Octets::Request);
    meeting.pending_.push_back({Kind::RequestSent, host_});
  }
  void drop_stream() override {
    Stream& own = meeting.stream(std::exchange(host().own, nobody));
    own.opener_gone = true;
    own.to_acceptor += static_cast<char>(Octets::End);
  }
  void schedule_retry() override {
    host().retry_scheduled = true;
    meeting.pending_.push_back({Kind::RequestEnded, host_});
  }
  void cancel_retry() override { host().retry_scheduled = false; }
  void connected() override {
    host().connected_on = host().own;
    meeting.pending_.push_back({Kind::SetupSucceeded, host_});
  }
  void fail_request(vitcp_active::ConnectFailure) override { meeting.pending_.push_back({Kind::SetupFailed, host_}); }
  [[nodiscard]] bool peer_to_peer() const override { return true; }

 private:
  Host& host() { return meeting.host(host_); }
  int host_;
};

class Meeting::PassiveContext final : public Complaining<vitcp_passive::Context> {
 public:
  PassiveContext(Meeting& owner, int stream) : Complaining(owner), stream_(stream) {}
  void start_request_timer() override {}
  void stop_request_timer() override {}
  void match() override {
    const bool waits = meeting.host(meeting.acceptor(stream_)).in_pool;
    meeting.pending_.push_back({waits ? Kind::Matched : Kind::NoMatch, stream_});
  }
  void offer() override { meeting.pending_.push_back({Kind::PeerRequested, stream_}); }
  void withdraw_offer() override {}
  void send_connect_accept() override { answer(Octets::Accept); }
  void send_connect_reject() override { answer(Octets::Reject); }
  void send_connect_no_match() override { answer(Octets::NoMatch); }
  void close_stream() override { drop_stream(); }
  void drop_stream() override {
    meeting.stream(stream_).acceptor_gone = true;
    answer(Octets::End);
  }
  void connected() override { meeting.host(meeting.acceptor(stream_)).connected_on = stream_; }
  void complete_accept(vitcp_passive::AcceptOutcome) override {}
  void complete_reject() override {}
  [[nodiscard]] bool levels_match() const override { return true; }

 private:
  void answer(Octets octets) { meeting.stream(stream_).to_opener += static_cast<char>(octets); }
  int stream_;
};

template <class Event>
void Meeting::feed_peer(int host, const Event& event) {
  PeerContext context(*this, host);
  this->host(host).peer.process(event, context);
}
template <class Event>
void Meeting::feed_active(int host, const Event& event) {
  ActiveContext context(*this, host);
  this->host(host).active.process(event, context);
}
template <class Event>
void Meeting::feed_passive(int stream, const Event& event) {
  PassiveContext context(*this, stream);
  this->stream(stream).passive.process(event, context);
}

std::vector<Step> Meeting::steps() const {
  std::vector<Step> found;
  for (int i = 0; i < 2; ++i) {
    const Host& host = hosts_[static_cast<std::size_t>(i)];
    if (host.peer.is<vitcp_peer::Idle>()) found.push_back({Kind::Post, i});
    if (host.retry_scheduled && !host.numbers.empty()) found.push_back({Kind::Retry, i});
  }
  for (int i = 0; i < static_cast<int>(streams_.size()); ++i) {
    const Stream& stream = streams_[static_cast<std::size_t>(i)];
    if (!stream.established && !stream.opener_gone) found.push_back({Kind::Establish, i});
    if (stream.established && !stream.to_acceptor.empty()) found.push_back({Kind::ToAcceptor, i});
    if (!stream.to_opener.empty()) found.push_back({Kind::ToOpener, i});
  }
  return found;
}

void Meeting::take(Step step) {
  pending_.push_back(step);
  while (!pending_.empty()) {
    const Step next = pending_.front();
    pending_.erase(pending_.begin());
    carry_out(next);
  }
  for (Stream& stream : streams_) {  // what nobody is there for, or ever was
    if (stream.acceptor_gone || (stream.opener_gone && !stream.established)) stream.to_acceptor.clear();
    if (stream.opener_gone) stream.to_opener.clear();
  }
}

void Meeting::carry_out(Step effect) {
  const int at = effect.at;
  const auto taken = [](std::string& way) {
    const auto octets = static_cast<Octets>(way.front());
    way.erase(0, 1);
    return octets;
  };
  switch (effect.kind) {
    case Kind::Post:
      host(at).in_pool = true;
      return feed_peer(at, vitcp_peer::RequestPosted{vitcp_peer::Addresses::Equal});
    case Kind::Establish:
      stream(at).established = true;
      return feed_active(stream(at).opener, vitcp_active::StreamEstablished{});
    case Kind::ToAcceptor: return to_acceptor(at, taken(stream(at).to_acceptor));
    case Kind::ToOpener: return to_opener(at, taken(stream(at).to_opener));
    case Kind::Retry: host(at).retry_scheduled = false; return feed_active(at, vitcp_active::RetryDue{});
    case Kind::Matched: return feed_passive(at, vitcp_passive::DiscriminatorMatched{});
    case Kind::PeerRequested: return offer(at);
    case Kind::AcceptRequest: return feed_passive(at, vitcp_passive::AcceptRequested{});
    case Kind::RejectRequest: return feed_passive(at, vitcp_passive::RejectRequested{});
    case Kind::NoMatch: return feed_passive(at, vitcp_passive::NoMatchingDiscriminator{});
    case Kind::Ask: return feed_active(at, vitcp_active::ConnectRequested{});
    case Kind::WithdrawSetup: return feed_active(at, vitcp_active::Superseded{});
    case Kind::RequestSent: return feed_peer(at, vitcp_peer::RequestSent{});
    case Kind::RequestEnded: return feed_peer(at, vitcp_peer::RequestEnded{});
    case Kind::SetupSucceeded: return feed_peer(at, vitcp_peer::SetupSucceeded{});
    case Kind::SetupFailed: return feed_peer(at, vitcp_peer::SetupFailed{});
  }
}

void Meeting::offer(int at) {
  const Host& own = host(acceptor(at));
  const unsigned theirs = stream(at).number;
  asked_by_ = at;
  feed_peer(acceptor(at), vitcp_peer::PeerRequested{own.number > theirs   ? vitcp_peer::Requests::OursHigher
                                                    : own.number < theirs ? vitcp_peer::Requests::OursLower
                                                                          : vitcp_peer::Requests::Equal});
}

void Meeting::to_acceptor(int at, Octets octets) {
  if (stream(at).acceptor_gone) return;
  if (stream(at).passive.is<vitcp_passive::Listening>()) feed_passive(at, vitcp_passive::StreamAccepted{});
  if (octets == Octets::Request) return feed_passive(at, vitcp_passive::RequestReceived{});
  if (stream(at).passive.is<vitcp_passive::Connected>())
    complaints.push_back("a stream with a connection was dropped");
  else
    feed_passive(at, vitcp_passive::StreamClosed{});
}

void Meeting::to_opener(int at, Octets octets) {
  if (stream(at).opener_gone) return;
  const int opener = stream(at).opener;
  switch (octets) {
    case Octets::Accept: return feed_active(opener, vitcp_active::AcceptReceived{});
    case Octets::Reject: return feed_active(opener, vitcp_active::RejectReceived{});
    case Octets::NoMatch: return feed_active(opener, vitcp_active::NoMatchReceived{});
    case Octets::End: return feed_active(opener, vitcp_active::StreamClosed{});
    case Octets::Request: return;
  }
}

std::string Meeting::text() const {
  std::string text;
  for (const Host& host : hosts_) {
    text += std::string(host.peer.state_name()) + ',' + std::string(host.active.state_name()) + ',' +
            std::to_string(host.numbers.size()) + ',' + std::to_string(host.own) + ',' + std::to_string(host.number) +
            ',' + std::to_string(host.connected_on) + (host.in_pool ? "p" : "") + (host.retry_scheduled ? "r" : "") +
            ';';
  }
  for (const Stream& stream : streams_) {
    if (stream.opener_gone && stream.to_acceptor.empty()) continue;
    text += std::to_string(stream.opener) + (stream.established ? "e" : "") + (stream.opener_gone ? "o" : "") +
            (stream.acceptor_gone ? "a" : "") + std::to_string(stream.number) + ',' + stream.to_acceptor + ',' +
            stream.to_opener + ',' + std::string(stream.passive.state_name()) + ';';
  }
  return text;
}

// Every way from here, each state once. How many ends with a connection, and how many without, numbers used up.
struct Ends {
  int met = 0, apart = 0;
};
void explore(const Meeting& from, std::set<std::string>& seen, Ends& ends) {
  if (::testing::Test::HasFailure() || !seen.insert(from.text()).second) return;
  for (const std::string& complaint : from.complaints) ADD_FAILURE() << complaint << " in " << from.text();
  const auto steps = from.steps();
  for (const Step step : steps) {
    Meeting next = from;
    next.take(step);
    explore(next, seen, ends);
  }
  if (!steps.empty()) return;
  const int first = from.host(0).connected_on, second = from.host(1).connected_on;
  EXPECT_EQ(first, second) << from.text();
  ++(first == nobody ? ends.apart : ends.met);
}

Ends explored(std::vector<unsigned> first, std::vector<unsigned> second) {
  std::set<std::string> seen;
  Ends ends;
  explore(Meeting(std::move(first), std::move(second)), seen, ends);
  EXPECT_GT(seen.size(), 100U);
  return ends;
}

// VI-TCP 4, ruling V-13: whose number is higher does not matter to whether they meet; each has three tries.
TEST(VitcpMeeting, both_ask) {
  EXPECT_GT(explored({1, 1, 1}, {2, 2, 2}).met, 0);
  EXPECT_GT(explored({2, 2, 2}, {1, 1, 1}).met, 0);
}

// Ruling V-13: with equal numbers both get ConnectNoMatch, and ask again with new ones.
TEST(VitcpMeeting, both_ask_with_equal_numbers_first) { EXPECT_GT(explored({3, 2, 1}, {2, 3, 1}).met, 0); }

// Ruling V-13: while the numbers are equal, and both always ask at once, they do not meet; but they never half meet.
TEST(VitcpMeeting, both_ask_with_equal_numbers) {
  const Ends ends = explored({1, 1}, {1, 1});
  EXPECT_GT(ends.met, 0);
  EXPECT_GT(ends.apart, 0);
}

}  // namespace
}  // namespace machines
