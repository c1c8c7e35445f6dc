// Basic Accept: the answer to an ABTS that was carried out.
#pragma once
#include "wire/codec.hpp"

namespace wire::bls {

/// BA_ACC to ABTS (FC-FS), 12 bytes
/// word | 31-24           | 23-16  | 15-8 | 7-0
///  0   | SEQ_ID validity | SEQ_ID | reserved
///  1   | OX_ID                    | RX_ID
///  2   | low SEQ_CNT              | high SEQ_CNT
struct BaAcc {
  static constexpr std::uint8_t seq_id_valid = 0x80;  // SEQ_ID is that of the last deliverable sequence

  std::uint8_t seq_id_validity = 0;
  SeqId seq_id{};
  OxId ox_id{};
  RxId rx_id{};
  SeqCnt low_seq_cnt{};
  SeqCnt high_seq_cnt{};

  static constexpr std::string_view name = "BA_ACC";
  static constexpr auto layout = codec::layout<12>(
      codec::field<0, 1>(&BaAcc::seq_id_validity, "seq_id_validity"), codec::field<1, 1>(&BaAcc::seq_id, "seq_id"),
      codec::field<4, 2>(&BaAcc::ox_id, "ox_id"), codec::field<6, 2>(&BaAcc::rx_id, "rx_id"),
      codec::field<8, 2>(&BaAcc::low_seq_cnt, "low_seq_cnt"),
      codec::field<10, 2>(&BaAcc::high_seq_cnt, "high_seq_cnt"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<BaAcc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const BaAcc&, const BaAcc&) = default;
};

}  // namespace wire::bls
