#include "wire/iwarp/mpa/fpdu.hpp"

namespace wire::mpa {
namespace {

/// Octets of the marker that stands before ULPDU_Length.
std::size_t leading_bytes(const Framing& framing, Position position) {
  assert(!framing.markers || position % word_size == 0);
  return framing.markers && is_marker_at(position) ? marker_bytes : 0;
}

std::size_t extent_of(std::size_t ulpdu_bytes, const Framing& framing, Position position) {
  const std::size_t bare = fpdu_bytes(ulpdu_bytes);
  return framing.markers ? static_cast<std::size_t>(position_after(position, bare) - position) : bare;
}

/// Of each marker within `octets`, its place among them and what it has to say.
template <class Visit>
void for_each_marker(std::size_t octets, const Framing& framing, Position position, Visit visit) {
  if (!framing.markers) return;
  const Position fpdu = position + leading_bytes(framing, position);
  const std::size_t first = (marker_interval_bytes - position % marker_interval_bytes) % marker_interval_bytes;
  for (std::size_t at = first; at < octets; at += marker_interval_bytes) visit(at, Marker::of(position + at, fpdu));
}

bool markers_agree(Bytes octets, const Framing& framing, Position position) {
  bool agree = true;
  for_each_marker(octets.size(), framing, position, [&](std::size_t at, const Marker& expected) {
    agree = agree && codec::read<Marker>(octets.data() + at) == expected;
  });
  return agree;
}

/// FPDU without its markers to the stream, with gaps where they belong.
void spread(Bytes bare, MutableBytes to, Position position) {
  for (std::size_t at = 0; !bare.empty();) {
    const Run run = run_at(position + at);
    const std::size_t taken = run.is_marker ? run.octets : std::min(run.octets, bare.size());
    if (!run.is_marker) {
      std::copy_n(bare.begin(), taken, to.begin() + static_cast<std::ptrdiff_t>(at));
      bare = bare.subspan(taken);
    }
    at += taken;
  }
}

}  // namespace

Result<std::size_t> Fpdu::extent(Bytes octets, const Framing& framing, Position position) {
  const std::size_t leading = leading_bytes(framing, position);
  if (octets.size() < leading) return ParseError{ParseCode::truncated, "marker"};
  if (octets.size() < leading + ulpdu_length_bytes) return ParseError{ParseCode::truncated, "ulpdu_length"};
  return extent_of(load_big<2>(octets, leading), framing, position);
}

Result<Fpdu> Fpdu::parse(Bytes octets, const Framing& framing, Position position) {
  const auto extent = Fpdu::extent(octets, framing, position);
  if (!extent) return extent.error();
  if (octets.size() < *extent) return ParseError{ParseCode::truncated, "ulpdu"};
  const Bytes whole = octets.first(*extent), covered = whole.first(*extent - iwarp::crc_bytes);
  if (framing.crc && iwarp::crc32c(covered) != iwarp::load_crc(whole.data() + covered.size()))
    return ParseError{ParseCode::bad_crc, "crc"};
  if (!markers_agree(whole, framing, position)) return ParseError{ParseCode::bad_value, "fpduptr"};
  Fpdu fpdu;
  fpdu.ulpdu.assign(whole.begin(), whole.end());
  if (framing.markers) fpdu.ulpdu.resize(remove_markers(position, whole, fpdu.ulpdu));
  const std::size_t length = load_big<2>(fpdu.ulpdu, 0);
  fpdu.ulpdu.erase(fpdu.ulpdu.begin(), fpdu.ulpdu.begin() + ulpdu_length_bytes);
  fpdu.ulpdu.resize(length);
  return fpdu;
}

std::size_t Fpdu::size(const Framing& framing, Position position) const {
  return extent_of(ulpdu.size(), framing, position);
}

void Fpdu::write(MutableBytes to, const Framing& framing, Position position) const {
  assert(ulpdu.size() <= (framing.markers ? mulpdu(0xFFFF, true) : max_ulpdu_length));
  assert(to.size() >= size(framing, position));
  to = to.first(size(framing, position));
  std::vector<std::uint8_t> bare(fpdu_bytes(ulpdu.size()));
  store_big<2>(bare.data(), static_cast<std::uint16_t>(ulpdu.size()));
  std::copy(ulpdu.begin(), ulpdu.end(), bare.begin() + ulpdu_length_bytes);
  if (framing.markers)
    spread(bare, to, position);
  else
    std::copy(bare.begin(), bare.end(), to.begin());
  for_each_marker(to.size(), framing, position,
                  [&](std::size_t at, const Marker& marker) { marker.write(to.subspan(at)); });
  const std::size_t covered = to.size() - iwarp::crc_bytes;
  if (framing.crc) iwarp::store_crc(to.data() + covered, iwarp::crc32c(to.first(covered)));
}

}  // namespace wire::mpa
