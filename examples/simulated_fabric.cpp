// A message over a simulated fabric, and one that is lost.
#include <fcvi/sim.hpp>

#include <iostream>

int main() {
  fcvi::sim::Fabric fabric;
  auto alice = fabric.add_port("alice"), bob = fabric.add_port("bob");
  auto client = alice.vi(), server = bob.vi();
  fabric.run_until_ready();
  const auto listening = server.listen("echo");
  client.connect("bob", "echo");
  fabric.run_until(listening);
  const auto first = server.post_receive(), second = server.post_receive();
  client.send({'h', 'e', 'l', 'l', 'o'});
  fabric.run_until(first);
  fabric.add_fault([](const fcvi::sim::Frame& frame) {
    return frame.is("FCVI_SEND_RQST") ? fcvi::sim::Action::drop() : fcvi::sim::Action::pass();
  });
  client.send({'l', 'o', 's', 't'});
  fabric.run(std::chrono::milliseconds(1));
  std::cout << fabric.ladder() << (first.ok() && !second.done() ? "as expected\n" : "not as expected\n");
  return first.ok() && !second.done() ? 0 : 1;
}
