// An Exchange that its one frame begins and ends.
#pragma once
#include <optional>

#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/node/fc4.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {
class ExchangeTable;
class RemotePort;

/// One Sequence of one frame that its originator sends in class 3, and nothing comes back (FC-FS; FC-VI 5.2.1: a Send
/// or RDMA Write that fits a frame). Leaves behind what Exchange and SequenceSender would leave, and its frame is
/// theirs, but no Exchange is opened, and no machine runs: it is over before anything can happen to it.
/// tests/fc2_fabric/one_frame_exchange_test.cpp shows that both are equal.
class OneFrameExchange {
 public:
  struct Form {
    wire::RCtl r_ctl;
    const Fc4& fc4;
    std::uint8_t df_ctl = 0, cs_ctl = 0;
  };
  /// Takes an OX_ID and a SEQ_ID, which are free again when the frame is stamped. nullopt: a Sequence would have to
  /// wait (SequenceSender::begin), or there are as many exchanges as may be; nothing has happened. Pre: not class 2.
  static std::optional<OneFrameExchange> begin(ExchangeTable& table, RemotePort& remote);

  [[nodiscard]] wire::FcId s_id() const { return s_id_; }
  [[nodiscard]] wire::FcId d_id() const { return d_id_; }
  [[nodiscard]] wire::OxId ox_id() const { return ox_id_; }
  [[nodiscard]] wire::SeqId seq_id() const { return seq_id_; }
  /// As SequenceSender::stamp(), with 0 in the Parameter field.
  void stamp(Frame& frame, const Form& form, std::size_t data_bytes) const;

 private:
  OneFrameExchange() = default;
  wire::FcId s_id_, d_id_;
  wire::OxId ox_id_;
  wire::SeqId seq_id_;
};

/// Writes `header` over a data field of `data_bytes` that stands in the frame, with its fill bytes.
void put_header(Frame& frame, wire::FcHeader& header, std::size_t data_bytes);

}  // namespace fc2
