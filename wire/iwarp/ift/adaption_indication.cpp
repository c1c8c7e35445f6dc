#include "wire/iwarp/ift/adaption_indication.hpp"

namespace wire::ift {
namespace {

constexpr std::size_t crc_at = adaption_indication_bytes - iwarp::crc_bytes;

bool may_begin_with_magic(Bytes bytes) {
  std::array<std::uint8_t, 4> magic;
  store_big<4>(magic.data(), AdaptionIndication::magic);
  const auto there = static_cast<std::ptrdiff_t>(std::min(bytes.size(), magic.size()));
  return std::equal(bytes.begin(), bytes.begin() + there, magic.begin());
}

}  // namespace

std::string to_string(VTag vtag) { return text::hex_h(vtag.value, 4); }

Result<AdaptionIndication> AdaptionIndication::parse(Bytes bytes) {
  if (!may_begin_with_magic(bytes)) return ParseError{ParseCode::bad_value, "magic"};
  auto indication = codec::parse<AdaptionIndication>(bytes);
  if (!indication) return indication;
  if (indication->bc_version > known_version) return ParseError{ParseCode::bad_value, "bc_version"};
  if (iwarp::crc32c(bytes.first(crc_at)) != iwarp::load_crc(bytes.data() + crc_at))
    return ParseError{ParseCode::bad_crc, "crc"};
  return indication;
}

void AdaptionIndication::write(MutableBytes to) const {
  codec::write(*this, to);
  iwarp::store_crc(to.data() + crc_at, iwarp::crc32c(to.first(crc_at)));
}

std::string AdaptionIndication::to_string() const {
  std::string line(name);
  text::append(line, "phase", phase_1 ? "1" : "0");
  text::append(line, "version", std::to_string(version));
  text::append(line, "bc_version", std::to_string(bc_version));
  text::append_flag(line, rdma_mode, "rdma_mode");
  text::append_flag(line, header_crc, "header_crc");
  text::append_flag(line, payload_crc, "payload_crc");
  text::append_flag(line, ignores_header_crc, "ignores_header_crc");
  text::append_flag(line, ignores_payload_crc, "ignores_payload_crc");
  text::append_flag(line, speculative_placement, "speculative_placement");
  text::append_flag(line, sends_markers, "sends_markers");
  text::append_flag(line, wants_markers, "wants_markers");
  text::append(line, "vtag", ift::to_string(vtag));
  text::append(line, "marker_interval", std::to_string(marker_interval));
  return line;
}

}  // namespace wire::ift
