// An input as a series of steps, and the frames that they stand for. What the fuzzers of the emulated fabric share.
//
// The first byte chooses where it goes. Each step is: what is made good (1 byte, below), length (2), that many bytes of
// an FC frame from its header on. Raw bytes alone would hardly get past the addresses; with them made good they reach
// what is behind.
#pragma once
#include <algorithm>
#include <optional>

#include "fc2_fabric/link/channel.hpp"
#include "property.hpp"
#include "wire/fc_header.hpp"

namespace support {

struct FloodStep {
  enum Bits : std::uint8_t {
    GoodDId = 1,
    GoodSId = 2,
    GoodExchange = 4,  // OX_ID and RX_ID of the last frame that the target sent
    GoodHandle = 8,    // FCVI_HANDLE of the connection that stands
    Class2 = 16,
    LaterFrame = 32,  // SOFn
    Wait = 64,        // some seconds pass behind it
    UnusualEof = 128,
  };
  std::uint8_t bits = 0;
  wire::Bytes bytes;  // none: a link event, `bits` says which
  [[nodiscard]] bool has(Bits bit) const { return (bits & bit) != 0; }
};

class FloodSteps {
 public:
  explicit FloodSteps(wire::Bytes input) : rest_(input) {}
  std::optional<FloodStep> next() {
    constexpr std::size_t head = 3;
    if (rest_.size() < head) return std::nullopt;
    const std::size_t length = std::min<std::size_t>(wire::load_big<2>(rest_.data() + 1), rest_.size() - head);
    const FloodStep step{rest_[0], rest_.subspan(head, length)};
    rest_ = rest_.subspan(head + length);
    return step;
  }

 private:
  wire::Bytes rest_;
};

/// What a step's bits put into its frame.
struct FloodAim {
  wire::FcId d_id{}, s_id{};
  wire::OxId ox_id{0xFFFF};
  wire::RxId rx_id{0xFFFF};
  std::uint32_t handle = 0;
};

inline fc2::FramePtr flood_frame(fc2::FramePool& pool, const FloodStep& step, const FloodAim& aim) {
  fc2::FramePtr frame = pool.take();
  frame->size_bytes = static_cast<std::uint16_t>(std::min(step.bytes.size(), frame->bytes.size()));
  std::ranges::fill(frame->bytes, std::uint8_t{0});
  std::copy_n(step.bytes.begin(), frame->size_bytes, frame->bytes.begin());
  const wire::MutableBytes bytes(frame->bytes);
  if (step.has(FloodStep::GoodDId)) wire::store_big<3>(bytes, 1, aim.d_id.value);
  if (step.has(FloodStep::GoodSId)) wire::store_big<3>(bytes, 5, aim.s_id.value);
  if (step.has(FloodStep::GoodExchange)) wire::store_big<2>(bytes, 16, aim.ox_id.value);
  if (step.has(FloodStep::GoodExchange)) wire::store_big<2>(bytes, 18, aim.rx_id.value);
  if (step.has(FloodStep::GoodHandle)) wire::store_big<4>(bytes, fc2::frame_header_bytes, aim.handle);
  const bool later = step.has(FloodStep::LaterFrame);
  frame->sof = step.has(FloodStep::Class2) ? (later ? wire::Sof::n2 : wire::Sof::i2)
               : later                     ? wire::Sof::n3
                                           : wire::Sof::i3;
  frame->eof =
      step.has(FloodStep::UnusualEof) ? static_cast<wire::Eof>(0x41 + (step.bytes.size() & 0xF)) : wire::Eof::t;
  return frame;
}

/// The exchange of what the target said last.
class LastSent final : public fc2::FrameTap {
 public:
  void frame_passed(runtime::TimeNs, const fc2::Frame& frame, bool outbound) override {
    const auto header = wire::FcHeader::parse(frame.content());
    if (!outbound || !header) return;
    ox_id = header->ox_id;
    rx_id = header->rx_id;
  }
  wire::OxId ox_id{0xFFFF};
  wire::RxId rx_id{0xFFFF};
};

}  // namespace support
