#include "tools/wireshark/lua_writer.hpp"

namespace wireshark {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string entry(std::uint64_t key, std::string_view text) {
  return "[" + std::to_string(key) + "]=" + quoted(text) + ",";
}

std::string hex(wire::Bytes bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) out += wire::text::hex(byte, 2);
  return out;
}

void LayoutWriter::begin(std::string_view name, std::size_t offset, std::size_t bytes, std::string_view kind) {
  list_ += "{name=" + quoted(name) + ",offset=" + std::to_string(base_ + offset) + ",bytes=" + std::to_string(bytes) +
           ",kind=" + quoted(kind);
}

}  // namespace wireshark
