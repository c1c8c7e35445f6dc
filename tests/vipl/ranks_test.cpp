// Processes of one program on a local fabric: started apart, and polling while nobody serves their sockets.
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "tests/local_fabric/fixture.hpp"
#include "tests/vipl/programs.hpp"
#include "vipl/api/domain.hpp"

namespace support {
namespace {

/// A rank: a node of its own name, which finds others by theirs.
class Rank {
 public:
  explicit Rank(int number) : node_((::setenv("FCVI_NODE", name(number).c_str(), 1), 0)) {
    EXPECT_EQ(VipNSInit(node_.nic, nullptr), VIP_SUCCESS);
    VIP_NIC_ATTRIBUTES about{};
    EXPECT_EQ(VipQueryNic(node_.nic, &about), VIP_SUCCESS);
    std::memcpy(own_.bytes + 4, about.LocalNicAddress, 16);
  }
  Node* operator->() { return &node_; }
  VIP_RETURN find(int number) {
    std::string wanted = name(number);
    return VipNSGetHostByName(node_.nic, wanted.data(), &other_, 0);
  }
  bool accept(VIP_VI_HANDLE vi) {
    Address remote;
    VIP_VI_ATTRIBUTES ignored;
    VIP_CONN_HANDLE connection = nullptr;
    return VipConnectWait(node_.nic, &own_, 60'000, &remote, &ignored, &connection) == VIP_SUCCESS &&
           VipConnectAccept(connection, vi) == VIP_SUCCESS;
  }
  bool connect(VIP_VI_HANDLE vi, int number) {
    if (find(number) != VIP_SUCCESS) return false;
    other_.net.DiscriminatorLen = own_.net.DiscriminatorLen;
    std::memcpy(other_.bytes + 20, own_.bytes + 20, own_.net.DiscriminatorLen);
    VIP_VI_ATTRIBUTES ignored;
    VIP_RETURN result = VIP_NO_MATCH;
    while ((result = VipConnectRequest(vi, &own_, &other_, 60'000, &ignored)) == VIP_NO_MATCH)
      std::this_thread::sleep_for(1ms);
    return result == VIP_SUCCESS;
  }

 private:
  static std::string name(int number) { return "rank" + std::to_string(number); }
  Node node_;
  Address own_{0, "ranks"}, other_;
};

class RanksTest : public LocalFabricTest {
 public:
  RanksTest() { ::unsetenv("FCVI_CONFIG"); }
  ~RanksTest() override { ::unsetenv("FCVI_NODE"); }
};

/// The thread that serves this process's sockets and timers is kept from it.
class HeldService {
 public:
  HeldService() {
    auto held = std::make_shared<std::promise<void>>();
    const auto is_held = held->get_future();
    boost::asio::post(*vipl::Domain::get().runtime().io(), [held, end = end_.get_future().share()] {
      held->set_value();
      end.wait();
    });
    is_held.wait();
  }
  ~HeldService() { end_.set_value(); }
  HeldService(const HeldService&) = delete;
  HeldService& operator=(const HeldService&) = delete;

 private:
  std::promise<void> end_;
};

constexpr std::uint32_t message_bytes = 8;
constexpr int round_trips = 200;

VIP_RETURN poll(bool receive, VIP_VI_HANDLE vi, VIP_CQ_HANDLE queue) {
  VIP_DESCRIPTOR* done = nullptr;
  VIP_RETURN result = VIP_NOT_DONE;
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (result == VIP_NOT_DONE && std::chrono::steady_clock::now() < limit) {
    VIP_VI_HANDLE which;
    VIP_BOOLEAN received;
    if (queue != nullptr && (result = VipCQDone(queue, &which, &received)) != VIP_SUCCESS) continue;
    result = receive ? VipRecvDone(vi, &done) : VipSendDone(vi, &done);
  }
  return result;
}

/// The end that polls; what it waits for, its own service thread would bring.
int poll_alone(bool with_queue) {
  Rank rank(1);
  VIP_CQ_HANDLE queue = nullptr;
  if (with_queue && VipCreateCQ(rank->nic, 16, &queue) != VIP_SUCCESS) return 2;
  const VIP_VI_HANDLE vi = rank->make_vi(VIP_SERVICE_RELIABLE_RECEPTION, nullptr, queue);
  if (!rank.connect(vi, 0)) return 3;
  const HeldService held;
  for (int i = 0; i < round_trips; ++i) {
    rank->post_receive(vi, rank->simple(0, 0, message_bytes));
    rank->post_send(vi, rank->simple(1, 64, message_bytes));
    if (poll(false, vi, nullptr) != VIP_SUCCESS || poll(true, vi, queue) != VIP_SUCCESS) return 4;
  }
  return testing::Test::HasFailure() ? 5 : 0;
}

int echo() {
  Rank rank(0);
  const VIP_VI_HANDLE vi = rank->make_vi(VIP_SERVICE_RELIABLE_RECEPTION);
  rank->post_receive(vi, rank->simple(0, 0, message_bytes));
  if (!rank.accept(vi)) return 2;
  VIP_DESCRIPTOR* done = nullptr;
  for (int i = 0; i < round_trips; ++i) {
    if (VipRecvWait(vi, 60'000, &done) != VIP_SUCCESS) return 3;
    rank->post_receive(vi, rank->simple(0, 0, message_bytes));
    rank->post_send(vi, rank->simple(1, 64, message_bytes));
    if (VipSendWait(vi, 60'000, &done) != VIP_SUCCESS) return 4;
  }
  return testing::Test::HasFailure() ? 5 : 0;
}

}  // namespace

// Programs that are launched together begin seconds apart: the first one's look-up of a name waits for the other.
TEST_F(RanksTest, started_5_s_apart_find_each_other) {
  int opened[2];  // the first tells that its NIC is open: however long that takes, it looks before the other is there
  ASSERT_EQ(::pipe(opened), 0);
  Child first([&] {
    Rank rank(0);
    if (::write(opened[1], "", 1) != 1) return 4;
    const auto begin = std::chrono::steady_clock::now();
    if (rank.find(1) != VIP_SUCCESS) return 2;
    return std::chrono::steady_clock::now() - begin > 3s ? 0 : 3;  // it was not there yet
  });
  Child second([&] {
    char byte;
    ::close(opened[1]);
    if (::read(opened[0], &byte, 1) != 1) return 4;
    std::this_thread::sleep_for(5s);
    Rank rank(1);
    if (rank.find(0) != VIP_SUCCESS) return 2;
    std::this_thread::sleep_for(5s);  // for the first to look
    return 0;
  });
  for (const int end : opened) ::close(end);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
}

// Every message, its answer and the response of Reliable Reception come by the poller's own reading of its socket.
TEST_F(RanksTest, poller_makes_progress_without_the_service_thread) {
  for (const bool with_queue : {false, true}) {
    Child server([] { return echo(); });
    Child client([=] { return poll_alone(with_queue); });
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(server.wait(), 0);
  }
}

}  // namespace support
