// A listening rdma_cm_id's port: start-ups of others, and the requests among them that wait for the program.
#pragma once
#include "iwarp/startup_port.hpp"
#include "verbs/configuration.hpp"
#include "verbs/device.hpp"

namespace verbs {
class PortListener;

/// Whose a request is, until it is decided. Inside.
class RequestOwner {
 public:
  /// The other end gave up.
  virtual void request_gone() = 0;

 protected:
  ~RequestOwner() = default;
};

/// Who listens. Inside.
class PortUser {
 public:
  /// nullptr: it is refused.
  virtual RequestOwner* requested(PortListener& listener, iwarp::PassiveStartup& startup,
                                  const iwarp::PeerOffer& offer) = 0;

 protected:
  ~PortUser() = default;
};

/// Inside. When its rdma_cm_id is gone nobody listens any more, but connections that were accepted go on: then Process
/// has it until the last one is over.
class PortListener final : private iwarp::StartupPortUser {
 public:
  PortListener(Process& process, PortUser& user, const Terms& terms, std::size_t backlog);
  /// 0, or errno.
  [[nodiscard]] int listen(const streams::Address& at);
  [[nodiscard]] streams::Address address() const { return port_->address(); }
  void user_gone();
  /// The program's decision. The segments of the connection are those of `device`'s interface.
  void prepare_accept(iwarp::PassiveStartup& startup, const Device& device);
  void reject(iwarp::PassiveStartup& startup, std::vector<std::uint8_t> private_data);

 private:
  void offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) override;
  void offer_withdrawn(iwarp::PassiveStartup& startup) override;
  /// nullptr: this build has no SCTP.
  [[nodiscard]] std::unique_ptr<iwarp::StartupPort> make_port(const Terms& terms, std::size_t backlog);
  void refuse();
  void look();

  Process& process_;
  PortUser* user_;
  iwarp::Config config_;
  const iwarp::Services services_;
  std::unordered_map<iwarp::PassiveStartup*, RequestOwner*> requests_;  // that wait for the program
  std::vector<iwarp::PassiveStartup*> refused_;
  runtime::Timer<PortListener, &PortListener::refuse> refuse_{*this};
  runtime::Timer<PortListener, &PortListener::look> look_{*this};
  const std::unique_ptr<iwarp::StartupPort> port_;
};

/// errno of a call, for what a stream tells.
[[nodiscard]] int errno_of(streams::Reason reason);

}  // namespace verbs
