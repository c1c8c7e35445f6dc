// The link of a NIC to the local fabric, by fcvi-fabricd.
#pragma once
#include <optional>
#include <string>

#include "fc2_fabric/drivers/local_fabric_link.hpp"
#include "vipl/devices/fc_link.hpp"
#include "vipl/engine/engine.hpp"

namespace vipl {

class LocalLink final : public FcLink, private fc2::drivers::LinkListener {
 public:
  /// Whoever waits at `changes` is woken when the link goes down or cannot be had.
  LocalLink(Engine& engine, fc2::drivers::LocalFabricOptions options, EventCount& changes)
      : engine_(engine), options_(std::move(options)), changes_(changes) {}

  void attach(fc2::NPort& port) override;
  [[nodiscard]] std::string trouble() const override { return link_ ? link_->trouble() : std::string(); }
  void say_goodbye() override;

 private:
  void link_changed(fc2::drivers::LinkState state, const std::string& reason) override;

  Engine& engine_;
  const fc2::drivers::LocalFabricOptions options_;
  EventCount& changes_;
  std::optional<fc2::drivers::LocalFabricLink> link_;  // from attach() on
};

}  // namespace vipl
