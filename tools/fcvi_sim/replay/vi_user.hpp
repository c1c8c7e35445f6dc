// The VI user of the port: does what the script says, when it is told to.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "tools/fcvi_sim/host/endpoint.hpp"
#include "tools/fcvi_sim/replay/port_host.hpp"
#include "tools/fcvi_sim/replay/script.hpp"
#include "tools/fcvi_sim/replay/translation.hpp"

namespace sim::replay {

class ViUser {
 public:
  /// All references outlive it. What it registers it tells `translation`.
  ViUser(Driver& driver, PortHost& host, const Script& script, Translation& translation);
  ~ViUser();
  ViUser(const ViUser&) = delete;
  ViUser& operator=(const ViUser&) = delete;

  void call(const call::Wait& wait);
  void call(const call::Withdraw& wait);
  void call(const call::Connect& connect);
  void call(const call::Accept& accept);
  void call(const call::Reject& reject);
  void call(const call::Post& post);
  void call(const call::Fill& fill);
  void call(const call::Disconnect& disconnect);
  /// Takes what is completed, and posts the receives that there is room for.
  void tend();

 private:
  class Operation final : public vi::Operation {
    void done(vi::Return) override {}
  };
  class ConnectOperation final : public vi::ConnectOperation {
    void done(vi::Return) override {}
  };
  struct WaitOperation final : vi::ConnectWaitOperation {
    void done(vi::Return value) override { result = value; }
    vi::Return result = vi::Return::NotDone;
    bool withdrawn = false;
  };
  struct Memory {
    const MemorySpec* spec;
    Region region;
  };
  struct User {
    const ViSpec* spec = nullptr;
    std::unique_ptr<Endpoint> endpoint;
    Region inbox;  // of all receives: nobody looks at what came
    std::size_t receives_posted = 0;
    std::deque<Region> sends;  // posted, oldest first
    std::vector<Memory> memory;
  };
  User& user(std::size_t vi);
  void open(User& user);
  void add_memory(User& user, const MemorySpec& spec);
  void post_receives(User& user);
  static void tend(User& user);
  WaitOperation* matched(std::size_t wait);

  Driver& driver_;
  PortHost& host_;
  const Script& script_;
  Translation& translation_;
  std::map<std::size_t, WaitOperation> waits_;
  std::deque<Operation> operations_;
  std::deque<ConnectOperation> connects_;
  Node node_;  // its end ends the calls
  std::vector<User> users_;
};

}  // namespace sim::replay
