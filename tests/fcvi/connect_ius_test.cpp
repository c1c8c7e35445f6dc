// Connect and Disconnect IUs of a set-up of which one field is not as it should be (FC-VI 5.3.2, 5.3.3, 5.9.10,
// 6.8 to 6.11, 8.5.2): what is discarded leaves the set-up to its one retry, what says no ends it, and nothing is
// left of either.
#include "tests/fcvi/setup_faults.hpp"
#include "tests/fcvi/two_nodes.hpp"

namespace {
using fc2::Discard;
using support::Host;
using support::IuFaults;
using wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

constexpr std::size_t fc = 24, payload = fc + 32;  // of a frame: FC-VI's headers follow
void other_connection_id(fc2::Frame& frame) { frame.bytes[fc + 31] ^= 0x40; }
void no_device_header(fc2::Frame& frame) { frame.size_bytes = fc, frame.bytes[17] = 0; }
void other_r_ctl(fc2::Frame& frame) {
  frame.bytes[0] ^= 1;
}  // solicited control is unsolicited control, and the other way round
void no_handle_in_payload(fc2::Frame& frame) { std::fill_n(frame.bytes.begin() + payload + 8, 4, std::uint8_t{0xFF}); }
void other_handle_in_header(fc2::Frame& frame) { frame.bytes[fc + 3] ^= 0x40; }
void no_handle_in_header(fc2::Frame& frame) { std::fill_n(frame.bytes.begin() + fc, 4, std::uint8_t{0xFF}); }
void cut_off_payload(fc2::Frame& frame) { frame.size_bytes = payload + 64; }
void long_local_discriminator(fc2::Frame& frame) {
  std::fill_n(frame.bytes.begin() + payload + 12, 4, std::uint8_t{0xFF});
}
void long_remote_discriminator(fc2::Frame& frame) {
  std::fill_n(frame.bytes.begin() + payload + 160, 4, std::uint8_t{0xFF});
}

class ConnectIus : public support::TwoNodes {
 public:
  ConnectIus() { fabric.fabric.set_fault(client->port, &faults); }
  ~ConnectIus() override { fabric.fabric.set_fault(client->port, nullptr); }
  /// Both programs do what they should, the server as often as it is asked.
  void set_up(const std::string& name) {
    client_vi = &client->make_vi(Level::ReliableDelivery), server_vi = &server->make_vi(Level::ReliableDelivery);
    wait.result.reset(), request.result.reset(), accept.result.reset();
    server->provider.connect_wait(server->net(name), 30 * runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("c"), server->net(name), 30 * runtime::second, request);
    fabric.run_until([&] { return wait.result || request.result; });
    if (wait.result == vi::Return::Success) server->provider.connect_accept(wait.token, *server_vi, accept);
    fabric.run_until([&] { return request.result.has_value(); });
    fabric.run_for(30 * runtime::second);
    EXPECT_TRUE(faults.all_used());
  }
  /// Of both ends, since the last call, of all reasons.
  std::uint64_t discards(Host& host) {
    std::uint64_t& before = seen[&host];
    const std::uint64_t now = host.discarded();
    return now - std::exchange(before, now);
  }
  void expect_nothing_left() {
    if (client_vi->state() != vi::State::Idle) disconnect(*client, *client_vi);
    if (server_vi->state() != vi::State::Idle) disconnect(*server, *server_vi);
    fabric.run_for(60 * runtime::second);
    EXPECT_EQ(client->provider.open_setups() + server->provider.open_setups(), 0u);
    EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
    EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
    EXPECT_EQ(unexpected(), 0u);
  }
  IuFaults faults{fabric.pool};
  std::map<Host*, std::uint64_t> seen;
};

struct Row {
  const char* name;
  Opcode opcode;
  void (*change)(fc2::Frame&);
  bool at_client;
  Discard reason;
};

// FC-VI 5.9.10, 6.8 to 6.11, Table 1: an IU that does not name the set-up, does not pass the initiative, or is
// none, is discarded where it arrives, once; T3, T2 or the retry covers it (8.5.2, 8.5.4), and the connection comes
// with the retry.
TEST_F(ConnectIus, discarded_connectsByRetry) {
  constexpr Row rows[] = {
      {"RQST without Device_Header", Opcode::connect_rqst, no_device_header, false, Discard::BadPayload},
      {"RQST cut off", Opcode::connect_rqst, cut_off_payload, false, Discard::BadPayload},
      {"RESP1 of another set-up", Opcode::connect_resp1, other_connection_id, true, Discard::BadPayload},
      {"RESP1 in the R_CTL of a request", Opcode::connect_resp1, other_r_ctl, true, Discard::BadPayload},
      {"RESP1 cut off", Opcode::connect_resp1, cut_off_payload, true, Discard::UnexpectedIu},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Host& at = row.at_client ? *client : *server;
    const auto before = at.port.counters().discarded(row.reason);
    faults.alter(row.opcode, row.change);
    set_up(row.name);
    EXPECT_EQ(at.port.counters().discarded(row.reason), before + 1);
    EXPECT_EQ(request.result, vi::Return::Success);
    expect_nothing_left();
  }
}

struct Refused {
  const char* name;
  Opcode opcode;
  void (*change)(fc2::Frame&);
};

// FC-VI 5.3.2, 5.3.3, 5.9.3, 6.8.2, 6.11.2: a request, or an acceptance, that names no endpoint or no address, and a
// confirmation that does not name ours: no connection comes of it, and both programs hear so.
TEST_F(ConnectIus, unusable_isNoConnection) {
  constexpr Refused rows[] = {
      {"RQST without a handle", Opcode::connect_rqst, no_handle_in_payload},
      {"RQST without a local address", Opcode::connect_rqst, long_local_discriminator},
      {"RQST without a remote address", Opcode::connect_rqst, long_remote_discriminator},
      {"RESP1 without a handle", Opcode::connect_resp1, no_handle_in_payload},
      {"RESP3 to another handle", Opcode::connect_resp3, other_handle_in_header},
      {"RESP3 to no handle", Opcode::connect_resp3, no_handle_in_header},
  };
  for (const Refused& row : rows) {
    SCOPED_TRACE(row.name);
    faults.alter(row.opcode, row.change);
    set_up(row.name);
    const bool confirmed = row.opcode == Opcode::connect_resp3;  // the call ends with RESP1
    EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), confirmed ? 1 : 0);
    EXPECT_NE(client_vi->state(), vi::State::Connected);
    if (confirmed)
      disconnect(*client, *client_vi);  // C.5.9.1: the server hears of it now
    else
      EXPECT_NE(request.result, vi::Return::Success);
    fabric.run_for(runtime::millisecond);
    EXPECT_NE(server_vi->state(), vi::State::Connected);
    client->errors.clear();
    expect_nothing_left();
  }
}
}  // namespace
