// Memory for what has to wait: of a frame that is not whole yet, of a batch that a stream did not take, of operations
// that are under way. The streams of a core share it: free places are kept for the next one, so that frames, batches
// and messages allocate nothing, and who is idle holds nothing.
#pragma once
#include <array>
#include <memory>
#include <new>
#include <vector>

#include "wire/bytes.hpp"

namespace iwarp {

/// No thread but the core's.
class OctetPlaces {
 public:
  /// Of the three sizes: what is short, any frame (of 65,535 octets with headers and markers), any batch.
  static constexpr std::size_t small_octets = 4'096, frame_octets = 68'608, batch_octets = 204'800;
  /// Free ones that are kept of each size, some 4 MB. A place is allocated when more are in use at once than ever
  /// before, or than these.
  static constexpr std::array<std::size_t, 3> most_free{1'024, 64, 20};

  /// Empty, or a place that was taken. Goes back with give_back().
  class Place {
   public:
    [[nodiscard]] bool is_empty() const { return memory_ == nullptr; }
    [[nodiscard]] wire::MutableBytes octets() const { return {memory_.get(), is_empty() ? 0 : sizes[size_]}; }

   private:
    friend class OctetPlaces;
    std::unique_ptr<std::uint8_t[]> memory_;
    std::size_t size_ = 0;  // its index
  };

  OctetPlaces();
  /// `place` has room for so many octets when this returns; what was in it is lost if it had not. Pre: at most
  /// batch_octets.
  void need(Place& place, std::size_t octets);
  void give_back(Place& place);
  /// Memory of so many octets, from a place if it is no larger; and back.
  [[nodiscard]] void* take(std::size_t octets);
  void give(void* memory, std::size_t octets);

 private:
  static constexpr std::array<std::size_t, 3> sizes{small_octets, frame_octets, batch_octets};
  std::array<std::vector<std::unique_ptr<std::uint8_t[]>>, 3> free_;
};

/// For containers (Allocator of the standard library): their memory is a place as long as it is no larger than a batch.
template <class T>
class PlacesAllocator {
 public:
  using value_type = T;
  explicit PlacesAllocator(OctetPlaces& places) : places_(&places) {}
  template <class Other>
  explicit PlacesAllocator(const PlacesAllocator<Other>& other) : places_(other.places_) {}
  /// As many as a small place has room for.
  static constexpr std::size_t first = OctetPlaces::small_octets / sizeof(T);

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(places_->take(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) { places_->give(memory, count * sizeof(T)); }
  friend bool operator==(const PlacesAllocator&, const PlacesAllocator&) = default;

 private:
  template <class Other>
  friend class PlacesAllocator;
  OctetPlaces* places_;
};

}  // namespace iwarp
