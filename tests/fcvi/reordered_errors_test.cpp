// Messages that fail on a fabric that does not keep the order, while a frame of theirs, or of one before them, is
// missing (FC-VI 5.9.4.3, 8.4.2, B.2.4, B.2.5; VI-ARCH 2.5, 3.2.2; VI-DG 3.8.1): each fails as if its frames had come
// in order, and takes nothing else with it.
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/message_status.hpp"

namespace {
using support::Fate;
using support::Host;
using support::late;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::own_descriptor;
using support::pass;
using support::register_own;
using support::soon;

class ReorderedErrors : public support::AtLevel {
 public:
  ReorderedErrors() : AtLevel({}, {}, support::fabric_order(false)) {}
  static constexpr std::uint64_t target = Host::data + (8u << 20);  // of RDMA Writes, at the server
  std::uint64_t write(std::uint32_t bytes, wire::MemHandle handle, std::uint16_t more = 0) {
    const auto control = static_cast<std::uint16_t>(vi::control::op_rdma_write | more);
    const auto descriptor = client->descriptor(control, {{client->data, bytes}}, target, handle);
    client_vi->post_send(descriptor, client->handle);
    return descriptor;
  }
  /// Of the client's frames that one comes a second late.
  void delay(int number) { faults.on_frame = support::to_frame(number, late(runtime::second)); }
  /// MESSAGE_RESPs of the server, with the flags of each.
  [[nodiscard]] std::vector<unsigned> responses() const {
    std::vector<unsigned> flags;
    for (const LoggedFrame& frame : log.frames())
      if (!frame.outbound && frame.is(wire::RCtl::command_status)) flags.push_back(frame.data[5]);
    return flags;
  }
  /// The connection goes on at Unreliable Delivery alone, where the next message arrives as if nothing had been.
  void expect_end() {
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), unreliable() ? 0 : 1);
    if (unreliable()) {
      const std::size_t message = sends.size(), posted = receives.size();
      faults.on_frame = nullptr;
      receive(), send(1, 100);
      fabric.run_for(soon);
      EXPECT_TRUE(arrived(message, posted, 100));
    }
    fabric.run_for(30 * runtime::second);
    EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  }
};
class UnreliableReorderedErrors : public ReorderedErrors {};
class ReceptionReorderedErrors : public ReorderedErrors {};
INSTANTIATE_TEST_SUITE_P(Level, ReorderedErrors, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, UnreliableReorderedErrors, ::testing::Values(support::Level::UnreliableDelivery),
                         support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReceptionReorderedErrors, ::testing::Values(support::Level::ReliableReception),
                         support::level_name);

// VI-ARCH 3.2.2, FC-VI 5.9.4.3: the target of an RDMA Write goes away while its second frame is missing: that frame is
// not written, and not passed over in silence.
TEST_P(ReorderedErrors, receiving_writeTargetGoesInAGap_isAProtectionError) {
  begin(GetParam());
  const auto own = register_own(*server, target, slot);
  delay(1);
  write(length, own);
  fabric.run_for(soon);
  ASSERT_EQ(server->nic.memory().deregister(target, own), vi::Return::Success);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWProt), 1);
  if (reception()) {
    EXPECT_EQ(responses(),
              (std::vector<unsigned>{wire::fcvi::MessageStatus{.resp_err = true, .prot_err = true}.to_flags()}));
  }
  expect_end();
}

// VI-ARCH 2.5: the memory of a receive descriptor goes away while a frame of its Send is missing: the
// descriptor says so.
TEST_P(ReorderedErrors, receiving_receiveMemoryGoesInAGap_isAProtectionError) {
  begin(GetParam());
  const auto own = register_own(*server, target, slot);
  const auto posted = own_descriptor(*server, target, own, slot);
  server_vi->post_receive(posted, server->handle);
  delay(2);
  send();
  fabric.run_for(soon);
  ASSERT_EQ(server->nic.memory().deregister(target, own), vi::Return::Success);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(server->status(posted), vi::status::done | vi::status::op_receive | vi::status::protection_error);
  if (reception()) {
    EXPECT_EQ(responses(),
              (std::vector<unsigned>{wire::fcvi::MessageStatus{.resp_err = true, .desc_err = true}.to_flags()}));
  }
  expect_end();
}

// VI-DG 3.8.1, VI-ARCH 3.2.2: an RDMA Write that no memory is for, and whose first frame comes last: one protection
// error, no byte written.
TEST_P(ReorderedErrors, receiving_writeWithoutTarget_isAProtectionError) {
  begin(GetParam());
  delay(0);
  std::memset(server->bytes(target), 0xCC, slot);
  write(length, wire::MemHandle{0x4711});
  fabric.run_for(soon);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWProt), 1);
  EXPECT_EQ(std::count(server->bytes(target), server->bytes(target) + slot, 0xCC), slot);
  expect_end();
}

// VI-DG 5.2: ... with Immediate Data its receive descriptor says so, and nothing else does.
TEST_P(ReorderedErrors, receiving_writeImmediateWithoutTarget_failsItsDescriptor) {
  begin(GetParam());
  delay(0);
  receive();
  write(length, wire::MemHandle{0x4711}, vi::control::immediate);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_remote_rdma_write | vi::status::protection_error);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWProt), 0);
  expect_end();
}

// VI-DG 5.2, ruling 19: a Send that is longer than its descriptor, its second frame missing: a length error, of nothing
// else. At Reliable Reception it is told when the initiative is here: once, with the last of its frames that comes.
TEST_P(ReorderedErrors, receiving_sendTooLong_isALengthError) {
  begin(GetParam());
  const auto posted = server->descriptor(0, {{server->data, 100}});
  std::memset(server->bytes(server->data), 0xCC, slot);
  server_vi->post_receive(posted, server->handle);
  delay(1);
  send();
  fabric.run_for(soon);
  EXPECT_TRUE(responses().empty());
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(server->status(posted), vi::status::done | vi::status::op_receive | vi::status::length_error);
  EXPECT_EQ(std::count(server->bytes(server->data), server->bytes(server->data) + slot, 0xCC), slot) << "no byte of it";
  if (reception()) {
    EXPECT_EQ(responses(),
              (std::vector<unsigned>{wire::fcvi::MessageStatus{.resp_err = true, .desc_err = true}.to_flags()}));
    EXPECT_EQ(sent(0), sent_well | vi::status::remote_descriptor_error);
  }
  expect_end();
}

// VI-ARCH 2.5.3, B.2.5 rule 7b: ... and if that frame never comes, the descriptor says what was known, R_A_TOV later.
TEST_P(ReceptionReorderedErrors, receiving_sendTooLongFrameLost_isALengthError) {
  begin(GetParam());
  const auto posted = server->descriptor(0, {{server->data, 100}});
  server_vi->post_receive(posted, server->handle);
  faults.on_frame = support::to_frame(1, lose);
  send();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->status(posted), 0u);
  fabric.run_for(30 * runtime::second);
  EXPECT_EQ(server->status(posted), vi::status::done | vi::status::op_receive | vi::status::length_error);
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// VI-ARCH 2.5.1, VI-DG 3.8.1: nobody posted a descriptor for a Send whose first frame comes last: told once, and its
// other frames are discarded with it.
TEST_P(ReorderedErrors, receiving_sendWithoutDescriptor_isToldOnce) {
  begin(GetParam());
  delay(0);
  send();
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  if (reception()) {
    EXPECT_EQ(responses(),
              (std::vector<unsigned>{wire::fcvi::MessageStatus{.resp_err = true, .desc_err = true}.to_flags()}));
  }
  expect_end();
}

// FC-VI 8.4.2 d), FC-FS ABTS: the ABTS of an exchange that brought nothing here, while frames overtook others:
// it ends nothing.
TEST_P(ReorderedErrors, receiving_otherExchangeAborted_arrives) {
  begin(GetParam());
  delay(1);
  receive(), send();
  fabric.run_for(soon);
  const auto* first = log.find([](const LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); });
  ASSERT_NE(first, nullptr);
  auto abts = support::as_abts({.header = first->header});
  abts.header.ox_id.value = static_cast<std::uint16_t>(first->header.ox_id.value + 1);
  server->port.receive(abts.build(fabric.pool));
  EXPECT_EQ(received(0), 0u);
  fabric.run_for(2 * runtime::second);
  EXPECT_TRUE(arrived(0, 0));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// VI-ARCH 6.3.1.1, 2.5.1: the message in the descriptor lacks a frame; the one behind it is whole and moves it to the
// pool, but the memory of the descriptor is gone: both messages end with an error of a descriptor each, none of it in
// the other's, and a third arrives.
TEST_P(UnreliableReorderedErrors, receiving_memoryGoneBeforeParking_losesNoOther) {
  begin(GetParam());
  const auto own = register_own(*server, target, slot);
  const auto posted = own_descriptor(*server, target, own, slot);
  server_vi->post_receive(posted, server->handle);
  faults.on_frame = support::to_frame(1, lose);
  send();
  fabric.run_for(soon);
  ASSERT_EQ(server->nic.memory().deregister(target, own), vi::Return::Success);
  receive(), send(1, 100);
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(1, 0, 100));
  expect_end();  // R_A_TOV is over then
  EXPECT_NE(server->status(posted) & vi::status::error_mask, 0u);
}

// VI-ARCH 2.5.1: a message of one frame behind one that lacks a frame takes its descriptor, which is too short for it:
// that descriptor fails, and the message before it arrives in the next when its frame comes.
TEST_P(UnreliableReorderedErrors, receiving_descriptorTooShortForTheNext_isALengthError) {
  begin(GetParam());
  const auto posted = server->descriptor(0, {{target, 1000}});
  server_vi->post_receive(posted, server->handle);
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client && frame.number == 0 ? late(runtime::second) : pass;
  };
  send(1, 900), send(1, 2000);
  fabric.run_for(soon);
  EXPECT_EQ(server->status(posted), vi::status::done | vi::status::op_receive | vi::status::length_error);
  receive();
  fabric.run_for(2 * runtime::second);
  EXPECT_TRUE(arrived(0, 0, 900));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}
}  // namespace
