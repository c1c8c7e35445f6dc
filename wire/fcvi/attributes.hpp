// FCVI_ATTRIBUTES: what a VI asks of a connection (FC-VI 7.3).
#pragma once
#include "wire/fcvi/qos.hpp"

namespace wire::fcvi {

/// FCVI_RELIABILITY_LVL on the wire; the API codes level 3 as 4 (ruling 16).
enum class ReliabilityLevel : std::uint8_t { unreliable_delivery = 1, reliable_delivery = 2, reliable_reception = 3 };
[[nodiscard]] std::string_view to_string(ReliabilityLevel level);

/// FCVI_ATTR_FLAGS (FC-VI Table 17).
namespace attribute_flag {
inline constexpr std::uint8_t enable_rdma_write = 0x02;  // the VI may receive RDMA Write requests
inline constexpr std::uint8_t enable_rdma_read = 0x01;   // the VI may receive RDMA Read requests
inline constexpr std::uint8_t all = enable_rdma_write | enable_rdma_read;
}  // namespace attribute_flag

/// FCVI_ATTRIBUTES (FC-VI Table 16), 32 bytes. Table 16 fills words 0 to 6; Tables 13 and 14 give the field
/// eight words, so that the last is reserved.
/// word | 31-16    | 15-8                 | 7-0
///  0   | reserved | FCVI_RELIABILITY_LVL | FCVI_ATTR_FLAGS
///  1   | FCVI_MAX_TRANS_SIZE, bytes
///  2-6 | FCVI_QOS
///  7   | reserved
struct Attributes {
  ReliabilityLevel reliability_level = ReliabilityLevel::unreliable_delivery;
  bool rdma_write_enabled = false;
  bool rdma_read_enabled = false;
  std::uint32_t max_transfer_size = 0;  // bytes
  Qos qos{};

  static constexpr std::string_view name = "FCVI_ATTRIBUTES";
  static constexpr auto layout =
      codec::layout<32>(codec::word<0, 4>(codec::part<15, 8>(&Attributes::reliability_level, "reliability_level"),
                                          codec::part<1, 1>(&Attributes::rdma_write_enabled, "rdma_write_enabled"),
                                          codec::part<0, 0>(&Attributes::rdma_read_enabled, "rdma_read_enabled")),
                        codec::field<4, 4>(&Attributes::max_transfer_size, "max_transfer_size"),
                        codec::field<8, 20>(&Attributes::qos, "qos"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Attributes> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Attributes&, const Attributes&) = default;
};

}  // namespace wire::fcvi
