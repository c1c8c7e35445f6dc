// Parts that are the ranks of one mpirun.
#pragma once
#include <chrono>
#include <string>

#include "tools/fcvi_sim/parts/exchange.hpp"
#include "tools/fcvi_sim/ranks/ranks.hpp"

namespace sim {

/// Part n is rank n.
class RankExchange final : public Exchange {
 public:
  /// `patience`: how long it waits for a rank that stopped, or died and nobody noticed. The ranks outlive it.
  RankExchange(ranks::Ranks& all, std::chrono::seconds patience) : ranks_(all), patience_(patience) {}
  [[nodiscard]] std::size_t part() const override { return static_cast<std::size_t>(ranks_.rank()); }
  [[nodiscard]] std::size_t parts() const override { return static_cast<std::size_t>(ranks_.size()); }
  Met meet(const Standing& own, std::vector<ByteString> messages) override;
  std::vector<ByteString> gather(ByteString own) override;
  /// This part cannot go on: the next call of each other one throws PartLost with that text.
  void fail(const std::string& why);

 private:
  ranks::Message wait_for(int rank);
  ranks::Ranks& ranks_;
  const std::chrono::seconds patience_;
};

}  // namespace sim
