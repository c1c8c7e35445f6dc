#include "tools/fcvi_sim/run/ordered_notes.hpp"

#include <algorithm>

namespace sim {

void OrderedNotes::add(Place place, ByteWriter& note) {
  if (clock_.now() != instant_) flush();
  noted_.push_back({place, note.take()});
}

void OrderedNotes::flush() {
  std::stable_sort(noted_.begin(), noted_.end(), [](const Noted& a, const Noted& b) { return a.place < b.place; });
  for (const Noted& one : noted_) sink_(instant_, one.place, one.bytes);
  noted_.clear();
  instant_ = clock_.now();
}

}  // namespace sim
