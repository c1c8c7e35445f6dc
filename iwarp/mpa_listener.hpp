// Start-ups of MPA at one port.
#pragma once
#include "iwarp/mpa_responder.hpp"
#include "iwarp/startup_port.hpp"

namespace iwarp {

class MpaListener final : public StreamStartupPort {
 public:
  MpaListener(const Services& services, StartupPortUser& user, const MpaOptions& options, std::size_t backlog)
      : StreamStartupPort(services, user, backlog), options_(options) {}

 private:
  std::unique_ptr<PassiveStartup> begin(PassiveStartupOwner& owner, std::unique_ptr<streams::Stream> stream) override {
    auto responder = std::make_unique<MpaResponder>(services_, owner, std::move(stream), options_);
    responder->start();
    return responder;
  }
  const MpaOptions options_;
};

}  // namespace iwarp
