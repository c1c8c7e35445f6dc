#include "wire/iwarp/ddp/error.hpp"

#include "wire/text.hpp"

namespace wire::ddp {

std::string_view to_string(ErrorType type) {
  switch (type) {
    case ErrorType::local_catastrophic: return "Local Catastrophic";
    case ErrorType::tagged_buffer: return "Tagged Buffer Error";
    case ErrorType::untagged_buffer: return "Untagged Buffer Error";
    case ErrorType::llp: return "Reserved for the use by the LLP";
  }
  return text::unknown;
}

std::string_view to_string(TaggedError code) {
  switch (code) {
    case TaggedError::invalid_stag: return "Invalid STag";
    case TaggedError::base_or_bounds: return "Base or bounds violation";
    case TaggedError::stag_not_associated: return "STag not associated with DDP Stream";
    case TaggedError::to_wrap: return "TO wrap";
    case TaggedError::invalid_version: return "Invalid DDP version";
  }
  return text::unknown;
}

std::string_view to_string(UntaggedError code) {
  switch (code) {
    case UntaggedError::invalid_qn: return "Invalid QN";
    case UntaggedError::no_buffer: return "Invalid MSN - no buffer available";
    case UntaggedError::msn_range: return "Invalid MSN - MSN range is not valid";
    case UntaggedError::invalid_mo: return "Invalid MO";
    case UntaggedError::message_too_long: return "DDP Message too long for available buffer";
    case UntaggedError::invalid_version: return "Invalid DDP version";
  }
  return text::unknown;
}

}  // namespace wire::ddp
