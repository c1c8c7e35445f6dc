// Where the fields of a message lie that was described in words: by the layouts of wire/.
#pragma once
#include "tools/fcvi_sim/capture/fields.hpp"

namespace sim::capture {

/// Gives fields their places. `message`: as parse_description() made it of `data`, the bytes of a link service or of a
/// request to a service of the fabric, which begin at `base` of the packet. Fields stay without where no layout of
/// wire/ has these names and constants, as in messages of variable length.
void set_places(Field& message, wire::Bytes data, std::size_t base);

}  // namespace sim::capture
