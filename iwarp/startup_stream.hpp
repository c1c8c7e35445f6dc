// The stream of a start-up: frames out, one frame in, and no octet beyond (RFC 5044 7.1, IFT 4).
#pragma once
#include <memory>
#include <vector>

#include "iwarp/services.hpp"
#include "wire/iwarp/ift/adaption_indication.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"

namespace iwarp {

/// `Frame` is wire::mpa::StartupFrame or wire::ift::AdaptionIndication. May let go of the stream, and of itself, from
/// within any of these.
template <class Frame>
class StartupStreamUser {
 public:
  virtual void stream_established() {}
  /// It could not be set up.
  virtual void stream_refused() {}
  /// The frame that was expected, whole.
  virtual void frame_received(const Frame& frame) = 0;
  /// What came is none, or ends within.
  virtual void frame_refused() = 0;
  /// Octets came where none were expected.
  virtual void octets_unexpected() = 0;
  /// The stream has taken all that was sent.
  virtual void all_sent() {}
  /// The other end sends no more, or the stream broke.
  virtual void stream_ended() = 0;

 protected:
  ~StartupStreamUser() = default;
};

template <class Frame>
class StartupStream final : private streams::StreamUser {
 public:
  StartupStream(const Services& services, StartupStreamUser<Frame>& user) : services_(services), user_(user) {}

  void connect(const streams::Address& to, const streams::Address& from);
  void adopt(std::unique_ptr<streams::Stream> stream);
  void close();
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  /// nullptr: there is none, or it was released.
  [[nodiscard]] const streams::Stream* stream() const { return stream_.get(); }
  /// Why the last one could not be set up, or broke.
  [[nodiscard]] std::optional<streams::Reason> reason() const { return reason_; }
  /// all_sent() follows, not from within.
  void send(const Frame& frame);
  /// frame_received(), frame_refused() or stream_ended() follows.
  void expect_frame();
  /// stream_ended() or octets_unexpected() follows, if anything comes.
  void expect_nothing();
  /// For who goes on with it; `unsent`: octets that it has not taken yet.
  [[nodiscard]] std::unique_ptr<streams::Stream> release(std::vector<std::uint8_t>& unsent);

 private:
  void connected() override;
  void readable() override;
  void writable() override;
  void closed(streams::Reason reason) override;
  void end();
  [[nodiscard]] std::size_t wanted() const;

  const Services& services_;
  StartupStreamUser<Frame>& user_;
  std::unique_ptr<streams::Stream> stream_;
  std::optional<streams::Reason> reason_;
  bool established_ = false, expects_frame_ = false;
  std::vector<std::uint8_t> out_, in_;  // what is unsent; the frame as far as it came, bounded by its format
};

extern template class StartupStream<wire::mpa::StartupFrame>;
extern template class StartupStream<wire::ift::AdaptionIndication>;

}  // namespace iwarp
