#include "wire/fc_header.hpp"

namespace wire {

std::string_view to_string(RCtl value) {
  switch (value) {
    case RCtl::uncategorized: return "uncategorized";
    case RCtl::solicited_data: return "solicited_data";
    case RCtl::unsolicited_control: return "unsolicited_control";
    case RCtl::solicited_control: return "solicited_control";
    case RCtl::unsolicited_data: return "unsolicited_data";
    case RCtl::data_descriptor: return "data_descriptor";
    case RCtl::unsolicited_command: return "unsolicited_command";
    case RCtl::command_status: return "command_status";
    case RCtl::els_request: return "els_request";
    case RCtl::els_reply: return "els_reply";
    case RCtl::nop: return "NOP";
    case RCtl::abts: return "ABTS";
    case RCtl::ba_acc: return "BA_ACC";
    case RCtl::ba_rjt: return "BA_RJT";
    case RCtl::ack_1: return "ACK_1";
    case RCtl::ack_0: return "ACK_0";
    case RCtl::p_rjt: return "P_RJT";
    case RCtl::f_rjt: return "F_RJT";
    case RCtl::p_bsy: return "P_BSY";
    case RCtl::f_bsy_data: return "F_BSY";
    case RCtl::f_bsy_link: return "F_BSY_LINK";
  }
  return text::unknown;
}

std::string_view to_string(Type value) {
  switch (value) {
    case Type::bls: return "BLS";
    case Type::els: return "ELS";
    case Type::ip: return "IP";
    case Type::fcp: return "FCP";
    case Type::ct: return "CT";
    case Type::fc_vi: return "FC-VI";
  }
  return text::unknown;
}

Result<FcFrameView> FcFrameView::parse(Bytes frame) {
  const auto header = FcHeader::parse(frame);
  if (!header) return header.error();
  const Bytes data_field = frame.subspan(FcHeader::size());
  const std::size_t fill = header->fill_bytes();
  if (fill > data_field.size()) return ParseError{ParseCode::bad_length, "fill_bytes"};
  return FcFrameView{*header, data_field.first(data_field.size() - fill)};
}

}  // namespace wire
