// The processes that one mpirun or srun started: ranks, numbered from 0. What is below this interface is MPI; what is
// above it includes nothing of MPI, and can be tested without.
//
// MPI itself is in a module that is loaded when ranks are asked for (open.hpp): who starts fcvi-sim alone loads none of
// it, and MPI_Init is not called.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sim::ranks {

using Bytes = std::vector<std::uint8_t>;

/// Keeps the messages of one purpose apart from those of others.
enum class Channel : int {
  Share = 1,   // pieces of work, and what came of them (tools/fcvi_sim/share)
  Fabric = 2,  // frames of one fabric that several ranks simulate
};

struct Message {
  int from = 0;  // the sender's rank
  Bytes bytes;
};

/// From one thread only, the one that opened it. Messages from one rank to another on one channel arrive whole and in
/// the order in which they were sent.
class Ranks {
 public:
  Ranks() = default;
  /// Waits until every rank comes here too, then ends MPI. After somebody_died() it does neither: with Open MPI 4.1 who
  /// is left may wait for ever for who is gone.
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// 0 to size() - 1.
  [[nodiscard]] virtual int rank() const = 0;
  /// How many were started, those that died since among them; at least 1.
  [[nodiscard]] virtual int size() const = 0;

  /// This rank was told that another one died.
  virtual void somebody_died() = 0;

  /// Returns at once; the bytes are copied. To a rank that died, nothing happens. A rank may send to itself.
  virtual void send(int to, Channel channel, std::span<const std::uint8_t> bytes) = 0;
  /// What has arrived on that channel, the earliest of some rank first; none: nothing has. It does not wait.
  virtual std::optional<Message> take(Channel channel) = 0;
  /// The same, of one rank.
  virtual std::optional<Message> take_from(int from, Channel channel) = 0;
  /// Waits for it, on the processor. For ranks that work in step; for ever if the other one died.
  virtual Message wait_for(int from, Channel channel) = 0;
  /// Every rank calls it, and all get the least of the values. It waits on the processor for the last one.
  virtual std::uint64_t least(std::uint64_t value) = 0;
};

}  // namespace sim::ranks
