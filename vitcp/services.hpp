// What the parts of one provider are given.
#pragma once
#include <array>

#include "runtime/scheduler.hpp"
#include "state_machines/fsm.hpp"
#include "streams/stream.hpp"
#include "vitcp/configuration.hpp"
#include "vitcp/counters.hpp"

namespace vitcp {

/// Octets on their way between a stream and memory, for one call of one connection: nothing rests here.
struct Workspace {
  static constexpr std::size_t in_octets = 65'536, out_octets = 131'072;
  std::array<std::uint8_t, in_octets> in{};
  std::array<std::uint8_t, out_octets> out{};
};

/// Initial Message Numbers (VI-TCP 3.2, ruling V-4). The same seed, the same numbers: the core draws none by itself.
class NumberSource {
 public:
  explicit NumberSource(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] wire::vitcp::MessageNumber draw() {
    std::uint64_t value = state_ += 0x9E3779B97F4A7C15U;  // splitmix64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
    value = (value ^ value >> 27) * 0x94D049BB133111EBU;
    return {static_cast<std::uint32_t>(value >> 32)};
  }

 private:
  std::uint64_t state_;
};

/// References to what a provider has once. Who has this knows nothing of the provider itself, nor of other connections.
struct Services {
  streams::Streams& streams;
  runtime::Scheduler& scheduler;
  const ProviderConfig& config;
  ProviderCounters& counters;
  Workspace& workspace;
  NumberSource& numbers;
  fsm::RowListener* row_listener = nullptr;  // of all machines here
};

}  // namespace vitcp
