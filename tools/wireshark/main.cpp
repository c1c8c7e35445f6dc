// fcvi-wireshark OUTPUT PART...: writes the Wireshark plugin. Its first lines are the tables of wire/: IUs, fields,
// flags, reason codes and texts; the parts, hand-written Lua, follow in the order given. Run by the build.
#include "tools/faults/iu_flags.hpp"
#include "tools/violations/used_bits.hpp"
#include "tools/violations/violations.hpp"
#include "tools/wireshark/lua_writer.hpp"
#include "tools/wireshark/plugin_file.hpp"
#include "wire/messages.hpp"

namespace {
namespace fcvi = wire::fcvi;
using wireshark::LayoutWriter;
using violations::parameter_flag;
using violations::used_bits;
using wireshark::quoted;

std::string flags_of(fcvi::Opcode opcode) {
  std::string list = "{";
  const auto names = faults::flag_names(opcode);
  const auto value_of = [&](std::string_view name) {
    for (unsigned flags = 1; flags < 0x100; ++flags) {
      const auto set = faults::flags_set(opcode, static_cast<std::uint8_t>(flags));
      if (set.size() == 1 && set.front() == name) return flags;
    }
    return 0U;
  };
  for (const std::string_view name : names)
    list += "{name=" + quoted(name) + ",value=" + std::to_string(value_of(name)) + "},";
  return list + "}";
}

template <class Iu>
std::string iu_table() {
  const fcvi::IuInfo& row = *fcvi::find_iu(Iu::opcode);
  const std::uint8_t flag = parameter_flag<Iu>();
  return "[" + std::to_string(static_cast<unsigned>(Iu::opcode)) + "]={name=" + quoted(row.name) +
         ",r_ctl=" + std::to_string(static_cast<unsigned>(row.r_ctl)) +
         ",header=" + std::to_string(row.device_header_size) + ",category=" + quoted(to_string(row.category)) +
         ",payload=" + quoted(to_string(row.payload)) + ",parameter_flag=" + std::to_string(flag) +
         ",used=" + quoted(wireshark::hex(used_bits<Iu>(0))) +
         ",used_with_parameter=" + quoted(wireshark::hex(used_bits<Iu>(flag))) + ",flags=" + flags_of(Iu::opcode) +
         "},\n";
}

template <class Message>
std::string message_table(std::string_view key) {
  return std::string(key) + "={size=" + std::to_string(Message::layout.size()) +
         ",reserved=" + LayoutWriter::reserved(Message::layout) + ",fields=" + LayoutWriter::fields(Message::layout) +
         "},\n";
}

std::string reason_table() {
  std::string table = "reasons={";
  for (unsigned code = 0; code < 0x100; ++code) {
    const auto reason = static_cast<fcvi::Reason>(code);
    const std::string_view name = to_string(reason);
    const std::string_view use = is_vendor_unique(reason)                                     ? "vendor"
                                 : is_reserved(reason)                                        ? "reserved"
                                 : is_non_error_response(reason) || is_error_response(reason) ? "response"
                                                                                              : "disconnect";
    if (use == "reserved") continue;
    table += "[" + std::to_string(code) + "]={name=" + quoted(use == "vendor" ? "Vendor Unique Error" : name) +
             ",use=" + quoted(use) + "},";
  }
  return table + "},\n";
}

std::string violation_table() {
  std::string table = "violations={\n";
  for (const violations::Row& row : violations::table)
    table += "{name=" + quoted(row.name) + ",text=" + quoted(row.text) + ",group=" + quoted(to_string(row.group)) +
             ",severity=" + quoted(to_string(row.severity)) + "},\n";
  return table + "},\n";
}

std::string number(std::string_view name, std::uint64_t value) {
  return std::string(name) + "=" + std::to_string(value) + ",\n";
}

std::string constants() {
  namespace f_ctl = wire::f_ctl;
  return number("type", static_cast<unsigned>(wire::Type::fc_vi)) +
         number("connect_bytes", fcvi::ConnectPayload::size_without_info) +
         number("connect_bytes_with_info", fcvi::ConnectPayload::size_with_info) +
         number("revision", fcvi::ConnectPayload::first_revision) +
         number("unassigned", wire::FcviHandle::unassigned.value) +
         number("host_length", fcvi::NetAddress::required_host_length) +
         number("min_discriminator", fcvi::NetAddress::min_discriminator_length) +
         number("max_discriminator", fcvi::NetAddress::max_discriminator_length) +
         number("preference", fcvi::Qos::preference) + number("cs_ctl_preference", wire::cs_ctl_preference) +
         number("retry_of_request", fcvi::connect_request_flag::retry) +
         number("retry_of_response", fcvi::connect_response_flag::retry) +
         number("exchange_responder", f_ctl::exchange_responder) + number("first_sequence", f_ctl::first_sequence) +
         number("last_sequence", f_ctl::last_sequence) + number("end_sequence", f_ctl::end_sequence) +
         number("sequence_initiative", f_ctl::sequence_initiative) +
         number("relative_offset_present", f_ctl::relative_offset_present) +
         number("fill_bytes_mask", f_ctl::fill_bytes_mask) +
         number("sequential_delivery", wire::els::class_option::sequential_delivery) +
         number("ripp_id", static_cast<unsigned>(wire::ct::Command::ripp_id)) +
         number("gid_ipp", static_cast<unsigned>(wire::ct::Command::gid_ipp)) +
         number("farp_request", static_cast<unsigned>(wire::els::Command::farp_req)) +
         number("farp_reply", static_cast<unsigned>(wire::els::Command::farp_reply));
}

std::string tables() {
  std::string text = "local wire = {\nius={\n";
  wire::for_each_message<wire::FcviIus>([&]<class Iu>(std::type_identity<Iu>) { text += iu_table<Iu>(); });
  text += "},\nmessages={\n";
  text += message_table<wire::FcHeader>("fc") + message_table<fcvi::DeviceHeader>("device_header") +
          message_table<fcvi::ConnectPayload>("connect") + message_table<fcvi::ConnectionStatus>("status") +
          message_table<wire::els::Login>("login") + message_table<wire::els::FarpRequest>("farp") +
          message_table<wire::ct::RippId>("ripp_id") + message_table<wire::ct::GidIpp>("gid_ipp");
  text += "},\n" + reason_table() + violation_table();
  text += "modes=" + wireshark::values_of<fcvi::ConnectMode>() + ",\n";
  text += "levels=" + wireshark::values_of<fcvi::ReliabilityLevel>() + ",\n";
  text += "link_names=" + wireshark::values_of<wire::RCtl>() + ",\n";
  text += "ct_commands=" + wireshark::values_of<wire::ct::Command>() + ",\n";
  return text + constants() + "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  return wireshark::write_plugin(argc, argv,
                                 "-- Wireshark plugin for FC-VI (ISO/IEC 14165-331). Made by the build from wire/ and "
                                 "tools/wireshark/*.lua:\n-- do not edit.\n" +
                                     tables());
}
