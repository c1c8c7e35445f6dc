// What a provider counts of messages (fcvi-fabricd and the vip tools show it): every frame, IU and message once, at
// either end, on either kind of fabric.
#include <tuple>

#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"

namespace {
using support::Host;
using support::Level;

/// What was counted since the last look.
struct Counted {
  std::uint64_t ius_sent, ius_received, frames_sent, frames_received, bytes_sent, bytes_received, messages_sent,
      messages_received;
  bool operator==(const Counted&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Counted& c) {
    return out << "IUs " << c.ius_sent << " out " << c.ius_received << " in, frames " << c.frames_sent << " out "
               << c.frames_received << " in, bytes " << c.bytes_sent << " out " << c.bytes_received << " in, messages "
               << c.messages_sent << " out " << c.messages_received << " in";
  }
};

class Counters : public support::MessageNodes, public ::testing::WithParamInterface<std::tuple<Level, bool>> {
 public:
  explicit Counters(fcvi::ProviderConfig config = {})
      : MessageNodes(config, {}, support::fabric_order(std::get<bool>(GetParam()))) {}
  [[nodiscard]] static Level level() { return std::get<Level>(GetParam()); }
  [[nodiscard]] static std::uint64_t answered() { return level() == Level::ReliableReception ? 1 : 0; }
  void look() { counted(*client, of_client), counted(*server, of_server); }
  Counted client_counts() { return counted(*client, of_client); }
  Counted server_counts() { return counted(*server, of_server); }

 private:
  static Counted counted(const Host& host, fcvi::ProviderCounters& before) {
    const fcvi::ProviderCounters now = host.provider.counters(), then = std::exchange(before, now);
    return {now.ius_sent - then.ius_sent,
            now.ius_received - then.ius_received,
            now.data_frames_sent - then.data_frames_sent,
            now.data_frames_received - then.data_frames_received,
            now.data_bytes_sent - then.data_bytes_sent,
            now.data_bytes_received - then.data_bytes_received,
            now.messages_sent - then.messages_sent,
            now.messages_received - then.messages_received};
  }
  fcvi::ProviderCounters of_client, of_server;
};
std::string name_of(const ::testing::TestParamInfo<std::tuple<Level, bool>>& tested) {
  const ::testing::TestParamInfo<Level> level(std::get<Level>(tested.param), 0);
  return support::level_name(level) + (std::get<bool>(tested.param) ? "InOrder" : "AnyOrder");
}
class ShuffledCounters : public Counters {};
class ReadCounters : public Counters {};  // not at Unreliable Delivery (FC-VI 6.6.1)
INSTANTIATE_TEST_SUITE_P(Level, Counters, ::testing::Combine(support::all_levels, ::testing::Bool()), name_of);
INSTANTIATE_TEST_SUITE_P(Level, ShuffledCounters, ::testing::Combine(support::all_levels, ::testing::Values(false)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Level, ReadCounters, ::testing::Combine(support::reliable_levels, ::testing::Bool()), name_of);

// FC-VI 5.2.2: a Send of four frames is one IU and one message; at Reliable Reception an IU comes back.
TEST_P(Counters, send_countsOnce) {
  begin(level());
  receive(), look();
  send();
  fabric.run_for(runtime::second);
  ASSERT_TRUE(arrived(0, 0));
  EXPECT_EQ(client_counts(), (Counted{1, answered(), 4, 0, length, 0, 1, 0}));
  EXPECT_EQ(server_counts(), (Counted{answered(), 1, 0, 4, 0, length, 0, 1}));
}

// FC-VI 5.2.2, 8.4.1: ... and so is one whose first frame comes last, where the fabric may do that.
TEST_P(ShuffledCounters, send_countsOnce) {
  begin(level());
  receive(), look();
  faults.on_frame = support::to_frame(0, support::late(10 * runtime::millisecond));
  send();
  fabric.run_for(runtime::second);
  ASSERT_TRUE(arrived(0, 0));
  EXPECT_EQ(server_counts(), (Counted{answered(), 1, 0, 4, 0, length, 0, 1}));
}

// FC-VI 5.2.3: an RDMA Write likewise.
TEST_P(Counters, write_countsOnce) {
  begin(level());
  look();
  const auto write =
      client->descriptor(vi::control::op_rdma_write, {{client->data, 5000}}, server->data + (8u << 20), server->handle);
  client_vi->post_send(write, client->handle);
  fabric.run_for(runtime::second);
  ASSERT_EQ(client->status(write), vi::status::done | vi::status::op_rdma_write);
  EXPECT_EQ(client_counts(), (Counted{1, answered(), 3, 0, 5000, 0, 1, 0}));
  EXPECT_EQ(server_counts(), (Counted{answered(), 1, 0, 3, 0, 5000, 0, 1}));
}

// FC-VI 5.2.4: an RDMA Read is a message of one frame without data, and an IU of data comes back.
TEST_P(ReadCounters, read_countsOnce) {
  begin(level());
  look();
  const auto read =
      client->descriptor(vi::control::op_rdma_read, {{client->data, 5000}}, server->data + (8u << 20), server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(runtime::second);
  ASSERT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  EXPECT_EQ(client_counts(), (Counted{1, 1, 1, 3, 0, 5000, 1, 0}));
  EXPECT_EQ(server_counts(), (Counted{1, 1, 3, 0, 5000, 0, 0, 1}));
}

class CountersOfIus : public Counters {
 public:
  CountersOfIus() : Counters(fcvi::ProviderConfig{.address = {}, .max_iu_bytes = 2 * frame_bytes}) {}
};
INSTANTIATE_TEST_SUITE_P(Level, CountersOfIus, ::testing::Combine(support::reliable_levels, ::testing::Bool()),
                         name_of);

// FC-VI 5.2.2, 5.2.4, 5.6: messages of several IUs: each IU counts.
TEST_P(CountersOfIus, sendAndRead_countEachIu) {
  begin(level());
  receive(), look();
  send(1, 5 * frame_bytes);
  fabric.run_for(runtime::second);
  ASSERT_TRUE(arrived(0, 0, 5 * frame_bytes));
  EXPECT_EQ(client_counts(), (Counted{3, answered(), 5, 0, 5 * frame_bytes, 0, 1, 0}));
  EXPECT_EQ(server_counts(), (Counted{answered(), 3, 0, 5, 0, 5 * frame_bytes, 0, 1}));
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 5 * frame_bytes}},
                                       server->data + (8u << 20), server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(runtime::second);
  ASSERT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  EXPECT_EQ(client_counts(), (Counted{1, 3, 1, 5, 0, 5 * frame_bytes, 1, 0}));
  EXPECT_EQ(server_counts(), (Counted{3, 1, 5, 0, 5 * frame_bytes, 0, 0, 1}));
}

// VI-ARCH 5.4: a connection is lost at the end whose program did not end it; whoever did.
TEST_P(Counters, connection_countsMadeAndLost) {
  begin(level());
  EXPECT_EQ(client->provider.counters().connections_made, 1u);
  EXPECT_EQ(server->provider.counters().connections_made, 1u);
  disconnect(*client, *client_vi);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->provider.counters().connections_lost, 0u);
  EXPECT_EQ(server->provider.counters().connections_lost, 1u);
  begin(level(), "again");
  server->port.remote_port(client->port.n_port_id()).implicit_logout();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->provider.counters().connections_made, 2u);
  EXPECT_EQ(server->provider.counters().connections_lost, 2u);
}
}  // namespace
