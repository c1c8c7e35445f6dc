// Two nodes whose every FC-VI frame is remembered at the client's port, and the fields of one frame to compare with.
#pragma once
#include <ostream>

#include "tests/fcvi/two_nodes.hpp"
#include "tests/support/frame_log.hpp"
#include "wire/bytes.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace support {

/// A frame as FC-VI 5.8 and 5.9 draw it: numbers, as they stand on the wire.
struct WireFrame {
  bool from_client = false;
  wire::FcHeader fc;
  wire::Sof sof{};
  wire::Eof eof{};
  std::vector<std::uint8_t> data;  // fill bytes included

  [[nodiscard]] std::uint32_t word(std::size_t index) const { return wire::load_big<4>(data.data() + 4 * index); }
  [[nodiscard]] unsigned opcode() const { return data[4]; }
  [[nodiscard]] unsigned flags() const { return data[5]; }
  [[nodiscard]] std::size_t header_bytes() const { return fc.device_header_size(); }
  [[nodiscard]] std::size_t payload_bytes() const { return data.size() - fc.fill_bytes() - header_bytes(); }
  /// Word of the payload.
  [[nodiscard]] std::uint32_t payload(std::size_t index) const { return word(header_bytes() / 4 + index); }
};

/// What a frame should be. Words 4 to 7 only where the Device_Header has 32 bytes.
struct Expected {
  bool from_client;
  unsigned r_ctl, f_ctl, df_ctl, opcode, flags;
  std::uint32_t handle, msg_id = 0, parameter = 0;
  std::uint64_t rmt_va = 0;
  std::uint32_t rmt_va_handle = 0, word_7 = 0;
  std::size_t payload_bytes = 0;
  std::uint16_t seq_cnt = 0;
  std::uint32_t offset = 0;
};

inline void expect_frame(const WireFrame& frame, const Expected& expected, const char* name) {
  SCOPED_TRACE(name);
  EXPECT_EQ(frame.from_client, expected.from_client);
  EXPECT_EQ(static_cast<unsigned>(frame.fc.r_ctl), expected.r_ctl);
  EXPECT_EQ(frame.fc.cs_ctl, 0);                           // 5.8.2, 7.3: no preference, where it is not asked for
  EXPECT_EQ(static_cast<unsigned>(frame.fc.type), 0x58u);  // 5.8.3
  EXPECT_EQ(frame.fc.f_ctl & ~3u, expected.f_ctl) << std::hex << frame.fc.f_ctl;  // 5.8.4; bits 1:0 are fill
  EXPECT_EQ(frame.fc.df_ctl, expected.df_ctl);                                    // 5.8.5
  EXPECT_EQ(frame.fc.seq_cnt.value, expected.seq_cnt);                            // 5.8.6
  EXPECT_EQ(frame.fc.parameter, expected.offset);                                 // 5.8.7
  EXPECT_EQ(frame.word(0), expected.handle);                                      // 5.9.2
  EXPECT_EQ(frame.opcode(), expected.opcode);
  EXPECT_EQ(frame.flags(), expected.flags);  // 5.9.4
  EXPECT_EQ(frame.word(1) & 0xFFFF, 0u);     // 5.9.5
  EXPECT_EQ(frame.word(2), expected.msg_id);
  EXPECT_EQ(frame.word(3), expected.parameter);
  EXPECT_EQ(frame.payload_bytes(), expected.payload_bytes);
  if (frame.header_bytes() != 32) return;
  EXPECT_EQ(std::uint64_t{frame.word(4)} << 32 | frame.word(5), expected.rmt_va);
  EXPECT_EQ(frame.word(6), expected.rmt_va_handle);
  EXPECT_EQ(frame.word(7), expected.word_7);
}

class WireNodes : public TwoNodes {
 public:
  explicit WireNodes(fcvi::ProviderConfig config = {}, TestFabric::Adjust adjust = {},
                     fc2::SwitchConfig fabric_config = {})
      : TwoNodes(numbered(config), {.latency_ns = runtime::microsecond, .bytes_per_second = 0}, std::move(adjust), {},
                 std::move(fabric_config)) {
    fabric.fabric.tap(client->port, &log);
  }
  ~WireNodes() override { fabric.fabric.tap(client->port, nullptr); }

  /// The FC-VI frames since the last call.
  std::vector<WireFrame> frames() {
    std::vector<WireFrame> result;
    for (const LoggedFrame& logged : log.frames())
      if (logged.header.type == wire::Type::fc_vi)
        result.push_back({logged.outbound, logged.header, logged.sof, logged.eof, logged.data});
    log.clear();
    return result;
  }
  static constexpr std::uint32_t client_handle = 0x100, server_handle = 0x1100, nobody = 0xFFFFFFFF;
  static constexpr std::uint32_t connection_id = 0x300;
  FrameLog log;

 private:
  static fcvi::ProviderConfig numbered(fcvi::ProviderConfig config) {
    config.first_handle = client_handle;
    config.first_connection_id = connection_id;
    return config;
  }
};

}  // namespace support
