// The bytes that transfers move.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/fcvi_sim/scenario/digest.hpp"
#include "tools/fcvi_sim/host/memory.hpp"
#include "tools/fcvi_sim/scenario/workload.hpp"

namespace sim {

struct Content {
  std::vector<std::uint8_t> bytes;
  Sha256 digest{};
};

class ContentStore {
 public:
  explicit ContentStore(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// Reads every file once. The error names the file; also where its size changed since the scenario was
  /// loaded.
  std::string load(const std::vector<WorkloadSpec>& workloads);
  /// `name` tells random data apart: the same name and seed give the same bytes. To make them takes longer than to send
  /// them, and both ends ask: the last ones are kept. Any thread may call it: each part of a fabric has its own.
  [[nodiscard]] std::shared_ptr<const Content> get(const DataSpec& data, const std::string& name) const;
  static constexpr std::size_t most_kept = 16, most_kept_bytes = 64u << 20;  // of random data; always the last one

 private:
  struct Kept {
    std::string name;
    std::shared_ptr<const Content> content;
  };
  [[nodiscard]] std::shared_ptr<const Content> find(std::size_t size_bytes, const std::string& name) const;
  [[nodiscard]] std::shared_ptr<const Content> make(std::size_t size_bytes, const std::string& name) const;
  void keep(const std::string& name, std::shared_ptr<const Content> content) const;

  std::uint64_t seed_;
  std::map<std::string, std::shared_ptr<const Content>> files_;
  mutable std::mutex mutex_;       // of what is kept
  mutable std::deque<Kept> kept_;  // the last one in front
  mutable std::size_t kept_bytes_ = 0;
};

/// Messages from `first` on, before `end`.
struct Messages {
  std::uint64_t first, end;
  explicit Messages(const Layout& all) : first(0), end(all.message_count()) {}
  Messages(std::uint64_t from, std::uint64_t before) : first(from), end(before) {}
};
/// Content into the pieces of a layout.
void fill(const Region& region, const Layout& layout, const Content& content, Messages which);
/// It lies there. Pre: each of them has a place of its own.
[[nodiscard]] bool lies_in(const Region& region, const Layout& layout, const Content& content, Messages which);
/// The digest of what lies there; where that is `expected`, it is known without hashing.
[[nodiscard]] Sha256 digest_of(const Region& region, const Layout& layout, const Content& expected);

}  // namespace sim
