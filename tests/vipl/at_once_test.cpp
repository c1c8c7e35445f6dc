// Posts that find the engine free go to the model at once, past the queue of posts and the bell (Engine::do_at_once).
// The same random history of two connected VIs, with and without, shows the same: results, descriptors, data, errors.
#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>

#include "tests/vipl/programs.hpp"
#include "vipl/api/domain.hpp"

using namespace support;

namespace {

/// Rung before a post it makes that one wait for its turn, as any other that was submitted before.
class Before final : public vipl::Bell {
 private:
  std::size_t serve() override { return 0; }
};

class History {
 public:
  History(std::uint32_t seed, VIP_RELIABILITY_LEVEL level, bool at_once)
      : random_(seed), level_(level), at_once_(at_once) {}

  std::string run() {
    const auto server = [&] {
      Node node(1);
      set_up(node, 1);
      node.accept(vis_[1]);
      node.rest(week_ms);
    };
    const auto client = [&] {
      Node node;
      set_up(node, 0);
      node.connect(vis_[0], 1);
      for (int step = 0; step != 120; ++step) act();
      for (const unsigned end : {0, 1}) dequeue(end, true), dequeue(end, false);
      for (const unsigned end : {0, 1}) tell_memory(*nodes_[end]);
    };
    simulate({server, client});
    return told_;
  }

 private:
  static constexpr std::size_t descriptors = 40;

  void set_up(Node& node, unsigned end) {
    nodes_[end] = &node;
    // Handlers run one at a time, while no program does.
    EXPECT_EQ(VipErrorCallback(node.nic, this,
                               [](VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
                                 static_cast<History*>(context)->tell("error", error->ErrorCode);
                               }),
              VIP_SUCCESS);
    vis_[end] = node.make_vi(level_);
  }
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  bool seldom() { return number(40) == 0; }
  void tell(const char* what, std::uint64_t value) { told_ += std::string(what) + ' ' + std::to_string(value) + '\n'; }

  /// Addresses differ from run to run.
  void tell_memory(Node& node) {
    for (std::size_t index = 0; index != descriptors; ++index) {
      tell("status", node.at(index)->CS.Status);
      tell("length", node.at(index)->CS.Length);
      tell("immediate", node.at(index)->CS.ImmediateData);
    }
    for (std::size_t byte = 0; byte != 4096 + 5000; ++byte) told_ += std::to_string(node.data(byte)[0]) + ' ';
  }

  void act() {
    const unsigned end = number(2);
    const std::uint32_t draw = number(100);
    if (draw < 40) return post(end, true);
    if (draw < 70) return post(end, false);
    if (draw < 82) return dequeue(end, true);
    if (draw < 94) return dequeue(end, false);
    if (draw < 97) return nodes_[end]->rest(number(3));
    if (draw < 98) return tell("state", static_cast<std::uint64_t>(state_of(vis_[end])));
    if (draw < 99) return register_again(*nodes_[end]);
    if (number(4) == 0) tell("disconnect", static_cast<std::uint64_t>(VipDisconnect(vis_[end])));
  }
  void register_again(Node& node) {
    EXPECT_EQ(VipDeregisterMem(node.nic, node.memory.data(), node.handle), VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES all{nullptr, VIP_TRUE, VIP_TRUE};
    EXPECT_EQ(VipRegisterMem(node.nic, node.memory.data(), node.memory.size(), &all, &node.handle), VIP_SUCCESS);
  }
  void post(unsigned end, bool receive) {
    Node& node = *nodes_[end];
    const std::uint32_t length = seldom() ? 0 : seldom() ? 5000 : 1 + number(60);
    const std::size_t index = next_[end]++ % descriptors, offset = 64 * number(60);
    VIP_DESCRIPTOR* made = node.simple(index, offset, length);
    if (seldom()) made->CS.SegCount = static_cast<VIP_UINT16>(number(3));
    if (seldom()) made->CS.Control = static_cast<VIP_UINT16>(number(32));
    if (number(4) == 0) made->CS.Control |= VIP_CONTROL_IMMEDIATE;
    made->CS.ImmediateData = number(1000);
    if (seldom()) made->CS.Length += 1;
    if (seldom()) made->DS[0].Local.Handle ^= 0x100;
    if (!receive) std::memset(node.data(offset), static_cast<int>(number(256)), length);
    const bool unaligned = number(200) == 0;
    auto* const at = unaligned ? static_cast<VIP_DESCRIPTOR*>(static_cast<void*>(node.data(8))) : made;
    const VIP_MEM_HANDLE handle = number(200) == 0 ? node.handle ^ 0x100 : node.handle;
    if (!at_once_) {
      befores_.push_back(std::make_unique<Before>());
      vipl::Domain::find()->engine().ring_later(*befores_.back());
    }
    const VIP_RETURN result = receive ? VipPostRecv(vis_[end], at, handle) : VipPostSend(vis_[end], at, handle);
    tell(receive ? "receive" : "send", static_cast<std::uint64_t>(result));
    if (number(2) == 0) tell("status", made->CS.Status);
  }
  void dequeue(unsigned end, bool receive) {
    VIP_DESCRIPTOR* done = nullptr;
    const VIP_RETURN result = receive ? VipRecvDone(vis_[end], &done) : VipSendDone(vis_[end], &done);
    tell(receive ? "received" : "sent", static_cast<std::uint64_t>(result));
    if (done != nullptr) tell("descriptor", static_cast<std::uint64_t>(done - nodes_[end]->at(0)));
    if (done != nullptr && done >= nodes_[end]->at(0)) tell("status", done->CS.Status);
  }

  std::mt19937 random_;
  const VIP_RELIABILITY_LEVEL level_;
  const bool at_once_;
  std::array<Node*, 2> nodes_{};
  std::array<VIP_VI_HANDLE, 2> vis_{};
  std::array<std::size_t, 2> next_{};
  std::vector<std::unique_ptr<Before>> befores_;
  std::string told_;
};

class ViplAtOnce : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
INSTANTIATE_TEST_SUITE_P(Levels, ViplAtOnce,
                         testing::Values(VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                         VIP_SERVICE_RELIABLE_RECEPTION));

}  // namespace

TEST_P(ViplAtOnce, no_history_shows_whether_posts_wait_for_their_turn) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const std::string at_once = History(seed, GetParam(), true).run(), in_turn = History(seed, GetParam(), false).run();
    const auto [here, there] = std::ranges::mismatch(at_once, in_turn);
    ASSERT_TRUE(here == at_once.end() && there == in_turn.end())
        << "seed " << seed << " after\n"
        << at_once.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, here - at_once.begin() - 200)), 200);
  }
}
