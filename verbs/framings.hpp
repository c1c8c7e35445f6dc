// What a connection's terms mean to the framings of iwarp.
#pragma once
#include "iwarp/ift_adaption.hpp"
#include "iwarp/mpa_startup.hpp"
#include "verbs/configuration.hpp"

namespace verbs {

[[nodiscard]] iwarp::MpaOptions mpa_options_of(const Terms& terms);
/// With a VTag that is drawn at random (IFT 4.2).
[[nodiscard]] iwarp::IftOptions ift_options_of(const Terms& terms);
/// Private data, IRD and ORD travel with the start-up; of IFT they do not (ruling I-14).
[[nodiscard]] bool carries_private_data(Framing framing);

}  // namespace verbs
