// Any octets as every header of VI/TCP, and as a segment of a connection with and without CRC.
#include <boost/mp11/algorithm.hpp>

#include "property.hpp"
#include "wire/vitcp/segment.hpp"

namespace {

/// A segment with the CRC that it should have, so that what lies behind that check is reached.
std::vector<std::uint8_t> mended(wire::Bytes octets) {
  std::vector<std::uint8_t> whole(octets.begin(), octets.end());
  const auto header = wire::vitcp::SegmentHeader::parse(octets);
  if (!header || header->segment_length > octets.size()) return whole;
  const std::size_t covered = header->segment_length - wire::vitcp::trailer_bytes;
  wire::vitcp::store_crc(whole.data() + covered, wire::vitcp::crc(wire::Bytes(whole).first(covered)));
  return whole;
}

void check_segment(wire::Bytes octets, bool agreed) {
  const auto segment = wire::vitcp::Segment::parse(octets, agreed);
  if (!segment) {
    const auto& known = wire::vitcp::refusals;
    if (segment.error().code != wire::ParseCode::truncated &&
        std::find(known.begin(), known.end(), segment.error()) == known.end())
      wire::fuzz::fail("a refusal that is not in the list", to_string(segment.error()));
    return;
  }
  if (segment->to_string().empty()) wire::fuzz::fail("no text", "segment");
  std::vector<std::uint8_t> written(segment->size(), 0xA5);
  if (written.size() != segment->header.segment_length) wire::fuzz::fail("another size than it had", "segment");
  segment->write(written);
  const auto again = wire::vitcp::Segment::parse(written, agreed);
  if (!again || !(*again == *segment)) wire::fuzz::fail("does not parse to what it wrote", "segment");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::fuzz::ExactCopy input(wire::Bytes(data, size));
  using Identities = boost::mp11::mp_transform<std::type_identity, wire::vitcp::Parts>;
  boost::mp11::mp_for_each<Identities>(
      [&]<class Message>(std::type_identity<Message>) { wire::fuzz::check<Message>(input.view()); });
  const wire::fuzz::ExactCopy with_crc(mended(input.view()));
  for (const bool agreed : {false, true}) {
    check_segment(input.view(), agreed);
    check_segment(with_crc.view(), agreed);
  }
  return 0;
}
