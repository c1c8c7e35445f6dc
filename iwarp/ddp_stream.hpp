// The stream of one DDP Stream, from the start-up to its end: owns the LLP stream and its framing (RFC 5041 6, 7).
#pragma once
#include "iwarp/framing.hpp"
#include "iwarp/services.hpp"
#include "state_machines/ddp_stream.hpp"
#include "state_machines/outbox.hpp"

namespace iwarp {

/// Whose stream it is. Each may call the DdpStream, and none destroys it.
class DdpStreamUser {
 public:
  /// Adds a segment, if there is one to send. False: there is none now.
  virtual bool add_segment(Framing& framing) = 0;
  /// Some of what was to be sent before the end is still to be added.
  [[nodiscard]] virtual bool owes_segments() const = 0;
  /// All that was added is out.
  virtual void segments_flushed() = 0;
  /// What arrives is dropped from now on, but for a Terminate Message.
  virtual void discard_input() = 0;
  /// One more message may be sent, then close().
  virtual void ddp_failed() = 0;
  virtual void peer_closed() = 0;
  virtual void llp_lost() = 0;
  /// Answers close() or abort().
  virtual void stream_gone() = 0;

 protected:
  ~DdpStreamUser() = default;
};

class DdpStream final : private machines::ddp_stream::Context, private streams::StreamUser {
 public:
  DdpStream(const Services& services, DdpStreamUser& user) : services_(services), user_(user) {}

  /// The start-up is over. `unsent`: octets of it that the stream has not taken yet.
  void enable(std::unique_ptr<streams::Stream> stream, std::unique_ptr<Framing> framing, wire::Bytes unsent);
  [[nodiscard]] bool has_stream() const { return stream_ != nullptr; }
  void set_emss(std::size_t emss) { framing_->set_emss(emss); }
  /// nullptr before enable().
  [[nodiscard]] const Framing* framing() const { return framing_.get(); }

  void segment_invalid();
  void llp_error_found();
  void stop_reception();
  void close();
  void abort();
  /// There may be something to send.
  void pump();
  [[nodiscard]] bool is_consistent() const;

 private:
  template <class Event>
  void process(const Event& event);
  void settle();
  void linger_expired();
  [[nodiscard]] bool is_ending() const;
  void look_at_segments();

  // streams::StreamUser
  void readable() override;
  void writable() override;
  void closed(streams::Reason reason) override;

  // machines::ddp_stream
  void enable() override { stream_->ask_readable(); }
  void discard_input() override { user_.discard_input(); }
  void report_error() override { effects_.push(Effect::failed); }
  void report_half_closed() override { effects_.push(Effect::half_closed); }
  void report_lost() override { effects_.push(Effect::lost); }
  void finish_output() override { effects_.push(Effect::pump); }
  void start_linger_timer() override { services_.scheduler.schedule_after(linger_, services_.config.close_timeout); }
  void stop_linger_timer() override { services_.scheduler.cancel(linger_); }
  void shut_down_llp() override { stream_->shut_down(); }
  void drop_llp() override { stream_.reset(); }
  void reset_llp() override;
  void stream_gone() override { effects_.push(Effect::gone); }
  void count_stale() override { ++services_.counters.stale; }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  enum class Effect : std::uint8_t { failed, half_closed, lost, pump, gone };
  const Services& services_;
  DdpStreamUser& user_;
  std::unique_ptr<streams::Stream> stream_;
  std::unique_ptr<Framing> framing_;
  machines::ddp_stream::Machine machine_;
  fsm::Outbox<Effect, 4> effects_;
  bool pumping_ = false, ended_ = false;  // the other end sends no more
  static constexpr std::uint8_t batches_between_looks = 16;
  std::uint8_t batches_until_look_ = 0;
  runtime::Timer<DdpStream, &DdpStream::linger_expired> linger_{*this};
};

}  // namespace iwarp
