#include "wire/ct/symbolic_name.hpp"

#include "wire/ct/accept.hpp"
#include "wire/ct/rsnn_nn.hpp"
#include "wire/ct/rspn_id.hpp"

namespace wire::ct {

std::size_t SymbolicName::size() const { return 1 + text.size() + padding_length; }

Result<SymbolicName> SymbolicName::parse(Bytes bytes) {
  if (bytes.empty()) return ParseError{ParseCode::truncated, "name_length"};
  const std::size_t length = bytes[0];
  if (bytes.size() < 1 + length) return ParseError{ParseCode::truncated, "symbolic_name"};
  if (bytes.size() > 0xFFFF) return ParseError{ParseCode::bad_length, "padding_length"};
  SymbolicName name;
  name.text.assign(bytes.begin() + 1, bytes.begin() + 1 + static_cast<std::ptrdiff_t>(length));
  name.padding_length = static_cast<std::uint16_t>(bytes.size() - 1 - length);
  return name;
}

void SymbolicName::write(MutableBytes to) const {
  assert(text.size() <= max_length && to.size() >= size());
  to[0] = static_cast<std::uint8_t>(text.size());
  std::memcpy(to.data() + 1, text.data(), text.size());
  std::memset(to.data() + 1 + text.size(), 0, padding_length);
}

std::string SymbolicName::to_string() const {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return text::quoted(bytes);
}

namespace {
/// What stands between the preamble and the symbolic name.
struct PortIdPart {
  FcId port_id{};
  static constexpr auto layout = codec::layout<4>(codec::field<1, 3>(&PortIdPart::port_id, "port_id"));
};
struct NodeNamePart {
  Wwn node_name{};
  static constexpr auto layout = codec::layout<8>(codec::field<0, 8>(&NodeNamePart::node_name, "node_name"));
};
struct NoPart {
  static constexpr auto layout = codec::layout<0>();
};

template <class Part>
struct Pieces {
  CtHeader preamble;
  Part part;
  SymbolicName symbolic;
};

constexpr std::size_t name_at(std::size_t part_size) { return CtHeader::size() + part_size; }

template <class Part>
Result<Pieces<Part>> parse_pieces(Bytes bytes, Command command) {
  const auto preamble = CtHeader::parse(bytes);
  if (!preamble) return preamble.error();
  if (preamble->command != command) return ParseError{ParseCode::bad_value, "command"};
  const auto part = codec::parse<Part>(bytes.subspan(CtHeader::size()));
  if (!part) return part.error();
  auto symbolic = SymbolicName::parse(bytes.subspan(name_at(Part::layout.size())));
  if (!symbolic) return symbolic.error();
  return Pieces<Part>{*preamble, *part, *std::move(symbolic)};
}

template <class Part>
void write_pieces(const Pieces<Part>& pieces, MutableBytes to) {
  pieces.preamble.write(to);
  codec::write(pieces.part, to.subspan(CtHeader::size()));
  pieces.symbolic.write(to.subspan(name_at(Part::layout.size())));
}

void append_name(std::string& line, const std::string& text) {
  text::append(line, "symbolic_name", SymbolicName{text, 0}.to_string());
}
}  // namespace

std::size_t RspnId::size() const { return name_at(4) + SymbolicName{symbolic_name, padding_length}.size(); }
Result<RspnId> RspnId::parse(Bytes bytes) {
  auto pieces = parse_pieces<PortIdPart>(bytes, command);
  if (!pieces) return pieces.error();
  return RspnId{pieces->preamble, pieces->part.port_id, std::move(pieces->symbolic.text),
                pieces->symbolic.padding_length};
}
void RspnId::write(MutableBytes to) const {
  write_pieces<PortIdPart>({preamble, {port_id}, {symbolic_name, padding_length}}, to);
}
std::string RspnId::to_string() const {
  std::string line(name);
  text::append(line, "port_id", wire::to_string(port_id));
  append_name(line, symbolic_name);
  return line;
}

std::size_t RsnnNn::size() const { return name_at(8) + SymbolicName{symbolic_name, padding_length}.size(); }
Result<RsnnNn> RsnnNn::parse(Bytes bytes) {
  auto pieces = parse_pieces<NodeNamePart>(bytes, command);
  if (!pieces) return pieces.error();
  return RsnnNn{pieces->preamble, pieces->part.node_name, std::move(pieces->symbolic.text),
                pieces->symbolic.padding_length};
}
void RsnnNn::write(MutableBytes to) const {
  write_pieces<NodeNamePart>({preamble, {node_name}, {symbolic_name, padding_length}}, to);
}
std::string RsnnNn::to_string() const {
  std::string line(name);
  text::append(line, "node_name", wire::to_string(node_name));
  append_name(line, symbolic_name);
  return line;
}

std::size_t SymbolicNameAccept::size() const { return name_at(0) + SymbolicName{symbolic_name, padding_length}.size(); }
Result<SymbolicNameAccept> SymbolicNameAccept::parse(Bytes bytes) {
  auto pieces = parse_pieces<NoPart>(bytes, Command::accept);
  if (!pieces) return pieces.error();
  return SymbolicNameAccept{pieces->preamble, std::move(pieces->symbolic.text), pieces->symbolic.padding_length};
}
void SymbolicNameAccept::write(MutableBytes to) const {
  write_pieces<NoPart>({preamble, {}, {symbolic_name, padding_length}}, to);
}
std::string SymbolicNameAccept::to_string() const {
  std::string line(name);
  append_name(line, symbolic_name);
  return line;
}

}  // namespace wire::ct
