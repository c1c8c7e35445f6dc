// The frames of a share of a run, kept in a file without a name until the run is over; then those of all parts become
// one capture, the same as that of the whole run in one process.
#pragma once
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "tools/fcvi_sim/parts/exchange.hpp"

namespace sim {

class FrameSpool final : public fc2::CaptureInterfaces {
 public:
  FrameSpool() : file_(std::tmpfile()) {}
  /// When a frame passed, which is not when it is on the wire: as long as frames come, the clock is there.
  void follow(const runtime::TimeNs& instant) { instant_ = &instant; }
  fc2::FrameTap& add_interface(std::string_view name) override;
  /// False: there was no room for all.
  [[nodiscard]] bool good() const { return file_ != nullptr && good_; }

  /// Sends all to part 0, where `into` is not nullptr and gets the frames of all parts in the order of instants, and
  /// then of interfaces. All parts call it, with the same interfaces. False: good() was not so in a part.
  bool merge(Exchange& exchange, fc2::Capture* into);

 private:
  class Interface final : public fc2::FrameTap {
   public:
    Interface(FrameSpool& spool, std::uint32_t id) : spool_(spool), id_(id) {}
    void frame_passed(fc2::TimeNs at, const fc2::Frame& frame, bool outbound) override;

   private:
    FrameSpool& spool_;
    std::uint32_t id_;
  };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  ByteString next_chunk();
  std::unique_ptr<std::FILE, CloseFile> file_;
  bool good_ = true;
  const runtime::TimeNs* instant_ = nullptr;
  std::deque<Interface> interfaces_;
  std::vector<std::string> names_;  // of them
};

}  // namespace sim
