#include "tools/fcvi_sim/host/content.hpp"

#include <algorithm>
#include <span>

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
  if (auto found = find(data.size_bytes, name)) return found;
  const std::shared_ptr<const Content> made = make(data.size_bytes, name);
  keep(name, made);
  return made;
}

std::shared_ptr<const Content> ContentStore::find(std::size_t size_bytes, const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto is_it = [&](const Kept& kept) { return kept.name == name && kept.content->bytes.size() == size_bytes; };
  const auto found = std::ranges::find_if(kept_, is_it);
  return found == kept_.end() ? nullptr : found->content;
}

std::shared_ptr<const Content> ContentStore::make(std::size_t size_bytes, const std::string& name) const {
  const OnData timed(size_bytes);
  Content content{std::vector<std::uint8_t>(size_bytes), {}};
  Random(seed_, "data " + name).fill(content.bytes);
  content.digest = sha256(content.bytes);
  const auto forget = [](const Content* made) {
    const OnData timed_too(made->bytes.size());
    delete made;
  };
  return {new Content(std::move(content)), forget};
}

void ContentStore::keep(const std::string& name, std::shared_ptr<const Content> content) const {
  const std::scoped_lock lock(mutex_);
  kept_bytes_ += content->bytes.size();
  kept_.push_front({name, std::move(content)});
  while (kept_.size() > 1 && (kept_.size() > most_kept || kept_bytes_ > most_kept_bytes)) {
    kept_bytes_ -= kept_.back().content->bytes.size();
    kept_.pop_back();
  }
}

namespace {
std::uint64_t size_of(const Layout& layout, Messages which) {
  return layout.message_start(which.end) - layout.message_start(which.first);
}
}  // namespace

void fill(const Region& region, const Layout& layout, const Content& content, Messages which) {
  const OnData timed(size_of(layout, which));
  std::vector<Piece> pieces;
  auto from = content.bytes.begin() + static_cast<std::ptrdiff_t>(layout.message_start(which.first));
  for (std::uint64_t message = which.first; message < which.end; ++message) {
    layout.pieces(message, pieces);
    for (const Piece& piece : pieces) {
      std::copy_n(from, piece.length_bytes, region.bytes().begin() + static_cast<std::ptrdiff_t>(piece.address));
      from += piece.length_bytes;
    }
  }
}

bool lies_in(const Region& region, const Layout& layout, const Content& content, Messages which) {
  const OnData timed(size_of(layout, which));
  const std::span<const std::uint8_t> expected(content.bytes);
  std::vector<Piece> pieces;
  std::size_t done = layout.message_start(which.first);
  for (std::uint64_t message = which.first; message < which.end; ++message) {
    layout.pieces(message, pieces);
    for (const Piece& piece : pieces) {
      const auto there = region.bytes().subspan(piece.address, piece.length_bytes);
      if (piece.length_bytes > expected.size() - done) return false;
      if (!std::ranges::equal(there, expected.subspan(done, piece.length_bytes))) return false;
      done += piece.length_bytes;
    }
  }
  return which.end < layout.message_count() || done == expected.size();
}

Sha256 digest_of(const Region& region, const Layout& layout, const Content& expected) {
  if (lies_in(region, layout, expected, Messages(layout))) return expected.digest;
  const OnData timed(region.bytes().size());
  std::vector<Piece> pieces;
  Hasher hasher;
  for (std::uint64_t message = 0; message < layout.message_count(); ++message) {
    layout.pieces(message, pieces);
    for (const Piece& piece : pieces) hasher.add(region.bytes().subspan(piece.address, piece.length_bytes));
  }
  return hasher.finish();
}

}  // namespace sim
