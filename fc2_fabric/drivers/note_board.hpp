// The notes of one crossbar at the doorbell of its process: which of its many paths have something to look at.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/drivers/doorbell.hpp"

namespace fc2::drivers {

/// A note for each path, given by its number; a note is due when the far end left it, or add() did.
class NoteBoard {
 public:
  using Doorbell = runtime::drivers::Doorbell;
  explicit NoteBoard(Doorbell& doorbell) : doorbell_(doorbell) {}
  ~NoteBoard() {
    want(false);
    for (const Group& group : groups_) doorbell_.give_back_group(group.number);
  }
  NoteBoard(const NoteBoard&) = delete;
  NoteBoard& operator=(const NoteBoard&) = delete;

  /// Doorbell::no_note: there is none left.
  [[nodiscard]] unsigned take();
  void give_back(unsigned note);
  /// The far ends leave notes from here on; what they wrote before has none.
  void want(bool wanted);
  [[nodiscard]] bool wanted() const { return wanted_; }
  void add(unsigned note);
  /// Takes what the far ends left. True: some are due.
  bool collect();
  /// Calls `each` with those that are due now, which are so no longer.
  template <class Each>
  void take_due(Each each) {
    for (std::size_t i = 0; i < groups_.size(); ++i)
      for (std::uint64_t due = std::exchange(groups_[i].due, 0); due != 0; due &= due - 1)
        each(groups_[i].number * Doorbell::notes_of_a_group + static_cast<unsigned>(std::countr_zero(due)));
  }

 private:
  struct Group {
    unsigned number;
    std::uint64_t given = 0, due = 0;
  };
  [[nodiscard]] Group* group_of(unsigned note);

  Doorbell& doorbell_;
  std::vector<Group> groups_;
  bool wanted_ = false;
};

}  // namespace fc2::drivers
