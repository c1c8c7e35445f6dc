// ULPDUs as DDP Segment Chunks of SCTP, one message each (RFC 5043 5.2.2, 9).
//
// SCTP keeps their boundaries and has a CRC-32C of its own: nothing is added but the DDP-SSN. What comes is whole, and
// is copied once to its place; what goes is gathered, and copied into SCTP.
#pragma once
#include "iwarp/framing.hpp"

namespace iwarp {

/// The session, as its framing has it.
class SegmentChannel {
 public:
  /// Octets of the largest chunk, with the DDP-SSN.
  [[nodiscard]] virtual std::size_t max_chunk() const = 0;
  /// Its first two octets are free for the DDP-SSN. What SCTP does not take is kept. Pre: !is_blocked().
  virtual void send_segment(wire::MutableBytes chunk) = 0;
  /// Tries again what is kept.
  virtual void send_kept() = 0;
  [[nodiscard]] virtual bool is_blocked() const = 0;
  /// The one that is due: at least a DDP header. Empty: there is none now. Valid until control is back in the session.
  [[nodiscard]] virtual wire::Bytes take_segment() = 0;
  /// The other end sends no more, and take_segment() gave all of it.
  [[nodiscard]] virtual bool has_ended() const = 0;

 protected:
  ~SegmentChannel() = default;
};

class SctpFraming final : public Framing {
 public:
  /// The channel outlives the framing's use, which ends with its stream.
  SctpFraming(Workspace& workspace, UlpduSink& sink, SegmentChannel& channel)
      : workspace_(workspace), sink_(sink), channel_(channel) {}

  [[nodiscard]] std::size_t mulpdu() const override;
  /// SCTP knows its path.
  void set_emss(std::size_t) override {}
  [[nodiscard]] bool has_room() const override { return !channel_.is_blocked(); }
  void add(wire::Bytes header, std::span<const wire::Bytes> payload) override;
  void flush(streams::Stream&) override {}
  /// There are none: the start-up's chunks are the session's own.
  void keep_first(wire::Bytes) override {}
  void write_kept(streams::Stream&) override { channel_.send_kept(); }
  [[nodiscard]] bool is_blocked() const override { return channel_.is_blocked(); }
  Progress read(streams::Stream& stream) override;
  /// Of DDP Messages: the last segment of one came, or none yet.
  [[nodiscard]] bool is_at_boundary() const override { return at_boundary_; }
  [[nodiscard]] bool is_consistent() const override { return true; }

 private:
  void give(wire::Bytes segment);

  Workspace& workspace_;
  UlpduSink& sink_;
  SegmentChannel& channel_;
  bool at_boundary_ = true;
};

}  // namespace iwarp
