// Two nodes whose message frames a test can lose, double, hold back, delay or change, one by one.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/fcvi/two_nodes.hpp"
#include "tests/support/frame_log.hpp"
#include "wire/fcvi/device_header.hpp"

namespace support {
using Level = vi::ReliabilityLevel;

/// A frame of a Message Request or Message Response IU, as it leaves its port.
struct MessageFrame {
  fc2::Frame& frame;  // its bytes may be changed: nobody but the two ends can notice
  bool from_client;
  int number;  // 0, 1, ... of its direction, since the fault was set
  wire::FcHeader fc;
  wire::fcvi::DeviceHeader header;

  /// Writes both headers back.
  void rewrite() {
    fc.write(frame.bytes);
    header.write(std::span(frame.data_field()).first(header.size()));
  }
};

/// What becomes of it.
struct Fate {
  enum class What { Pass, Lose, Double, Hold } what = What::Pass;  // Hold: comes after the next one of its direction
  runtime::TimeNs delay = 0;
};
inline constexpr Fate pass{}, lose{Fate::What::Lose}, twice{Fate::What::Double}, hold{Fate::What::Hold};
inline Fate late(runtime::TimeNs delay) { return {Fate::What::Pass, delay}; }

/// On the client's link.
class MessageFaults final : public fc2::FrameFault {
 public:
  MessageFaults(fc2::FramePool& pool, fc2::NPort& client) : pool_(pool), client_(client) {}
  std::function<Fate(MessageFrame&)> on_frame;
  std::function<Fate(const wire::FcHeader&)> on_link_control;  // class 2: lost or late
  std::function<Fate(const wire::FcHeader&)> on_control;       // IUs of connections: lost or late
  std::function<Fate(const wire::FcHeader&)> on_basic;         // ABTS, BA_ACC, ...: lost or late
  int lost = 0;

  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto fc = wire::FcHeader::parse(frame->content());
    const bool message = fc && fc->type == wire::Type::fc_vi && fc->r_ctl != wire::RCtl::unsolicited_control &&
                         fc->r_ctl != wire::RCtl::solicited_control && !wire::is_link_control(fc->r_ctl);
    const bool link_control = fc && wire::is_link_control(fc->r_ctl);
    const auto& other = link_control ? on_link_control : fc && fc->type == wire::Type::bls ? on_basic : on_control;
    if (fc && !message && fc->type != wire::Type::els && other) {
      const Fate fate = other(*fc);
      frame->arrival += fate.delay;
      if (fate.what == Fate::What::Lose) return;
    }
    if (!message || !on_frame) return channel.deliver(std::move(frame));
    const bool from_client = fc->s_id == client_.n_port_id();
    MessageFrame seen{*frame, from_client, numbers_[from_client]++, *fc,
                      *wire::fcvi::DeviceHeader::parse(fc->device_header_size(), frame->content().subspan(24))};
    const Fate fate = on_frame(seen);
    frame->arrival += fate.delay;
    const runtime::TimeNs arrival = frame->arrival;
    if (fate.what == Fate::What::Double) channel.deliver(copy(*frame));
    if (fate.what == Fate::What::Hold) return held_[from_client].push(std::move(frame));
    if (fate.what == Fate::What::Lose)
      ++lost;
    else
      channel.deliver(std::move(frame));
    while (!held_[from_client].empty()) {
      fc2::FramePtr after = held_[from_client].pop();
      after->arrival = arrival;  // those of one time keep this order
      channel.deliver(std::move(after));
    }
  }
  /// From now on frames are counted from 0.
  void restart() { numbers_ = {}; }

 private:
  fc2::FramePtr copy(const fc2::Frame& frame) {
    fc2::FramePtr twin = pool_.copy(frame);
    twin->arrival = frame.arrival;
    return twin;
  }
  fc2::FramePool& pool_;
  fc2::NPort& client_;
  std::array<int, 2> numbers_{};
  std::array<fc2::FrameQueue, 2> held_;
};

/// The client sends, the server receives. Message i has bytes of its own, and goes to a buffer of its own.
class MessageNodes : public TwoNodes {
 public:
  static constexpr std::uint32_t frame_bytes = 2080;        // of message data in a full frame
  static constexpr std::uint32_t length = 4 * frame_bytes;  // four frames
  static constexpr std::uint32_t slot = 1u << 16;

  explicit MessageNodes(fcvi::ProviderConfig config = {}, TestFabric::Adjust adjust = {},
                        fc2::SwitchConfig fabric_config = {})
      : TwoNodes(config, {.latency_ns = runtime::microsecond, .bytes_per_second = 100'000'000}, std::move(adjust), {},
                 std::move(fabric_config)),
        faults(fabric.pool, client->port) {
    fabric.fabric.set_fault(client->port, &faults);
    fabric.fabric.tap(client->port, &log);
  }
  ~MessageNodes() override {
    fabric.fabric.tap(client->port, nullptr);
    fabric.fabric.set_fault(client->port, nullptr);
  }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }

  /// Connects; frames are counted from here.
  void begin(Level level, std::string_view name = "service") {
    wait.result.reset(), request.result.reset(), accept.result.reset();
    connect(level, name);
    log.clear();
    faults.restart();
  }
  void receive(int count = 1) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t to = server->data + receives.size() * slot;
      std::memset(server->bytes(to), 0, slot);
      receives.push_back(server->descriptor(0, {{to, slot}}));
      server_vi->post_receive(receives.back(), server->handle);
    }
  }
  void send(int count = 1, std::uint32_t bytes = length) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t from = client->data + sends.size() * slot;
      for (std::uint32_t byte = 0; byte < bytes; ++byte) client->bytes(from)[byte] = content(sends.size(), byte);
      sends.push_back(client->descriptor(0, {{from, bytes}}));
      client_vi->post_send(sends.back(), client->handle);
    }
  }
  static std::uint8_t content(std::size_t message, std::uint32_t byte) {
    return static_cast<std::uint8_t>((message + 1) * 37 + byte * 11 + (byte >> 8) * 5);
  }
  /// Message `message` stands whole in the buffer of receive `receive`, and the descriptor says so.
  [[nodiscard]] ::testing::AssertionResult arrived(std::size_t message, std::size_t receive,
                                                   std::uint32_t bytes = length) {
    if (server->status(receives.at(receive)) != (vi::status::done | vi::status::op_receive))
      return ::testing::AssertionFailure()
             << "receive " << receive << " has status " << std::hex << server->status(receives[receive]);
    const std::uint8_t* at = server->bytes(server->data + receive * slot);
    for (std::uint32_t byte = 0; byte < bytes; ++byte)
      if (at[byte] != content(message, byte)) return ::testing::AssertionFailure() << "byte " << byte << " is wrong";
    return ::testing::AssertionSuccess();
  }
  [[nodiscard]] std::uint32_t sent(std::size_t i) const { return client->status(sends.at(i)); }
  [[nodiscard]] std::uint32_t received(std::size_t i) const { return server->status(receives.at(i)); }
  [[nodiscard]] std::uint64_t discarded() const {
    return server->provider.counters().discarded(fcvi::Discard::NotReceiving);
  }
  /// Every descriptor is where it belongs after a reliable connection broke: nothing posted any more, Error
  /// at both ends.
  void expect_broken() {
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
    EXPECT_EQ(server->count(vi::ErrorCode::ConnLost), 1);
    for (const auto receive : receives) EXPECT_TRUE((server->status(receive) & vi::status::done) != 0);
  }

  static constexpr std::uint32_t receive_lost =
      vi::status::done | vi::status::op_receive | vi::status::transport_error | vi::status::partial_error;
  static constexpr std::uint32_t receive_flushed = vi::status::done | vi::status::op_receive | vi::status::flushed;
  static constexpr std::uint32_t sent_well = vi::status::done | vi::status::op_send;
  static constexpr std::uint32_t send_failed = sent_well | vi::status::transport_error;
  static constexpr std::uint32_t send_flushed = sent_well | vi::status::flushed;
  MessageFaults faults;
  FrameLog log;  // of the client's port
  std::vector<std::uint64_t> sends, receives;
};

/// At all three levels.
class AtLevel : public MessageNodes, public ::testing::WithParamInterface<Level> {
 public:
  using MessageNodes::MessageNodes;
  [[nodiscard]] static bool unreliable() { return GetParam() == Level::UnreliableDelivery; }
  [[nodiscard]] static bool reception() { return GetParam() == Level::ReliableReception; }
};
inline std::string level_name(const ::testing::TestParamInfo<Level>& info) {
  return info.param == Level::UnreliableDelivery ? "Unreliable"
         : info.param == Level::ReliableDelivery ? "Delivery"
                                                 : "Reception";
}
inline const auto all_levels =
    ::testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception);
inline const auto reliable_levels = ::testing::Values(Level::ReliableDelivery, Level::ReliableReception);

/// The frame of this number from the client meets its fate, the others pass.
inline std::function<Fate(MessageFrame&)> to_frame(int number, Fate fate) {
  return [=](MessageFrame& frame) { return frame.from_client && frame.number == number ? fate : pass; };
}

}  // namespace support
