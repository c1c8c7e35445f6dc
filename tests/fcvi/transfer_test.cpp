// Every operation at every level with the sizes where frames and IUs end, over odd segments (issue "A first FC-VI
// connection" 5; FC-VI 5.2, 5.8, 6.2 to 6.7; VI-ARCH 6.1.1).
#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Host;
using Segments = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

enum class Operation { Send, Write, WriteImmediate, Read };

std::string_view name_of(Operation operation) {
  constexpr std::array names{"Send", "RdmaWrite", "RdmaWriteImmediate", "RdmaRead"};
  return names[static_cast<std::size_t>(operation)];
}

/// Odd cuts of [at, at + length): 0, 1, 3, 257, 4099, ... bytes, with a gap between them.
Segments cut(std::uint64_t at, std::uint32_t length) {
  constexpr std::array<std::uint32_t, 6> pieces{1, 0, 3, 257, 4099, 65537};
  Segments segments;
  for (std::size_t i = 0; length != 0; ++i) {
    const std::uint32_t size = segments.size() == 200 ? length : std::min(length, pieces[i % pieces.size()]);
    segments.emplace_back(at, size);
    at += size + 5;
    length -= size;
  }
  return segments;
}

void fill(Host& host, const Segments& segments, std::uint32_t seed) {
  std::uint32_t x = seed * 2654435761u + 1;
  for (const auto& [at, size] : segments)
    for (std::uint32_t i = 0; i < size; ++i)
      host.bytes(at)[i] = static_cast<std::uint8_t>((x = x * 1664525 + 1013904223) >> 24);
}

std::vector<std::uint8_t> content(Host& host, const Segments& segments) {
  std::vector<std::uint8_t> all;
  for (const auto& [at, size] : segments) all.insert(all.end(), host.bytes(at), host.bytes(at) + size);
  return all;
}

using Parameters = std::tuple<Level, Operation, std::uint32_t>;

class Transfer : public support::TwoNodes, public ::testing::WithParamInterface<Parameters> {
 public:
  Transfer() : TwoNodes({.address = {}, .first_handle = 77, .first_connection_id = 5, .max_iu_bytes = 100'000}) {}
};

TEST_P(Transfer, connected_transfer_arrives_intact) {
  const auto [level, operation, length] = GetParam();
  connect(level);
  const bool read = operation == Operation::Read;
  const Segments near = cut(Host::data + 1, length), far = cut(Host::data + 3, length);
  const Segments remote{{Host::data + 7, length}};  // an RDMA target is one piece
  Host& source = read ? *server : *client;
  fill(source, read ? remote : near, length);
  const std::uint64_t receive = server->descriptor(0, operation == Operation::Send ? far : Segments{});
  if (operation == Operation::Send || operation == Operation::WriteImmediate)
    server_vi->post_receive(receive, server->handle);
  std::uint16_t control = operation == Operation::Send ? vi::control::op_send_receive
                          : read                       ? vi::control::op_rdma_read
                                                       : vi::control::op_rdma_write;
  if (operation == Operation::WriteImmediate) control |= vi::control::immediate;
  const std::uint64_t send = client->descriptor(control, near, remote[0].first, server->handle, 0xC0FFEE);
  client_vi->post_send(send, client->handle);
  if (read && level == Level::UnreliableDelivery) {  // VI-ARCH 2.5.1
    fabric.run_for(runtime::second);
    EXPECT_EQ(client->status(send), vi::status::done | vi::status::format_error | vi::status::op_rdma_read);
    EXPECT_EQ(client_vi->state(), vi::State::Connected);
    return;
  }
  ASSERT_TRUE(fabric.run_until([&] { return (client->status(send) & vi::status::done) != 0; }));
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(send) & vi::status::error_mask, 0u);
  EXPECT_EQ(client->control(send).length_bytes, length);
  const Segments& target = operation == Operation::Send ? far : read ? near : remote;
  EXPECT_EQ(content(read ? *client : *server, target), content(source, read ? remote : near));
  if (operation == Operation::Send || operation == Operation::WriteImmediate) {
    const std::uint32_t op = operation == Operation::Send ? vi::status::op_receive : vi::status::op_remote_rdma_write;
    const std::uint32_t immediate = operation == Operation::WriteImmediate ? vi::status::immediate : 0;
    EXPECT_EQ(server->status(receive), vi::status::done | op | immediate);
    EXPECT_EQ(server->control(receive).length_bytes, length);
    if (immediate != 0) {
      EXPECT_EQ(server->control(receive).immediate_data, 0xC0FFEEu);
    }
  }
  EXPECT_EQ(unexpected(), 0u);
  EXPECT_EQ(client->discarded() + server->discarded(), 0u);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
}

std::string test_name(const ::testing::TestParamInfo<Parameters>& info) {
  const auto [level, operation, length] = info.param;
  return std::string(level == Level::UnreliableDelivery ? "Unreliable"
                     : level == Level::ReliableDelivery ? "Delivery"
                                                        : "Reception") +
         std::string(name_of(operation)) + std::to_string(length);
}

INSTANTIATE_TEST_SUITE_P(
    All, Transfer,
    ::testing::Combine(::testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception),
                       ::testing::Values(Operation::Send, Operation::Write, Operation::WriteImmediate, Operation::Read),
                       ::testing::Values(0u, 1u, 2047u, 2048u, 2049u, 65536u, (16u << 20) + 3)),
    test_name);
}  // namespace
