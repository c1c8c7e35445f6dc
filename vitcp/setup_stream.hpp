// The stream of a connection that is being set up: one segment out, one segment in, and no octet beyond.
#pragma once
#include <memory>
#include <vector>

#include "streams/stream.hpp"
#include "vitcp/services.hpp"
#include "wire/vitcp/segment.hpp"

namespace vitcp {

/// May let go of the stream, and of itself, from within any of these.
class SetupStreamUser {
 public:
  virtual void stream_established() {}
  /// It could not be set up.
  virtual void stream_refused(streams::Reason) {}
  /// The segment that was expected, whole.
  virtual void segment_received(const wire::vitcp::Segment& segment) = 0;
  /// What came, `octets` from the first on, is none.
  virtual void segment_refused(wire::Bytes octets) = 0;
  /// Octets came where none were expected.
  virtual void octets_unexpected() = 0;
  /// The other end sends no more, or the stream broke.
  virtual void stream_ended() = 0;

 protected:
  ~SetupStreamUser() = default;
};

class SetupStream final : private streams::StreamUser {
 public:
  SetupStream(const Services& services, SetupStreamUser& user) : services_(services), user_(user) {}

  void connect(const streams::Address& to, const streams::Address& from);
  void adopt(std::unique_ptr<streams::Stream> stream);
  void close() { stream_.reset(), clear(); }
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  /// Of our end, if there is one.
  [[nodiscard]] std::optional<streams::Address> local() const {
    return stream_ == nullptr ? std::nullopt : std::optional(stream_->local());
  }

  void send(const wire::vitcp::Segment& segment);
  /// segment_received(), segment_refused() or stream_ended() follows.
  void expect_segment();
  /// stream_ended() or octets_unexpected() follows, if anything comes.
  void expect_nothing();
  /// Reads what is there now, as if readable() had come: what was expected follows, from within.
  void look() { readable(); }
  /// For who goes on with it; `unsent`: octets of the last segment that it has not taken yet.
  [[nodiscard]] std::unique_ptr<streams::Stream> release(std::vector<std::uint8_t>& unsent);

 private:
  void connected() override;
  void readable() override;
  void writable() override { write(); }
  void closed(streams::Reason reason) override;
  void write();
  void clear();
  void end();
  [[nodiscard]] std::size_t wanted() const;
  void judge();

  const Services& services_;
  SetupStreamUser& user_;
  std::unique_ptr<streams::Stream> stream_;
  bool established_ = false, expects_segment_ = false;
  std::vector<std::uint8_t> out_, in_;  // what is unsent; the segment as far as it came, at most 65,535 octets
};

}  // namespace vitcp
