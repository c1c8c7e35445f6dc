// What VI-ARCH asks of a connection and FC-VI leaves to the provider.
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::AtLevel;
using support::ForgedFrame;
using wire::RCtl;
using wire::fcvi::DeviceHeader;

class ViRules : public AtLevel {
 public:
  static constexpr std::uint32_t target_offset = 16u << 20;
  [[nodiscard]] std::uint64_t target() const { return server->data + target_offset; }
  std::uint64_t write(std::uint16_t control, std::uint32_t immediate = 0) {
    const auto made = client->descriptor(vi::control::op_rdma_write | control, {{client->data, 100}}, target(),
                                         server->handle, immediate);
    client_vi->post_send(made, client->handle);
    fabric.run_for(runtime::second);
    return made;
  }
  fc2::NPort& add_third() {
    fabric.add_port();
    fabric.attach(2);
    fabric.run_for(runtime::second);
    fabric.port(2).remote_port(server->port.n_port_id()).log_in();
    fabric.run_for(runtime::second);
    return fabric.port(2);
  }
  /// The client's last message once more, as the next one, with other bytes.
  ForgedFrame next_message() {
    const auto* sent = log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
    ForgedFrame next{.header = sent->header, .data = sent->data, .sof = sent->sof, .eof = sent->eof};
    DeviceHeader header = *DeviceHeader::parse(sent->header.device_header_size(), sent->data);
    ++header.msg_id.value;
    next.set(header);
    std::fill(next.data.end() - 100, next.data.end(), 0x5A);
    return next;
  }
};
INSTANTIATE_TEST_SUITE_P(Level, ViRules, support::all_levels, support::level_name);

// VI-ARCH 2.3.2, 2.5.1 to 2.5.3, VI-DG 3.8.1, 5.2 bit 8: an RDMA Write with immediate data that finds no receive
// descriptor is an error that the receiver is told, and breaks a reliable connection; at Reliable Reception its
// descriptor tells it.
TEST_P(ViRules, receiving_writeWithImmediateWithoutReceive_isAnError) {
  begin(GetParam());
  const auto descriptor = write(vi::control::immediate, 7);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  EXPECT_EQ(server->errors.size(), unreliable() ? 1u : 2u);
  EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), unreliable() ? 0 : 1) << "ruling 206";
  const auto expected = unreliable() ? vi::State::Connected : vi::State::Error;
  EXPECT_EQ(server_vi->state(), expected);
  EXPECT_EQ(client_vi->state(), expected);
  const std::uint32_t well = vi::status::done | vi::status::op_rdma_write;
  EXPECT_EQ(client->status(descriptor), well | (reception() ? vi::status::remote_descriptor_error : 0));
}

// VI-ARCH 3.2.2: a third port, logged in and with the right FCVI_HANDLE, reaches no memory of a connection that is not
// its own; the same frame of the port that the connection is with does.
TEST_P(ViRules, receiving_frameOfAThirdPort_movesNothing) {
  begin(GetParam());
  write(0);
  fc2::NPort& third = add_third();
  ForgedFrame frame = next_message();
  const std::uint8_t before = *server->bytes(target());
  frame.header.s_id = third.n_port_id();
  fabric.fabric.ingress_of(third)->receive(frame.build(fabric.pool));
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(*server->bytes(target()), before);
  EXPECT_EQ(server->provider.counters().discarded(fcvi::Discard::UnknownHandle), 1u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  frame.header.s_id = client->port.n_port_id();
  fabric.fabric.ingress_of(client->port)->receive(frame.build(fabric.pool));
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(*server->bytes(target()), 0x5A);
  EXPECT_NE(before, 0x5A);
  fabric.detach(2);
}

}  // namespace
