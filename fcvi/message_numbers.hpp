// FCVI_MSG_ID of one stream: consecutive, and none comes round within R_A_TOV (FC-VI 5.9.6). Each half of them takes so
// long at least: an id was last used before the other half was begun.
#pragma once
#include <optional>

#include "runtime/scheduler.hpp"
#include "wire/types.hpp"

namespace fcvi {

template <std::uint32_t half>
class BasicMessageNumbers {
 public:
  BasicMessageNumbers(wire::MsgId first, runtime::TimeNs now) : next_(first), half_begun_at_(now) {}
  /// `now` of a post may be behind the clock by some ms (vipl/engine): an id is not early for that.
  static constexpr runtime::TimeNs late = runtime::second;
  /// When the next one may be taken; nothing where that is now.
  [[nodiscard]] std::optional<runtime::TimeNs> wait_until(runtime::TimeNs now, runtime::TimeNs r_a_tov) const {
    const runtime::TimeNs due = half_begun_at_ + r_a_tov + late;
    if (!begins_half() || now >= due) return std::nullopt;
    return due;
  }
  /// The next one is the first of a half: see wait_until().
  [[nodiscard]] bool begins_half() const { return next_.value % half == 0; }
  wire::MsgId take(runtime::TimeNs now) {
    if (begins_half()) half_begun_at_ = now;
    const wire::MsgId taken = next_;
    next_ = wire::advance(next_);
    return taken;
  }

 private:
  wire::MsgId next_;
  runtime::TimeNs half_begun_at_;
};
using MessageNumbers = BasicMessageNumbers<1u << 31>;

}  // namespace fcvi
