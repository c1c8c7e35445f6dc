#include "tools/fcvi_sim/capture/iu_frame.hpp"

#include <algorithm>

#include "tools/violations/used_bits.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
namespace fcvi = wire::fcvi;
using fcvi::Opcode;
using violations::Violation;
using wire::text::hex_h;

constexpr std::size_t header_words = 8, raw_bytes = wire::FcHeader::size() + 32;
using Words = std::array<std::uint32_t, header_words>;
constexpr std::array<std::string_view, header_words> word_names{
    "FCVI_HANDLE", "FCVI_FLAGS and word 1", "FCVI_MSG_ID",        "FCVI_PARAMETER",
    "FCVI_RMT_VA", "FCVI_RMT_VA",           "FCVI_RMT_VA_HANDLE", "word 7"};

/// What an IU does not use, word by word, with and without the flag with which FCVI_PARAMETER counts.
struct Unused {
  Words plain{}, with_parameter{};
  std::uint8_t parameter_flag = 0;
};

Words unused_words(const std::vector<std::uint8_t>& used) {
  Words words{};
  for (std::size_t byte = 0; byte < used.size(); ++byte)
    words[byte / 4] |= std::uint32_t{static_cast<std::uint8_t>(~used[byte])} << (24 - 8 * (byte % 4));
  return words;
}

std::array<Unused, 32> make_unused() {
  std::array<Unused, 32> table{};
  wire::for_each_message<wire::FcviIus>([&]<class Iu>(std::type_identity<Iu>) {
    const std::uint8_t flag = violations::parameter_flag<Iu>();
    table[static_cast<std::size_t>(Iu::opcode)] = {unused_words(violations::used_bits<Iu>(0)),
                                                   unused_words(violations::used_bits<Iu>(flag)), flag};
  });
  return table;
}

const Unused& unused_of(Opcode opcode) {
  static const std::array<Unused, 32> table = make_unused();
  return table[static_cast<std::size_t>(opcode)];
}

void reserved_bits(const IuFrame& iu, Record& record) {
  const Unused& unused = unused_of(iu.opcode());
  const Words& masks = iu.has(unused.parameter_flag) ? unused.with_parameter : unused.plain;
  std::string found;
  for (std::size_t word = 1; word < iu.iu->device_header_size / 4U; ++word) {
    const std::uint32_t bits = wire::load_big<4>(iu.data.data() + 4 * word) & masks[word];
    if (bits != 0)
      found.append(found.empty() ? "" : ", ").append(word_names[word]).append(" has ").append(hex_h(bits, 8));
  }
  if (!found.empty()) record.note(Violation::reserved_bits, found);
}

bool begins_exchange(const fcvi::IuInfo& iu) {
  return iu.category == fcvi::Category::message_request || iu.category == fcvi::Category::connect_request;
}
bool is_of_originator(const fcvi::IuInfo& iu) { return begins_exchange(iu) || iu.opcode == Opcode::connect_resp2; }

/// FC-VI Table 1.
void first_sequence(const IuFrame& iu, Record& record) {
  const bool first = iu.header.has(wire::f_ctl::first_sequence);
  const bool begins = iu.header.seq_cnt.value == 0 && iu.header.parameter == 0;
  if (begins_exchange(*iu.iu) && begins && !first)
    record.note(Violation::wrong_f_ctl, "First_Sequence is not set");
  else if (!begins_exchange(*iu.iu) && first)
    record.note(Violation::wrong_f_ctl, "First_Sequence, but the Exchange began before");
}

// FC-VI 5.8.4: which IU ends the Exchange, and who has Sequence Initiative after it.
bool ends_exchange(Opcode opcode) {
  return opcode == Opcode::connect_resp3 || opcode == Opcode::disconnect_resp || opcode == Opcode::send_resp ||
         opcode == Opcode::write_resp;
}
bool gives_initiative(Opcode opcode) {
  return opcode == Opcode::connect_rqst || opcode == Opcode::connect_resp1 || opcode == Opcode::connect_resp2 ||
         opcode == Opcode::disconnect_rqst || opcode == Opcode::read_rqst;
}

// FC-VI Tables 11 and 12.
void reason(const IuFrame& iu, Record& record) {
  const auto status = fcvi::ConnectionStatus::from_parameter(iu.fields.parameter);
  const bool disconnects = iu.opcode() == Opcode::disconnect_rqst || iu.opcode() == Opcode::disconnect_resp;
  const bool fits = disconnects ? is_disconnect(status.reason)
                                : is_non_error_response(status.reason) || is_error_response(status.reason);
  const std::string code = hex_h(static_cast<std::uint8_t>(status.reason), 2);
  if (is_reserved(status.reason))
    record.note(Violation::wrong_reason, code + " is reserved");
  else if (!is_vendor_unique(status.reason) && !fits)
    record.note(Violation::wrong_reason, code + ", " + std::string(to_string(status.reason)));
  else if (status.explanation != 0)
    record.note(Violation::wrong_reason, "explanation " + hex_h(status.explanation, 2) + " is reserved");
}

void error_flags(const IuFrame& iu, Record& record) {
  const unsigned flags = iu.flags & fcvi::message_response_flag::all;
  constexpr unsigned resp_err = fcvi::message_response_flag::resp_err;
  if (flags != 0 && (flags & resp_err) == 0)
    record.note(Violation::wrong_error_flags, "a cause without RESP_ERR");
  else if (flags == resp_err)
    record.note(Violation::wrong_error_flags, "RESP_ERR without a cause");
}

/// There is an IU, and its Device_Header is there as a whole.
bool can_be_read(const IuFrame& iu, Record& record) {
  if (iu.iu == nullptr) {
    if (iu.has_opcode)
      record.note(Violation::unknown_opcode, hex_h(iu.opcode_byte, 2));
    else if (!iu.is_cut)
      record.note(Violation::truncated);
    return false;
  }
  if (iu.announced != iu.iu->device_header_size) {
    record.note(Violation::wrong_device_header, std::to_string(iu.announced) + " bytes, " + std::string(iu.iu->name) +
                                                    " has " + std::to_string(iu.iu->device_header_size));
    return false;
  }
  if (!iu.has_header && !iu.is_cut) record.note(Violation::truncated);
  return iu.has_header;
}

}  // namespace

std::string Note::sentence() const {
  const std::string_view general = violations::row_of(violation).text;
  return text.empty() ? std::string(general) : std::string(general) + ": " + text;
}

bool IuFrame::retry() const {
  if (iu->category == fcvi::Category::connect_request) return has(fcvi::connect_request_flag::retry);
  return has(fcvi::connect_response_flag::retry);
}
bool IuFrame::conn_info() const {
  if (iu->category == fcvi::Category::connect_request) return has(fcvi::connect_request_flag::conn_info);
  return has(fcvi::connect_response_flag::conn_info);
}
// The same bit in all IUs that have it.
bool IuFrame::conn_sts() const {
  static_assert(fcvi::connect_response_flag::conn_sts == fcvi::disconnect_flag::conn_sts);
  return iu->opcode != Opcode::connect_rqst && has(fcvi::connect_response_flag::conn_sts);
}
bool IuFrame::resp_err() const {
  return iu->category == fcvi::Category::message_response && has(fcvi::message_response_flag::resp_err);
}
bool IuFrame::aborts_setup() const { return has(fcvi::disconnect_flag::conn_setup_abort); }

IuFrame iu_of(const Frame& frame) {
  IuFrame iu;
  iu.header = *frame.header;
  iu.data = frame.data_field;
  iu.length = frame.data_field_bytes;
  iu.is_cut = frame.data_field.size() < frame.data_field_bytes;
  iu.raw = frame.fc.first(std::min(frame.fc.size(), raw_bytes));
  return iu;
}

void read_device_header(IuFrame& iu) {
  iu.announced = iu.header.device_header_size();
  if (iu.data.size() < 6) return;
  iu.has_opcode = true;
  iu.opcode_byte = iu.data[4];
  iu.flags = iu.data[5];
  iu.iu = fcvi::find_iu(static_cast<Opcode>(iu.opcode_byte));
  const auto fields = fcvi::DeviceHeader::parse(iu.data);
  if (iu.iu == nullptr || !fields) return;
  iu.has_header = true;
  iu.fields = *fields;
  iu.payload = iu.length - iu.iu->device_header_size;
  iu.payload_data = iu.data.subspan(iu.iu->device_header_size);
}

namespace check {

void f_ctl(const IuFrame& iu, Record& record) {
  const Opcode opcode = iu.opcode();
  if (is_of_originator(*iu.iu) == iu.responder())
    record.note(Violation::wrong_f_ctl,
                std::string("bit 23 says the Exchange's ") + (iu.responder() ? "responder" : "originator"));
  if (iu.iu->payload == fcvi::Payload::none && !iu.ends_sequence())
    record.note(Violation::wrong_f_ctl, "an IU of one frame without End_Sequence");
  else if (iu.ends_sequence() && ends_exchange(opcode) && !iu.last_sequence())
    record.note(Violation::wrong_f_ctl, "Last_Sequence is not set");
  else if (iu.ends_sequence() && gives_initiative(opcode) && !iu.gives_initiative())
    record.note(Violation::wrong_f_ctl, "Sequence Initiative is not transferred");
  else if (iu.carries_data() && iu.payload > 0 && !iu.header.has(wire::f_ctl::relative_offset_present))
    record.note(Violation::wrong_f_ctl, "data without a relative offset");
  else if (iu.ends_sequence() && gives_initiative(opcode) && iu.last_sequence())
    record.note(Violation::wrong_f_ctl, "Last_Sequence, but an answer is owed");
  else
    first_sequence(iu, record);
}

bool header(const IuFrame& iu, Record& record) {
  if (!can_be_read(iu, record)) return false;
  if (iu.header.r_ctl != iu.iu->r_ctl)
    record.note(Violation::wrong_r_ctl, hex_h(static_cast<std::uint8_t>(iu.header.r_ctl), 2) + ", " +
                                            std::string(iu.iu->name) + " has " +
                                            hex_h(static_cast<std::uint8_t>(iu.iu->r_ctl), 2));
  reserved_bits(iu, record);
  f_ctl(iu, record);
  const bool is_message =
      iu.iu->category == fcvi::Category::message_request || iu.iu->category == fcvi::Category::message_response;
  if (!is_message && (iu.header.cs_ctl & wire::cs_ctl_preference) != 0)  // FC-VI 5.8.2
    record.note(Violation::wrong_preference, "PREF is set, but this is no message");
  if (iu.iu->payload == fcvi::Payload::none && iu.payload != 0)
    record.note(Violation::wrong_payload_length,
                std::to_string(iu.payload) + " bytes, " + std::string(iu.iu->name) + " has none");
  if (iu.iu->category == fcvi::Category::message_response)
    error_flags(iu, record);
  else if (iu.iu->category != fcvi::Category::message_request && iu.conn_sts())
    reason(iu, record);
  return true;
}

bool payload_length(const IuFrame& iu, std::size_t size, Record& record) {
  const std::size_t wanted =
      iu.conn_info() ? fcvi::ConnectPayload::size_with_info : fcvi::ConnectPayload::size_without_info;
  if (size == wanted) return true;
  record.note(Violation::wrong_payload_length,
              std::to_string(size) + " bytes, " + std::string(iu.iu->name) + " has " + std::to_string(wanted));
  return false;
}

namespace {

void address(const fcvi::NetAddress& at, std::string_view what, Record& record) {
  const auto wrong = [&](std::string_view field, unsigned length) {
    record.note(Violation::wrong_address,
                std::string(field) + " of the " + std::string(what) + " address is " + std::to_string(length));
  };
  if (at.host_length != fcvi::NetAddress::required_host_length) wrong("HOST_ADD_LEN", at.host_length);
  if (at.discriminator_length < fcvi::NetAddress::min_discriminator_length ||
      at.discriminator_length > fcvi::NetAddress::max_discriminator_length)
    wrong("DISCRIM_LEN", at.discriminator_length);
}

void payload_reserved_bits(wire::Bytes bytes, Record& record) {
  std::array<std::uint8_t, fcvi::ConnectPayload::layout.size()> used{};
  fcvi::ConnectPayload::layout.cover(used.data());
  for (std::size_t word = 0; word < used.size() / 4; ++word) {
    const std::uint32_t bits = wire::load_big<4>(bytes.data() + 4 * word) & ~wire::load_big<4>(used.data() + 4 * word);
    if (bits != 0)
      record.note(Violation::reserved_bits, "word " + std::to_string(word) + " of the payload has " + hex_h(bits, 8));
  }
}

}  // namespace

void connect(wire::Bytes bytes, const fcvi::ConnectPayload& payload, Record& record) {
  payload_reserved_bits(bytes, record);
  if (payload.revision != fcvi::ConnectPayload::first_revision)
    record.note(Violation::wrong_revision, hex_h(payload.revision, 4));
  address(payload.local_address, "local", record);
  address(payload.remote_address, "remote", record);
  const fcvi::Attributes& attributes = payload.local_attributes;
  if (to_string(attributes.reliability_level) == wire::text::unknown)
    record.note(Violation::wrong_level, std::to_string(static_cast<unsigned>(attributes.reliability_level)));
  const fcvi::Qos& qos = attributes.qos;
  if (qos.pref != 0 && qos.pref != fcvi::Qos::preference)
    record.note(Violation::wrong_qos, "FCVI_PREF is " + hex_h(qos.pref, 2));
  else if (qos.max_bandwidth != 0 || qos.min_bandwidth != 0 || qos.max_delay_us != 0)
    record.note(Violation::wrong_qos, "a bandwidth or delay that is not 0");
}

}  // namespace check
}  // namespace sim::capture
