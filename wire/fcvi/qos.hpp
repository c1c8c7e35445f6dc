// FCVI_QOS: quality of service of a VI (FC-VI 7.3).
#pragma once
#include "wire/codec.hpp"

namespace wire::fcvi {

/// FCVI_QOS (FC-VI Table 18), 20 bytes
/// word | 31-24     | 23-0
///  0   | FCVI_PREF | reserved
///  1   | FCVI_MAX_BANDWIDTH, bytes/s; 0 in this version
///  2   | FCVI_MIN_BANDWIDTH, bytes/s; 0 in this version
///  3   | FCVI_MAX_DELAY, us; 0 in this version
///  4   | FCVI_PIPELINE_DEPTH: N + 1 messages may be open
struct Qos {
  static constexpr std::uint8_t preference = 0x80;

  std::uint8_t pref = 0;  // 00h or 80h
  std::uint32_t max_bandwidth = 0;
  std::uint32_t min_bandwidth = 0;
  std::uint32_t max_delay_us = 0;
  std::uint32_t pipeline_depth = 0;

  static constexpr std::string_view name = "FCVI_QOS";
  static constexpr auto layout = codec::layout<20>(
      codec::field<0, 1>(&Qos::pref, "pref"), codec::field<4, 4>(&Qos::max_bandwidth, "max_bandwidth"),
      codec::field<8, 4>(&Qos::min_bandwidth, "min_bandwidth"), codec::field<12, 4>(&Qos::max_delay_us, "max_delay_us"),
      codec::field<16, 4>(&Qos::pipeline_depth, "pipeline_depth"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Qos> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Qos&, const Qos&) = default;
};

}  // namespace wire::fcvi
