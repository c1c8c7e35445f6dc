// A start-up of any framing, as those have it who do not care which one: MpaInitiator, MpaResponder, IftAdaption.
#pragma once
#include "iwarp/rdmap_stream.hpp"
#include "iwarp/startup_listener.hpp"

namespace iwarp {

/// This end asks.
class ActiveStartup {
 public:
  virtual ~ActiveStartup() = default;
  /// The ULP gives up: startup_failed() follows from within.
  virtual void withdraw() = 0;
  /// Why there is no LLP stream, where that was the reason.
  [[nodiscard]] virtual std::optional<streams::Reason> stream_failure() const = 0;
};

/// The other end asks. Its owner has it until it is over.
class PassiveStartup {
 public:
  virtual ~PassiveStartup() = default;

  // --- the ULP. Pre of the first two: it was offered, and is not decided
  /// `stream` outlives this; its limits of IRD and ORD are agreed with what was offered. Without carries_private_data()
  /// `private_data` is empty.
  virtual void accept(RdmapStream& stream, StartupListener& listener, std::vector<std::uint8_t> private_data) = 0;
  virtual void reject(std::vector<std::uint8_t> private_data) = 0;
  /// The ULP that accepted gives up before connected().
  virtual void withdraw() = 0;
  /// False: neither these nor IRD and ORD travel with it (ruling I-14).
  [[nodiscard]] virtual bool carries_private_data() const = 0;
  /// The two ends of the LLP stream. Pre: it was offered, and is not decided.
  [[nodiscard]] virtual streams::Address local() const = 0;
  [[nodiscard]] virtual streams::Address remote() const = 0;

  // --- its owner
  /// Another start-up needs its place. Pre: is_half_open().
  virtual void make_place() = 0;
  /// The other end owes its first frame, or part of it.
  [[nodiscard]] virtual bool is_half_open() const = 0;
  [[nodiscard]] virtual bool is_offered() const = 0;
  [[nodiscard]] virtual bool is_over() const = 0;
  [[nodiscard]] virtual bool is_consistent() const = 0;
};

/// Who has those of a port.
class PassiveStartupOwner {
 public:
  /// A request is there: accept() or reject(), not from within.
  virtual void offered(PassiveStartup& startup, const PeerOffer& offer) = 0;
  /// The request is gone.
  virtual void offer_withdrawn(PassiveStartup& startup) = 0;
  /// For one more request that the ULP is to decide.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// It is over: to be destroyed, not from within.
  virtual void startup_over() = 0;

 protected:
  ~PassiveStartupOwner() = default;
};

}  // namespace iwarp
