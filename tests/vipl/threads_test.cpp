// The process's own fabric: real time and real threads. Run under ThreadSanitizer too.
#include <chrono>
#include <thread>

#include "tests/vipl/programs.hpp"

using namespace support;

namespace {

constexpr unsigned messages = 200;

void serve(Node& node, VIP_RELIABILITY_LEVEL level, const std::string& name) {
  VIP_VI_HANDLE vi = node.make_vi(level);
  for (std::size_t i = 0; i < 32; ++i) node.post_receive(vi, node.simple(i, i * 4096, 4096));
  node.accept(vi, name);
  for (unsigned i = 0; i < messages; ++i) {
    VIP_DESCRIPTOR* done = nullptr;
    ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    EXPECT_EQ(*static_cast<std::uint8_t*>(done->DS[0].Local.Data.Address), static_cast<std::uint8_t>(i));
    node.post_receive(vi, node.simple(i % 32, i % 32 * 4096, 4096));
    node.post_send(vi, node.simple(32, 200000, 1));  // the answer
    ASSERT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
  }
  VIP_DESCRIPTOR* done = nullptr;
  EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);  // the client has gone
}

void ask(Node& node, VIP_RELIABILITY_LEVEL level, const std::string& name) {
  VIP_VI_HANDLE vi = node.make_vi(level);
  node.connect(vi, 1, name);
  for (unsigned i = 0; i < messages; ++i) {
    VIP_DESCRIPTOR* done = nullptr;
    node.post_receive(vi, node.simple(0, 0, 10));
    node.data(4096)[0] = static_cast<std::uint8_t>(i);
    node.post_send(vi, node.simple(1, 4096, 3000));
    ASSERT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
  }
  EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
}

VIP_RETURN wait_at(Node& node, unsigned host, VIP_ULONG timeout_ms, VIP_CONN_HANDLE& connection) {
  Address local(host, "second"), remote;
  VIP_VI_ATTRIBUTES found;
  return VipConnectWait(node.nic, &local, timeout_ms, &remote, &found, &connection);
}

void ignore(VIP_PVOID, VIP_ERROR_DESCRIPTOR*) {}

}  // namespace

TEST(ViplThreads, eight_threads_on_four_connections) {
  const VIP_RELIABILITY_LEVEL levels[] = {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                          VIP_SERVICE_RELIABLE_RECEPTION, VIP_SERVICE_RELIABLE_DELIVERY};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    const std::string name = "pair " + std::to_string(i);
    threads.emplace_back([name, level = levels[i]] {
      Node node(1);
      EXPECT_EQ(VipErrorCallback(node.nic, nullptr, ignore), VIP_SUCCESS);
      serve(node, level, name);
    });
    threads.emplace_back([name, level = levels[i]] {
      Node node;
      ask(node, level, name);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ViplThreads, time_outs_last_at_least_as_long_as_they_should) {
  using Clock = std::chrono::steady_clock;
  Node node;
  const auto start = Clock::now();
  node.rest(50);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(50));
  VIP_CONN_HANDLE connection;
  EXPECT_EQ(node.wait("nobody", connection, 50), VIP_TIMEOUT);  // the provider's timer
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(100));
}

// VI-DG 3.8.1: without a handler of the program.
TEST(ViplThreads, default_handler_logs) {
  testing::internal::CaptureStderr();
  {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    alignas(64) VIP_DESCRIPTOR elsewhere{};
    node.post_receive(vi, &elsewhere);
    node.rest(100);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("asynchronous error"), std::string::npos);
}

TEST(ViplThreads, closing_a_nic_wakes_blocked_threads) {
  Node node;
  VIP_VI_HANDLE vi = node.make_vi(), found = nullptr;
  VIP_CQ_HANDLE queue = nullptr;
  ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
  node.post_receive(vi, node.simple(0, 0, 1));
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    VIP_DESCRIPTOR* done = nullptr;  // flushed by the close, or already gone
    const VIP_RETURN result = VipRecvWait(vi, VIP_INFINITE, &done);
    EXPECT_TRUE(result == VIP_INVALID_PARAMETER || (result == VIP_DESCRIPTOR_ERROR && done == node.at(0)));
  });
  threads.emplace_back([&, queue] {
    VIP_BOOLEAN receive;
    EXPECT_EQ(VipCQWait(queue, VIP_INFINITE, &found, &receive), VIP_INVALID_PARAMETER);
  });
  threads.emplace_back([&, nic = node.nic] {
    Address local(0, "never"), remote;
    VIP_VI_ATTRIBUTES ignored;
    VIP_CONN_HANDLE connection;
    EXPECT_EQ(VipConnectWait(nic, &local, VIP_INFINITE, &remote, &ignored, &connection), VIP_INVALID_PARAMETER);
  });
  Node other(1);
  other.rest(100);
  node.close();
  for (std::thread& thread : threads) thread.join();
}

// FC-VI 4.2, VI-DG 3.3.1: VINIC9 is 10.0.0.10 and 10.0.0.110. Whoever waits at the second address is found there and
// nowhere else; an address that is not the NIC's is VIP_INVALID_PARAMETER.
TEST(ViplThreads, wait_at_the_second_address_is_found_there) {
  constexpr unsigned first = 9, second = 109;
  Node server(first), client(0);
  VIP_VI_HANDLE asked = server.make_vi(), asking = client.make_vi();
  VIP_CONN_HANDLE connection = nullptr;
  EXPECT_EQ(wait_at(server, 1, 0, connection), VIP_INVALID_PARAMETER);
  std::thread waiting([&] {
    ASSERT_EQ(wait_at(server, second, VIP_INFINITE, connection), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(connection, asked), VIP_SUCCESS);
  });
  client.rest(100);  // so that somebody waits
  EXPECT_EQ(client.request(asking, first, "second", 5000), VIP_NO_MATCH);
  client.connect(asking, second, "second");
  waiting.join();
  EXPECT_EQ(VipDisconnect(asking), VIP_SUCCESS);
}

// FC-VI 4.2, VI-DG 3.3.4: ... and who asks may name itself by its second address: that is what the other end is told.
TEST(ViplThreads, request_from_the_second_address_tells_it) {
  Node server(0), client(9);
  VIP_VI_HANDLE asked = server.make_vi(), asking = client.make_vi();
  Address seen;
  std::thread waiting([&] {
    Address local(0, "service");
    VIP_VI_ATTRIBUTES found;
    VIP_CONN_HANDLE connection = nullptr;
    ASSERT_EQ(VipConnectWait(server.nic, &local, VIP_INFINITE, &seen, &found, &connection), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(connection, asked), VIP_SUCCESS);
  });
  Address own(109, "me"), remote(0, "service");
  VIP_VI_ATTRIBUTES found;
  VIP_RETURN result = VIP_NO_MATCH;
  while (result == VIP_NO_MATCH) result = VipConnectRequest(asking, &own, &remote, 5000, &found);
  waiting.join();
  EXPECT_EQ(result, VIP_SUCCESS);
  EXPECT_EQ(std::memcmp(seen.bytes, own.bytes, 4 + 16), 0) << "length of the host, and its bytes";
  EXPECT_EQ(VipDisconnect(asking), VIP_SUCCESS);
}

// FC-VI 8.3: FCVI_ULP_TIMEOUT shall be R_A_TOV: another one is taken, and said once.
TEST(ViplThreads, open_with_another_ulp_timeout_is_warned_of) {
  for (const char* name : {"impatient", "VINIC1"}) {
    VIP_NIC_HANDLE nic = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_EQ(VipOpenNic(name, &nic), VIP_SUCCESS);
    EXPECT_EQ(VipCloseNic(nic), VIP_SUCCESS);
    const std::string said = testing::internal::GetCapturedStderr();
    const bool warned =
        said.find("impatient: timeouts.ulp is 3.000 s; FC-VI 8.3 asks for R_A_TOV, 10.000 s") != std::string::npos;
    EXPECT_EQ(warned, std::string_view(name) == "impatient") << said;
  }
}
