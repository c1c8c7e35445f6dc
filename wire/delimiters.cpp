#include "wire/delimiters.hpp"

#include "wire/text.hpp"

namespace wire {

std::string_view to_string(Sof value) {
  switch (value) {
    case Sof::f: return "SOFf";
    case Sof::i4: return "SOFi4";
    case Sof::i2: return "SOFi2";
    case Sof::i3: return "SOFi3";
    case Sof::n4: return "SOFn4";
    case Sof::n2: return "SOFn2";
    case Sof::n3: return "SOFn3";
    case Sof::c4: return "SOFc4";
  }
  return text::unknown;
}

std::string_view to_string(Eof value) {
  switch (value) {
    case Eof::n: return "EOFn";
    case Eof::t: return "EOFt";
    case Eof::rt: return "EOFrt";
    case Eof::dt: return "EOFdt";
    case Eof::ni: return "EOFni";
    case Eof::dti: return "EOFdti";
    case Eof::rti: return "EOFrti";
    case Eof::a: return "EOFa";
  }
  return text::unknown;
}

}  // namespace wire
