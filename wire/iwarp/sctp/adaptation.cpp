#include "wire/iwarp/sctp/adaptation.hpp"

#include "wire/define_coded.hpp"

namespace wire::sctp {

WIRE_DEFINE_CODED(AdaptationIndication)
WIRE_DEFINE_CODED(ChunkHeader)

}  // namespace wire::sctp
