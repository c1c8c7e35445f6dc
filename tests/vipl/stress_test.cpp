// Real threads at each other: run under ThreadSanitizer and AddressSanitizer too. Nothing here looks at the clock: a
// call that does not come back hangs the test.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "tests/vipl/programs.hpp"
#include "vipl/api/domain.hpp"

using namespace support;

namespace {

void ignore(VIP_PVOID, VIP_ERROR_DESCRIPTOR*) {}

struct Threads {
  ~Threads() {
    for (std::thread& thread : all) thread.join();
  }
  template <class Body>
  void add(Body body) {
    all.emplace_back(std::move(body));
  }
  std::vector<std::thread> all;
};

}  // namespace

// VI-DG 3.5.2, issue 3: what one VI's traffic does to the core makes no call of another wait.
TEST(ViplStress, data_calls_return_while_the_engine_is_held) {
  Node node;
  VIP_CQ_HANDLE queue = nullptr;
  ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
  VIP_VI_HANDLE vi = node.make_vi(), attached = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, queue);
  for (std::size_t i = 0; i < 2; ++i) node.post_send(vi, node.simple(i, 0, 4));  // flushed
  node.post_receive(attached, node.simple(2, 0, 4));
  EXPECT_EQ(VipDisconnect(attached), VIP_SUCCESS);  // flushes
  vipl::Domain::get().engine().enter();
  std::thread([&] {
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipSendDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, node.at(0));
    EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, node.at(1));
    EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);  // empty
    EXPECT_EQ(done, nullptr);
    VIP_VI_HANDLE found = nullptr;
    VIP_BOOLEAN receive = VIP_FALSE;
    EXPECT_EQ(VipCQWait(queue, VIP_INFINITE, &found, &receive), VIP_SUCCESS);
    EXPECT_EQ(found, attached);
    EXPECT_EQ(VipRecvDone(attached, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, node.at(2));
    EXPECT_EQ(VipCQDone(queue, &found, &receive), VIP_NOT_DONE);
    node.at(3)->CS.Status = 0xFFFF;
    node.post_send(vi, node.simple(3, 0, 4));
    node.post_receive(vi, node.simple(4, 0, 4));
    EXPECT_EQ(node.at(3)->CS.Status, 0u);  // VI-DG 5.5
    EXPECT_EQ(VipSendDone(vi, &done), VIP_NOT_DONE);
    EXPECT_EQ(VipSendWait(vi, 1, &done), VIP_TIMEOUT);
    EXPECT_EQ(VipRecvNotify(vi, nullptr, [](void*, void*, void*, VIP_DESCRIPTOR*) {}), VIP_SUCCESS);
    EXPECT_EQ(VipCQNotify(queue, nullptr, [](void*, void*, void*, VIP_BOOLEAN) {}), VIP_SUCCESS);
  }).join();
  vipl::Domain::get().engine().leave();
  VIP_DESCRIPTOR* done = nullptr;
  EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
  EXPECT_EQ(done, node.at(3));  // what was posted meanwhile was taken
}

// A hundred clients' pattern in small: each message is answered; all of it passes through one completion queue, which
// is far too small and loses nothing, and three threads serve it.
TEST(ViplStress, one_completion_queue_serves_many_clients) {
  constexpr unsigned clients = 8, messages = 150, receives = 4, answers = 3;
  Node server(1);
  VIP_CQ_HANDLE queue = nullptr;
  ASSERT_EQ(VipCreateCQ(server.nic, 1, &queue), VIP_SUCCESS);
  EXPECT_EQ(VipErrorCallback(server.nic, nullptr, ignore), VIP_SUCCESS);
  struct Client {
    VIP_VI_HANDLE vi;
    std::atomic<unsigned> received{0};
  };
  std::vector<Client> all(clients);
  std::atomic<unsigned> left{2 * clients * messages};
  Threads threads;
  for (unsigned c = 0; c < clients; ++c) {
    all[c].vi = server.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
    for (unsigned i = 0; i < receives; ++i) {
      const std::size_t index = c * (receives + answers) + i;
      server.post_receive(all[c].vi, server.simple(index, index * 64, 64));
    }
    threads.add([c] {
      Node node;
      VIP_VI_HANDLE vi = node.make_vi();
      EXPECT_EQ(VipErrorCallback(node.nic, nullptr, ignore), VIP_SUCCESS);
      node.connect(vi, 1, "client " + std::to_string(c));
      VIP_DESCRIPTOR* done = nullptr;
      for (unsigned i = 0; i < messages; ++i) {
        node.post_receive(vi, node.simple(0, 0, 64));
        node.data(64)[0] = static_cast<std::uint8_t>(c * 31 + i);
        node.post_send(vi, node.simple(1, 64, 64));
        ASSERT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
        ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
        ASSERT_EQ(node.data()[0], static_cast<std::uint8_t>(c * 31 + i));
      }
      VipRecvWait(vi, VIP_INFINITE, &done);  // nothing is posted: it does not wait
      EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    });
  }
  for (unsigned c = 0; c < clients; ++c) server.accept(all[c].vi, "client " + std::to_string(c));
  // False: a receive that was flushed when its client had enough.
  const auto serve = [&](VIP_VI_HANDLE vi, bool receive) {
    unsigned c = 0;
    while (all[c].vi != vi) ++c;
    VIP_DESCRIPTOR* done = nullptr;
    const VIP_RETURN result = receive ? VipRecvDone(vi, &done) : VipSendDone(vi, &done);
    EXPECT_NE(done, nullptr);
    if (!receive || result != VIP_SUCCESS) return !receive;
    const unsigned n = all[c].received.fetch_add(1);
    auto* data = static_cast<std::uint8_t*>(done->DS[0].Local.Data.Address);
    EXPECT_EQ(data[0], static_cast<std::uint8_t>(c * 31 + n));
    const std::size_t index = c * (receives + answers) + receives + n % answers;
    server.data(index * 64)[0] = data[0];
    EXPECT_EQ(VipPostRecv(vi, done, server.handle), VIP_SUCCESS);
    server.post_send(vi, server.simple(index, index * 64, 64));
    return true;
  };
  {
    Threads servers;
    for (int i = 0; i < 3; ++i)
      servers.add([&] {
        while (left.load() != 0) {
          VIP_VI_HANDLE vi = nullptr;
          VIP_BOOLEAN receive = VIP_FALSE;
          if (VipCQWait(queue, 20, &vi, &receive) == VIP_SUCCESS && serve(vi, receive == VIP_TRUE)) --left;
        }
      });
  }
  for (const Client& client : all) EXPECT_EQ(client.received, messages);
}

namespace {

/// VIs and completion queues that come and go, known to all threads, and often gone when these use them.
class Chaos {
 public:
  static constexpr std::size_t slots = 6;
  Chaos() : owner_(new Node) {
    for (std::size_t i = 0; i < Node::descriptors; ++i) owner_->simple(i, 0, 4);
    EXPECT_EQ(VipErrorCallback(owner_->nic, this, on_error), VIP_SUCCESS);
  }
  ~Chaos() { delete owner_; }

  void make_and_destroy(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      auto& slot = vis_[random(seed) % slots];
      VIP_CQ_HANDLE queue = random(seed) % 2 == 0 ? queues_[0].load() : nullptr;
      VIP_VI_ATTRIBUTES wanted = attributes(VIP_SERVICE_UNRELIABLE);
      VIP_VI_HANDLE vi = nullptr;
      const VIP_RETURN made = VipCreateVi(owner_->nic, &wanted, queue, queue, &vi);
      ASSERT_TRUE(made == VIP_SUCCESS || made == VIP_INVALID_PARAMETER) << made;  // the queue may be gone
      if (made == VIP_SUCCESS) destroy(slot.exchange(vi));
      if (random(seed) % 8 == 0) exchange_queue();
    }
  }
  void use(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      VIP_VI_HANDLE vi = vis_[random(seed) % slots].load();
      VIP_CQ_HANDLE queue = queues_[random(seed) % 2].load();
      use_once(random(seed) % 12, vi, queue, owner_->at(random(seed) % Node::descriptors));
    }
  }
  void provoke_an_error() {
    const VIP_VI_HANDLE vi = owner_->make_vi(VIP_SERVICE_UNRELIABLE);
    EXPECT_EQ(VipPostRecv(vi, owner_->at(0), owner_->handle + 1), VIP_SUCCESS);
  }
  /// VipCloseNic while all others are busy.
  void close() {
    EXPECT_EQ(VipCloseNic(owner_->nic), VIP_SUCCESS);
    owner_->nic = nullptr;
  }
  std::atomic<unsigned> calls{0};

 private:
  static unsigned random(unsigned& seed) { return (seed = seed * 1664525u + 1013904223u) >> 16; }
  static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
    ++static_cast<Chaos*>(context)->calls;
    VipDisconnect(error->ViHandle);  // handlers call back in
  }
  static void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE, VIP_VI_HANDLE vi, VIP_DESCRIPTOR*) {
    ++static_cast<Chaos*>(context)->calls;
    VipDisconnect(vi);
    VIP_DESCRIPTOR* done = nullptr;
    while (VipRecvDone(vi, &done) == VIP_DESCRIPTOR_ERROR && done != nullptr) {}
    VipDestroyVi(vi);  // its own queue's thread
  }
  static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE, VIP_VI_HANDLE vi, VIP_BOOLEAN) {
    ++static_cast<Chaos*>(context)->calls;
    VIP_DESCRIPTOR* done = nullptr;
    VipRecvDone(vi, &done);
  }
  void destroy(VIP_VI_HANDLE vi) {
    VIP_DESCRIPTOR* done = nullptr;
    for (int i = 0; vi != nullptr && i < 5; ++i) {  // others post meanwhile; what is left goes with the NIC
      VipDisconnect(vi);
      while (VipRecvDone(vi, &done) == VIP_DESCRIPTOR_ERROR && done != nullptr) {}
      while (VipSendDone(vi, &done) == VIP_DESCRIPTOR_ERROR && done != nullptr) {}
      const VIP_RETURN result = VipDestroyVi(vi);
      if (result != VIP_INVALID_STATE) return;
    }
  }
  void exchange_queue() {
    VIP_CQ_HANDLE queue = nullptr;
    if (VipCreateCQ(owner_->nic, 2, &queue) != VIP_SUCCESS) return;
    VIP_CQ_HANDLE old = queues_[1].exchange(queues_[0].exchange(queue));
    const VIP_RETURN result = VipDestroyCQ(old);
    EXPECT_TRUE(result == VIP_SUCCESS || result == VIP_ERROR_RESOURCE || result == VIP_INVALID_PARAMETER) << result;
  }
  void check(VIP_RETURN result, std::initializer_list<VIP_RETURN> allowed) {
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), result), allowed.end()) << result;
  }
  void use_once(unsigned what, VIP_VI_HANDLE vi, VIP_CQ_HANDLE queue, VIP_DESCRIPTOR* descriptor) {
    VIP_DESCRIPTOR* done = nullptr;
    VIP_VI_HANDLE found = nullptr;
    VIP_BOOLEAN receive = VIP_FALSE;
    VIP_VI_STATE state;
    VIP_VI_ATTRIBUTES found_attributes;
    VIP_BOOLEAN send_empty, receive_empty;
    switch (what) {
      case 0: return check(VipPostSend(vi, descriptor, owner_->handle), {VIP_SUCCESS, VIP_INVALID_PARAMETER});
      case 1: return check(VipPostSend(vi, descriptor, owner_->handle + 1), {VIP_SUCCESS, VIP_INVALID_PARAMETER});
      case 2:
      case 3: return check(VipPostRecv(vi, descriptor, owner_->handle), {VIP_SUCCESS, VIP_INVALID_PARAMETER});
      case 4: return check(VipSendDone(vi, &done), {VIP_NOT_DONE, VIP_DESCRIPTOR_ERROR, VIP_INVALID_PARAMETER});
      case 5: return check(VipRecvDone(vi, &done), {VIP_NOT_DONE, VIP_DESCRIPTOR_ERROR, VIP_INVALID_PARAMETER});
      case 6:
        return check(VipRecvWait(vi, 1, &done),
                     {VIP_TIMEOUT, VIP_DESCRIPTOR_ERROR, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE});
      case 7: return check(VipCQDone(queue, &found, &receive), {VIP_SUCCESS, VIP_NOT_DONE, VIP_INVALID_PARAMETER});
      case 8: return check(VipCQWait(queue, 1, &found, &receive), {VIP_SUCCESS, VIP_TIMEOUT, VIP_INVALID_PARAMETER});
      case 9:
        return check(VipRecvNotify(vi, this, on_descriptor),
                     {VIP_SUCCESS, VIP_DESCRIPTOR_ERROR, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE});
      case 10: return check(VipCQNotify(queue, this, on_entry), {VIP_SUCCESS, VIP_INVALID_PARAMETER});
      default:
        return check(VipQueryVi(vi, &state, &found_attributes, &send_empty, &receive_empty),
                     {VIP_SUCCESS, VIP_INVALID_PARAMETER});
    }
  }

  Node* owner_;
  std::array<std::atomic<VIP_VI_HANDLE>, slots> vis_{};
  std::array<std::atomic<VIP_CQ_HANDLE>, 2> queues_{};
};

}  // namespace

// Every call at handles that others destroy at the same time, from threads and from handlers.
TEST(ViplStress, handles_come_and_go_under_all_calls) {
  for (unsigned life = 0; life < 3; ++life) {
    Chaos chaos;
    std::atomic<int> users{3};
    {
      Threads threads;
      for (unsigned i = 0; i < 2; ++i)
        threads.add([&, i] {
          for (unsigned n = 0; users != 0; ++n) chaos.make_and_destroy(life * 10 + i + n * 100, 50);
        });
      for (unsigned i = 2; i < 5; ++i)
        threads.add([&, i] {
          chaos.use(life * 10 + i, 1000);
          --users;
        });
    }
    chaos.provoke_an_error();
    while (chaos.calls == 0) std::this_thread::yield();  // none would hang the test
    Threads threads;
    for (unsigned i = 2; i < 5; ++i) threads.add([&, i] { chaos.use(life * 10 + i, 300); });
    threads.add([&] { chaos.close(); });
  }
}
