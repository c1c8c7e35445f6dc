#include "vitcp/farewell.hpp"

namespace vitcp {

Farewell::Farewell(const Services& services, FarewellOwner& owner, std::unique_ptr<streams::Stream> stream,
                   std::vector<std::uint8_t> unsent)
    : services_(services), owner_(owner), unsent_(std::move(unsent)), closing_(services, *this, std::move(stream)) {
  closing_.stream().set_user(*this);
}

void Farewell::finish_output() { services_.scheduler.schedule(write_, services_.scheduler.now()); }

void Farewell::write() {
  if (is_over() || !closing_.is_finishing()) return;
  const std::size_t taken = closing_.stream().write(wire::Bytes(unsent_));
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(taken));
  unsent_.empty() ? closing_.output_finished() : closing_.stream().ask_writable();
}

}  // namespace vitcp
