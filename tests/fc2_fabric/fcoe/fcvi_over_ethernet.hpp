// Two FC-VI hosts whose N_Ports an Ethernet connects, however it is made; messages that are checked byte by byte.
#pragma once
#include "fc2_fabric/fcoe/e_node.hpp"
#include "fc2_fabric/fcoe/fcf.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "tests/fcvi/two_nodes.hpp"

namespace support {

class FcviOverEthernet : public testing::Test {
 protected:
  using Level = vi::ReliabilityLevel;
  static constexpr std::uint32_t slot = 1u << 16;

  explicit FcviOverEthernet(const TestFabric::Adjust& adjust = {})
      : fabric(2, {}, adjust), client(fabric, 0), server(fabric, 1, other_ids()) {}
  /// Until `done`; false: it takes too long. Virtual or real time is the subclass's.
  virtual bool run_until(const std::function<bool()>& done) = 0;
  virtual void enter() {}
  virtual void leave() {}

  void connect(Level level) { connect(level, server.net("service")); }
  /// To one of the server's addresses.
  void connect(Level level, const vi::NetAddress& service) {
    client_vi = server_vi = nullptr;
    ASSERT_TRUE(run_until([&] { return client.resolver.ready() && server.resolver.ready(); }));
    enter();
    wait.result.reset(), request.result.reset(), accept.result.reset();
    client_vi = &client.make_vi(level);
    server_vi = &server.make_vi(level);
    server.provider.connect_wait(service, runtime::never, wait);
    client.provider.connect_request(*client_vi, client.net("client"), service, runtime::never, request);
    leave();
    ASSERT_TRUE(run_until([&] { return wait.result.has_value(); }));
    enter();
    server.provider.connect_accept(wait.token, *server_vi, accept);
    leave();
    ASSERT_TRUE(run_until([&] { return accept.result && request.result; }));
    ASSERT_EQ(request.result, vi::Return::Success);
    ASSERT_EQ(accept.result, vi::Return::Success);
  }
  /// Messages of `bytes` each from the client to the server: all arrive, whole and in order.
  void transfer(int count, std::uint32_t bytes) {
    ASSERT_FALSE(HasFatalFailure()) << "not connected";
    std::vector<std::uint64_t> sends, receives;
    enter();
    for (int i = 0; i < count; ++i) {
      receives.push_back(server.descriptor(0, {{at(i), slot}}));
      server_vi->post_receive(receives.back(), server.handle);
    }
    leave();
    enter();
    for (int i = 0; i < count; ++i) {
      for (std::uint32_t byte = 0; byte < bytes; ++byte) client.bytes(at(i))[byte] = content(i, byte);
      sends.push_back(client.descriptor(0, {{at(i), bytes}}));
      client_vi->post_send(sends.back(), client.handle);
    }
    leave();
    ASSERT_TRUE(run_until([&] { return server.status(receives.back()) != 0 && client.status(sends.back()) != 0; }));
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(server.control(receives[static_cast<std::size_t>(i)]).status, vi::status::done | vi::status::op_receive)
          << i;
      ASSERT_EQ(server.control(receives[static_cast<std::size_t>(i)]).length_bytes, bytes);
      for (std::uint32_t byte = 0; byte < bytes; ++byte)
        ASSERT_EQ(server.bytes(at(i))[byte], content(i, byte)) << i << " " << byte;
    }
  }
  /// The server's: 10.0.0.2 is its first.
  static wire::IpAddress second_address() { return wire::IpAddress::v4(10, 9, 0, 2); }
  static std::uint64_t at(int message) { return Host::data + static_cast<std::uint64_t>(message) * slot; }
  static std::uint8_t content(int message, std::uint32_t byte) {
    return static_cast<std::uint8_t>(static_cast<std::uint32_t>(message + 1) * 37 + byte * 11 + (byte >> 8) * 5);
  }

  TestFabric fabric;  // its ports and its clock; the hosts are not attached to its switch
  Wait wait;
  Connect request;
  Done accept;
  Host client, server;
  vi::Vi* client_vi = nullptr;
  vi::Vi* server_vi = nullptr;

 private:
  static fcvi::ProviderConfig other_ids() {
    fcvi::ProviderConfig config;
    config.more_addresses = {second_address()};
    config.first_handle += 0x1000;
    config.first_connection_id += 0x1000;
    return config;
  }
};

}  // namespace support
