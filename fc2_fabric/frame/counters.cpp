#include "fc2_fabric/frame/counters.hpp"

namespace fc2 {

std::string_view to_string(Discard reason) {
  switch (reason) {
    case Discard::Truncated: return "truncated";
    case Discard::BadHeader: return "bad header";
    case Discard::BadCrc: return "bad CRC";
    case Discard::WrongAddress: return "wrong address";
    case Discard::NotLoggedIn: return "not logged in";
    case Discard::UnknownType: return "unknown TYPE";
    case Discard::UnknownExchange: return "unknown exchange";
    case Discard::WrongSequence: return "wrong sequence";
    case Discard::AbortedExchange: return "aborted exchange";
    case Discard::TooLong: return "too long";
    case Discard::NoResources: return "no resources";
    case Discard::BadPayload: return "bad payload";
    case Discard::UnexpectedIu: return "unexpected IU";
    case Discard::Unroutable: return "unroutable";
    case Discard::HeldTooLong: return "held too long";
    case Discard::PathChanged: return "path changed";
    case Discard::Count: break;
  }
  return "?";
}

}  // namespace fc2
