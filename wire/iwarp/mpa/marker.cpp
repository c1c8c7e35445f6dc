#include "wire/iwarp/mpa/marker.hpp"

namespace wire::mpa {

Result<Marker> Marker::parse(Bytes bytes) { return codec::parse<Marker>(bytes); }
void Marker::write(MutableBytes to) const { codec::write(*this, to); }
std::string Marker::to_string() const {
  std::string line(name);
  text::append(line, "fpduptr", std::to_string(fpduptr()));
  return line;
}

std::size_t remove_markers(Position position, Bytes stream, MutableBytes to) {
  std::size_t left = 0;
  while (!stream.empty()) {
    const Run run = run_at(position);
    const std::size_t taken = std::min(run.octets, stream.size());
    if (!run.is_marker) {
      assert(to.size() >= left + taken);
      std::memmove(to.data() + left, stream.data(), taken);
      left += taken;
    }
    stream = stream.subspan(taken);
    position += taken;
  }
  return left;
}

}  // namespace wire::mpa
