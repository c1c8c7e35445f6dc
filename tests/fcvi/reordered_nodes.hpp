// Two nodes on a fabric that does not keep the order of frames, and their bytes.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "tests/fcvi/class_2_nodes.hpp"

namespace support {

/// Client and server have the same bytes at `near` and, where it is written to, others at `far`.
class Reordered : public MessageNodes {
 public:
  explicit Reordered(fcvi::ProviderConfig config = {}) : MessageNodes(config, {}, fabric_order(false)) {}
  void begin_all(Level level, std::size_t connections = 1) {
    for (std::size_t i = 0; i < connections; ++i) {
      begin(level, std::to_string(i));
      clients.push_back(client_vi), servers.push_back(server_vi);
    }
  }
  void fill(Host& host, std::uint64_t at, std::uint32_t bytes, std::uint32_t factor = 11) {
    for (std::uint32_t i = 0; i < bytes; ++i) host.bytes(at)[i] = static_cast<std::uint8_t>(i * factor + (i >> 11));
  }
  [[nodiscard]] bool same(std::uint64_t at_client, std::uint64_t at_server, std::uint32_t bytes) {
    return std::memcmp(client->bytes(at_client), server->bytes(at_server), bytes) == 0;
  }
  std::uint64_t post_write(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    const auto write = client->descriptor(vi::control::op_rdma_write, {{from, bytes}}, to, server->handle);
    client_vi->post_send(write, client->handle);
    return write;
  }
  std::vector<vi::Vi*> clients, servers;
};

}  // namespace support
