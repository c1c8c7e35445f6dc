// fcvi-wireshark-vitcp OUTPUT PART...: writes the Wireshark plugin for VI over TCP. Its first lines are the tables of
// wire/vitcp: segment types, fields, options, texts; the parts, hand-written Lua, follow. Run by the build.
#include "tools/violations/vitcp_violations.hpp"
#include "tools/wireshark/lua_writer.hpp"
#include "tools/wireshark/plugin_file.hpp"
#include "wire/vitcp/port.hpp"
#include "wire/vitcp/segment.hpp"

namespace {
namespace vitcp = wire::vitcp;
using wireshark::LayoutWriter;
using wireshark::quoted;

std::string_view to_lua(bool value) { return value ? "true" : "false"; }

std::string type_row(const vitcp::TypeInfo& row) {
  std::string text = "[" + std::to_string(static_cast<unsigned>(row.type)) + "]={name=" + quoted(row.name);
  text += ",following=" + quoted(to_string(row.following));
  text += ",following_bytes=" + std::to_string(vitcp::following_bytes(row.type));
  text += ",trailer=" + quoted(to_string(row.trailer));
  (text += ",has_payload=") += to_lua(row.has_payload);
  (text += ",has_immediate_data=") += to_lua(row.has_immediate_data);
  (text += ",is_connection=") += to_lua(row.is_connection);
  return text + "},\n";
}

template <class Message>
std::string message_table(std::string_view key) {
  return std::string(key) + "={size=" + std::to_string(Message::layout.size()) +
         ",reserved=" + LayoutWriter::reserved(Message::layout) + ",fields=" + LayoutWriter::fields(Message::layout) +
         "},\n";
}

std::string violation_table() {
  std::string table = "violations={\n";
  for (const violations::vitcp::Row& row : violations::vitcp::table)
    table += "{name=" + quoted(row.name) + ",text=" + quoted(row.text) + ",group=" + quoted(to_string(row.group)) +
             ",severity=" + quoted(to_string(row.severity)) + "},\n";
  return table + "},\n";
}

std::string number(std::string_view name, std::uint64_t value) {
  return std::string(name) + "=" + std::to_string(value) + ",\n";
}

std::string type_codes() {
  using Type = vitcp::SegmentType;
  const auto code = [](std::string_view name, Type type) { return number(name, static_cast<unsigned>(type)); };
  return code("send", Type::send) + code("rdma_write", Type::rdma_write) +
         code("read_request", Type::rdma_read_request) + code("read_response", Type::rdma_read_response) +
         code("nop", Type::nop) + code("connect_request", Type::connect_request) +
         code("connect_accept", Type::connect_accept) + code("connect_reject", Type::connect_reject) +
         code("connect_no_match", Type::connect_no_match);
}

std::string constants() {
  using Option = vitcp::OptionType;
  using Level = vitcp::ReliabilityLevel;
  return type_codes() + number("version", vitcp::SegmentHeader::version) +
         number("header_bytes", vitcp::segment_header_bytes) + number("trailer_bytes", vitcp::trailer_bytes) +
         number("option_header_bytes", vitcp::Options::option_header_bytes) +
         number("option_end_bytes", vitcp::Options::end_bytes) +
         number("option_end", static_cast<unsigned>(Option::end_of_option_list)) +
         number("option_crc", static_cast<unsigned>(Option::crc)) +
         number("option_urgent_marker", static_cast<unsigned>(Option::urgent_marker)) +
         number("reliable_reception", static_cast<unsigned>(Level::reliable_reception)) +
         number("max_discriminator", vitcp::Discriminator::max_bytes) + number("default_port", vitcp::default_port);
}

std::string tables() {
  std::string text = "local wire = {\ntypes={\n";
  for (const vitcp::TypeInfo& row : vitcp::segment_types) text += type_row(row);
  text += "},\nmessages={\n" + message_table<vitcp::SegmentHeader>("header") +
          message_table<vitcp::RdmaHeader>("rdma") + message_table<vitcp::CeHeader>("ce");
  text += "},\n" + violation_table();
  text += "levels=" + wireshark::values_of<vitcp::ReliabilityLevel>() + ",\n";
  text += "options=" + wireshark::values_of<vitcp::OptionType>() + ",\n";
  return text + constants() + "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  return wireshark::write_plugin(argc, argv,
                                 "-- Wireshark plugin for VI over TCP (draft-dicecco-vitcp-01). Made by the build from "
                                 "wire/ and tools/wireshark/vitcp/*.lua:\n-- do not edit.\n" +
                                     tables());
}
