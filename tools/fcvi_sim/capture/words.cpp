#include "tools/fcvi_sim/capture/words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "settings/units.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "wire/describe.hpp"
#include "wire/els/login.hpp"
#include "wire/header_fields.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
namespace f_ctl = wire::f_ctl;

struct BitName {
  std::uint32_t bits;
  std::string_view name;
};
constexpr std::array<BitName, 9> f_ctl_names{{{f_ctl::exchange_responder, "responder"},
                                              {f_ctl::sequence_recipient, "recipient"},
                                              {f_ctl::first_sequence, "first"},
                                              {f_ctl::last_sequence, "last"},
                                              {f_ctl::end_sequence, "end"},
                                              {f_ctl::cs_ctl_priority, "priority"},
                                              {f_ctl::sequence_initiative, "initiative"},
                                              {f_ctl::retransmitted, "retransmitted"},
                                              {f_ctl::relative_offset_present, "offset"}}};

/// What comes behind the name in a text of wire's.
std::string behind_name(std::string_view text, std::string_view name) {
  if (text.substr(0, name.size()) == name) text.remove_prefix(name.size());
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return std::string(text);
}

bool is_accepted_login(const Seen& seen) {
  return seen.header.r_ctl == wire::RCtl::els_reply && seen.header.type == wire::Type::els &&
         seen.data_field().size() == wire::els::Login::size() &&
         wire::els::command_of(seen.data_field()) == wire::els::Command::ls_acc;
}

std::string one_line(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    if (field.name == "preamble" || field.name == "command") continue;  // as always; what the name says
    text.append(text.empty() ? "" : " ")
        .append(field.name)
        .append(field.name.empty() || field.value.empty() ? "" : "=");
    text.append(field.value);
    if (!field.fields.empty()) text.append(" {").append(one_line(field.fields)).append("}");
  }
  return text;
}

/// A message whose end was not captured is not malformed.
std::string without_blame(std::string text, bool is_cut) {
  const std::size_t blame = is_cut ? text.find("malformed: truncated") : std::string::npos;
  return blame == std::string::npos ? text : text.substr(0, blame > 0 ? blame - 1 : 0);
}

/// The main fields: those of the ladder, or where it has none, those of wire's text.
std::string main_fields(const Seen& seen, std::string_view name) {
  if (is_accepted_login(seen)) {
    const auto login = wire::codec::read<wire::els::Login>(seen.data_field().data());
    return "Port_Name " + to_string(login.port_name);
  }
  std::string words = short_fields(seen.header, seen.data_field());
  if (words != "malformed" && (!words.empty() || seen.header.type == wire::Type::fc_vi)) return words;
  words = wire::describe_message(seen.header, seen.data_field());
  if (words.find("malformed") != std::string::npos) return without_blame(behind_name(words, name), seen.frame.is_cut);
  const Field message = parse_description(words);
  const std::string fields = one_line(message.fields);
  // Behind LS_ACC stands what it accepts, which is said anyway.
  if (seen.is_reply || message.value.empty()) return fields;
  return fields.empty() ? message.value : message.value + " " + fields;
}

std::string part_of_message(const Seen& seen) {
  IuFrame iu = iu_of(seen.frame);
  read_device_header(iu);
  if (!iu.has_header || !iu.carries_data() || iu.payload == iu.last_word()) return "";
  return " [" + std::to_string(iu.header.parameter) + "+" + std::to_string(iu.payload) + " of " +
         settings::format_bytes(iu.last_word()) + "]";
}

std::string fc_vi_summary(const Seen& seen, std::string name) {
  IuFrame iu = iu_of(seen.frame);
  read_device_header(iu);
  if (iu.has_opcode && iu.iu == nullptr) return "FC-VI, opcode " + wire::text::hex_h(iu.opcode_byte, 2);
  if (!iu.has_header) return name + ", truncated";
  if (iu.announced != iu.iu->device_header_size)
    return name + ", DF_CTL announces " + std::to_string(iu.announced) + " bytes";
  const std::string fields = short_fields(seen.header, seen.data_field());
  if (!fields.empty()) name += " " + fields;
  return name + part_of_message(seen);
}

std::string part_text(const Seen& seen, std::string_view name) {
  const bool has_offset = seen.header.has(f_ctl::relative_offset_present);
  const std::size_t before = std::min(seen.header.device_header_size(), seen.frame.data_field.size());
  return std::string(name) + " part, " + std::to_string(seen.frame.data_field.size() - before) + " bytes at " +
         std::to_string(has_offset ? seen.header.parameter : 0);
}

/// Later frames of an ELS or CT request do not begin with what names it.
std::string_view name_of(const Seen& seen) {
  const bool continues = seen.is_part && seen.header.device_header_size() == 0 && seen.header.parameter != 0;
  return continues ? to_string(seen.header.type) : wire::message_name(seen.header, seen.data_field());
}

std::string message_words(const Seen& seen) {
  std::string name(name_of(seen));
  if (seen.is_part) return part_text(seen, name);
  if (seen.header.type == wire::Type::fc_vi && seen.frame.is_fc_vi()) return fc_vi_summary(seen, name);
  if (seen.header.r_ctl == wire::RCtl::abts && seen.record->aborts != 0) {
    const Exchange& exchange = *seen.record->exchange;
    return name + " of " + std::string(exchange.iu == nullptr ? "FC-VI" : exchange.iu->name) +
           (exchange.words.empty() ? "" : " " + exchange.words);
  }
  const std::string fields = main_fields(seen, name);
  if (seen.is_reply) name += " to " + seen.exchange->name;
  return fields.empty() ? name : name + " " + fields;
}

std::string fip_words(const wire::fip::FipMessage& fip) {
  std::string text = fip_name(fip);
  for (const auto& descriptor : fip.descriptors) {
    if (std::holds_alternative<wire::fip::EncapsulatedFrame>(descriptor)) continue;
    const std::string words = wire::fip::to_string(descriptor);
    const std::size_t space = words.find(' ');  // behind the descriptor's name, which does not matter in a line
    if (space != std::string::npos) text += ", " + words.substr(space + 1);
  }
  return text;
}

// --- what is usual

bool is_usual_f_ctl(const Seen& seen) {
  const wire::FcHeader& header = *seen.frame.header;
  if (seen.frame.is_fc_vi()) {
    const auto& notes = seen.record->notes;
    return std::none_of(notes.begin(), notes.end(),
                        [](const Note& note) { return note.violation == violations::Violation::wrong_f_ctl; });
  }
  // Link control and basic link services say with it what they answer.
  if (header.r_ctl >= wire::RCtl::nop) return true;
  if (header.type != wire::Type::els && header.type != wire::Type::ct) return true;
  constexpr std::uint32_t free = f_ctl::fill_bytes_mask | f_ctl::relative_offset_present | f_ctl::sequence_initiative |
                                 f_ctl::ack_form_mask | f_ctl::end_sequence;
  const std::uint32_t fixed = header.f_ctl & ~free;
  return fixed == (f_ctl::single_frame_request & ~free) || fixed == (f_ctl::single_frame_reply & ~free);
}

/// Of class 3, or of class 2, which has been said then. The first frame of an Exchange begins its Sequence; link
/// control begins none.
bool is_usual_sof(const Frame& frame) {
  if (!frame.sof || *frame.sof == wire::Sof::i3 || *frame.sof == wire::Sof::i2) return true;
  const bool may_be_first = frame.header->seq_cnt.value == 0 && !wire::is_link_control(frame.header->r_ctl);
  return (*frame.sof == wire::Sof::n3 || *frame.sof == wire::Sof::n2) && !may_be_first;
}

/// Of class 3: EOFt ends a Sequence, EOFn does not.
bool is_usual_eof(const Frame& frame) {
  if (!frame.eof) return true;
  const bool ends = frame.header->has(f_ctl::end_sequence);
  if (wire::class_of_service(frame.sof.value_or(wire::Sof::i3)) == 2)
    return *frame.eof == wire::Eof::n || *frame.eof == wire::Eof::t;
  return *frame.eof == (ends ? wire::Eof::t : wire::Eof::n);
}

template <class Delimiter>
std::string delimiter_words(std::string_view kind, Delimiter value) {
  const std::string_view name = to_string(value);
  if (name != wire::text::unknown) return std::string(name);
  return std::string(kind) + "=" + wire::text::hex_h(static_cast<std::uint8_t>(value), 2);
}

}  // namespace

std::string f_ctl_words(std::uint32_t value) {
  std::string text;
  for (const BitName& bit : f_ctl_names)
    if ((value & bit.bits) != 0) text.append(text.empty() ? "" : " ").append(bit.name);
  return text;
}

std::string service_class(const Frame& frame) {
  if (!frame.sof) return "";
  if (*frame.sof == wire::Sof::f) return "F";
  if (*frame.sof == wire::Sof::i4 || *frame.sof == wire::Sof::n4 || *frame.sof == wire::Sof::c4) return "4";
  const int number = wire::class_of_service(*frame.sof);
  return number == 0 ? "" : std::to_string(number);
}

std::string sof_words(wire::Sof sof) { return delimiter_words("SOF", sof); }
std::string eof_words(wire::Eof eof) { return delimiter_words("EOF", eof); }

std::string fip_name(const wire::fip::FipMessage& fip) {
  std::string text = "FIP " + std::string(fip.message_name());
  if (const auto* frame = fip.find<wire::fip::EncapsulatedFrame>())
    text += ", " + std::string(wire::fip::to_string(frame->type));
  return text;
}

std::string seconds(Time time) {
  char text[40];
  const Time absolute = time < 0 ? -time : time;
  std::snprintf(text, sizeof text, "%s%lld.%09lld", time < 0 ? "-" : "",
                static_cast<long long>(absolute / 1'000'000'000), static_cast<long long>(absolute % 1'000'000'000));
  return text;
}

std::string route(const Seen& seen) {
  const Frame& frame = seen.frame;
  if (frame.header) return to_string(frame.header->s_id) + " > " + to_string(frame.header->d_id);
  if (!frame.ethernet) return "";
  if (seen.tcp) return "";  // its words begin with the ends of the connection
  return to_string(frame.ethernet->source) + " > " + to_string(frame.ethernet->destination);
}

std::string summary(const Seen& seen) {
  const Frame& frame = seen.frame;
  std::string text;
  if (frame.vlan) text += "VLAN " + std::to_string(frame.vlan->id) + " ";
  if (frame.vft) text += "VFT vf_id=" + std::to_string(frame.vft->vf_id) + " ";
  if (!frame.trouble.empty()) return text + frame.trouble;
  if (frame.fip) return text + fip_words(*frame.fip);
  return text + message_words(seen);
}

std::vector<std::string> peculiarities(const Seen& seen) {
  const Frame& frame = seen.frame;
  std::vector<std::string> list;
  if (frame.crc_ok == false) list.emplace_back("BAD CRC");
  if (frame.header) {
    const std::string service = service_class(frame);
    if (service != "3" && !service.empty()) list.push_back("class " + service);
    if (!is_usual_sof(frame)) list.push_back(sof_words(*frame.sof));
    if (!is_usual_eof(frame)) list.push_back(eof_words(*frame.eof));
    if (!is_usual_f_ctl(seen))
      list.push_back("F_CTL " + wire::text::hex(frame.header->f_ctl, 6) + " " + f_ctl_words(frame.header->f_ctl));
  }
  if (frame.is_cut)
    list.push_back("cut: " + std::to_string(seen.packet.data.size()) + " of " +
                   std::to_string(seen.packet.original_bytes) + " bytes");
  if (seen.same != 0) list.push_back("same as " + std::to_string(seen.same));
  return list;
}

std::string end_words(const Endpoint* end) {
  if (end == nullptr) return "?";
  std::string text = to_string(wire::FcId{end->port});
  if (end->address) text += " " + to_string(end->address->host);
  return text + ", handle " + wire::text::hex_h(end->handle, 8);
}

std::string level_words(const Connection& connection) {
  if (connection.level) return std::string(to_string(*connection.level));
  return connection.without_response ? "unreliable_delivery or reliable_delivery" : "";
}

}  // namespace sim::capture
