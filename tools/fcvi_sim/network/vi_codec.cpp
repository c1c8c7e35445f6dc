#include <cassert>

#include "tools/fcvi_sim/network/stream_codec.hpp"
#include "wire/vitcp/crc.hpp"

namespace sim {
namespace {

/// Of the CRC option of both connection segments: as it was written, and as it went on.
struct CrcOptions {
  struct Option {
    bool written = false, sent = false;
  };
  Option request{}, accept{};
};

class ViCodec final : public StreamCodec {
 public:
  /// `connects`: of what that end sends that began the stream.
  ViCodec(std::shared_ptr<CrcOptions> options, bool connects) : options_(std::move(options)), connects_(connects) {}

  [[nodiscard]] std::optional<std::size_t> size_of(const WaitingOctets& waiting) const override {
    std::uint8_t begin[4];
    if (waiting.size() < wire::vitcp::segment_header_bytes) return std::nullopt;
    waiting.copy(begin);
    const std::size_t size = wire::load_big<2>(begin + 2);
    assert(size >= wire::vitcp::segment_header_bytes && "providers write segments");
    return size;
  }
  StreamSegment read(wire::MutableBytes stream) override {
    auto segment = wire::vitcp::Segment::parse(stream, has_crc());
    assert(segment && "providers write right segments");
    segment_ = std::move(*segment);
    stream_ = stream;
    return {SegmentForm::Vi, to_string(segment_.header.type), stream, segment_.payload.size(), segment_.trailer,
            &segment_};
  }
  void write(bool seal) override {
    const std::size_t covered = stream_.size() - wire::vitcp::trailer_bytes;
    if (seal && segment_.trailer)
      wire::vitcp::store_crc(stream_.data() + covered, wire::vitcp::crc(stream_.first(covered)));
    learn();
  }

 private:
  /// As its sender sees it.
  [[nodiscard]] bool has_crc() const {
    return connects_ ? options_->request.written && options_->accept.sent
                     : options_->request.sent && options_->accept.written;
  }
  /// What both connection segments say, before and after somebody changed them.
  void learn() {
    if (info_of(segment_.header.type).following != wire::vitcp::FollowingHeader::ce) return;
    const auto sent = wire::vitcp::Segment::parse(stream_, false);
    const bool is_request = segment_.header.type == wire::vitcp::SegmentType::connect_request;
    (is_request ? options_->request : options_->accept) = {segment_.ce.options.crc, sent && sent->ce.options.crc};
  }

  const std::shared_ptr<CrcOptions> options_;
  const bool connects_;
  wire::vitcp::Segment segment_{};
  wire::MutableBytes stream_;
};

}  // namespace

StreamCodecs vi_codecs() {
  const auto options = std::make_shared<CrcOptions>();
  return {std::make_unique<ViCodec>(options, true), std::make_unique<ViCodec>(options, false)};
}

}  // namespace sim
