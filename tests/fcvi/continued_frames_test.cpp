// A frame that goes on with a message runs no machine where nobody hears of rows (MessageReceiver::next_frame).
// Whatever comes of two runs with the same messages and faults, one with a listener and one without, is the same: each
// frame with its time, the descriptors, the memory, the counters, the errors (FC-VI 5.2, 5.8, 8.4.1, B.2.5).
#include <random>
#include <sstream>

#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::Fate;
using support::Host;
using support::Level;
using support::LoggedFrame;
using support::MessageFrame;
using support::MessageNodes;

/// Rows of frames that go on.
class Ear final : public fsm::RowListener {
 public:
  void row_fired(const fsm::Row& row) override {
    heard += row.machine == "message_responder" && row.event == "FrameReceived" && row.source == row.target ? 1 : 0;
  }
  int heard = 0;
};

/// What is wrong with one frame of the client, where anything is.
struct Wrong {
  int frame = -1;
  unsigned kind = 0, amount = 0;

  Fate befall(MessageFrame& at) const {
    if (!at.from_client || at.number != frame) return support::pass;
    switch (kind) {
      case 0: return support::lose;
      case 1: return support::twice;
      case 2: return support::hold;
      case 3: return support::late(amount * runtime::millisecond);
      case 4: at.header.rmt_va += amount; break;
      case 5: at.header.rmt_va_handle.value += amount; break;
      case 6: at.header.flags ^= static_cast<std::uint8_t>(1U << amount % 8); break;
      case 7: at.header.tot_len_or_connection_id += amount; break;
      case 8: at.header.msg_id.value += amount % 3; break;
      case 9: at.header.parameter ^= amount; break;
      case 10: at.header.handle.value ^= amount; break;
      case 11: at.fc.parameter += amount; break;
      case 12: at.fc.seq_cnt.value = static_cast<std::uint16_t>(at.fc.seq_cnt.value + amount); break;
      case 13: at.fc.ox_id.value = static_cast<std::uint16_t>(at.fc.ox_id.value ^ amount); break;
      case 14: at.fc.f_ctl ^= 1U << amount % 24; break;
      case 15: at.frame.eof = at.frame.eof == wire::Eof::t ? wire::Eof::n : wire::Eof::t; break;
      case 16: at.frame.size_bytes = static_cast<std::uint16_t>(at.frame.size_bytes - 4 * amount); break;
      case 17: at.fc.df_ctl ^= static_cast<std::uint8_t>(1U << amount % 8); break;
      case 18: at.fc.r_ctl = static_cast<wire::RCtl>(amount * 16); break;
      case 19: at.fc.type = static_cast<wire::Type>(amount); break;
      case 20: at.fc.s_id.value ^= amount; break;
      case 21: at.fc.d_id.value ^= amount << 16; break;
      case 22: at.frame.crc_error = true; break;
      default: at.frame.sof = amount % 2 == 0 ? wire::Sof::i3 : wire::Sof::n2; break;
    }
    at.rewrite();
    return support::pass;
  }
  static constexpr unsigned kinds = 24;
};

/// Four messages and their faults by a seed.
class Played final : public MessageNodes {
 public:
  Played(unsigned seed, fsm::RowListener* rows)
      : MessageNodes(
            {}, [=](fc2::NPortConfig& config, std::size_t) { config.rows = rows; },
            support::fabric_order(seed % 8 != 7)),
        random_(seed) {}
  void TestBody() override {}

  std::string outcome() {
    constexpr Level levels[] = {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception};
    begin(levels[random_() % 3]);
    const Wrong wrong{static_cast<int>(random_() % 16), static_cast<unsigned>(random_() % (Wrong::kinds + 1)),
                      static_cast<unsigned>(random_() % 15 + 1)};
    const int gone = random_() % 8 == 0 ? static_cast<int>(random_() % 16) : -1;  // the server's memory, by that frame
    faults.on_frame = [=, this](MessageFrame& frame) {
      if (frame.from_client && frame.number == gone) take_away();
      return wrong.kind == Wrong::kinds ? support::pass : wrong.befall(frame);
    };
    receive(4);
    for (int i = 0; i < 4; ++i) post(static_cast<std::uint16_t>(random_() % 4));
    fabric.run_for(40 * runtime::second);
    return seen();
  }

 private:
  static constexpr std::uint64_t target = Host::data + (8u << 20);  // of RDMA
  // The memory gets another protection tag than the VI's.
  void take_away() {
    vi::Ptag tag;
    EXPECT_EQ(server->nic.memory().create_ptag(tag), vi::Return::Success);
    EXPECT_EQ(server->nic.set_memory_attributes(Host::base, server->handle, {.ptag = tag}), vi::Return::Success);
  }
  // A Send, or an RDMA Write without or with Immediate Data.
  void post(std::uint16_t draw) {
    const std::uint32_t bytes = frame_bytes * (draw + 1) + draw * 9;
    if (draw < 2) return send(1, bytes);
    const std::uint64_t from = client->data + sends.size() * slot, to = target + from - client->data;
    std::memset(client->bytes(from), 'w', bytes);
    const auto control =
        static_cast<std::uint16_t>(vi::control::op_rdma_write | (draw == 3 ? vi::control::immediate : 0));
    sends.push_back(client->descriptor(control, {{from, bytes}}, to, server->handle, 7));
    client_vi->post_send(sends.back(), client->handle);
  }
  std::string seen() {
    std::ostringstream text;
    for (const LoggedFrame& frame : log.frames())
      text << frame.at << ' ' << frame.outbound << ' ' << int(frame.sof) << ' ' << int(frame.eof) << ' '
           << frame.header.to_string() << ' '
           << std::hash<std::string_view>()(
                  std::string_view(reinterpret_cast<const char*>(frame.data.data()), frame.data.size()))
           << '\n';
    for (const auto at : sends) text << "send " << std::hex << client->status(at) << '\n';
    for (const auto at : receives)
      text << "receive " << std::hex << server->status(at) << ' ' << server->control(at).length_bytes << '\n';
    for (Host* host : {client.get(), server.get()}) describe(*host, text);
    text << static_cast<int>(client_vi->state()) << static_cast<int>(server_vi->state()) << ' ' << unexpected();
    return text.str();
  }
  static void describe(Host& host, std::ostringstream& text) {
    const fcvi::ProviderCounters& provider = host.provider.counters();
    const fc2::Counters& port = host.port.counters();
    text << std::dec << provider.ius_sent << ' ' << provider.ius_received << ' ' << provider.data_frames_sent << ' '
         << provider.data_frames_received << ' ' << provider.data_bytes_sent << ' ' << provider.data_bytes_received
         << ' ' << provider.messages_sent << ' ' << provider.messages_received << ' ' << provider.connections_lost
         << ' ' << port.frames_received << ' ' << port.data_bytes_received << '\n';
    for (int reason = 0; reason < static_cast<int>(fc2::Discard::Count); ++reason)
      text << port.discarded(static_cast<fc2::Discard>(reason)) << ' ';
    for (int reason = 0; reason < static_cast<int>(fcvi::Discard::Count); ++reason)
      text << provider.discarded(static_cast<fcvi::Discard>(reason)) << ' ';
    for (const auto& error : host.errors) text << static_cast<int>(error.error) << ' ' << error.cause << '\n';
    for (const std::uint64_t at : {Host::data, target})
      text << std::hash<std::string_view>()({reinterpret_cast<const char*>(host.bytes(at)), 4 * slot}) << ' ';
  }
  std::mt19937 random_;
};

TEST(ContinuedFrames, anyMessageAndFault_withAndWithoutListener_areTheSame) {
  Ear ear;
  for (unsigned seed = 0; seed < 400; ++seed)
    ASSERT_EQ(Played(seed, nullptr).outcome(), Played(seed, &ear).outcome()) << "seed " << seed;
  EXPECT_GT(ear.heard, 1000);
}

}  // namespace
