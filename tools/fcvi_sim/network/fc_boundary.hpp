// The edge of one part of a Fibre Channel fabric: ISLs of which one end is elsewhere, and the common directory.
#pragma once
#include <deque>
#include <map>

#include "fc2_fabric/switch/fabric.hpp"
#include "tools/fcvi_sim/network/boundary.hpp"
#include "tools/fcvi_sim/parts/share.hpp"

namespace sim {

/// Each part has all switches and ISLs. Of an ISL between two parts the end that is elsewhere stands still here: what
/// it sends comes as messages, and takes its way from there. While the ISL comes up, which both parts know, each has
/// both ends at work: they do the same at the same times.
class FcBoundary final : public Boundary, private fc2::DirectoryExport {
 public:
  /// All references outlive it.
  FcBoundary(runtime::Scheduler& clock, fc2::Fabric& fabric, fc2::FramePool& pool, const Scenario& scenario,
             const Share& share);
  ~FcBoundary() override;

  void open(Outbox& outbox) override { outbox_ = &outbox; }
  void deliver(MessageKind kind, ByteReader& message) override;
  /// Frames that the end of that ISL which is here sent, and that have not arrived. From the first call on each arrival
  /// is an event here, too, so that observers look again. 0: no end is elsewhere.
  [[nodiscard]] std::size_t in_flight(std::size_t isl);

 private:
  /// The end of an ISL that is here: takes what it sends.
  class CutEnd final : public fc2::FrameFault, public fc2::PrimitiveFault, private runtime::Event {
   public:
    CutEnd(FcBoundary& boundary, std::uint32_t isl, bool at_a, std::size_t far_part)
        : boundary_(boundary), isl_(isl), at_a_(at_a), far_part_(far_part) {}
    /// At both ends of the ISL.
    void take_place();
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override;
    void link_broke() override;
    [[nodiscard]] std::size_t in_flight() const { return arrivals_.size(); }
    bool loses(fc2::Primitive primitive, fc2::TimeNs now) override;
    /// What the far end sent then was on the ISL when it broke.
    [[nodiscard]] bool lost(fc2::TimeNs sent) const { return sent <= broke_at_; }
    [[nodiscard]] fc2::Link& link() const { return boundary_.fabric_.links()[isl_]->link(); }
    [[nodiscard]] fc2::LinkEnd& far_end() const { return at_a_ ? link().b : link().a; }

   private:
    /// The end that is elsewhere: heard of by messages, but while the ISL comes up.
    struct FarEnd final : fc2::PrimitiveFault {
      explicit FarEnd(const CutEnd& of) : near(of) {}
      bool loses(fc2::Primitive primitive, fc2::TimeNs /*now*/) override { return !near.is_local(primitive); }
      const CutEnd& near;
    };
    /// Both parts have it from their own end of this kind.
    [[nodiscard]] bool is_local(fc2::Primitive primitive) const {
      return primitive != fc2::Primitive::RRdy && !(link().a.online() && link().b.online());
    }
    [[nodiscard]] ByteWriter& begin(MessageKind kind, fc2::TimeNs arrival);
    void fire(fc2::TimeNs now) override;
    FcBoundary& boundary_;
    const std::uint32_t isl_;
    const bool at_a_;
    const std::size_t far_part_;
    fc2::TimeNs broke_at_ = -1;         // last
    std::deque<fc2::TimeNs> arrivals_;  // of frames on the line; where they are counted
    FarEnd far_{*this};
  };
  void exported(fc2::TimeNs due, std::size_t origin, const fc2::DirectoryChange& change) override;
  void primitive_came(ByteReader& message);
  /// That ISL's end here.
  [[nodiscard]] const CutEnd& end_of(ByteReader& message) const;
  void frame_came(ByteReader& message);
  void directory_came(ByteReader& message);

  runtime::Scheduler& clock_;
  fc2::Fabric& fabric_;
  fc2::FramePool& pool_;
  const std::size_t part_;
  Outbox* outbox_ = nullptr;
  std::deque<CutEnd> ends_;
  std::map<std::uint32_t, const CutEnd*> end_of_isl_;
  bool counts_in_flight_ = false;
};

}  // namespace sim
