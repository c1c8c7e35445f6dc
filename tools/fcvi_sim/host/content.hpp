// The bytes that transfers move.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
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
  /// `name` tells random data apart: the same name and seed give the same bytes.
  [[nodiscard]] std::shared_ptr<const Content> get(const DataSpec& data, const std::string& name) const;

 private:
  std::uint64_t seed_;
  std::map<std::string, std::shared_ptr<const Content>> files_;
};

/// Content into the pieces of a layout, and the digest of what lies there.
void fill(const Region& region, const Layout& layout, const Content& content);
[[nodiscard]] Sha256 digest_of(const Region& region, const Layout& layout);

}  // namespace sim
