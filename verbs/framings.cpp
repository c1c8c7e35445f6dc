#include "verbs/framings.hpp"

#include <random>

namespace verbs {

iwarp::MpaOptions mpa_options_of(const Terms& terms) {
  return {.wants_markers = terms.markers, .crc = terms.crc, .awaits_first_fpdu = terms.await_first_fpdu};
}

iwarp::IftOptions ift_options_of(const Terms& terms) {
  std::random_device chance;
  return {.vtag = {static_cast<std::uint16_t>(chance())},
          .header_crc = terms.crc,
          .payload_crc = terms.crc,
          .requires_crcs = terms.crc};
}

bool carries_private_data(Framing framing) { return framing != Framing::ift; }

}  // namespace verbs
