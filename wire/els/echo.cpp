#include "wire/els/echo.hpp"

namespace wire::els {

std::size_t Echo::size() const { return word_size + data.size(); }

Result<Echo> Echo::parse(Bytes bytes) {
  if (bytes.size() < word_size) return ParseError{ParseCode::truncated, "command"};
  Echo echo;
  echo.command = static_cast<Command>(bytes[0]);
  if (echo.command != Command::echo && echo.command != Command::ls_acc)
    return ParseError{ParseCode::bad_value, "command"};
  echo.data.assign(bytes.begin() + word_size, bytes.end());
  return echo;
}

void Echo::write(MutableBytes to) const {
  assert(to.size() >= size());
  store_big<4>(to.data(), std::uint32_t{static_cast<std::uint8_t>(command)} << 24);
  std::copy(data.begin(), data.end(), to.begin() + word_size);
}

std::string Echo::to_string() const {
  std::string line(name);
  text::append(line, "command", els::to_string(command));
  text::append(line, "data", text::bytes(data));
  return line;
}

}  // namespace wire::els
