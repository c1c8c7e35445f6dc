// A set of sockets whose members note what they are told, and a core that the test polls.
#pragma once
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/real_time_core.hpp"
#include "streams/drivers/socket_set.hpp"

namespace streams::drivers {
using runtime::drivers::Descriptor;
using For = SetMember::For;

/// Notes what it is told, and does what a test says then.
class Member final : public SetMember {
 public:
  explicit Member(std::shared_ptr<SocketSet> set) : SetMember(std::move(set)) {
    int pair[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    own = Descriptor(pair[0]);
    far = Descriptor(pair[1]);
  }
  Member(std::shared_ptr<SocketSet> set, For joined) : Member(std::move(set)) { join_late(joined); }
  ~Member() override { leave(); }

  void join_late(For joined) { EXPECT_TRUE(join(own.number(), joined)); }
  void come() const { EXPECT_EQ(::write(far.number(), "x", 1), 1); }
  void take() const {
    char octets[16];
    EXPECT_GT(::read(own.number(), octets, sizeof octets), 0);
  }
  [[nodiscard]] int told(For what) const { return static_cast<int>(std::count(heard.begin(), heard.end(), what)); }

  Descriptor own, far;
  std::vector<For> heard;
  std::function<void()> then;

 private:
  void ready(For what) override {
    heard.push_back(what);
    if (then) then();
  }
};

/// A core whose inputs the test may poll.
class PolledCore final : public runtime::drivers::RealTimeCore {
 public:
  using RealTimeCore::RealTimeCore;
  void add_input(runtime::Input& input) override { inputs.push_back(&input); }
  void remove_input(runtime::Input& input) override { std::erase(inputs, &input); }
  std::vector<runtime::Input*> inputs;
};

class SocketSetTest : public ::testing::Test {
 protected:
  ~SocketSetTest() override {
    members_.clear();
    set_->close();
  }
  Member& member(For joined = For::reading) { return *members_.emplace_back(std::make_unique<Member>(set_, joined)); }
  /// Handlers that were due by now, and those that these made due.
  std::size_t run() {
    io_.restart();
    return io_.poll();
  }
  /// As run(), until the condition holds.
  bool run_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);  // only a hang takes so long
    while (!done() && std::chrono::steady_clock::now() < limit) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(10));
    }
    return done();
  }
  bool poll() { return core_.inputs.front()->read_now(); }

  boost::asio::io_context io_;
  PolledCore core_{io_};
  std::shared_ptr<SocketSet> set_ = std::make_shared<SocketSet>(io_, core_);
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace streams::drivers
