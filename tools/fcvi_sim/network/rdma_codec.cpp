// The segments of a stream of RDMA: a frame of the start-up in each direction, then FPDUs of MPA or frames of IFT.
#include <cassert>
#include <vector>

#include "tools/fcvi_sim/network/stream_codec.hpp"
#include "wire/iwarp/ift/frame.hpp"
#include "wire/iwarp/mpa/fpdu.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"

namespace sim {
namespace {
using wire::iwarp::crc32c;
using wire::iwarp::store_crc;

/// A frame of the start-up: as its sender wrote it, and as it went on. None: not yet, or it cannot be read.
template <class Frame>
struct Told {
  std::optional<Frame> written, sent;
};
/// Of both ends, the one that began the stream first.
template <class Frame>
using Agreement = std::array<Told<Frame>, 2>;

/// What both codecs have in common: the first segment is of the start-up.
template <class Frame>
class RdmaCodec : public StreamCodec {
 public:
  RdmaCodec(std::shared_ptr<Agreement<Frame>> agreement, bool connects)
      : agreement_(std::move(agreement)), own_(connects ? 0 : 1) {}
  [[nodiscard]] bool is_aligned() const final { return true; }

 protected:
  [[nodiscard]] bool begins() const { return !told().written; }
  [[nodiscard]] const Told<Frame>& told() const { return (*agreement_)[own_]; }
  /// What the other end's frame says to this one; none: it has said nothing yet.
  [[nodiscard]] const std::optional<Frame>& heard() const { return (*agreement_)[1 - own_].sent; }
  StreamSegment read_startup(wire::MutableBytes stream, SegmentForm form, bool has_crc) {
    const auto frame = Frame::parse(stream);
    assert(frame && "ends write right frames");
    (*agreement_)[own_].written = *frame;
    return {form, rdma_segment_name(form, stream), stream, 0, has_crc, nullptr};
  }
  void sent_startup(wire::Bytes stream) {
    if (const auto frame = Frame::parse(stream)) (*agreement_)[own_].sent = *frame;
  }

 private:
  const std::shared_ptr<Agreement<Frame>> agreement_;
  const std::size_t own_;
};

// --- MPA

class MpaCodec final : public RdmaCodec<wire::mpa::StartupFrame> {
 public:
  using RdmaCodec::RdmaCodec;
  [[nodiscard]] std::optional<std::size_t> size_of(const WaitingOctets& waiting) const override {
    std::array<std::uint8_t, wire::mpa::StartupFrame::header_bytes> begin{};
    const wire::MutableBytes front = wire::MutableBytes(begin).first(std::min(begin.size(), waiting.size()));
    waiting.copy(front);
    if (!begins()) {
      const auto extent = wire::mpa::Fpdu::extent(front, framing(), position_);
      return extent ? std::optional(*extent) : std::nullopt;
    }
    if (front.size() < begin.size()) return std::nullopt;
    return begin.size() + wire::load_big<2>(begin.data() + 18);
  }
  StreamSegment read(wire::MutableBytes stream) override {
    stream_ = stream;
    is_startup_ = begins();
    if (is_startup_) return read_startup(stream, SegmentForm::MpaStartup, false);
    framing_ = framing();
    bare_.assign(stream.begin(), stream.end());
    if (framing_.markers) bare_.resize(wire::mpa::remove_markers(position_, stream, bare_));
    const auto header = wire::ddp::Header::parse(wire::Bytes(bare_).subspan(wire::mpa::ulpdu_length_bytes));
    const std::size_t ulpdu = wire::load_big<2>(bare_.data());
    return {SegmentForm::Fpdu,
            rdma_segment_name(SegmentForm::Fpdu, bare_),
            bare_,
            header ? ulpdu - header->size() : 0,
            framing_.crc,
            nullptr};
  }
  void write(bool seal) override {
    if (is_startup_) return sent_startup(stream_);
    put_back();
    const std::size_t covered = stream_.size() - wire::iwarp::crc_bytes;
    if (seal && framing_.crc) store_crc(stream_.data() + covered, crc32c(stream_.first(covered)));
    position_ += stream_.size();
  }

 private:
  /// As this end sees it: markers where the other one wants them, CRCs if either does (RFC 5044 7.1.1).
  [[nodiscard]] wire::mpa::Framing framing() const {
    return {.markers = heard() && heard()->markers, .crc = told().written->crc || (heard() && heard()->crc)};
  }
  /// Around the markers.
  void put_back() {
    for (std::size_t at = 0, taken = 0; at < stream_.size();) {
      const wire::mpa::Run run =
          framing_.markers ? wire::mpa::run_at(position_ + at) : wire::mpa::Run{false, stream_.size()};
      const std::size_t octets = std::min(run.octets, stream_.size() - at);
      if (!run.is_marker) {
        std::copy_n(bare_.begin() + static_cast<std::ptrdiff_t>(taken), octets,
                    stream_.begin() + static_cast<std::ptrdiff_t>(at));
        taken += octets;
      }
      at += octets;
    }
  }

  wire::MutableBytes stream_;
  bool is_startup_ = false;
  wire::mpa::Framing framing_{};
  wire::mpa::Position position_ = 0;
  std::vector<std::uint8_t> bare_;  // without markers
};

// --- IFT

class IftCodec final : public RdmaCodec<wire::ift::AdaptionIndication> {
 public:
  using RdmaCodec::RdmaCodec;
  [[nodiscard]] std::optional<std::size_t> size_of(const WaitingOctets& waiting) const override {
    if (begins()) return wire::ift::adaption_indication_bytes;
    std::array<std::uint8_t, wire::ift::FrameHeader::size()> begin{};
    if (waiting.size() < begin.size()) return std::nullopt;
    waiting.copy(begin);
    const auto header = wire::ift::FrameHeader::parse(begin);
    assert(header && "ends write right frames");
    return payload_at(*header) + header->payload_size + (told().written->payload_crc ? wire::iwarp::crc_bytes : 0);
  }
  StreamSegment read(wire::MutableBytes stream) override {
    stream_ = stream;
    is_startup_ = begins();
    if (is_startup_) return read_startup(stream, SegmentForm::Adaption, true);
    header_ = *wire::ift::FrameHeader::parse(stream);
    return {SegmentForm::IftFrame,
            rdma_segment_name(SegmentForm::IftFrame, stream),
            stream,
            header_.payload_size,
            told().written->payload_crc,
            nullptr};
  }
  void write(bool seal) override {
    if (seal) is_startup_ ? put_crc(stream_) : put_crcs();
    if (is_startup_) sent_startup(stream_);
  }

 private:
  [[nodiscard]] std::size_t payload_at(const wire::ift::FrameHeader& header) const {
    return wire::ift::FrameHeader::size() + header.header_size +
           (told().written->header_crc ? wire::iwarp::crc_bytes : 0);
  }
  /// Into the last four octets, of those before them.
  static void put_crc(wire::MutableBytes octets) {
    const std::size_t covered = octets.size() - wire::iwarp::crc_bytes;
    store_crc(octets.data() + covered, crc32c(octets.first(covered)));
  }
  void put_crcs() {
    if (told().written->header_crc) put_crc(stream_.first(payload_at(header_)));
    if (told().written->payload_crc) put_crc(stream_.subspan(payload_at(header_)));
  }

  wire::MutableBytes stream_;
  bool is_startup_ = false;
  wire::ift::FrameHeader header_{};
};

template <class Codec, class Frame>
StreamCodecs both() {
  const auto agreement = std::make_shared<Agreement<Frame>>();
  return {std::make_unique<Codec>(agreement, true), std::make_unique<Codec>(agreement, false)};
}

}  // namespace

StreamCodecs rdma_codecs(bool ift) {
  return ift ? both<IftCodec, wire::ift::AdaptionIndication>() : both<MpaCodec, wire::mpa::StartupFrame>();
}

}  // namespace sim
