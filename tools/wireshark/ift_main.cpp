// fcvi-wireshark-ift OUTPUT PART...: writes the Wireshark plugin for IFT. Its first lines are the tables of
// wire/iwarp/ift: fields of the adaption indication and of the frame header; the parts, hand-written Lua, follow. Run
// by the build.
#include "tools/wireshark/lua_writer.hpp"
#include "tools/wireshark/plugin_file.hpp"
#include "wire/iwarp/ift/adaption_indication.hpp"
#include "wire/iwarp/ift/frame.hpp"

namespace {
namespace ift = wire::ift;
using wireshark::LayoutWriter;

template <class Message>
std::string message_table(std::string_view key) {
  return std::string(key) + "={size=" + std::to_string(Message::layout.size()) +
         ",fields=" + LayoutWriter::fields(Message::layout) + "},\n";
}

std::string number(std::string_view name, std::uint64_t value) {
  return std::string(name) + "=" + std::to_string(value) + ",\n";
}

std::string tables() {
  return "local wire = {\nmessages={\n" + message_table<ift::AdaptionIndication>("adaption") +
         message_table<ift::FrameHeader>("frame") + "},\n" + number("magic", ift::AdaptionIndication::magic) +
         number("tagged_header_bytes", wire::ddp::tagged_header_bytes) +
         number("untagged_header_bytes", wire::ddp::untagged_header_bytes) +
         number("crc_bytes", wire::iwarp::crc_bytes) + "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  return wireshark::write_plugin(
      argc, argv,
      "-- Wireshark plugin for IFT (draft-williams-iwarp-ift-01). Made by the build from wire/ "
      "and tools/wireshark/ift/*.lua:\n-- do not edit.\n" +
          tables());
}
