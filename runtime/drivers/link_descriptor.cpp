#include "runtime/drivers/link_descriptor.hpp"

#include <unistd.h>

#include <array>
#include <new>

namespace runtime::drivers {
namespace {

constexpr int none = -1;
using Place = std::atomic<int>;

/// A block is added where all are full, and stays: a fork() finds a whole chain at any time, without a lock.
struct Block {
  struct Entry {
    Place descriptor{none};
  };
  Place* take(int descriptor) {
    for (Entry& place : places) {
      int expected = none;
      if (place.descriptor.compare_exchange_strong(expected, descriptor)) return &place.descriptor;
    }
    return nullptr;
  }
  /// None: there is no memory.
  Block* next_or_new() {
    Block* following = next.load();
    if (following != nullptr) return following;
    auto* const added = new (std::nothrow) Block;
    if (added == nullptr || next.compare_exchange_strong(following, added)) return added;
    delete added;  // another thread was first
    return following;
  }
  std::array<Entry, 64> places{};
  std::atomic<Block*> next{nullptr};
};

constinit Block first_block;

Place* take_place(int descriptor) {
  for (Block* block = &first_block; block != nullptr; block = block->next_or_new())
    if (Place* const place = block->take(descriptor)) return place;
  return nullptr;
}

}  // namespace

LinkDescriptor::LinkDescriptor(int descriptor) : descriptor_(descriptor), place_(take_place(descriptor)) {}

// In a child it may be free, or another's.
LinkDescriptor::~LinkDescriptor() {
  int expected = descriptor_;
  if (place_ != nullptr) place_->compare_exchange_strong(expected, none);
}

void LinkDescriptor::close_all_in_child() {
  for (Block* block = &first_block; block != nullptr; block = block->next.load())
    for (Block::Entry& place : block->places)
      if (const int descriptor = place.descriptor.exchange(none); descriptor != none) ::close(descriptor);
}

}  // namespace runtime::drivers
