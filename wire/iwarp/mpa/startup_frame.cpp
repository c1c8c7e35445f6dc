#include "wire/iwarp/mpa/startup_frame.hpp"

namespace wire::mpa {
namespace {

constexpr std::size_t key_bytes = 16;

std::string_view key_of(FrameKind kind) {
  return kind == FrameKind::request ? std::string_view("MPA ID Req Frame") : std::string_view("MPA ID Rep Frame");
}

bool may_begin_with(FrameKind kind, Bytes octets) {
  const std::size_t there = std::min(octets.size(), key_bytes);
  return std::equal(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(there), key_of(kind).begin());
}

/// Octets 16 to 19, all bits as they lie.
struct Fixed {
  bool markers = false, crc = false, rejected = false, enhanced = false;
  std::uint8_t revision = 0;
  std::uint16_t pd_length = 0;
  static constexpr auto layout = codec::layout<4>(
      codec::word<0, 1>(codec::part<7, 7>(&Fixed::markers, "flags"), codec::part<6, 6>(&Fixed::crc, "c"),
                        codec::part<5, 5>(&Fixed::rejected, "r"), codec::part<4, 4>(&Fixed::enhanced, "s")),
      codec::field<1, 1>(&Fixed::revision, "revision"), codec::field<2, 2>(&Fixed::pd_length, "pd_length"));
};
static_assert(key_bytes + Fixed::layout.size() == StartupFrame::header_bytes);

bool has_enhanced(const Fixed& fixed) { return fixed.enhanced && fixed.revision >= 2; }

std::optional<ParseError> error_in(const Fixed& fixed) {
  if (fixed.revision > StartupFrame::max_revision) return ParseError{ParseCode::bad_value, "revision"};
  if (fixed.pd_length > StartupFrame::max_private_data_bytes) return ParseError{ParseCode::bad_length, "pd_length"};
  if (has_enhanced(fixed) && fixed.pd_length < EnhancedData::size())
    return ParseError{ParseCode::bad_length, "pd_length"};
  return std::nullopt;
}

std::optional<ParseError> cut_in(Bytes octets) {
  if (octets.size() < key_bytes) return ParseError{ParseCode::truncated, "key"};
  if (octets.size() < StartupFrame::header_bytes)
    return ParseError{ParseCode::truncated, Fixed::layout.field_at(octets.size() - key_bytes)};
  return std::nullopt;
}

StartupFrame frame_of(FrameKind kind, const Fixed& fixed, Bytes private_data) {
  StartupFrame frame;
  frame.kind = kind;
  frame.markers = fixed.markers;
  frame.crc = fixed.crc;
  frame.rejected = fixed.rejected && kind == FrameKind::reply;
  frame.revision = fixed.revision;
  if (has_enhanced(fixed)) {
    frame.enhanced = *EnhancedData::parse(private_data);
    private_data = private_data.subspan(EnhancedData::size());
  }
  frame.private_data.assign(private_data.begin(), private_data.end());
  return frame;
}

Fixed fixed_of(const StartupFrame& frame) {
  Fixed fixed;
  fixed.markers = frame.markers;
  fixed.crc = frame.crc;
  fixed.rejected = frame.rejected && frame.kind == FrameKind::reply;
  fixed.enhanced = frame.enhanced.has_value();
  fixed.revision = frame.revision;
  fixed.pd_length = static_cast<std::uint16_t>(frame.size() - StartupFrame::header_bytes);
  return fixed;
}

}  // namespace

std::string_view to_string(FrameKind kind) {
  switch (kind) {
    case FrameKind::request: return "MPA Request Frame";
    case FrameKind::reply: return "MPA Reply Frame";
  }
  return text::unknown;
}

Result<EnhancedData> EnhancedData::parse(Bytes bytes) {
  auto data = codec::parse<EnhancedData>(bytes);
  if (data && !data->peer_to_peer) data->send_rtr = data->rdma_write_rtr = data->rdma_read_rtr = false;
  return data;
}
void EnhancedData::write(MutableBytes to) const { codec::write(*this, to); }
std::string EnhancedData::to_string() const {
  std::string line(name);
  text::append_flag(line, peer_to_peer, "peer_to_peer");
  text::append_flag(line, send_rtr, "send_rtr");
  text::append_flag(line, rdma_write_rtr, "rdma_write_rtr");
  text::append_flag(line, rdma_read_rtr, "rdma_read_rtr");
  text::append(line, "ird", std::to_string(ird));
  text::append(line, "ord", std::to_string(ord));
  return line;
}

Result<StartupFrame> StartupFrame::parse(Bytes octets) {
  const bool request = may_begin_with(FrameKind::request, octets);
  if (!request && !may_begin_with(FrameKind::reply, octets)) return ParseError{ParseCode::bad_value, "key"};
  if (const auto error = cut_in(octets)) return *error;
  Fixed fixed;
  Fixed::layout.load(fixed, octets.data() + key_bytes);
  if (const auto error = error_in(fixed)) return *error;
  const Bytes behind = octets.subspan(header_bytes);
  if (behind.size() < fixed.pd_length) return ParseError{ParseCode::truncated, "private_data"};
  return frame_of(request ? FrameKind::request : FrameKind::reply, fixed, behind.first(fixed.pd_length));
}

std::size_t StartupFrame::size() const {
  return header_bytes + (enhanced ? EnhancedData::size() : 0) + private_data.size();
}

void StartupFrame::write(MutableBytes to) const {
  assert(size() <= max_bytes && to.size() >= size());
  assert(revision <= max_revision && (!enhanced || revision >= 2));
  const std::string_view key = key_of(kind);
  std::copy(key.begin(), key.end(), to.begin());
  Fixed::layout.store(fixed_of(*this), to.data() + key_bytes);
  MutableBytes behind = to.subspan(header_bytes);
  if (enhanced) {
    enhanced->write(behind);
    behind = behind.subspan(EnhancedData::size());
  }
  std::copy(private_data.begin(), private_data.end(), behind.begin());
}

std::string StartupFrame::to_string() const {
  std::string line(name);
  text::append(line, "frame", mpa::to_string(kind));
  text::append_flag(line, markers, "markers");
  text::append_flag(line, crc, "crc");
  text::append_flag(line, rejected, "rejected");
  text::append(line, "revision", std::to_string(revision));
  if (enhanced) line += " {" + enhanced->to_string() + "}";
  text::append(line, "private_data", text::bytes(private_data));
  return line;
}

}  // namespace wire::mpa
