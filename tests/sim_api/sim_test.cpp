// <fcvi/sim.hpp> as who writes tests uses it.
#include <fcvi/sim.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace {
using namespace fcvi::sim;
using namespace std::chrono_literals;
using testing::HasSubstr;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

/// Two ports with a VI each, connected.
struct Pair {
  explicit Pair(Reliability level = Reliability::reliable_delivery, const FabricOptions& options = {})
      : fabric(options), alice(fabric.add_port("alice")), bob(fabric.add_port("bob")),
        client(alice.vi({.reliability = level})), server(bob.vi({.reliability = level})) {
    fabric.run_until_ready();
    const Call listening = server.listen("echo");
    client.connect("bob", "echo");
    fabric.run_until(listening);
    fabric.run(1ms);
  }
  Fabric fabric;
  Port alice, bob;
  Vi client, server;
};

template <class Thrown>
std::string message_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// --- fabric, ports, VIs ------------------------------------------------------------------------------------------

// Nothing happens before time runs; then ports log in.
TEST(Sim, ports_log_in_when_time_runs) {
  Fabric fabric;
  const Port alice = fabric.add_port("alice");
  EXPECT_EQ(fabric.now(), 0ns);
  EXPECT_FALSE(alice.ready());
  fabric.run_until_ready();
  EXPECT_TRUE(alice.ready());
  EXPECT_NE(alice.n_port_id(), 0u);
  EXPECT_EQ(fabric.frames("FLOGI").size(), 1u);
}

// run() goes on for the time that it is told, with events or without.
TEST(Sim, run_advances_the_clock) {
  Fabric fabric;
  fabric.run(3ms);
  EXPECT_EQ(fabric.now(), 3ms);
  EXPECT_FALSE(fabric.step());
}

// A message arrives as it was sent, with its immediate data.
TEST(Sim, a_message_arrives) {
  Pair pair;
  EXPECT_EQ(pair.client.state(), "Connected");
  const Work receive = pair.server.post_receive();
  const Work send = pair.client.send(bytes_of("hello"), 42);
  EXPECT_FALSE(send.done());
  pair.fabric.run_until(receive);
  pair.fabric.run_until(send);
  EXPECT_TRUE(send.ok());
  EXPECT_EQ(receive.data(), bytes_of("hello"));
  EXPECT_EQ(receive.immediate(), 42u);
}

// RDMA Write and Read move data to and from the other side's memory.
TEST(Sim, rdma_moves_data) {
  Pair pair(Reliability::reliable_reception);
  Memory memory = pair.server.allocate(100);
  const Work write = pair.client.rdma_write(bytes_of("there"), memory, 10);
  pair.fabric.run_until(write);
  EXPECT_EQ(memory.read(10, 5), bytes_of("there"));
  memory.write(bytes_of("back"), 50);
  const Work read = pair.client.rdma_read(4, memory, 50);
  pair.fabric.run_until(read);
  EXPECT_EQ(read.data(), bytes_of("back"));
}

// A request that nobody waits for fails with what VipConnectRequest returns.
TEST(Sim, connect_tells_the_return_code) {
  Fabric fabric;
  Vi client = fabric.add_port("alice").vi();
  fabric.add_port("bob");
  fabric.run_until_ready();
  try {
    client.connect("bob", "nobody", 5s);
    FAIL() << "connected to nobody";
  } catch (const CallFailed& failed) {
    EXPECT_EQ(failed.result(), "NoMatch");
    EXPECT_THAT(failed.what(), HasSubstr("FCVI_CONNECT_RQST"));
  }
}

// A cable that is pulled ends connections; put back, the port logs in again.
TEST(Sim, unplug_ends_connections) {
  Pair pair;
  pair.bob.unplug();
  EXPECT_FALSE(pair.bob.ready());
  EXPECT_TRUE(pair.fabric.run_until([&] { return !pair.alice.errors().empty(); }));
  EXPECT_THAT(pair.alice.errors(), testing::ElementsAre("Connection Lost"));
  pair.bob.plug();
  pair.fabric.run_until_ready();
  EXPECT_TRUE(pair.bob.ready());
}

// Ports of two switches reach each other over the ISL, and have the Domain_IDs of their switches (FC-SW).
TEST(Sim, switches_are_joined_by_an_isl) {
  Fabric fabric;
  fabric.add_switch("right");
  fabric.add_isl("switch", "right", {.latency = 1ms});
  const Port alice = fabric.add_port("alice"), bob = fabric.add_port("bob", {.switch_name = "right"});
  Vi client = Port(alice).vi(), server = Port(bob).vi();
  fabric.run_until_ready();
  EXPECT_EQ(alice.n_port_id() >> 16, 1u);
  EXPECT_EQ(bob.n_port_id() >> 16, 2u);
  const Call listening = server.listen("echo");
  client.connect("bob", "echo");
  fabric.run_until(listening);
  const Work receive = server.post_receive();
  const Duration before = fabric.now();
  client.send(bytes_of("across"));
  fabric.run_until(receive);
  EXPECT_EQ(receive.data(), bytes_of("across"));
  EXPECT_GT(fabric.now() - before, 1ms);
  EXPECT_LT(fabric.now() - before, 1ms + 20us);
}

// A link between switches that goes loses frames; later ones take the other way, and after both nobody is reached.
TEST(Sim, an_isl_that_goes_is_replaced_by_the_other_way) {
  Fabric fabric;
  fabric.add_switch("right");
  fabric.add_switch("spare");
  Isl direct = fabric.add_isl("switch", "right");
  fabric.add_isl("switch", "spare", {.latency = 2ms});
  Isl last = fabric.add_isl("spare", "right");
  Port alice = fabric.add_port("alice"), bob = fabric.add_port("bob", {.switch_name = "right"});
  fabric.run_until_ready();
  Vi client = alice.vi({.reliability = Reliability::unreliable_delivery}),
     server = bob.vi({.reliability = Reliability::unreliable_delivery});
  const Call listening = server.listen("echo");
  client.connect("bob", "echo");
  fabric.run_until(listening);
  direct.unplug();
  fabric.run(20ms);
  const Work receive = server.post_receive();
  const Duration before = fabric.now();
  client.send(bytes_of("round"));
  fabric.run_until(receive);
  EXPECT_GT(fabric.now() - before, 2ms);
  last.unplug();
  fabric.run(20ms);
  const Work never = server.post_receive();
  client.send(bytes_of("nowhere"));
  fabric.run(100ms);
  EXPECT_FALSE(never.ok());
  EXPECT_EQ(server.state(), "Error");  // the port of the client is not there any more
  direct.plug();
  fabric.run_until_ready();
}

// A message of a class 2 port is acknowledged frame by frame, or at once, where the other one has credit; else nothing
// is (FC-VI 8.1).
TEST(Sim, class_2_is_acknowledged) {
  const auto acknowledgements = [](const PortOptions& sender, const PortOptions& receiver, std::string_view name) {
    Fabric fabric;
    Port alice = fabric.add_port("alice", sender), bob = fabric.add_port("bob", receiver);
    Vi client = alice.vi(), server = bob.vi();
    fabric.run_until_ready();
    const Call listening = server.listen("echo");
    client.connect("bob", "echo");
    fabric.run_until(listening);
    fabric.run(1ms);
    const std::size_t before = fabric.frames(name).size();
    const Work receive = server.post_receive();
    client.send(Bytes(5000));  // three frames
    fabric.run_until(receive);
    fabric.run(1ms);
    EXPECT_EQ(receive.data().size(), 5000u);
    return fabric.frames(name).size() - before;
  };
  EXPECT_EQ(acknowledgements({.class_2 = true}, {.class_2 = true}, "ACK_1"), 3u);
  EXPECT_EQ(acknowledgements({.class_2 = true, .ack_0 = true}, {.class_2 = true, .ack_0 = true}, "ACK_0"), 1u);
  EXPECT_EQ(acknowledgements({.class_2 = true}, {.end_to_end_credit = 4}, "ACK_1"), 3u);
  EXPECT_EQ(acknowledgements({.class_2 = true}, {}, "ACK_1"), 0u);
  EXPECT_EQ(acknowledgements({}, {.class_2 = true}, "ACK_1"), 0u);
}

// A message's name that there is not is a mistake, and not a frame that never comes.
TEST(Sim, messages_that_there_are_not_are_errors) {
  Pair pair;
  Peer peer = pair.fabric.add_peer("peer");
  const auto error = [&](const std::function<void()>& what) { return message_of<Error>(what); };
  const std::string near = "no message is called \"FCVI_SEND_RQ\"; did you mean \"FCVI_SEND_RQST\"?";
  EXPECT_EQ(error([&] { static_cast<void>(pair.fabric.frames("FCVI_SEND_RQ")); }), near);
  EXPECT_EQ(error([&] { static_cast<void>(pair.fabric.ius("FCVI_SEND_RQ")); }), near);
  EXPECT_EQ(error([&] { pair.fabric.expect("FCVI_SEND_RQ"); }), near);
  EXPECT_EQ(error([&] { peer.expect("FCVI_SEND_RQ"); }), near);
  EXPECT_EQ(error([&] { pair.fabric.expect("SEND"); }),
            "no message is called \"SEND\"; did you mean \"FCVI_SEND_RQST\"?");
  EXPECT_EQ(error([&] { pair.fabric.expect("x"); }), "no message is called \"x\" (docs/scenarios.md: message names)");
  EXPECT_EQ(pair.fabric.frames("FC-VI").size(), 0u);  // a protocol: what it carries has a name
  EXPECT_EQ(pair.fabric.frames("FCVI_READ_RQST").size(), 0u);
}

// A request that nobody waits for says so.
TEST(Sim, connect_to_nobody_names_the_discriminator) {
  Fabric fabric;
  Port alice = fabric.add_port("alice"), bob = fabric.add_port("bob");
  fabric.run_until_ready();
  Vi client = alice.vi();
  EXPECT_THAT(message_of<CallFailed>([&] { client.connect("bob", "echo"); }),
              HasSubstr("connect to \"bob\": NoMatch: nobody listens for \"echo\" there; the last frames were:"));
}

// What cannot be joined, or acknowledged, is told with the nearest name, and nothing has changed.
TEST(Sim, switches_and_classes_that_cannot_be_are_errors) {
  Fabric fabric;
  fabric.add_switch("right");
  const auto error = [&](const std::function<void()>& what) { return message_of<Error>(what); };
  EXPECT_EQ(error([&] { fabric.add_switch("right"); }), "there is a switch \"right\" already");
  EXPECT_EQ(error([&] { fabric.add_switch(""); }), "a switch needs a name");
  EXPECT_EQ(error([&] { fabric.add_isl("switch", "rihgt"); }), "no switch \"rihgt\"; did you mean \"right\"?");
  EXPECT_EQ(error([&] { fabric.add_isl("right", "right"); }),
            "an ISL is between two switches, not from \"right\" to itself");
  EXPECT_EQ(error([&] { fabric.add_isl("switch", "right", {.latency = -1ns}); }), "the latency of an ISL is below 0");
  EXPECT_EQ(error([&] { fabric.add_port("a", {.switch_name = "swich"}); }),
            "no switch \"swich\"; did you mean \"switch\"?");
  EXPECT_EQ(error([&] { fabric.add_port("a", {.end_to_end_credit = 32768}); }),
            "port \"a\": its end-to-end credit is above 32767");
  EXPECT_EQ(error([&] { fabric.add_port("a", {.class_2 = true, .end_to_end_credit = 0}); }),
            "port \"a\": class 2 needs end-to-end credit");
  Isl isl = fabric.add_isl("switch", "right");
  fabric.add_port("a", {.switch_name = "right"});
  fabric.run_until_ready();
  fabric.close();
  EXPECT_EQ(error([&] { isl.unplug(); }), "the fabric is closed");
  EXPECT_EQ(error([&] { fabric.add_switch("left"); }), "the fabric is closed");
}

// The same seed, the same bytes; another seed, others.
TEST(Sim, a_seed_repeats_a_run) {
  const auto run = [](std::uint64_t seed) {
    Pair pair(Reliability::reliable_delivery, {.seed = seed});
    pair.server.post_receive();
    pair.fabric.run_until(pair.client.send(Bytes(10'000, 7)));
    return pair.fabric.capture();
  };
  const Bytes once = run(3);
  EXPECT_EQ(once, run(3));
  EXPECT_NE(once, run(4));
}

// --- frames ------------------------------------------------------------------------------------------------------

// Fields have the names of faults, and those of the decoder.
TEST(Sim, frames_have_fields) {
  Pair pair;
  const Frame request = pair.fabric.frames("FCVI_CONNECT_RQST").at(0);
  EXPECT_EQ(request.source, "alice");
  EXPECT_EQ(request.destination, "bob");
  EXPECT_EQ(request.get("s_id"), pair.alice.n_port_id());
  EXPECT_EQ(request.get("FC.s_id"), pair.alice.n_port_id());
  EXPECT_EQ(request.get("fcvi_opcode"), 0x10u);
  EXPECT_EQ(request.text("payload.remote_address.host"), "10.0.0.2");
  EXPECT_EQ(request.get("rdma_write_enabled"), 1u);
  EXPECT_EQ(request.get_bytes("payload.local_address.discriminator").size(), 128u);
  EXPECT_FALSE(request.has("tot_len"));
}

// Fields of link services are reached, too.
TEST(Sim, link_services_have_fields) {
  Pair pair;
  const Frame logi = pair.fabric.frames("PLOGI").at(0);
  EXPECT_TRUE(logi.has("port_name")) << logi.to_string();
  EXPECT_FALSE(logi.fields().empty());
}

// What is set is read, and nothing else changes.
TEST(Sim, set_changes_one_field) {
  Frame frame = Frame::make("FCVI_SEND_RQST", {{"ox_id", 0x1234}});
  const Bytes before = frame.bytes();
  frame.set("fcvi_msg_id", 77).set("fcvi_msg_id", 0);
  EXPECT_EQ(frame.bytes(), before);
  Frame connect = Frame::make("FCVI_CONNECT_RQST");
  connect.set("rdma_read_enabled", 1);
  EXPECT_EQ(connect.get("rdma_read_enabled"), 1u);
  EXPECT_EQ(connect.get("rdma_write_enabled"), 0u);
  connect.set_bytes("payload.local_address.discriminator", bytes_of("echo"));
  EXPECT_EQ(connect.text("payload.local_address.discriminator"), "\"echo\"");
}

// The payload has no fill bytes, F_CTL counts them, FCVI_TOT_LEN is its length.
TEST(Sim, payload_has_no_fill_bytes) {
  Frame frame = Frame::make("FCVI_SEND_RQST");
  frame.set_payload(bytes_of("hello"));
  EXPECT_EQ(frame.payload(), bytes_of("hello"));
  EXPECT_EQ(frame.get("fcvi_tot_len"), 5u);
  EXPECT_EQ(frame.get("f_ctl") & 3, 3u);
  EXPECT_EQ(frame.bytes().size(), 24u + 32 + 8);
  EXPECT_EQ(Frame::from_bytes(frame.bytes()).payload(), bytes_of("hello"));
}

// An IU of several frames is one object; it is not sent as one.
TEST(Sim, ius_are_whole) {
  Pair pair;
  pair.server.post_receive();
  Bytes data(5000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i % 251);
  pair.fabric.run_until(pair.client.send(data));
  EXPECT_EQ(pair.fabric.frames("FCVI_SEND_RQST").size(), 3u);
  const std::vector<Frame> ius = pair.fabric.ius("FCVI_SEND_RQST");
  ASSERT_EQ(ius.size(), 1u);
  EXPECT_EQ(ius[0].payload(), data);
  EXPECT_EQ(ius[0].get("fcvi_tot_len"), 5000u);
  EXPECT_EQ(pair.fabric.ius("FCVI_CONNECT_RQST").size(), 1u);
  EXPECT_THROW(pair.fabric.add_peer("peer").send(ius[0]), Error);
}

// A limit that time never reaches is none.
TEST(Sim, times_do_not_overflow) {
  Fabric fabric;
  fabric.run(1s);
  EXPECT_FALSE(fabric.run_until([] { return false; }, Duration::max()));
  EXPECT_EQ(fabric.now(), 1s);
  EXPECT_THROW(fabric.run(Duration::max()), Error);
  fabric.run(1s);
  EXPECT_EQ(fabric.now(), 2s);
}

// A wrong name tells the nearest right one.
TEST(Sim, wrong_names_name_the_nearest) {
  Fabric fabric;
  fabric.add_port("alice");
  const Frame frame = Frame::make("FCVI_SEND_RQST");
  EXPECT_THAT(message_of<Error>([&] { (void)frame.get("fcvi_handel"); }), HasSubstr("did you mean \"fcvi_handle\"?"));
  EXPECT_THAT(message_of<Error>([&] { (void)frame.get("FC.sid"); }), HasSubstr("did you mean \"FC.s_id\"?"));
  EXPECT_THAT(message_of<Error>([] { Frame::make("FCVI_SEND_RQS"); }), HasSubstr("did you mean \"FCVI_SEND_RQST\"?"));
  EXPECT_THAT(message_of<Error>([&] { fabric.add_peer("x").log_in("alise"); }), HasSubstr("did you mean \"alice\"?"));
}

// What cannot be is an Error, and nothing has changed then.
TEST(Sim, what_cannot_be_is_an_error) {
  Fabric fabric;
  Vi vi = fabric.add_port("alice").vi({.depth = 1});
  EXPECT_THROW(fabric.add_port("alice"), Error);
  EXPECT_THROW(fabric.add_port("bob", {.address = "10.0.0"}), Error);
  EXPECT_THROW(fabric.add_port("bob", {.address = "10.0.0.1"}), Error);
  EXPECT_THROW(fabric.run(-1ns), Error);
  EXPECT_THROW(vi.listen(""), Error);
  EXPECT_THROW(vi.begin_connect("alice", "x", 0s), Error);
  vi.post_receive();
  EXPECT_THROW(vi.post_receive(), Error);
  EXPECT_THROW(Frame::from_bytes(Bytes(23)), Error);
  Frame frame = Frame::make("ABTS");
  EXPECT_THROW(frame.set("seq_id", 256), Error);
  EXPECT_THROW((void)frame.get("fcvi_handle"), Error);
  fabric.add_port("bob");
  fabric.run_until_ready();
}

// --- faults ------------------------------------------------------------------------------------------------------

// A dropped frame does not arrive; each frame is asked about once.
TEST(Sim, a_predicate_drops) {
  Pair pair(Reliability::unreliable_delivery);
  std::vector<std::string> asked;
  const Fault fault = pair.fabric.add_fault([&](const Frame& frame) {
    asked.push_back(frame.message());
    return frame.is("FCVI_SEND_RQST") ? Action::drop() : Action::pass();
  });
  const Work receive = pair.server.post_receive();
  pair.client.send(bytes_of("lost"));
  pair.fabric.run(1ms);
  EXPECT_FALSE(receive.done());
  EXPECT_EQ(fault.fired(), 1u);
  EXPECT_EQ(asked, std::vector<std::string>{"FCVI_SEND_RQST"});
  EXPECT_EQ(pair.fabric.frames("FCVI_SEND_RQST").at(0).fault, "fault");
}

// A fault that is removed is asked no more.
TEST(Sim, a_removed_fault_is_not_asked) {
  Pair pair(Reliability::unreliable_delivery);
  Fault fault = pair.fabric.add_fault([](const Frame&) { return Action::drop(); });
  fault.remove();
  const Work receive = pair.server.post_receive();
  pair.client.send(bytes_of("there"));
  pair.fabric.run_until(receive);
  EXPECT_EQ(fault.fired(), 0u);
}

// Delay, duplicate, corrupt and replace do what they say.
TEST(Sim, actions_do_what_they_say) {
  const auto received = [](const Action& action, int posts) {
    Pair pair(Reliability::unreliable_delivery);
    pair.fabric.add_fault([=](const Frame& frame) { return frame.is("FCVI_SEND_RQST") ? action : Action::pass(); });
    std::vector<Work> receives;
    for (int i = 0; i < posts; ++i) receives.push_back(pair.server.post_receive());
    pair.client.send(bytes_of("text"));
    pair.fabric.run(1ms);
    if (!receives.at(0).done()) return std::string("none");
    const Bytes data = receives[0].data();
    return std::string(data.begin(), data.end());
  };
  EXPECT_EQ(received(Action::delay(2ms), 1), "none");
  EXPECT_EQ(received(Action::delay(10us), 1), "text");
  EXPECT_EQ(received(Action::corrupt(), 1), "none");
  EXPECT_EQ(received(Action::duplicate(), 2), "text");
}

// Another frame arrives in the place of one that is replaced.
TEST(Sim, replace_puts_another_frame) {
  Pair pair(Reliability::unreliable_delivery);
  pair.fabric.add_fault([](const Frame& frame) {
    if (!frame.is("FCVI_SEND_RQST")) return Action::pass();
    Frame other = frame;
    other.set_payload(bytes_of("changed"));
    return Action::replace(other);
  });
  const Work receive = pair.server.post_receive();
  pair.client.send(bytes_of("text"));
  pair.fabric.run_until(receive);
  EXPECT_EQ(receive.data(), bytes_of("changed"));
}

// One with a wrong CRC is discarded by its receiver.
TEST(Sim, replace_with_a_wrong_crc) {
  Pair pair(Reliability::unreliable_delivery);
  pair.fabric.add_fault([](const Frame& frame) {
    Frame other = frame;
    other.crc_error = frame.is("FCVI_SEND_RQST");
    return Action::replace(other);
  });
  const Work receive = pair.server.post_receive();
  pair.client.send(bytes_of("text"));
  pair.fabric.run(1ms);
  EXPECT_FALSE(receive.done());
}

// What a predicate throws comes out of the call that ran, and the fabric can be used on.
TEST(Sim, what_a_predicate_throws_comes_out) {
  Pair pair;
  Fault fault = pair.fabric.add_fault([](const Frame&) -> Action { throw std::domain_error("mine"); });
  const Work receive = pair.server.post_receive();
  pair.client.send(bytes_of("text"));
  EXPECT_EQ(message_of<std::domain_error>([&] { pair.fabric.run(1ms); }), "mine");
  fault.remove();
  pair.fabric.run_until(receive);
  EXPECT_EQ(receive.data(), bytes_of("text"));
}

// A predicate may look only.
TEST(Sim, a_predicate_cannot_change_the_fabric) {
  Pair pair;
  pair.fabric.add_fault([&](const Frame&) {
    pair.client.send({});
    return Action::pass();
  });
  pair.client.send(bytes_of("text"));
  EXPECT_THAT(message_of<Error>([&] { pair.fabric.run(1ms); }), HasSubstr("may only look"));
}

// --- peers -------------------------------------------------------------------------------------------------------

/// Answers the set-up; the handle of the other side.
std::uint32_t accept(Peer& peer) {
  const Frame request = peer.expect("FCVI_CONNECT_RQST");
  const auto handle = static_cast<std::uint32_t>(request.get("payload.handle"));
  peer.send(request.reply("FCVI_CONNECT_RESP1", 0x77));
  const Frame confirmed = peer.expect("FCVI_CONNECT_RESP2");
  EXPECT_EQ(confirmed.get("fcvi_handle"), 0x77u);
  peer.send(confirmed.reply("FCVI_CONNECT_RESP3", handle));
  return handle;
}

// A peer accepts a connection and answers a message, frame by frame.
TEST(Sim, a_peer_answers_as_the_test_says) {
  Fabric fabric;
  Vi client = fabric.add_port("alice").vi({.reliability = Reliability::reliable_reception});
  Peer peer = fabric.add_peer("peer");
  fabric.run_until_ready();
  const Call call = client.begin_connect("peer", "echo");
  const std::uint32_t handle = accept(peer);
  fabric.run_until(call);
  EXPECT_EQ(call.result(), "Success");
  const Work send = client.send(bytes_of("hello"));
  const Frame request = peer.expect("FCVI_SEND_RQST");
  EXPECT_EQ(request.payload(), bytes_of("hello"));
  EXPECT_FALSE(send.done());
  peer.send(request.reply("FCVI_SEND_RESP", handle));
  fabric.run_until(send);
  EXPECT_TRUE(send.ok());
}

// A response that says Transport Error completes the descriptor so.
TEST(Sim, a_peer_reports_an_error) {
  Fabric fabric;
  Vi client = fabric.add_port("alice").vi({.reliability = Reliability::reliable_reception});
  Peer peer = fabric.add_peer("peer");
  fabric.run_until_ready();
  const Call call = client.begin_connect("peer", "echo");
  const std::uint32_t handle = accept(peer);
  fabric.run_until(call);
  const Work send = client.send(bytes_of("hello"));
  peer.send(peer.expect("FCVI_SEND_RQST").reply("FCVI_SEND_RESP", handle).set("fcvi_flags", 0x9));
  fabric.run_until(send);
  EXPECT_EQ(send.error(), "transport_error");
}

// A script answers from within the run.
TEST(Sim, a_script_answers) {
  Fabric fabric;
  Vi client = fabric.add_port("alice").vi();
  Peer peer = fabric.add_peer("peer");
  std::uint32_t handle = 0;
  peer.on_frame([&](const Frame& frame) {
    if (frame.is("FCVI_CONNECT_RQST")) {
      handle = static_cast<std::uint32_t>(frame.get("payload.handle"));
      peer.send(frame.reply("FCVI_CONNECT_RESP1"));
    }
    if (frame.is("FCVI_CONNECT_RESP2")) peer.send(frame.reply("FCVI_CONNECT_RESP3", handle));
  });
  fabric.run_until_ready();
  client.connect("peer", "echo");
  EXPECT_EQ(client.state(), "Connected");
}

// A peer that logs in itself asks for a connection.
TEST(Sim, a_peer_logs_in) {
  Fabric fabric;
  Port alice = fabric.add_port("alice");
  Peer peer = fabric.add_peer("peer");
  peer.log_in("alice");
  const std::size_t before = fabric.frames("PLOGI").size();
  peer.log_in("alice");
  EXPECT_EQ(fabric.frames("PLOGI").size(), before);
  peer.send(Frame::make("FCVI_SEND_RQST", {{"d_id", alice.n_port_id()}, {"fcvi_handle", 0x999}}));
  EXPECT_EQ(fabric.expect("FCVI_SEND_RQST").source, "peer");
}

// FC-VI 7.7.1: a peer that logs out ends what it has with that port.
TEST(Sim, a_peer_logs_out) {
  Fabric fabric;
  Port alice = fabric.add_port("alice");
  Peer peer = fabric.add_peer("peer");
  peer.log_out("alice");
  fabric.run_until_ready();
  peer.log_out("alice");
  fabric.run(1ms);
  EXPECT_TRUE(fabric.frames("LOGO").empty());
  peer.log_in("alice");
  peer.log_out("alice");
  EXPECT_EQ(fabric.expect("LOGO").source, "peer");
  fabric.run(1ms);
  EXPECT_EQ(fabric.frames("LOGO").size(), 1U);
  const std::size_t before = fabric.frames("PLOGI").size();
  peer.log_in("alice");
  EXPECT_EQ(fabric.frames("PLOGI").size(), before + 1);
  EXPECT_THAT(message_of<Error>([&] { peer.log_out("alise"); }), HasSubstr("did you mean \"alice\"?"));
}

// What a post sends at once is expected, too, and each frame once.
TEST(Sim, expect_sees_what_a_post_sends) {
  Pair pair;
  pair.server.post_receive();
  pair.client.send(bytes_of("first"));
  EXPECT_EQ(pair.fabric.expect("FCVI_SEND_RQST").payload(), bytes_of("first"));
  EXPECT_THROW(pair.fabric.expect("FCVI_SEND_RQST", 1ms), NotMet);
}

// What does not come is told with what came instead.
TEST(Sim, expect_tells_what_came_instead) {
  Pair pair;
  EXPECT_THAT(message_of<NotMet>([&] { pair.fabric.expect("FCVI_SEND_RQST", 1ms); }),
              testing::AllOf(HasSubstr("no FCVI_SEND_RQST was sent"), HasSubstr("alice > bob  FCVI_CONNECT_RESP2")));
}

// --- what is left ------------------------------------------------------------------------------------------------

// Captures, ladders and reports show the run.
TEST(Sim, pictures_show_the_run) {
  Pair pair;
  EXPECT_THAT(pair.fabric.ladder(), HasSubstr("FCVI_CONNECT_RQST"));
  EXPECT_THAT(pair.fabric.ladder(true), HasSubstr("<svg"));
  EXPECT_THAT(pair.fabric.report(), HasSubstr("<html"));
  EXPECT_GT(pair.fabric.capture().size(), 1000u);
}

// Handles outlive their fabric.
TEST(Sim, handles_outlive_the_fabric) {
  std::optional<Pair> pair(std::in_place);
  Vi client = pair->client;
  Memory memory = client.allocate(10);
  const Work pending = client.post_receive();
  pair.reset();
  EXPECT_EQ(client.state(), "Connected");
  EXPECT_EQ(memory.size(), 10u);
  EXPECT_FALSE(pending.done());
}

// After close() they tell so.
TEST(Sim, closed_handles_throw) {
  Pair pair;
  Memory memory = pair.client.allocate(10);
  const Work pending = pair.client.post_receive();
  const Call listening = pair.bob.vi().listen("more");
  pair.fabric.close();
  pair.fabric.close();
  EXPECT_TRUE(pair.fabric.closed());
  EXPECT_THROW(pair.client.send({}), Error);
  EXPECT_THROW((void)pair.client.state(), Error);
  EXPECT_THROW((void)memory.size(), Error);
  EXPECT_THROW(pair.fabric.run(1ms), Error);
  EXPECT_THROW(pair.fabric.add_port("carol"), Error);
  EXPECT_EQ(pair.alice.n_port_id(), 0u);
  EXPECT_FALSE(pending.ok());
  EXPECT_FALSE(listening.done());
}

// Nobody runs a fabric that runs, or closes it.
TEST(Sim, a_fabric_that_runs_is_not_run) {
  Pair pair;
  EXPECT_THROW(pair.fabric.run_until([&] { return pair.fabric.step(); }), Error);
  EXPECT_THROW(pair.fabric.run_until([&] { return pair.fabric.close(), true; }), Error);
  pair.fabric.run(1ms);
}

}  // namespace
