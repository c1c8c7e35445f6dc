// What the framings have in common: what is sent goes out in batches; where a CRC protects the payload a frame is
// collected, judged and given whole, else its payload goes straight into memory.
#pragma once
#include "iwarp/framing.hpp"
#include "iwarp/output_batch.hpp"

namespace iwarp {

class StreamFraming : public Framing {
 public:
  ~StreamFraming() override { release_frame(); }
  [[nodiscard]] std::size_t mulpdu() const final { return mulpdu_; }
  void flush(streams::Stream& stream) final { batch_.flush(stream); }
  void keep_first(wire::Bytes octets) final { batch_.keep_first(octets); }
  void write_kept(streams::Stream& stream) final { batch_.write_kept(stream); }
  [[nodiscard]] bool is_blocked() const final { return batch_.is_blocked(); }

  Progress read(streams::Stream& stream) override;
  [[nodiscard]] bool is_at_boundary() const final { return stage_ == Stage::header && collected_ == 0 && kept_ == 0; }

 protected:
  enum class Stage : std::uint8_t { header, payload, trailer };
  static constexpr std::size_t direct_octets = 4096;  // less is read with what follows it, and copied
  static constexpr std::size_t ahead_octets = 512;    // read behind a large payload: the next header

  /// `whole`: frames are collected and judged before they are given.
  StreamFraming(Workspace& workspace, UlpduSink& sink, std::size_t mulpdu, bool whole)
      : workspace_(workspace), sink_(sink), batch_(workspace), mulpdu_(mulpdu), whole_(whole) {}

  virtual Progress read_straight(streams::Stream& stream) = 0;
  /// The octets of the frame that begins there, which was given; 0: it is not whole yet, or fail() was called.
  [[nodiscard]] virtual std::size_t take_whole(wire::MutableBytes octets) = 0;
  /// Octets of the frame that begins there; 0: not known yet.
  [[nodiscard]] virtual std::size_t frame_extent(wire::Bytes octets) const = 0;
  void set_mulpdu(std::size_t octets) { mulpdu_ = octets; }
  void fail(wire::mpa::ErrorCode error);
  [[nodiscard]] bool parts_are_consistent() const;

  Workspace& workspace_;
  UlpduSink& sink_;
  OutputBatch batch_;
  Stage stage_ = Stage::header;
  bool unplaced_ = false;  // memory of the present payload cannot be written
  bool failed_ = false;
  std::size_t collected_ = 0, payload_left_ = 0, trailer_left_ = 0;  // octets

 private:
  Progress read_whole(streams::Stream& stream);
  Progress read_rest_of_frame(streams::Stream& stream);
  void take_frames(wire::MutableBytes octets);
  void keep(wire::Bytes octets);
  void release_frame();
  Progress drop(streams::Stream& stream);

  std::size_t mulpdu_;
  const bool whole_;
  OctetPlaces::Place place_;     // what came of a frame that is not whole
  std::size_t kept_ = 0;         // octets of it
  std::size_t rest_extent_ = 0;  // of a large one, all octets: what is left of it is read behind what came
};

}  // namespace iwarp
