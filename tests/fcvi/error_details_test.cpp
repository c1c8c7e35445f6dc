// What an asynchronous error says beside its code (VI-DG 3.8.1): the VI, no descriptor, which operation it was, and
// that the VI is the resource.
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"

namespace {
using support::Host;
using support::Level;

struct Told {
  const vi::Vi* vi;
  const vi::CompletionQueue* queue;
  std::uint64_t descriptor;
  std::uint32_t operation;
  vi::ResourceCode resource;
  vi::ErrorCode error;
  bool operator==(const Told&) const = default;
};

/// Writes down all of it.
class AttentiveHost final : public Host {
 public:
  using Host::Host;
  void asynchronous_error(vi::Vi* vi, vi::CompletionQueue* queue, std::uint64_t descriptor, std::uint32_t operation,
                          vi::ResourceCode resource, vi::ErrorCode error) override {
    told.push_back({vi, queue, descriptor, operation, resource, error});
    Host::asynchronous_error(vi, queue, descriptor, operation, resource, error);
  }
  std::vector<Told> told;
};

/// The server writes it down. In order or not.
class ErrorDetails : public support::MessageNodes, public ::testing::WithParamInterface<std::tuple<Level, bool>> {
 public:
  ErrorDetails() : MessageNodes({}, {}, support::fabric_order(std::get<bool>(GetParam()))) {
    fabric.detach(1);
    server.reset();
    fcvi::ProviderConfig config;
    config.first_handle += 0x1000;
    auto attentive = std::make_unique<AttentiveHost>(fabric, 1, config);
    host = attentive.get();
    server = std::move(attentive);
    fabric.attach(1);
    fabric.run_until([&] { return server->resolver.ready(); });
    begin(std::get<Level>(GetParam()));
  }
  void post(std::uint16_t operation, std::uint64_t remote, wire::MemHandle handle, std::uint32_t bytes = 100) {
    client_vi->post_send(client->descriptor(operation, {{client->data, bytes}}, remote, handle), client->handle);
    fabric.run_for(runtime::millisecond);
  }
  /// The first of them; Connection Lost comes behind it, at the reliable levels.
  void expect_told(vi::ErrorCode error, std::uint32_t operation) {
    ASSERT_FALSE(host->told.empty());
    EXPECT_EQ(host->told.front(), (Told{server_vi, nullptr, 0, operation, vi::ResourceCode::Vi, error}));
    const bool reliable = std::get<Level>(GetParam()) != Level::UnreliableDelivery;
    ASSERT_EQ(host->told.size(), reliable ? 2u : 1u);
    if (reliable) {
      EXPECT_EQ(host->told.back(), (Told{server_vi, nullptr, 0, 0, vi::ResourceCode::Vi, vi::ErrorCode::ConnLost}));
    }
  }
  AttentiveHost* host = nullptr;
};
std::string name_of(const ::testing::TestParamInfo<std::tuple<Level, bool>>& tested) {
  const ::testing::TestParamInfo<Level> level(std::get<Level>(tested.param), 0);
  return support::level_name(level) + (std::get<bool>(tested.param) ? "InOrder" : "AnyOrder");
}
class ReadErrorDetails : public ErrorDetails {};
INSTANTIATE_TEST_SUITE_P(Level, ErrorDetails, ::testing::Combine(support::all_levels, ::testing::Bool()), name_of);
INSTANTIATE_TEST_SUITE_P(Level, ReadErrorDetails, ::testing::Combine(support::reliable_levels, ::testing::Bool()),
                         name_of);

// VI-DG 3.8.1: no descriptor for a Send.
TEST_P(ErrorDetails, send_withoutDescriptor) {
  post(vi::control::op_send_receive, 0, {});
  expect_told(vi::ErrorCode::RecvQEmpty, vi::status::op_receive);
}

// ... nor for the Immediate Data of an RDMA Write.
TEST_P(ErrorDetails, writeImmediate_withoutDescriptor) {
  post(vi::control::op_rdma_write | vi::control::immediate, Host::data, server->handle);
  expect_told(vi::ErrorCode::RecvQEmpty, vi::status::op_remote_rdma_write);
}

// ... no memory for an RDMA Write.
TEST_P(ErrorDetails, write_withoutTarget) {
  post(vi::control::op_rdma_write, 1, server->handle);
  expect_told(vi::ErrorCode::RdmaWProt, vi::status::op_remote_rdma_write);
}

// ... of which only a part came.
TEST_P(ErrorDetails, write_endsEarly) {
  faults.on_frame = support::to_frame(2, support::lose);
  post(vi::control::op_rdma_write, Host::data, server->handle, 3 * frame_bytes);
  fabric.run_for(30 * runtime::second);
  expect_told(vi::ErrorCode::RdmaWAbort, vi::status::op_remote_rdma_write);
}

// ... none to read from.
TEST_P(ReadErrorDetails, read_withoutSource) {
  post(vi::control::op_rdma_read, 1, server->handle);
  expect_told(vi::ErrorCode::RdmaRProt, vi::status::op_rdma_read);
}

// ... which goes away while it is read: the read ends with its last frame, in the name of the same error.
TEST_P(ReadErrorDetails, read_sourceGoesAway) {
  const auto own = support::register_own(*server, Host::data, 1u << 20);
  post(vi::control::op_rdma_read, Host::data, own, 1u << 20);
  ASSERT_EQ(server->nic.memory().deregister(Host::data, own), vi::Return::Success);
  fabric.run_for(runtime::second);
  expect_told(vi::ErrorCode::RdmaRProt, vi::status::op_rdma_read);
}

// ... and an RDMA Read that its originator aborts while its data go out: an error of the transport.
TEST_P(ReadErrorDetails, read_isAborted) {
  post(vi::control::op_rdma_read, Host::data, server->handle, 1u << 20);
  const auto* asked =
      log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::unsolicited_command); });
  ASSERT_NE(asked, nullptr);
  server->port.receive(support::as_abts({.header = asked->header}).build(fabric.pool));
  fabric.run_for(runtime::millisecond);
  expect_told(vi::ErrorCode::RdmaTransport, vi::status::op_rdma_read);
}
}  // namespace
