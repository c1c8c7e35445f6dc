#include "wire/vitcp/segment_type.hpp"

#include "wire/text.hpp"

namespace wire::vitcp {

std::string_view to_string(SegmentType type) { return is_known(type) ? info_of(type).name : text::unknown; }

std::string_view to_string(FollowingHeader header) {
  switch (header) {
    case FollowingHeader::none: return "none";
    case FollowingHeader::rdma: return "RDMA header";
    case FollowingHeader::ce: return "CE header";
  }
  return text::unknown;
}

std::string_view to_string(TrailerRule rule) {
  switch (rule) {
    case TrailerRule::as_agreed: return "as agreed";
    case TrailerRule::by_option: return "by option";
    case TrailerRule::by_length: return "by length";
  }
  return text::unknown;
}

}  // namespace wire::vitcp
