#include "wire/els/prli.hpp"

namespace wire::els {

std::size_t Prli::size() const { return word_size + pages.size() * PrliPage::size(); }

Result<Prli> Prli::parse(Bytes bytes) {
  if (bytes.size() < word_size) return ParseError{ParseCode::truncated, "payload_length"};
  Prli prli;
  prli.command = static_cast<Command>(bytes[0]);
  if (prli.command != Command::prli && prli.command != Command::ls_acc)
    return ParseError{ParseCode::bad_value, "command"};
  if (bytes[1] != PrliPage::size()) return ParseError{ParseCode::bad_value, "page_length"};
  const std::size_t length = load_big<2>(bytes.data() + 2);
  if (length < word_size || (length - word_size) % PrliPage::size() != 0)
    return ParseError{ParseCode::bad_length, "payload_length"};
  if (length > bytes.size()) return ParseError{ParseCode::truncated, "pages"};
  for (std::size_t at = word_size; at < length; at += PrliPage::size())
    prli.pages.push_back(codec::read<PrliPage>(bytes.data() + at));
  return prli;
}

void Prli::write(MutableBytes to) const {
  assert(to.size() >= size() && size() <= 0xFFFF);
  to[0] = static_cast<std::uint8_t>(command);
  to[1] = static_cast<std::uint8_t>(PrliPage::size());
  store_big<2>(to.data() + 2, static_cast<std::uint16_t>(size()));
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i].write(to.subspan(word_size + i * PrliPage::size()));
}

std::string Prli::to_string() const {
  std::string line(name);
  text::append(line, "command", els::to_string(command));
  for (const PrliPage& page : pages) text::append(line, "page", "{" + page.to_string() + "}");
  return line;
}

}  // namespace wire::els
