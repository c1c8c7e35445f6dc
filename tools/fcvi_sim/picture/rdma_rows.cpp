#include "tools/fcvi_sim/picture/rdma_rows.hpp"

#include "settings/units.hpp"
#include "wire/iwarp/ift/frame.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"
#include "wire/iwarp/rdmap/opcode.hpp"
#include "wire/iwarp/rdmap/terminate.hpp"

namespace sim {
using wire::rdmap::Opcode;

namespace {

void add_field(std::string& text, const std::string& word) { text.append(text.empty() ? "" : ", ").append(word); }

std::string fields_of(const wire::mpa::StartupFrame& frame) {
  std::string text = "revision " + std::to_string(frame.revision);
  if (frame.markers) add_field(text, "markers");
  if (frame.crc) add_field(text, "CRC");
  if (frame.rejected) add_field(text, "rejected");
  if (frame.enhanced) {
    if (frame.enhanced->peer_to_peer) add_field(text, "peer-to-peer");
    add_field(text, "IRD " + std::to_string(frame.enhanced->ird));
    add_field(text, "ORD " + std::to_string(frame.enhanced->ord));
  }
  if (!frame.private_data.empty())
    add_field(text, settings::format_count(frame.private_data.size()) + " octets of private data");
  return text;
}

std::string fields_of(const wire::ift::AdaptionIndication& frame) {
  std::string text = frame.phase_1 ? "phase 1" : "phase 0";
  if (frame.header_crc) add_field(text, "header CRC");
  if (frame.payload_crc) add_field(text, "payload CRC");
  add_field(text, "VTag " + to_string(frame.vtag));
  return text;
}

/// Octets of a message's payload: those of the segment behind its DDP header.
std::size_t payload_of(SegmentForm form, wire::Bytes octets, const wire::ddp::Header& header) {
  if (form == SegmentForm::IftFrame) return wire::load_big<2>(octets, 2);
  return wire::load_big<2>(octets, 0) - header.size();
}

std::string fields_of(const wire::ddp::Header& header, std::size_t payload, wire::Bytes behind) {
  const Opcode opcode = wire::rdmap::Control::of(header.rsvd_ulp).opcode;
  if (opcode == Opcode::terminate) return to_string(wire::rdmap::Terminate::cause_of(behind));
  std::string text = header.tagged ? "STag " + to_string(header.stag) : "MSN " + std::to_string(header.msn.value);
  if (const auto request = wire::rdmap::ReadRequest::parse(behind); opcode == Opcode::rdma_read_request && request)
    return text + ", " + settings::format_count(request->size_bytes) + " octets at " +
           settings::format_count(request->source_offset) + " of STag " + to_string(request->source_stag);
  add_field(text, settings::format_count(payload) + " octets at " +
                      settings::format_count(header.tagged ? header.tagged_offset : header.message_offset));
  if (wire::rdmap::is_known(opcode) && wire::rdmap::info_of(opcode).invalidates)
    add_field(text, "invalidates STag " + to_string(wire::ddp::STag{header.rsvd_ulp_untagged}));
  if (header.last) add_field(text, "last");
  return text;
}

RowKind kind_of(SegmentForm form, wire::Bytes octets) {
  if (form == SegmentForm::MpaStartup || form == SegmentForm::Adaption) return RowKind::Setup;
  const Opcode opcode = wire::rdmap::Control::of(octets[ddp_offset(form) + 1]).opcode;
  if (opcode == Opcode::rdma_read_response) return RowKind::Response;
  return opcode == Opcode::terminate ? RowKind::Teardown : RowKind::Data;
}

std::size_t payload_of(SegmentForm form, wire::Bytes octets) {
  if (form == SegmentForm::MpaStartup || form == SegmentForm::Adaption) return 0;
  const auto header = wire::ddp::Header::parse(octets.subspan(ddp_offset(form)));
  return header ? payload_of(form, octets, *header) : 0;
}

}  // namespace

std::string short_fields(SegmentForm form, wire::Bytes octets) {
  if (form == SegmentForm::MpaStartup) {
    const auto frame = wire::mpa::StartupFrame::parse(octets);
    return frame ? fields_of(*frame) : "";
  }
  if (form == SegmentForm::Adaption) {
    const auto frame = wire::ift::AdaptionIndication::parse(octets);
    return frame ? fields_of(*frame) : "";
  }
  const wire::Bytes ddp = octets.subspan(ddp_offset(form));
  const auto header = wire::ddp::Header::parse(ddp);
  if (!header) return "";
  return fields_of(*header, payload_of(form, octets, *header), octets.subspan(ulp_offset(form, octets).value_or(0)));
}

LadderRow row_of(SegmentForm form, wire::Bytes octets, runtime::TimeNs at, std::size_t from, std::size_t to) {
  std::string text(rdma_segment_name(form, octets));
  const std::string fields = short_fields(form, octets);
  if (!fields.empty()) text.append(" ").append(fields);
  return {.row_kind = kind_of(form, octets),
          .at = at,
          .from = from,
          .to = to,
          .text = std::move(text),
          .frames = 1,
          .bytes = payload_of(form, octets)};
}

}  // namespace sim
