// The edge of one part of a Fibre Channel fabric: ISLs of which one end is elsewhere, and the common directory.
#pragma once
#include <deque>

#include "fc2_fabric/switch/fabric.hpp"
#include "tools/fcvi_sim/network/boundary.hpp"
#include "tools/fcvi_sim/parts/share.hpp"

namespace sim {

/// Each part has all switches and ISLs. Of an ISL between two parts the end that is elsewhere stands still here: what
/// it sends comes as messages, and takes its way from there.
class FcBoundary final : public Boundary, private fc2::DirectoryExport {
 public:
  /// All references outlive it.
  FcBoundary(fc2::Fabric& fabric, fc2::FramePool& pool, const Scenario& scenario, const Share& share);
  ~FcBoundary() override;

  void open(Outbox& outbox) override { outbox_ = &outbox; }
  void deliver(MessageKind kind, ByteReader& message) override;

 private:
  /// The end of an ISL that is here: takes what it sends.
  class CutEnd final : public fc2::FrameFault, public fc2::PrimitiveFault {
   public:
    CutEnd(FcBoundary& boundary, std::uint32_t isl, bool at_a, std::size_t far_part)
        : boundary_(boundary), isl_(isl), at_a_(at_a), far_part_(far_part) {}
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override;
    bool loses(fc2::Primitive primitive, fc2::TimeNs now) override;

   private:
    [[nodiscard]] ByteWriter& begin(MessageKind kind, fc2::TimeNs arrival);
    FcBoundary& boundary_;
    const std::uint32_t isl_;
    const bool at_a_;
    const std::size_t far_part_;
  };
  void exported(fc2::TimeNs due, std::size_t origin, const fc2::DirectoryChange& change) override;
  [[nodiscard]] fc2::LinkEnd& end_of(ByteReader& message);
  void frame_came(ByteReader& message);
  void directory_came(ByteReader& message);

  fc2::Fabric& fabric_;
  fc2::FramePool& pool_;
  const std::size_t part_;
  Outbox* outbox_ = nullptr;
  std::deque<CutEnd> ends_;
};

}  // namespace sim
