#include "fc2_fabric/drivers/note_board.hpp"

#include <algorithm>
#include <utility>

namespace fc2::drivers {
namespace {
constexpr std::uint64_t bit_of(unsigned note) {
  return std::uint64_t{1} << note % NoteBoard::Doorbell::notes_of_a_group;
}
}  // namespace

unsigned NoteBoard::take() {
  auto free = std::find_if(groups_.begin(), groups_.end(), [](const Group& group) { return ~group.given != 0; });
  if (free == groups_.end()) {
    const auto number = doorbell_.take_group();
    if (!number) return Doorbell::no_note;
    free = groups_.insert(groups_.end(), Group{*number});
  }
  const unsigned note = free->number * Doorbell::notes_of_a_group + static_cast<unsigned>(std::countr_one(free->given));
  free->given |= bit_of(note);
  return note;
}

NoteBoard::Group* NoteBoard::group_of(unsigned note) {
  const unsigned number = note / Doorbell::notes_of_a_group;
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.number == number; });
  return found == groups_.end() ? nullptr : &*found;
}

void NoteBoard::give_back(unsigned note) {
  Group* const group = group_of(note);
  if (group == nullptr) return;
  group->given &= ~bit_of(note);
  group->due &= ~bit_of(note);
}

void NoteBoard::want(bool wanted) {
  if (std::exchange(wanted_, wanted) != wanted) doorbell_.want_notes(wanted);
}

void NoteBoard::add(unsigned note) {
  if (Group* const group = group_of(note)) group->due |= bit_of(note) & group->given;
}

bool NoteBoard::collect() {
  bool any = false;
  for (Group& group : groups_) {
    group.due |= doorbell_.take_notes(group.number) & group.given;
    any |= group.due != 0;
  }
  return any;
}

}  // namespace fc2::drivers
