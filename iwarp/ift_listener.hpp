// Start-ups of IFT at one port, which both ends agreed to use for it (IFT 4): this end is node B of all of them.
#pragma once
#include <functional>

#include "iwarp/ift_adaption.hpp"
#include "iwarp/startup_port.hpp"

namespace iwarp {

class IftListener final : public StreamStartupPort {
 public:
  /// `options` for each start-up: with a VTag of its own, drawn at random (IFT 4.2).
  IftListener(const Services& services, StartupPortUser& user, std::function<IftOptions()> options, std::size_t backlog)
      : StreamStartupPort(services, user, backlog), options_(std::move(options)) {}

 private:
  std::unique_ptr<PassiveStartup> begin(PassiveStartupOwner& owner, std::unique_ptr<streams::Stream> stream) override {
    auto adaption = std::make_unique<IftAdaption>(services_, options_());
    adaption->await(std::move(stream), owner);
    return adaption;
  }
  const std::function<IftOptions()> options_;
};

}  // namespace iwarp
