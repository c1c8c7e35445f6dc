#include "wire/describer.hpp"

#include <algorithm>
#include <array>

#include "wire/crc.hpp"
#include "wire/fcoe.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/text.hpp"

namespace wire {
namespace {

constexpr std::size_t delimiter_bytes = 4, crc_bytes = 4, vlan_tag_bytes = 4;

// FC-FS: extended headers stand in front of the frame header and have an R_CTL of their own.
constexpr std::uint8_t vft_r_ctl = 0x50, ifr_r_ctl = 0x51, enc_r_ctl = 0x52;
constexpr std::size_t vft_header_bytes = 8;

struct OrderedSet {
  std::uint32_t word;
  std::uint8_t code;
};
// The last two bytes tell SOFs apart; of an EOF the second one depends on the running disparity.
constexpr std::array<OrderedSet, 8> sofs{{{0x5858, 0x28},
                                          {0x5959, 0x29},
                                          {0x5555, 0x2D},
                                          {0x5656, 0x2E},
                                          {0x3939, 0x31},
                                          {0x3535, 0x35},
                                          {0x3636, 0x36},
                                          {0x1919, 0x39}}};
constexpr std::array<OrderedSet, 16> eofs{{{0x95D5D5, 0x41},
                                           {0xB5D5D5, 0x41},
                                           {0x957575, 0x42},
                                           {0xB57575, 0x42},
                                           {0x959999, 0x44},
                                           {0xB59999, 0x44},
                                           {0x959595, 0x46},
                                           {0xB59595, 0x46},
                                           {0x8AD5D5, 0x49},
                                           {0xAAD5D5, 0x49},
                                           {0x8A9595, 0x4E},
                                           {0xAA9595, 0x4E},
                                           {0x8A9999, 0x4F},
                                           {0xAA9999, 0x4F},
                                           {0x95F5F5, 0x50},
                                           {0xB5F5F5, 0x50}}};

template <class Code, std::size_t Count>
std::optional<Code> code_of(const std::array<OrderedSet, Count>& sets, std::uint32_t word) {
  for (const OrderedSet& set : sets)
    if (set.word == word) return static_cast<Code>(set.code);
  return std::nullopt;
}

/// As it was received: the first byte is the lowest.
std::uint32_t crc_of(Bytes trailer) {
  std::uint32_t crc = 0;
  for (std::size_t i = crc_bytes; i > 0; --i) crc = crc << 8 | trailer[i - 1];
  return crc;
}

std::string f_ctl_text(std::uint32_t value) {
  struct Flag {
    std::uint32_t bits;
    std::string_view name;
  };
  static constexpr std::array<Flag, 9> flags{{{f_ctl::exchange_responder, "responder"},
                                              {f_ctl::sequence_recipient, "recipient"},
                                              {f_ctl::first_sequence, "first"},
                                              {f_ctl::last_sequence, "last"},
                                              {f_ctl::end_sequence, "end"},
                                              {f_ctl::cs_ctl_priority, "priority"},
                                              {f_ctl::sequence_initiative, "initiative"},
                                              {f_ctl::retransmitted, "retransmitted"},
                                              {f_ctl::relative_offset_present, "offset"}}};
  std::string text = " f_ctl=" + text::hex(value, 6);
  for (const Flag& flag : flags) text::append_flag(text, (value & flag.bits) != 0, flag.name);
  return text;
}

std::string class_text(Sof sof) {
  if (sof == Sof::f) return " class=F";
  if (sof == Sof::i4 || sof == Sof::n4 || sof == Sof::c4) return " class=4";
  const int service_class = class_of_service(sof);
  return service_class == 0 ? "" : " class=" + std::to_string(service_class);
}

/// A delimiter without a name by its code.
template <class Delimiter>
std::string delimiter_text(std::string_view kind, Delimiter value) {
  const std::string_view name = to_string(value);
  return " " + (name == text::unknown ? std::string(kind) + "=" + text::hex_h(static_cast<std::uint8_t>(value), 2)
                                      : std::string(name));
}

std::string text_of(const FcHeader& header, const Carriage& carriage) {
  std::string text = " |";
  if (carriage.sof) text += class_text(*carriage.sof) + delimiter_text("SOF", *carriage.sof);
  if (carriage.eof) text += delimiter_text("EOF", *carriage.eof);
  text += f_ctl_text(header.f_ctl);
  if (carriage.bad_crc) text += " BAD CRC";
  return text;
}

/// Others carry data: nothing of theirs needs the rest of the Sequence.
bool may_span_frames(const FcHeader& header, Bytes data_field) {
  if (header.type == Type::els || header.type == Type::ct) return header.r_ctl < RCtl::nop;
  if (header.type != Type::fc_vi) return false;
  const auto device_header = fcvi::DeviceHeader::parse(header.device_header_size(), data_field);
  const auto iu = device_header ? fcvi::find_iu(device_header->opcode) : nullptr;
  return iu != nullptr && iu->payload == fcvi::Payload::connect_info;
}

bool is_part(const FcHeader& header) {
  return !header.has(f_ctl::end_sequence) || (header.has(f_ctl::relative_offset_present) && header.parameter != 0);
}

/// The frame as if all of its Sequence had been in it.
std::string describe_whole(const FcHeader& header, Bytes iu) {
  FcHeader whole = header;
  whole.parameter = 0;
  whole.f_ctl &= ~f_ctl::fill_bytes_mask;
  std::vector<std::uint8_t> frame(FcHeader::size());
  whole.write(frame);
  frame.insert(frame.end(), iu.begin(), iu.end());
  return describe(frame);
}

std::string describe_part(const FcFrameView& frame) {
  std::string line =
      describe_route(frame.header) + " " + std::string(message_name(frame.header, frame.data_field)) + " part";
  const bool known = frame.header.device_header_size() != 0 || frame.header.parameter == 0;
  if (!known) line = describe_route(frame.header) + " " + std::string(to_string(frame.header.type)) + " part";
  text::append(line, "offset",
               std::to_string(frame.header.has(f_ctl::relative_offset_present) ? frame.header.parameter : 0));
  text::append(
      line, "data_bytes",
      std::to_string(frame.data_field.size() - std::min(frame.header.device_header_size(), frame.data_field.size())));
  return line;
}

/// A message whose end was not captured is not malformed.
std::string what_is_there(std::string line) {
  const std::size_t blame = line.find(" malformed: truncated");
  return blame == std::string::npos ? line : line.substr(0, blame);
}

}  // namespace

std::string Describer::ordinary_frame(Bytes frame, const Carriage& carriage) {
  const auto view = FcFrameView::parse(frame);
  if (!view) {
    const auto header = FcHeader::parse(frame);
    return describe(frame) + (header ? text_of(*header, carriage) : "");
  }
  if (carriage.is_cut) return what_is_there(describe(frame)) + text_of(view->header, carriage);
  const bool spans = is_part(view->header) && may_span_frames(view->header, view->data_field);
  if (!spans) return describe(frame) + text_of(view->header, carriage);
  const auto iu = ius_.add(view->header, view->data_field);
  return (iu ? describe_whole(view->header, *iu) : describe_part(*view)) + text_of(view->header, carriage);
}

std::string Describer::fc_frame(Bytes frame, const Carriage& carriage) {
  const std::uint8_t r_ctl = frame.empty() ? 0 : frame[0];
  if (r_ctl == ifr_r_ctl || r_ctl == enc_r_ctl)
    return "extended header " + text::hex_h(r_ctl, 2) + " data_bytes=" + std::to_string(frame.size());
  if (r_ctl != vft_r_ctl || frame.size() < vft_header_bytes) return ordinary_frame(frame, carriage);
  const unsigned vf_id = load_big<2>(frame.data() + 2) >> 1 & 0xFFF;
  return "VFT vf_id=" + std::to_string(vf_id) + " hops=" + std::to_string(frame[4]) + " " +
         ordinary_frame(frame.subspan(vft_header_bytes), carriage);
}

std::string Describer::delimited_frame(Bytes frame, bool is_cut) {
  if (frame.size() < delimiter_bytes) return "FC truncated: sof";
  const std::size_t behind = is_cut ? 0 : crc_bytes + delimiter_bytes;
  if (frame.size() < delimiter_bytes + behind) return "FC truncated: crc";
  const Bytes fc = frame.subspan(delimiter_bytes, frame.size() - delimiter_bytes - behind);
  Carriage carriage{.sof = code_of<Sof>(sofs, load_big<2>(frame.data() + 2)), .is_cut = is_cut};
  if (!is_cut) {
    const Bytes trailer = frame.last(behind);
    carriage.bad_crc = crc_of(trailer) != crc32(fc);
    carriage.eof = code_of<Eof>(eofs, load_big<3>(trailer.data() + crc_bytes + 1));
  }
  return fc_frame(fc, carriage);
}

// The CRC is the last but one of what was captured: a frame that was cut has none that says anything.
std::string Describer::fcoe_frame(Bytes frame, bool is_cut) {
  constexpr std::size_t before = EthernetHeader::size() + fcoe::header_size;
  if (is_cut) {
    if (frame.size() < before) return "FCoE";
    return fc_frame(frame.subspan(before), {.sof = static_cast<Sof>(frame[before - 1]), .is_cut = true});
  }
  const auto fcoe = fcoe::FcoeFrame::parse(frame);
  if (!fcoe) return "FCoE malformed: " + to_string(fcoe.error());
  return fc_frame(fcoe->fc_frame, {.sof = fcoe->sof, .eof = fcoe->eof, .bad_crc = !fcoe->crc_ok()});
}

std::string Describer::untagged_frame(Bytes frame, bool is_cut) {
  const auto ethernet = EthernetHeader::parse(frame);
  return ethernet && ethernet->type == EtherType::fcoe ? fcoe_frame(frame, is_cut) : describe_ethernet(frame);
}

std::string Describer::ethernet_frame(Bytes frame, bool is_cut) {
  constexpr std::size_t tag_at = EthernetHeader::size() - 2;  // in place of the type, which follows it
  const auto ethernet = EthernetHeader::parse(frame);
  const bool tagged = ethernet && ethernet->type == EtherType::vlan && frame.size() >= tag_at + vlan_tag_bytes;
  if (!tagged) return untagged_frame(frame, is_cut);
  const unsigned tag = load_big<2>(frame.data() + EthernetHeader::size());
  std::vector<std::uint8_t> untagged(frame.begin(), frame.begin() + tag_at);
  untagged.insert(untagged.end(), frame.begin() + tag_at + vlan_tag_bytes, frame.end());
  return "VLAN " + std::to_string(tag & 0xFFF) + " priority=" + std::to_string(tag >> 13) + " " +
         untagged_frame(untagged, is_cut);
}

}  // namespace wire
