// Any frame of a peer, and any link event between them, at an N_Port with an FC-VI provider above it: point-to-point,
// on a loop, on a fabric in order or not, in class 2. The steps: frame_flood.hpp.
#include "besieged_node.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using support::BesiegedNode;
  if (size < 1) return 0;
  BesiegedNode node(static_cast<BesiegedNode::Kind>(data[0] % static_cast<unsigned>(BesiegedNode::Kind::Count)));
  support::FloodSteps steps(wire::Bytes(data + 1, size - 1));
  while (const auto step = steps.next()) node.take(*step);
  node.expect_unharmed(wire::fuzz::is_probed({data, size}));
  return 0;
}
