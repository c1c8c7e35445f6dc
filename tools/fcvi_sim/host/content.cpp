#include "tools/fcvi_sim/host/content.hpp"

#include <algorithm>

#include "settings/file.hpp"
#include "tools/fcvi_sim/host/data_time.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"

namespace sim {
std::string ContentStore::load(const std::vector<WorkloadSpec>& workloads) {
  for (const WorkloadSpec& workload : workloads) {
    for (const TransferSpec& transfer : workload.transfers) {
      const DataSpec& data = transfer.data;
      if (data.path.empty() || files_.contains(data.path)) continue;
      const settings::Result<std::string> text = settings::read_file(data.path, max_transfer_bytes);
      if (!text) return text.error().message;
      if (text->size() != data.size_bytes) return data.path + ": changed while the scenario was read";
      Content content{{text->begin(), text->end()}, {}};
      content.digest = sha256(content.bytes);
      files_[data.path] = std::make_shared<const Content>(std::move(content));
    }
  }
  return {};
}

std::shared_ptr<const Content> ContentStore::get(const DataSpec& data, const std::string& name) const {
  if (!data.path.empty()) return files_.at(data.path);
  const OnData timed;
  Content content{std::vector<std::uint8_t>(data.size_bytes), {}};
  Random(seed_, "data " + name).fill(content.bytes);
  content.digest = sha256(content.bytes);
  const auto forget = [](const Content* made) {
    const OnData timed_too;
    delete made;
  };
  return {new Content(std::move(content)), forget};
}

void fill(const Region& region, const Layout& layout, const Content& content) {
  const OnData timed;
  std::vector<Piece> pieces;
  auto from = content.bytes.begin();
  for (std::uint64_t message = 0; message < layout.message_count(); ++message) {
    layout.pieces(message, pieces);
    for (const Piece& piece : pieces) {
      std::copy_n(from, piece.length_bytes, region.bytes().begin() + static_cast<std::ptrdiff_t>(piece.address));
      from += piece.length_bytes;
    }
  }
}

Sha256 digest_of(const Region& region, const Layout& layout) {
  const OnData timed;
  std::vector<Piece> pieces;
  Hasher hasher;
  for (std::uint64_t message = 0; message < layout.message_count(); ++message) {
    layout.pieces(message, pieces);
    for (const Piece& piece : pieces) hasher.add(region.bytes().subspan(piece.address, piece.length_bytes));
  }
  return hasher.finish();
}

}  // namespace sim
