// Memory of the server's consumer that is registered and not there, when a frame of a message is to be placed, or moved
// (VI-ARCH 3.2.1, 2.5; FC-VI 8.4.2): a protection error of that message, as for memory that is not registered.
#include "tests/fcvi/forged_messages.hpp"
#include "tests/support/memory_hole.hpp"

namespace {
using support::ForgedAtLevel;
using support::Hole;
using support::Level;
using wire::fcvi::Opcode;

/// The server's VI is of a NIC of its own, whose memory has a hole.
class MemoryGone : public ForgedAtLevel {
 public:
  explicit MemoryGone(bool in_order = false)
      : ForgedAtLevel({.in_order = in_order}), nic_(server->provider, *server, {}, &hole) {
    const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = true};
    EXPECT_EQ(
        nic_.register_memory(Host::base, server->memory.data(), server->memory.size(), attributes, server->handle),
        vi::Return::Success);
  }
  void start(int descriptors) {
    client_vi = &client->make_vi(GetParam());
    ASSERT_EQ(nic_.create_vi({.reliability = GetParam(),
                              .max_transfer_size_bytes = 0,
                              .ptag = {},
                              .enable_rdma_write = true,
                              .enable_rdma_read = true},
                             nullptr, nullptr, server_vi),
              vi::Return::Success);
    connect_made();
    fabric.run_for(runtime::millisecond);
    receive(descriptors);
  }
  using Host = support::Host;
  [[nodiscard]] static std::string and_lost(vi::ErrorCode error) {
    return std::string(to_string(error)) + (unreliable() ? "" : ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  }
  static constexpr std::uint32_t unprotected = vi::status::done | vi::status::op_receive | vi::status::protection_error;
  Hole hole;

 private:
  vi::Nic nic_;
};
class MemoryGoneInOrder : public MemoryGone {
 public:
  MemoryGoneInOrder() : MemoryGone(true) {}
};
class UnreliableMemoryGone : public MemoryGone {};
INSTANTIATE_TEST_SUITE_P(Level, MemoryGone, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, MemoryGoneInOrder, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, UnreliableMemoryGone, ::testing::Values(Level::UnreliableDelivery),
                         support::level_name);

// The first frame finds it; at Reliable Reception the response waits for the last.
TEST_P(MemoryGoneInOrder, expecting_sendBufferGone_isAProtectionError) {
  start(1);
  hole.open(server->bytes(server->data), slot);
  give_send(1, 0, 2);
  EXPECT_EQ(received(0), reception() ? 0u : unprotected);
  if (reception()) {
    give_send(1, 1, 2);
  }
  EXPECT_EQ(received(0), unprotected);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), reception() ? "1:03" : "");
  EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
  EXPECT_EQ(disconnect_reason(),
            unreliable() ? 0u : static_cast<unsigned>(wire::fcvi::Reason::remote_descriptor_error));
}

// ... so does that of an RDMA Write which overtook the one before it.
TEST_P(MemoryGone, receiving_writeTargetGone_isAProtectionError) {
  start(0);
  hole.open(server->bytes(target), slot);
  give_write(1, 1, 3), give_write(1, 2, 3), give_write(1, 0, 3);
  EXPECT_EQ(told(), and_lost(vi::ErrorCode::RdmaWProt));
  EXPECT_EQ(placed_at(target, 1), 0);
  EXPECT_EQ(pool(), 0u);
}

// VI-ARCH 6.3.1.1: the data of the message in the descriptor cannot be read: it does not move, and the one behind it
// takes the next.
TEST_P(UnreliableMemoryGone, parking_bufferGone_staysWhereItIs) {
  start(2);
  give_send(1, 0, 3);
  hole.open(server->bytes(server->data), slot);
  give_send(2);
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(placed(1, 2), part);
  EXPECT_EQ(pool(), book);
  hole.close();
  give_send(1, 1, 3), give_send(1, 2, 3);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(placed(0, 1), 3 * part);
}

// ... it moved, and the buffer of its next descriptor is gone: that one fails, and what comes behind it arrives.
TEST_P(UnreliableMemoryGone, parked_nextBufferGone_isAProtectionError) {
  start(3);
  give_send(1, 0, 2), give_send(2);
  hole.open(server->bytes(server->data + slot), slot);
  give_send(1, 1, 2);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(received(1), unprotected);
  EXPECT_EQ(pool(), 0u);
  give_send(3);
  EXPECT_EQ(received(2), received_well);
}

// VI-ARCH 3.2.1: the last bytes of an RDMA Write, which waited for the others, find no memory: it is told, once.
TEST_P(UnreliableMemoryGone, receiving_endOfTheTargetGone_isToldOnce) {
  start(0);
  hole.open(server->bytes(target) + 2 * part, part);
  give_write(2, 1, 3), give_write(2, 2, 3), give_write(2, 0, 3);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::RdmaWProt));
  EXPECT_EQ(placed_at(target, 2), 2 * part);
  EXPECT_EQ(discarded(), 1u) << "the frame that made it whole";
  EXPECT_EQ(server->provider.counters().messages_received, 0u);
  EXPECT_EQ(pool(), 0u);
}
}  // namespace
