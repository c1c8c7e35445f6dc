// Frames that are handed on in runs (fc2::FrameRun) are frames: the same random history of two nodes on links where
// frames arrive at once, with runs and without, gives the same frames wherever somebody looks, the same descriptors,
// data, counters, numbers of events, states and errors (FC-VI 5.2, 5.6, 5.8.7, 8.4; FC-FS: SEQ_CNT, relative offset).
#include <cstring>
#include <random>
#include <sstream>

#include "fc2_fabric/link/link.hpp"
#include "tests/fcvi/two_nodes.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/memory_hole.hpp"

namespace {
using support::Hole;
using support::Host;
using RunLevel = vi::ReliabilityLevel;

/// Of the frames of one direction: the one with that number, from now on.
class OneFrameFault final : public fc2::FrameFault {
 public:
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    if (number-- != 0) return channel.deliver(std::move(frame));
    if (kind == 0) return;
    if (kind == 1) frame->bytes[fc2::frame_header_bytes + 8] ^= 1;  // FCVI_MSG_ID
    if (kind == 2) frame->bytes[15] ^= 1;                           // SEQ_CNT
    if (kind == 3) frame->bytes[22] ^= 1;                           // relative offset
    channel.deliver(std::move(frame));
  }
  int number = -1;
  unsigned kind = 0;
};

struct RunSetting {
  RunLevel level;
  bool short_cuts, in_order = true;
  std::uint64_t max_iu_bytes = 0;
};

/// One of the two. All draws come from outside.
class RunNodes final : public support::TwoNodes {
 public:
  explicit RunNodes(const RunSetting& setting)
      : TwoNodes({.address = {}, .max_iu_bytes = setting.max_iu_bytes, .short_cuts = setting.short_cuts},
                 {.burst_frames = 32}, {}, {}, {.in_order = setting.in_order}),
        client_nic_(client->provider, *client, {}, &hole), server_nic_(server->provider, *server, {}, &hole) {
    for (auto [host, nic] : {std::pair(client.get(), &client_nic_), std::pair(server.get(), &server_nic_)}) {
      vi::Ptag& tag = tags_[nic == &server_nic_];
      EXPECT_EQ(nic->memory().create_ptag(tag), vi::Return::Success);
      const vi::MemoryAttributes attributes{.ptag = tag, .enable_rdma_write = true, .enable_rdma_read = true};
      EXPECT_EQ(nic->register_memory(Host::base, host->memory.data(), host->memory.size(), attributes, host->handle),
                vi::Return::Success);
    }
    for (const char* name : {"one", "two"}) join(setting.level, name);
  }
  ~RunNodes() override {
    fabric.fabric.tap(client->port, nullptr);
    fabric.fabric.set_fault(client->port, nullptr);
  }
  void TestBody() override {}

  /// Of a VI of the client, or (`receive`) of the server.
  void post(std::size_t pair, bool receive, std::uint16_t control, const std::vector<std::uint32_t>& segments) {
    Host& host = receive ? *server : *client;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> pieces;
    for (const std::uint32_t bytes : segments) {
      std::uint64_t& next = next_data_[receive];
      if (!receive)
        for (std::uint32_t i = 0; i < bytes; ++i)
          host.bytes(next)[i] = static_cast<std::uint8_t>(next * 7 + i + i / 251);
      pieces.emplace_back(next, bytes);
      next += bytes;
    }
    const std::uint64_t at = host.descriptor(control, pieces, target, server->handle, 77);
    descriptors_.emplace_back(&host, at);
    receive ? servers_[pair]->post_receive(at, host.handle) : clients_[pair]->post_send(at, host.handle);
  }
  void events(int count) {
    while (count-- > 0 && fabric.scheduler.run_next(fabric.scheduler.now() + runtime::millisecond)) {}
  }
  void pass_time(runtime::TimeNs time) { fabric.run_for(time); }
  void watch(bool on) { fabric.fabric.tap(client->port, on ? &log : nullptr); }
  void spoil(bool on, int number, unsigned kind) {
    fault_.number = number, fault_.kind = kind;
    fabric.fabric.set_fault(client->port, on ? &fault_ : nullptr);
  }
  /// Of the last post of that end.
  void lose_memory(bool of_server, std::uint32_t back) {
    Host& host = of_server ? *server : *client;
    hole.open(host.bytes(next_data_[of_server] - back), 100);
  }
  /// What was found is to be found again; or (`away`) the memory gets another protection tag than the VIs'.
  void change_memory(bool of_server, bool away) {
    vi::Nic& nic = of_server ? server_nic_ : client_nic_;
    vi::Ptag tag = tags_[of_server];
    if (away) {
      EXPECT_EQ(nic.memory().create_ptag(tag), vi::Return::Success);
    }
    const vi::MemoryAttributes attributes{.ptag = tag, .enable_rdma_write = true, .enable_rdma_read = true};
    EXPECT_EQ(nic.set_memory_attributes(Host::base, (of_server ? *server : *client).handle, attributes),
              vi::Return::Success);
  }
  /// The link takes no message data for the server, or does again (NPort::pause_output).
  void pause(bool on) {
    const wire::FcId peer = server->port.n_port_id();
    on ? client->port.pause_output(peer) : client->port.resume_output(peer);
  }
  /// The first frames of a message to the server are there: so many, or some more.
  void bring_frames(std::uint64_t count) {
    while (server->provider.counters().data_frames_received < count) events(1);
  }
  [[nodiscard]] vi::Vi& server_vi() { return *servers_[0]; }
  [[nodiscard]] std::uint32_t status(std::size_t post) const {
    const auto& [host, at] = descriptors_[post];
    return host->status(at);
  }
  /// NOS: logins are validated, and what waits goes on (FC-VI 7.7.5).
  void interrupt() { fabric.fabric.link_of(client->port)->b.fail(); }
  void fail_server_link() { fabric.fabric.link_of(server->port)->b.fail(); }
  void begin_disconnect(std::size_t pair) {
    ends_.push_back(std::make_unique<support::Done>());
    server->provider.disconnect(*servers_[pair], *ends_.back());
  }
  [[nodiscard]] std::size_t room_left() const {
    return Host::base + Host::memory_bytes - std::max(next_data_[0], next_data_[1]);
  }

  std::string seen() {
    std::ostringstream text;
    for (const support::LoggedFrame& frame : log.frames())
      text << frame.at << frame.outbound << int(frame.sof) << int(frame.eof) << frame.header.to_string()
           << std::hash<std::string_view>()({reinterpret_cast<const char*>(frame.data.data()), frame.data.size()})
           << '\n';
    for (const auto& [host, at] : descriptors_)
      text << std::hex << host->status(at) << ' ' << host->control(at).length_bytes << '\n';
    for (Host* host : {client.get(), server.get()}) describe(*host, text);
    for (const auto* vis : {&clients_, &servers_})
      for (const vi::Vi* vi : *vis) text << vi->endpoint_state_name() << '\n';
    for (const auto& end : ends_) text << (end->result ? int(*end->result) : -1) << '\n';
    text << fabric.fabric.counters().frames_received << ' ' << fabric.fabric.frames_forwarded() << ' '
         << fabric.scheduler.fired_count() << ' ' << fabric.scheduler.now();
    return text.str();
  }
  [[nodiscard]] std::uint64_t run_frames() const { return server->provider.counters().run_frames; }
  [[nodiscard]] std::uint64_t short_cuts() const { return server->provider.counters().short_cuts; }

  static constexpr std::uint64_t target = Host::base + (30u << 20);  // of RDMA Writes
  support::FrameLog log;
  Hole hole;

 private:
  void join(RunLevel level, const char* name) {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    clients_.push_back(made(client_nic_, tags_[0], level));
    servers_.push_back(made(server_nic_, tags_[1], level));
    server->provider.connect_wait(server->net(name), 10 * runtime::second, wait);
    client->provider.connect_request(*clients_.back(), client->net("client"), server->net(name), 10 * runtime::second,
                                     request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *servers_.back(), accept);
    ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
    fabric.run_for(runtime::millisecond);
  }
  static vi::Vi* made(vi::Nic& nic, vi::Ptag tag, RunLevel level) {
    vi::Vi* vi = nullptr;
    EXPECT_EQ(nic.create_vi({.reliability = level,
                             .max_transfer_size_bytes = 0,
                             .ptag = tag,
                             .enable_rdma_write = true,
                             .enable_rdma_read = true},
                            nullptr, nullptr, vi),
              vi::Return::Success);
    return vi;
  }
  void describe(Host& host, std::ostringstream& text) {
    fcvi::ProviderCounters provider = host.provider.counters();
    provider.short_cuts = provider.run_frames = 0;
    const auto append = [&](const auto& value) {
      text << std::hash<std::string_view>()({reinterpret_cast<const char*>(&value), sizeof value}) << '\n';
    };
    append(provider);
    append(host.port.counters());
    text << std::dec << provider.data_frames_received << ' ' << provider.data_bytes_received << ' '
         << host.port.transmitter().frames_sent() << ' ' << host.sends_completed << ' ' << host.receives_completed
         << '\n';
    for (const auto& error : host.errors) text << to_string(error.error) << error.cause << '\n';
    const std::size_t used = next_data_[&host == server.get()] - Host::data;
    text << std::hash<std::string_view>()({reinterpret_cast<const char*>(host.bytes(Host::data)), used}) << ' '
         << std::hash<std::string_view>()({reinterpret_cast<const char*>(host.bytes(target)), 200'000}) << '\n';
    EXPECT_TRUE(host.provider.is_consistent() && host.port.is_consistent());
  }

  vi::Nic client_nic_, server_nic_;
  std::array<vi::Ptag, 2> tags_{};  // of memory and VIs, by end
  std::vector<vi::Vi*> clients_, servers_;
  std::array<std::uint64_t, 2> next_data_{Host::data, Host::data};
  std::vector<std::pair<Host*, std::uint64_t>> descriptors_;
  OneFrameFault fault_;
  std::vector<std::unique_ptr<support::Done>> ends_;
};

class RunHistory {
 public:
  RunHistory(RunLevel level, std::uint32_t seed, bool small = false)
      : random_(seed), small_(small), with_(setting(level, seed, true)), without_(setting(level, seed, false)) {}

  void step() {
    if (small_ && number(8) != 0) return post(number(2) == 0);
    const std::uint32_t draw = number(200);
    if (draw < 60) return post(true);
    if (draw < 100) return post(false);
    if (draw < 110) return watch();
    if (draw < 116) return spoil();
    if (draw < 119)
      return both(
          [of_server = number(2) == 0, back = number(60000)](RunNodes& run) { run.lose_memory(of_server, back); });
    if (draw < 123)
      return both(
          [of_server = number(2) == 0, away = number(3) == 0](RunNodes& run) { run.change_memory(of_server, away); });
    if (draw < 125) return both([](RunNodes& run) { run.interrupt(); });
    if (draw < 126) return both([pair = number(2)](RunNodes& run) { run.begin_disconnect(pair); });
    if (draw < 180) return both([count = number(4)](RunNodes& run) { run.events(static_cast<int>(count)); });
    both([time = number(8) == 0 ? runtime::second : runtime::millisecond](RunNodes& run) { run.pass_time(time); });
  }
  [[nodiscard]] bool same() { return with_.seen() == without_.seen(); }
  void end() {
    both([](RunNodes& run) { run.pass_time(60 * runtime::second); });
    EXPECT_EQ(without_.run_frames(), 0u);
    EXPECT_EQ(with_.unexpected() + without_.unexpected(), 0u);
  }
  [[nodiscard]] std::uint64_t run_frames() const { return with_.run_frames(); }
  [[nodiscard]] std::uint64_t short_cuts() const { return with_.short_cuts(); }

 private:
  static RunSetting setting(RunLevel level, std::uint32_t seed, bool short_cuts) {
    return {level, short_cuts, seed % 8 != 7, seed % 5 == 4 ? 9 * 2080u : 0};
  }
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  template <class Do>
  void both(Do what) {
    what(with_);
    what(without_);
  }
  void watch() {
    watched_ = !watched_;
    both([on = watched_](RunNodes& run) { run.watch(on); });
  }
  void spoil() {
    spoiled_ = !spoiled_;
    both([on = spoiled_, frame = static_cast<int>(number(40)), kind = number(4)](RunNodes& run) {
      run.spoil(on, frame, kind);
    });
  }
  /// Mostly of many frames and one segment; a receive that is large enough.
  void post(bool receive) {
    if (with_.room_left() < (16u << 20)) return;
    std::vector<std::uint32_t> segments(number(4) == 0 ? 1 + number(4) : 1);
    for (std::uint32_t& bytes : segments) bytes = receive ? (number(16) == 0 ? 5000 : 170'000) : size();
    const std::uint32_t draw = number(8);
    const std::uint16_t immediate = number(4) == 0 ? vi::control::immediate : 0;
    const std::uint16_t kind = receive || draw > 2 ? 0
                               : draw == 2         ? vi::control::op_rdma_read
                                                   : vi::control::op_rdma_write;
    const auto control = static_cast<std::uint16_t>(receive || draw == 2 ? kind : kind | immediate);
    both([&, pair = number(4) == 0 ? 1u : 0u](RunNodes& run) { run.post(pair, receive, control, segments); });
  }
  std::uint32_t size() {
    if (small_ && number(8) != 0) return 1 + number(100);
    const std::uint32_t draw = number(8);
    return draw < 2   ? 65536
           : draw < 5 ? 140'000
           : draw < 6 ? 2080 * (1 + number(70)) - number(2)
           : draw < 7 ? number(9000)
                      : number(160'000);
  }

  std::mt19937 random_;
  const bool small_;  // most messages: a frame takes them whole
  RunNodes with_, without_;
  bool watched_ = false, spoiled_ = false;
};

class FrameRuns : public ::testing::TestWithParam<RunLevel> {};

TEST_P(FrameRuns, no_history_shows_whether_frames_go_in_runs) {
  std::uint64_t frames = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    RunHistory history(GetParam(), seed);
    for (int step = 1; step <= 60; ++step) {
      history.step();
      if (step % 20 == 0) {
        ASSERT_TRUE(history.same()) << "seed " << seed << ", step " << step;
      }
    }
    history.end();
    ASSERT_TRUE(history.same()) << "seed " << seed;
    frames += history.run_frames();
  }
  EXPECT_GT(frames, 100u);
}

// The same of messages that are one frame each, which goes as a run of its own.
TEST_P(FrameRuns, no_history_shows_whether_whole_frames_are_offered) {
  std::uint64_t taken = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    RunHistory history(GetParam(), seed, true);
    for (int step = 1; step <= 120; ++step) {
      history.step();
      if (step % 40 == 0) {
        ASSERT_TRUE(history.same()) << "seed " << seed << ", step " << step;
      }
    }
    history.end();
    ASSERT_TRUE(history.same()) << "seed " << seed;
    taken += history.short_cuts();
  }
  // At Reliable Reception an answer is due, which the machines wait for.
  EXPECT_EQ(taken > 100, GetParam() != RunLevel::ReliableReception) << taken;
}

// FC-VI 5.2.1, 5.8.7: of a message of 64 KiB the first and the last frame go singly, the 30 between them together.
TEST_P(FrameRuns, message_of_64_KiB_goes_in_one_run) {
  RunNodes nodes({GetParam(), true});
  nodes.post(0, true, 0, {65536});
  nodes.post(0, false, 0, {65536});
  nodes.pass_time(runtime::second);
  EXPECT_EQ(nodes.run_frames(), 30u);
  EXPECT_EQ(nodes.server->provider.counters().data_frames_received, 32u);
  EXPECT_EQ(std::memcmp(nodes.client->bytes(Host::data), nodes.server->bytes(Host::data), 65536), 0);
}

// FC-VI 7.7, NPort::pause_output: what may not be sent does not go in a run either, amid a message too.
TEST_P(FrameRuns, run_waits_while_its_output_is_paused) {
  RunNodes nodes({GetParam(), true});
  nodes.post(0, true, 0, {140'000});
  nodes.post(0, false, 0, {140'000});
  nodes.bring_frames(10);
  nodes.pause(true);
  const std::uint64_t before = nodes.server->provider.counters().data_frames_received;
  nodes.pass_time(runtime::second);
  EXPECT_LT(before, 68u);
  EXPECT_EQ(nodes.server->provider.counters().data_frames_received, before);
  nodes.pause(false);
  nodes.pass_time(runtime::second);
  EXPECT_EQ(nodes.server->provider.counters().data_frames_received, 68u);
}

// VI-ARCH 3.2.1: each reference is judged, that of a frame in a run too. The memory of one end gets another protection
// tag amid a message.
TEST_P(FrameRuns, run_reads_and_writes_no_memory_that_was_taken_away) {
  for (const bool of_server : {false, true}) {
    RunNodes nodes({GetParam(), true});
    nodes.post(0, true, 0, {140'000});
    nodes.post(0, false, 0, {140'000});
    nodes.bring_frames(10);
    const std::uint64_t before = nodes.server->provider.counters().data_frames_received;
    EXPECT_LT(before, 68u);
    nodes.change_memory(of_server, true);
    nodes.pass_time(60 * runtime::second);
    EXPECT_EQ(nodes.server->provider.counters().data_frames_received, before) << of_server;
    if (of_server)
      EXPECT_FALSE(nodes.server->errors.empty()) << "its descriptor is gone, too (VI-DG 3.8.1)";
    else
      EXPECT_NE(nodes.status(0) & vi::status::error_mask, 0u);
  }
}

// What others must see singly goes so: a tap, a fault, a second message in its turns.
TEST_P(FrameRuns, frames_that_somebody_looks_at_go_singly) {
  for (const int who : {0, 1, 2}) {
    RunNodes nodes({GetParam(), true});
    if (who == 0) nodes.watch(true);
    if (who == 1) nodes.spoil(true, 1000, 0);
    for (const std::size_t pair : {0u, 1u}) {
      if (who != 2 && pair == 1) continue;
      nodes.post(pair, true, 0, {65536});
      nodes.post(pair, false, 0, {65536});
    }
    nodes.pass_time(runtime::second);
    EXPECT_EQ(nodes.run_frames(), 0u) << who;
    EXPECT_EQ(nodes.server->provider.counters().data_bytes_received, who == 2 ? 131'072u : 65'536u);
  }
}

/// 32 of 40 frames have come, singly; runs of the others are made by hand, as a peer may send them (FC-VI B.2.5).
class ForgedRuns : public FrameRuns {
 public:
  static constexpr std::size_t data_bytes = 2080, headers = fc2::frame_header_bytes + 32, come = 32, all = 40;
  ForgedRuns() {
    nodes_.watch(true);
    nodes_.post(0, true, 0, {all * data_bytes});
    nodes_.post(0, false, 0, {all * data_bytes});
    while (nodes_.server->provider.counters().data_frames_received < come) nodes_.events(1);
    const support::LoggedFrame& last = nodes_.log.frames().back();
    header = last.header;
    std::copy_n(last.data.begin(), 32, device_header.begin());
    ++header.seq_cnt.value;
    header.parameter += data_bytes;
  }
  /// How many of `frames` the server takes.
  std::size_t taken(std::size_t frames) {
    fc2::Frame first;
    header.write(first.bytes);
    std::copy_n(device_header.begin(), 32, first.data_field().begin());
    first.size_bytes = headers + data_bytes;
    first.sof = sof;
    first.eof = eof;
    first.only_from = only_from;
    return nodes_.server->port.receive_run({first, frames, headers, data_.data(), data_bytes, data_bytes, nullptr});
  }
  /// The rest of the sender's frames stays away.
  void hold_sender() { nodes_.pause(true); }
  [[nodiscard]] RunNodes& nodes() { return nodes_; }
  [[nodiscard]] std::uint64_t frames_received() const {
    return nodes_.server->provider.counters().data_frames_received;
  }
  wire::FcHeader header;
  std::array<std::uint8_t, 32> device_header{};
  wire::Sof sof = wire::Sof::n3;
  wire::Eof eof = wire::Eof::n;
  wire::FcId only_from{};

 private:
  RunNodes nodes_{{GetParam(), true}};
  std::vector<std::uint8_t> data_ = std::vector<std::uint8_t>(20 * data_bytes, 3);
};

// Up to the last frame but one: the last has to be known as such.
TEST_P(ForgedRuns, receiving_run_to_the_end_is_taken_but_for_the_last_frame) {
  only_from = header.s_id;
  EXPECT_EQ(taken(20), all - come - 1);
  EXPECT_EQ(frames_received(), all - 1);
  EXPECT_EQ(taken(1), 0u) << "it came";
}

// Whatever a single frame would be looked at for: nothing has happened.
TEST_P(ForgedRuns, receiving_run_that_does_not_go_on_is_left_to_single_frames) {
  const auto refused = [&](auto change) {
    const auto before = std::tuple(header, device_header, sof, eof, only_from);
    change();
    EXPECT_EQ(taken(3), 0u);
    std::tie(header, device_header, sof, eof, only_from) = before;
  };
  refused([&] { ++header.seq_cnt.value; });
  refused([&] { header.parameter += 4; });
  refused([&] { header.ox_id.value ^= 1; });
  refused([&] { header.s_id.value ^= 1; });
  refused([&] { header.d_id.value ^= 1; });
  refused([&] { header.r_ctl = wire::RCtl::unsolicited_data; });
  refused([&] { header.type = wire::Type::fcp; });
  refused([&] { header.df_ctl |= wire::df_ctl::network_header; });
  refused([&] { header.f_ctl |= wire::f_ctl::exchange_responder; });
  refused([&] { header.f_ctl |= 2; });  // fill bytes
  refused([&] { sof = wire::Sof::i3; });
  refused([&] { sof = wire::Sof::n2; });
  refused([&] { eof = wire::Eof::t; });
  refused([&] { only_from = {header.s_id.value ^ 1}; });
  for (std::size_t at = 0; at < device_header.size(); ++at) refused([&] { device_header[at] ^= 1; });
  EXPECT_EQ(frames_received(), come);
  EXPECT_EQ(taken(3), 3u);
}

// The model may have stopped the VI before the machine hears of it: nothing is placed for a descriptor that was flushed
// (VI-ARCH 5.4).
TEST_P(ForgedRuns, receiving_run_of_a_stopped_vi_is_not_placed) {
  nodes().server_vi().endpoint_event(machines::vi_endpoint::ConnectionLost{});
  EXPECT_EQ(taken(3), 0u);
  EXPECT_EQ(frames_received(), come);
}

// FC-VI 8.4.1: R_A_TOV begins anew with each frame, those of a run too.
TEST_P(ForgedRuns, receiving_run_is_progress) {
  hold_sender();
  const runtime::TimeNs r_a_tov = nodes().server->port.r_a_tov();
  nodes().pass_time(r_a_tov * 6 / 10);
  EXPECT_EQ(taken(3), 3u);
  nodes().pass_time(r_a_tov * 6 / 10);
  header.seq_cnt.value += 3;
  header.parameter += 3 * data_bytes;
  EXPECT_EQ(taken(1), 1u) << "it is waited for";
  nodes().pass_time(r_a_tov * 11 / 10);
  ++header.seq_cnt.value;
  header.parameter += data_bytes;
  EXPECT_EQ(taken(1), 0u) << "that was too long";
}

/// A Send of one frame comes to the server, and two more are expected; gives the bytes of the frame that would be next.
std::vector<std::uint8_t> next_whole(RunNodes& nodes) {
  nodes.watch(true);
  for (int receive = 0; receive != 3; ++receive) nodes.post(0, true, 0, {64});
  nodes.post(0, false, 0, {12});
  nodes.pass_time(runtime::millisecond);
  const support::LoggedFrame* last = nullptr;
  for (const support::LoggedFrame& logged : nodes.log.frames())
    if (logged.outbound && logged.data.size() == 32 + 12) last = &logged;
  std::vector<std::uint8_t> bytes(fc2::frame_header_bytes + last->data.size());
  last->header.write(bytes);
  std::copy(last->data.begin(), last->data.end(), bytes.begin() + fc2::frame_header_bytes);
  ++bytes[24 + 11];  // FCVI_MSG_ID
  ++bytes[17];       // OX_ID
  ++bytes[12];       // SEQ_ID
  return bytes;
}

/// A Send of one frame has come; the next is made by hand, and offered whole (FC-VI 5.2.1, 6.2).
class ForgedWhole : public FrameRuns {
 public:
  [[nodiscard]] std::size_t taken() const {
    fc2::Frame frame;
    fill(frame, bytes, wire::Sof::i3, eof);
    frame.crc_error = crc_error;
    frame.only_from = only_from;
    return nodes.server->port.receive_run(fc2::FrameRun::of_whole(frame));
  }
  static void fill(fc2::Frame& frame, const std::vector<std::uint8_t>& with, wire::Sof sof, wire::Eof eof) {
    std::copy(with.begin(), with.end(), frame.own.begin());
    frame.size_bytes = static_cast<std::uint16_t>(with.size());
    frame.sof = sof;
    frame.eof = eof;
  }
  static std::size_t offer(RunNodes& to, const std::vector<std::uint8_t>& with, wire::Eof eof = wire::Eof::t) {
    fc2::Frame frame;
    fill(frame, with, wire::Sof::i3, eof);
    return to.server->port.receive_run(fc2::FrameRun::of_whole(frame));
  }
  static void bring(RunNodes& to, const std::vector<std::uint8_t>& with, wire::Sof sof, wire::Eof eof) {
    fc2::FramePtr frame = to.server->port.pool().take();
    fill(*frame, with, sof, eof);
    to.server->port.receive(std::move(frame));
  }
  [[nodiscard]] std::uint64_t messages() const { return nodes.server->provider.counters().messages_received; }
  RunNodes nodes{{GetParam(), true}};
  std::vector<std::uint8_t> bytes = next_whole(nodes);
  wire::Eof eof = wire::Eof::t;
  bool crc_error = false;
  wire::FcId only_from{};
};

// At Reliable Reception an answer is due, which the machines give.
TEST_P(ForgedWhole, receiving_the_next_send_is_taken_once) {
  const std::size_t expected = GetParam() == RunLevel::ReliableReception ? 0 : 1;
  only_from = nodes.client->port.n_port_id();
  EXPECT_EQ(taken(), expected);
  EXPECT_EQ(messages(), 1 + expected);
  EXPECT_EQ(nodes.status(1) & (vi::status::done | vi::status::error_mask), expected);
  EXPECT_EQ(taken(), 0u) << "it came";
}

// Whatever somebody looks at in a frame, and is not as it should be: nothing has happened.
TEST_P(ForgedWhole, receiving_another_frame_is_left_to_the_usual_way) {
  const auto refused = [&](auto change) {
    const auto before = std::tuple(bytes, eof, crc_error, only_from);
    change();
    EXPECT_EQ(taken(), 0u);
    std::tie(bytes, eof, crc_error, only_from) = before;
  };
  refused([&] { eof = wire::Eof::n; });
  refused([&] { crc_error = true; });
  refused([&] { only_from = {nodes.client->port.n_port_id().value ^ 1}; });
  // R_CTL, D_ID, S_ID, TYPE, F_CTL, DF_CTL, SEQ_CNT, Parameter; FCVI_HANDLE, opcode, FCVI_MSG_ID, FCVI_TOT_LEN
  for (const std::size_t at : {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 20, 21, 22, 23})
    refused([&] { bytes[at] ^= 1; });
  for (const std::size_t at : {0, 1, 2, 3, 4, 8, 9, 10, 11, 28, 29, 30, 31}) refused([&] { bytes[24 + at] ^= 1; });
  refused([&] { bytes.pop_back(); });
  refused([&] { bytes.resize(20); });
  nodes.server_vi().endpoint_event(machines::vi_endpoint::ConnectionLost{});
  refused([] {});
  EXPECT_EQ(messages(), 1u);
}

// FC-FS 5: a port whose link is down receives nothing by an offer, whatever still comes singly.
TEST_P(ForgedWhole, receiving_on_a_link_that_is_down_takes_nothing) {
  nodes.fail_server_link();
  ASSERT_FALSE(nodes.server->port.online());
  EXPECT_EQ(taken(), 0u);
  EXPECT_EQ(messages(), 1u);
}

// FC-VI B.2.5 is of in-order fabrics: on another one the frame is left to whoever sorts them.
TEST_P(ForgedWhole, receiving_on_an_out_of_order_fabric_takes_nothing) {
  RunNodes unordered({GetParam(), true, false});
  const std::vector<std::uint8_t> next = next_whole(unordered);
  const std::uint64_t before = unordered.server->provider.counters().messages_received;
  EXPECT_EQ(before, 1u);
  EXPECT_EQ(offer(unordered, next), 0u);
  EXPECT_EQ(unordered.server->provider.counters().messages_received, before);
}

// FC-VI 5.9.5 lets a receiver ignore much of both headers, FC-FS more; whatever one bit of them says, and how the
// frame is delimited: who was offered the frame, and got it singly where it did not take it, does what the tables do.
TEST_P(ForgedWhole, receiving_no_changed_bit_shows_whether_the_frame_was_offered) {
  const auto same = [](std::size_t at, std::uint8_t bit, wire::Sof sof, wire::Eof eof) {
    std::string seen[2];
    bool was_taken = false;
    for (const bool offers : {false, true}) {
      RunNodes run({GetParam(), offers});
      std::vector<std::uint8_t> next = next_whole(run);
      next[at] ^= bit;
      was_taken = offers && sof == wire::Sof::i3 && offer(run, next, eof) != 0;
      if (!was_taken) bring(run, next, sof, eof);
      run.pass_time(60 * runtime::second);
      seen[offers] = run.seen();
    }
    EXPECT_EQ(seen[false], seen[true]) << "octet " << at << ", bit " << int(bit);
    return was_taken;
  };
  int taken = 0;
  constexpr std::size_t headers = fc2::frame_header_bytes + 32;
  for (std::size_t at = 0; at != headers; ++at)
    taken += same(at, static_cast<std::uint8_t>(1u << (at * 5 % 8)), wire::Sof::i3, wire::Eof::t) ? 1 : 0;
  // CS_CTL, SEQ_ID, OX_ID, RX_ID, and what a Send does not use of its Device_Header.
  EXPECT_EQ(taken > 15, GetParam() != RunLevel::ReliableReception) << taken;
  for (const wire::Sof sof : {wire::Sof::n3, wire::Sof::i2, wire::Sof::n2}) same(0, 0, sof, wire::Eof::t);
  same(0, 0, wire::Sof::i3, wire::Eof::n);
}

INSTANTIATE_TEST_SUITE_P(Levels, ForgedWhole,
                         ::testing::Values(RunLevel::UnreliableDelivery, RunLevel::ReliableDelivery,
                                           RunLevel::ReliableReception));
INSTANTIATE_TEST_SUITE_P(Levels, ForgedRuns,
                         ::testing::Values(RunLevel::UnreliableDelivery, RunLevel::ReliableDelivery,
                                           RunLevel::ReliableReception));
INSTANTIATE_TEST_SUITE_P(Levels, FrameRuns,
                         ::testing::Values(RunLevel::UnreliableDelivery, RunLevel::ReliableDelivery,
                                           RunLevel::ReliableReception),
                         [](const auto& given) {
                           return std::string(given.param == RunLevel::UnreliableDelivery ? "Unreliable"
                                              : given.param == RunLevel::ReliableDelivery ? "Delivery"
                                                                                          : "Reception");
                         });

}  // namespace
