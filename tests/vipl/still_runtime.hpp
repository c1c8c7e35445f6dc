// A runtime for tests of the engine's parts alone: no time passes, nobody waits, there are no threads.
#pragma once
#include "vipl/engine/runtime.hpp"

namespace support {

/// What a test needs of it, it overrides.
class StillRuntime : public vipl::Runtime {
 public:
  [[nodiscard]] vipl::TimeNs now() const override { return 1; }
  bool wait(vipl::EventCount&, std::uint32_t, vipl::TimeNs) override { return false; }
  void set_alarm(vipl::TimeNs, vipl::TimeNs) override {}
  [[nodiscard]] std::size_t slice_events() const override { return 64; }
  void call_service() override {}
  void start_thread(std::function<void()>) override {}
  boost::asio::io_context* io() override { return nullptr; }

 private:
  void wake(vipl::EventCount&, bool) override {}
};

}  // namespace support
