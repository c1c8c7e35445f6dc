// Any octets as every header of RDMA over TCP, and as FPDUs and IFT frames in each framing.
#include <boost/mp11/algorithm.hpp>

#include "property.hpp"
#include "wire/iwarp/messages.hpp"

namespace {

using Octets = std::vector<std::uint8_t>;

/// The input with the CRC that it should have at `covered`, so that what lies behind that check is reached.
Octets mended(wire::Bytes octets, std::size_t covered) {
  Octets whole(octets.begin(), octets.end());
  if (covered + wire::iwarp::crc_bytes <= whole.size())
    wire::iwarp::store_crc(whole.data() + covered, wire::iwarp::crc32c(wire::Bytes(whole).first(covered)));
  return whole;
}

void check_fpdu(wire::Bytes octets, const wire::mpa::Framing& framing, wire::mpa::Position position) {
  using wire::mpa::Fpdu;
  const auto fpdu = Fpdu::parse(octets, framing, position);
  if (!fpdu) {
    if (to_string(fpdu.error()).empty()) wire::fuzz::fail("error without a text", "FPDU");
    return;
  }
  Octets written(fpdu->size(framing, position), 0xA5);
  if (written.size() != *Fpdu::extent(octets, framing, position)) wire::fuzz::fail("another size than it had", "FPDU");
  fpdu->write(written, framing, position);
  const auto again = Fpdu::parse(written, framing, position);
  if (!again || !(*again == *fpdu)) wire::fuzz::fail("does not parse to what it wrote", "FPDU");
}

void check_fpdus(wire::Bytes octets) {
  for (const wire::mpa::Position position : {0U, 4U, 492U, 508U})
    for (const bool markers : {false, true}) {
      const auto extent = wire::mpa::Fpdu::extent(octets, {markers, false}, position);
      const wire::fuzz::ExactCopy with_crc(mended(octets, extent ? *extent - wire::iwarp::crc_bytes : octets.size()));
      for (const bool crc : {false, true}) {
        check_fpdu(octets, {markers, crc}, position);
        check_fpdu(with_crc.view(), {markers, crc}, position);
      }
    }
}

void check_frame(wire::Bytes octets, const wire::ift::Framing& framing) {
  const auto frame = wire::ift::Frame::parse(octets, framing);
  if (!frame) {
    if (to_string(frame.error()).empty()) wire::fuzz::fail("error without a text", "IFT");
    return;
  }
  if (frame->to_string().empty()) wire::fuzz::fail("no text", "IFT");
  Octets written(frame->size(framing), 0xA5);
  frame->write(written, framing);
  const auto again = wire::ift::Frame::parse(written, framing);
  if (!again || !(*again == *frame)) wire::fuzz::fail("does not parse to what it wrote", "IFT");
}

void check_frames(wire::Bytes octets) {
  using wire::ift::CrcUse;
  const auto header = wire::ift::FrameHeader::parse(octets);
  if (!header) return check_frame(octets, {});
  const wire::fuzz::ExactCopy with_crc(mended(octets, wire::ift::FrameHeader::size() + header->header_size));
  for (const CrcUse header_crc : {CrcUse::absent, CrcUse::ignored, CrcUse::checked})
    for (const CrcUse payload_crc : {CrcUse::absent, CrcUse::ignored, CrcUse::checked}) {
      check_frame(octets, {header->vtag, header_crc, payload_crc});
      check_frame(with_crc.view(), {header->vtag, header_crc, payload_crc});
    }
}

void check_markers(wire::Bytes octets) {
  for (const wire::mpa::Position position : {0U, 2U, 511U}) {
    Octets left(octets.size());
    if (wire::mpa::remove_markers(position, octets, left) > octets.size()) wire::fuzz::fail("grew", "MARKER");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::fuzz::ExactCopy input(wire::Bytes(data, size));
  using Identities = boost::mp11::mp_transform<std::type_identity, wire::iwarp::Messages>;
  boost::mp11::mp_for_each<Identities>(
      [&]<class Message>(std::type_identity<Message>) { wire::fuzz::check<Message>(input.view()); });
  const wire::fuzz::ExactCopy indication(mended(input.view(), 60));
  wire::fuzz::check<wire::ift::AdaptionIndication>(indication.view());
  static_cast<void>(wire::rdmap::Terminate::cause_of(input.view()));
  check_fpdus(input.view());
  check_frames(input.view());
  check_markers(input.view());
  return 0;
}
