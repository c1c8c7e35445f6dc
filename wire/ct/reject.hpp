// CT reject: the answer of a server that did not carry out a request.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// CT_RJT (FC-GS 4.4.4), 16 bytes: a preamble with response code 8001h, reason and explanation.
struct CtReject {
  CtHeader preamble = CtHeader::of(Command::reject);

  static constexpr std::string_view name = "CT_RJT";
  static constexpr auto layout =
      codec::layout<16>(codec::field<0, 16>(&CtReject::preamble, "preamble"), codec::check<8, 2>(0x8001, "command"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<CtReject> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const CtReject&, const CtReject&) = default;
  [[nodiscard]] static CtReject of(RejectReason reason, RejectExplanation explanation = RejectExplanation::none) {
    CtReject reject;
    reject.preamble.reason = reason;
    reject.preamble.explanation = explanation;
    return reject;
  }
};

}  // namespace wire::ct
