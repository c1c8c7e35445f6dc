#include "wire/iwarp/rdmap/headers.hpp"

#include "wire/define_coded.hpp"

namespace wire::rdmap {

WIRE_DEFINE_CODED(ReadRequest)
WIRE_DEFINE_CODED(ImmediateData)

}  // namespace wire::rdmap
