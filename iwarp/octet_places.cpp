#include "iwarp/octet_places.hpp"

#include <cassert>
#include <utility>

namespace iwarp {

OctetPlaces::OctetPlaces() {
  for (std::size_t i = 0; i < sizes.size(); ++i) free_[i].reserve(most_free[i]);
}

void OctetPlaces::need(Place& place, std::size_t octets) {
  assert(octets <= batch_octets);
  if (octets <= place.octets().size()) return;
  give_back(place);
  while (sizes[place.size_] < octets) ++place.size_;
  auto& free = free_[place.size_];
  if (free.empty()) {
    place.memory_ = std::make_unique_for_overwrite<std::uint8_t[]>(sizes[place.size_]);
  } else {
    place.memory_ = std::move(free.back());
    free.pop_back();
  }
}

void OctetPlaces::give_back(Place& place) {
  auto& free = free_[place.size_];
  if (!place.is_empty() && free.size() < most_free[place.size_]) free.push_back(std::move(place.memory_));
  place = {};
}

void* OctetPlaces::take(std::size_t octets) {
  if (octets > batch_octets) return ::operator new(octets);
  Place place;
  need(place, octets);
  return place.memory_.release();
}

void OctetPlaces::give(void* memory, std::size_t octets) {
  if (octets > batch_octets) return ::operator delete(memory);
  Place place;
  while (sizes[place.size_] < octets) ++place.size_;
  place.memory_.reset(static_cast<std::uint8_t*>(memory));
  give_back(place);
}

}  // namespace iwarp
