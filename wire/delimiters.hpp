// Start- and end-of-frame delimiters with their FCoE codes (RFC 3643, FC-BB).
#pragma once
#include <cstdint>
#include <string_view>

namespace wire {

enum class Sof : std::uint8_t {
  f = 0x28,   // fabric (switch to switch)
  i4 = 0x29,  // initiate class 4
  i2 = 0x2D,  // initiate class 2: first frame of a sequence
  i3 = 0x2E,  // initiate class 3
  n4 = 0x31,
  n2 = 0x35,  // normal class 2: any later frame of a sequence
  n3 = 0x36,  // normal class 3
  c4 = 0x39,
};

enum class Eof : std::uint8_t {
  n = 0x41,  // normal
  t = 0x42,  // terminate: last frame of a sequence
  rt = 0x44,
  dt = 0x46,
  ni = 0x49,  // normal, invalid
  dti = 0x4E,
  rti = 0x4F,
  a = 0x50,  // abort
};

[[nodiscard]] std::string_view to_string(Sof sof);
[[nodiscard]] std::string_view to_string(Eof eof);
/// Of those above, which have a name.
[[nodiscard]] constexpr bool is_known(Sof sof) {
  switch (sof) {
    case Sof::f:
    case Sof::i4:
    case Sof::i2:
    case Sof::i3:
    case Sof::n4:
    case Sof::n2:
    case Sof::n3:
    case Sof::c4: return true;
  }
  return false;
}
[[nodiscard]] constexpr bool is_known(Eof eof) {
  switch (eof) {
    case Eof::n:
    case Eof::t:
    case Eof::rt:
    case Eof::dt:
    case Eof::ni:
    case Eof::dti:
    case Eof::rti:
    case Eof::a: return true;
  }
  return false;
}

/// Class of service 2 or 3; 0 for any other delimiter.
[[nodiscard]] constexpr int class_of_service(Sof sof) {
  if (sof == Sof::i2 || sof == Sof::n2) return 2;
  return sof == Sof::i3 || sof == Sof::n3 ? 3 : 0;
}

}  // namespace wire
