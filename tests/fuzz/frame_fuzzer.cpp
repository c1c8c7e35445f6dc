// Any bytes as an Ethernet frame and as an FC frame: FCoE, FIP, and the texts of whatever they carry.
#include "property.hpp"
#include "wire/describe.hpp"
#include "wire/fcoe.hpp"

namespace {

void check_fcoe(wire::Bytes bytes) {
  const auto frame = wire::fcoe::FcoeFrame::parse(bytes);
  if (!frame) return;
  std::vector<std::uint8_t> written(wire::fcoe::frame_size(frame->fc_frame.size()));
  wire::fcoe::encapsulate(frame->ethernet.destination, frame->ethernet.source, frame->sof, frame->fc_frame, frame->eof,
                          written);
  const auto again = wire::fcoe::FcoeFrame::parse(written);
  if (!again || !again->crc_ok()) wire::fuzz::fail("does not parse what it wrote", "FCoE");
  static_cast<void>(wire::fcoe::decapsulate(bytes));
  if (frame->to_string().empty()) wire::fuzz::fail("no text", "FCoE");
}

void check_fc_frame(wire::Bytes bytes) {
  if (wire::describe(bytes).empty()) wire::fuzz::fail("no text", "FC frame");
  const auto view = wire::FcFrameView::parse(bytes);
  if (view && wire::message_name(view->header, view->data_field).empty()) wire::fuzz::fail("no name", "FC frame");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::fuzz::ExactCopy input(wire::Bytes(data, size));
  if (wire::describe_ethernet(input.view()).empty()) wire::fuzz::fail("no text", "Ethernet");
  check_fcoe(input.view());
  check_fc_frame(input.view());
  constexpr std::size_t fc_frame_at = 28;
  if (size > fc_frame_at) check_fc_frame(input.view().subspan(fc_frame_at));
  return 0;
}
