// Included by each source of which tools/mutation --owners makes a copy: one change at a time is chosen when
// a program starts.
//
//   FCVI_OWNER_MUTANT=NUMBER       the change that this process and its children run with; 0 or none: the
//   code as it is FCVI_OWNER_REACHED=FILE,SIZE   a file of SIZE bytes: byte NUMBER becomes 1 when the place
//   of change NUMBER is reached
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace owner_mutant {

inline constexpr int most_changes = 1 << 18;
inline unsigned char unseen[most_changes];

inline int asked_for() {
  const char* text = std::getenv("FCVI_OWNER_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}
inline unsigned char* asked_to_note() {
  const char* text = std::getenv("FCVI_OWNER_REACHED");
  const char* comma = text == nullptr ? nullptr : std::strrchr(text, ',');
  if (comma == nullptr) return unseen;
  char path[4096]{};
  std::memcpy(path, text, static_cast<unsigned long>(comma - text));
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  void* memory =
      ::mmap(nullptr, static_cast<unsigned long>(std::atol(comma + 1)), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? unseen : static_cast<unsigned char*>(memory);
}

inline int chosen = asked_for();
inline unsigned char* reached = asked_to_note();

// True where the change of this number is to be made. Never while the compiler computes.
[[nodiscard]] constexpr bool on(int number) {
  if (std::is_constant_evaluated()) return false;
  if (reached != nullptr) reached[number] = 1;  // null before the first initializers ran
  return chosen == number;
}

}  // namespace owner_mutant
