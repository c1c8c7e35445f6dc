#include "wire/describe.hpp"

#include "wire/fcoe.hpp"
#include "wire/header_fields.hpp"
#include "wire/messages.hpp"

namespace wire {
namespace {

els::Command els_command(Bytes payload) { return payload.empty() ? els::Command{} : els::command_of(payload); }

ct::Command ct_command(Bytes payload) {
  const auto preamble = ct::CtHeader::parse(payload);
  return preamble ? preamble->command : ct::Command{};
}

std::string_view known_or(std::string_view name, std::string_view otherwise) {
  return name == text::unknown ? otherwise : name;
}

std::string_view fcvi_name(Bytes data_field) {
  constexpr std::size_t opcode_at = 4;
  if (data_field.size() <= opcode_at) return "FC-VI";
  return known_or(to_string(static_cast<fcvi::Opcode>(data_field[opcode_at])), "FC-VI");
}

/// Link control frames and basic link services go by R_CTL, not by TYPE.
bool named_by_r_ctl(RCtl r_ctl) {
  const unsigned routing = static_cast<unsigned>(r_ctl) >> 4;
  return routing == 0x8 || routing == 0xC;
}

template <class Message>
std::string text_of_parsed(Bytes payload, std::string_view name = Message::name) {
  const auto message = Message::parse(payload);
  if (!message) return std::string(name).append(" malformed: ").append(to_string(message.error()));
  return message->to_string();
}

/// The text of the first message of the list that `is_it` picks; empty if none.
template <class List, class IsIt>
std::string text_from(Bytes payload, std::string_view name, IsIt is_it) {
  std::string line;
  for_each_message<List>([&]<class Message>(std::type_identity<Message>) {
    if (line.empty() && is_it.template operator()<Message>()) line = text_of_parsed<Message>(payload, name);
  });
  return line;
}

/// LS_ACC does not say what it accepts: its size and first words tell enough for a trace.
std::string ls_acc_text(Bytes payload) {
  if (payload.size() == els::Login::size()) return "LS_ACC " + text_of_parsed<els::Login>(payload);
  const bool has_port_name =
      payload.size() > 8 && payload[8] != 0;  // where ADISC has one: with a NAA; a count is never so high
  if (payload.size() == els::RlsAcc::size() && !has_port_name) return text_of_parsed<els::RlsAcc>(payload);
  if (payload.size() == els::RnidAcc::size() && payload[5] == 16) return text_of_parsed<els::RnidAcc>(payload);
  if (payload.size() == els::RnidTopologyAcc::size() && payload[4] == 0xDF)
    return text_of_parsed<els::RnidTopologyAcc>(payload);
  if (payload.size() == els::Adisc::size()) return "LS_ACC " + text_of_parsed<els::Adisc>(payload);
  if (payload.size() >= 4 && payload[1] == els::PrliPage::size()) return "LS_ACC " + text_of_parsed<els::Prli>(payload);
  if (payload.size() == els::RtvAcc::size()) return text_of_parsed<els::RtvAcc>(payload);
  return text_of_parsed<els::LsAcc>(payload);
}

std::string els_text(Bytes payload) {
  const els::Command command = els_command(payload);
  if (command == els::Command::ls_acc) return ls_acc_text(payload);
  if (command == els::Command::ls_rjt) return text_of_parsed<els::LsRjt>(payload);
  std::string line = text_from<ElsRequests>(payload, to_string(command),
                                            [&]<class Message>() { return els::has_command<Message>(command); });
  if (!line.empty()) return line;
  return "ELS " + codec::text_of(command, 8) + " data=" + text::bytes(payload);
}

std::string ct_text(Bytes payload) {
  const ct::Command command = ct_command(payload);
  if (command == ct::Command::accept) return text_of_parsed<ct::CtAccept>(payload);
  if (command == ct::Command::reject) return text_of_parsed<ct::CtReject>(payload);
  std::string line =
      text_from<CtRequests>(payload, to_string(command), [&]<class Message>() { return Message::command == command; });
  if (!line.empty()) return line;
  return "CT " + codec::text_of(command, 16) + " data=" + text::bytes(payload);
}

std::string fcvi_text(const FcHeader& header, Bytes data_field) {
  const auto device_header = fcvi::DeviceHeader::parse(header.device_header_size(), data_field);
  if (!device_header) return std::string(fcvi_name(data_field)) + " malformed: " + to_string(device_header.error());
  std::string line = text_from<FcviIus>(data_field, fcvi_name(data_field),
                                        [&]<class Message>() { return Message::opcode == device_header->opcode; });
  if (fcvi::find_iu(device_header->opcode)->payload == fcvi::Payload::message_data) {
    if (header.has(f_ctl::relative_offset_present)) text::append(line, "offset", std::to_string(header.parameter));
    text::append(line, "data_bytes", std::to_string(data_field.size() - device_header->size()));
  }
  return line;
}

/// The text without the message's name.
template <class Message>
std::string fields_of(const Message& message) {
  return message.to_string().substr(Message::name.size());
}

std::string link_text(const FcHeader& header, Bytes data_field) {
  const std::string name(message_name(header, data_field));
  if (header.r_ctl == RCtl::ba_acc) return text_of_parsed<bls::BaAcc>(data_field);
  if (header.r_ctl == RCtl::ba_rjt) return text_of_parsed<bls::BaRjt>(data_field);
  if (header.r_ctl == RCtl::p_rjt || header.r_ctl == RCtl::f_rjt)
    return name + fields_of(LinkReject::from_parameter(header.parameter));
  if (header.r_ctl == RCtl::p_bsy) return name + fields_of(LinkBusy::from_parameter(header.parameter));
  return name;
}

std::string payload_text(const FcHeader& header, Bytes data_field) {
  if (named_by_r_ctl(header.r_ctl)) return link_text(header, data_field);
  switch (header.type) {
    case Type::els: return els_text(data_field);
    case Type::ct: return ct_text(data_field);
    case Type::fc_vi: return fcvi_text(header, data_field);
    case Type::bls:
    case Type::ip:
    case Type::fcp: break;
  }
  std::string line(message_name(header, data_field));
  text::append(line, "data_bytes", std::to_string(data_field.size()));
  return line;
}

/// Frames of a sequence after its first begin in the middle of the message. FC-VI frames do not: all have a header.
bool is_continuation(const FcHeader& header) {
  return header.type != Type::fc_vi && !named_by_r_ctl(header.r_ctl) && header.has(f_ctl::relative_offset_present) &&
         header.parameter != 0;
}

}  // namespace

std::string_view message_name(const FcHeader& header, Bytes data_field) {
  if (named_by_r_ctl(header.r_ctl)) return known_or(to_string(header.r_ctl), "FC");
  switch (header.type) {
    case Type::els: return known_or(to_string(els_command(data_field)), "ELS");
    case Type::ct: return known_or(to_string(ct_command(data_field)), "CT");
    case Type::fc_vi: return fcvi_name(data_field);
    case Type::bls:
    case Type::ip:
    case Type::fcp: return to_string(header.type);
  }
  return "FC";
}

std::string describe_route(const FcHeader& header) {
  std::string line = to_string(header.s_id) + " > " + to_string(header.d_id);
  text::append(line, "ox_id", to_string(header.ox_id));
  text::append(line, "rx_id", to_string(header.rx_id));
  text::append(line, "seq", text::hex(header.seq_id.value, 2) + "/" + std::to_string(header.seq_cnt.value));
  return line;
}

std::string describe_message(const FcHeader& header, Bytes data_field) {
  if (!is_continuation(header)) return payload_text(header, data_field);
  std::string line(to_string(header.type));
  text::append(line, "offset", std::to_string(header.parameter));
  text::append(line, "data_bytes", std::to_string(data_field.size()));
  return line;
}

std::string describe(Bytes fc_frame) {
  const auto frame = FcFrameView::parse(fc_frame);
  if (!frame) return "malformed: " + to_string(frame.error());
  return describe_route(frame->header) + ' ' + describe_message(frame->header, frame->data_field);
}

std::string describe_ethernet(Bytes ethernet_frame) {
  const auto ethernet = EthernetHeader::parse(ethernet_frame);
  if (!ethernet) return "malformed: " + to_string(ethernet.error());
  switch (ethernet->type) {
    case EtherType::fcoe: {
      const auto fcoe = fcoe::FcoeFrame::parse(ethernet_frame);
      if (!fcoe) return "FCoE malformed: " + to_string(fcoe.error());
      return describe(fcoe->fc_frame) + (fcoe->crc_ok() ? "" : " BAD CRC");
    }
    case EtherType::fip:
      return to_string(ethernet->source) + " > " + to_string(ethernet->destination) + " " +
             text_of_parsed<fip::FipMessage>(ethernet_frame.subspan(EthernetHeader::size()));
    case EtherType::vlan: break;
  }
  return "Ethernet " + codec::text_of(ethernet->type, 16);
}

}  // namespace wire
