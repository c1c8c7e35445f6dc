// A peer that sends whatever was sent before, changed in a field or two, while messages are under way, in every class,
// order and level: no crash, no event that a machine holds to be impossible, and after a Disconnect of both everything
// is returned (FC-VI 8.4.2 f g; nothing from outside may stop a port).
#include <random>

#include "tests/fcvi/class_2_nodes.hpp"
#include "wire/bytes.hpp"

namespace {
using support::ForgedFrame;
using support::Level;
using support::LoggedFrame;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

struct World {
  bool class_2, in_order, ack_0;
  Level level;
};

class Besieged : public support::MessageNodes {
 public:
  Besieged(const World& world, std::uint32_t seed)
      : MessageNodes(
            {.address = {}, .max_iu_bytes = 9000, .class_2 = world.class_2},
            [=](fc2::NPortConfig& config, std::size_t) {
              config.end_to_end_credit = world.class_2 ? std::uint16_t{6} : std::uint16_t{0};
              config.ack_0 = world.ack_0;
            },
            support::fabric_order(world.in_order)),
        world_(world), random_(seed) {}
  void TestBody() override {}
  void run() {
    begin(world_.level);
    post_all();
    for (int step = 0; step < 40; ++step) {
      fabric.run_for(pick(60) * runtime::microsecond + pick(100) / 99 * runtime::second * pick(4));
      if (!log.frames().empty()) send_altered();
    }
    fabric.run_for(15 * runtime::second);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    fabric.run_for(120 * runtime::second);
    EXPECT_EQ(unexpected(), 0u);
    EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
    EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void post_all() {
    receive(6);
    const std::uint64_t apart = 20u << 20;
    for (int i = 0; i < 6; ++i) {
      send(1, pick(2) == 0 ? 100 : 20'000);
      if (world_.level != Level::UnreliableDelivery && pick(2) == 0)
        client_vi->post_send(client->descriptor(vi::control::op_rdma_read, {{client->data + apart, 20'000}},
                                                server->data, server->handle),
                             client->handle);
      if (pick(2) == 0)
        client_vi->post_send(client->descriptor(vi::control::op_rdma_write, {{client->data, 5'000}},
                                                server->data + apart, server->handle),
                             client->handle);
    }
  }

  void send_altered() {
    const std::size_t recent = std::min<std::size_t>(log.size(), 12);
    const LoggedFrame& from = log.frames()[log.size() - 1 - pick(static_cast<std::uint32_t>(recent))];
    if (from.header.type == wire::Type::els) return;
    ForgedFrame frame{from.header, from.data, from.sof, from.eof};
    for (std::uint32_t changes = pick(4); changes != 0; --changes) alter(frame);
    if (frame.data.size() > 5 && pick(3) == 0) make_other_kind(frame);
    support::Host& to = frame.header.d_id == client->port.n_port_id() ? *client : *server;
    to.port.receive(frame.build(fabric.pool));
  }

  void alter(ForgedFrame& frame) {
    wire::FcHeader& fc = frame.header;
    const auto near = [&] { return pick(5) - 2; };
    constexpr std::array answers{RCtl::ack_1, RCtl::ack_0,  RCtl::p_bsy,      RCtl::p_rjt,
                                 RCtl::abts,  RCtl::ba_acc, RCtl::f_bsy_data, RCtl::ba_rjt};
    constexpr std::array<std::uint8_t, 8> opcodes{0, 1, 2, 8, 9, 10, 0x12, 0x1B};
    switch (pick(14)) {
      case 0: turn_round(fc); break;
      case 1: fc.seq_cnt.value = static_cast<std::uint16_t>(fc.seq_cnt.value + near()); break;
      case 2: fc.parameter += near() * frame_bytes; break;
      case 3: fc.f_ctl ^= f_ctl::end_sequence; break;
      case 4: fc.f_ctl ^= f_ctl::last_sequence; break;
      case 5: fc.f_ctl ^= f_ctl::sequence_initiative; break;
      case 6: fc.r_ctl = answers[pick(8)]; break;
      case 7:
        if (frame.data.size() > 11)
          wire::store_big<4>(frame.data.data() + 8, wire::load_big<4>(frame.data.data() + 8) + near());
        break;
      case 8:
        if (frame.data.size() > 5) frame.data[4] = opcodes[pick(8)];
        break;
      case 9:
        if (frame.data.size() > 5) frame.data[5] = static_cast<std::uint8_t>(pick(16));
        break;
      case 10: fc.ox_id.value = static_cast<std::uint16_t>(fc.ox_id.value + near()); break;
      case 11: fc.f_ctl ^= f_ctl::exchange_responder; break;
      case 12: fc.seq_id.value ^= 1; break;
      case 13: fc.f_ctl ^= f_ctl::abort_perform_abts; break;
      default: break;
    }
  }

  static void turn_round(wire::FcHeader& fc) {
    std::swap(fc.s_id, fc.d_id);
    fc.f_ctl ^= f_ctl::exchange_responder;
  }

  /// A request becomes a response to the same message, and the other way round.
  void make_other_kind(ForgedFrame& frame) {
    std::vector<std::uint8_t>& data = frame.data;
    turn_round(frame.header);
    data[4] = static_cast<std::uint8_t>(data[4] >= 8 ? data[4] - 8 : data[4] + 8);
    wire::store_big<4>(data.data(), frame.header.d_id == client->port.n_port_id() ? 1u : 0x1001u);
    const bool status = data[4] == 8 || data[4] == 9;
    data.resize(status ? 16 : std::max<std::size_t>(data.size(), 32));
    frame.header.df_ctl = status ? 1 : 2;
    frame.header.r_ctl = status         ? RCtl::command_status
                         : data[4] == 2 ? RCtl::unsolicited_command
                                        : RCtl::solicited_data;
    frame.header.f_ctl |= f_ctl::end_sequence | f_ctl::last_sequence;
    frame.eof = wire::Eof::t;
    frame.sof = wire::Sof::i3;
  }

  World world_;
  std::mt19937 random_;
};

class AlteredFrames : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(World, AlteredFrames, ::testing::Range(0, 18));

// FCVI_SEED=n repeats that one of a world.
TEST_P(AlteredFrames, transferring_anything_returnsEverything) {
  const int n = GetParam();
  constexpr std::array levels{Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception};
  const World world{n / 6 > 0, n / 3 % 2 == 0, n / 6 == 2, levels[static_cast<std::size_t>(n % 3)]};
  constexpr std::uint32_t seeds = 150;
  const char* one = std::getenv("FCVI_SEED");
  const auto first = one != nullptr ? static_cast<std::uint32_t>(std::atoi(one)) : 0u;
  for (std::uint32_t seed = first; seed < (one != nullptr ? first + 1 : seeds) && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << (world.class_2 ? " class 2" : " class 3")
                                    << (world.in_order ? "" : " out of order") << (world.ack_0 ? " ACK_0" : "")
                                    << " level " << n % 3);
    Besieged(world, seed).run();
  }
}

}  // namespace
