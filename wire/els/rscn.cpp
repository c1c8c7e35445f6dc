#include "wire/els/rscn.hpp"

namespace wire::els {

std::string_view to_string(AddressFormat format) {
  switch (format) {
    case AddressFormat::port: return "port";
    case AddressFormat::area: return "area";
    case AddressFormat::domain: return "domain";
    case AddressFormat::fabric: return "fabric";
  }
  return text::unknown;
}

bool RscnPage::affects(FcId id) const {
  switch (format) {
    case AddressFormat::port: return id == address;
    case AddressFormat::area: return id.value >> 8 == address.value >> 8;
    case AddressFormat::domain: return id.value >> 16 == address.value >> 16;
    case AddressFormat::fabric: return true;
  }
  return true;  // two bits: cannot be
}

std::size_t Rscn::size() const { return word_size + pages.size() * RscnPage::size(); }

Result<Rscn> Rscn::parse(Bytes bytes) {
  if (bytes.size() < word_size) return ParseError{ParseCode::truncated, "payload_length"};
  if (bytes[0] != static_cast<std::uint8_t>(Command::rscn)) return ParseError{ParseCode::bad_value, "command"};
  if (bytes[1] != RscnPage::size()) return ParseError{ParseCode::bad_value, "page_length"};
  const std::size_t length = load_big<2>(bytes.data() + 2);
  if (length < word_size || length % RscnPage::size() != 0) return ParseError{ParseCode::bad_length, "payload_length"};
  if (length > bytes.size()) return ParseError{ParseCode::truncated, "pages"};
  Rscn rscn;
  for (std::size_t at = word_size; at < length; at += RscnPage::size())
    rscn.pages.push_back(codec::read<RscnPage>(bytes.data() + at));
  return rscn;
}

void Rscn::write(MutableBytes to) const {
  assert(to.size() >= size() && size() <= 0xFFFF);
  to[0] = static_cast<std::uint8_t>(Command::rscn);
  to[1] = static_cast<std::uint8_t>(RscnPage::size());
  store_big<2>(to.data() + 2, static_cast<std::uint16_t>(size()));
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i].write(to.subspan(word_size + i * RscnPage::size()));
}

std::string Rscn::to_string() const {
  std::string line(name);
  for (const RscnPage& page : pages) text::append(line, "page", "{" + page.to_string() + "}");
  return line;
}

}  // namespace wire::els
