// The end of a connection (VI-TCP 2.2.2.2.2, ruling V-17): owns its stream from the set-up on, and lets it go when both
// sides have ended, or the time is over.
#pragma once
#include <memory>

#include "state_machines/outbox.hpp"
#include "state_machines/vitcp_closing.hpp"
#include "vitcp/services.hpp"

namespace vitcp {

/// Whose stream it is. None of this calls back into the Closing, but for stream_gone().
class ClosingUser {
 public:
  /// No message is begun or taken any more.
  virtual void leave_connected() {}
  /// What is owed is to be written, then output_finished().
  virtual void finish_output() = 0;
  /// The other side ended the connection: the consumer is told.
  virtual void report_lost() {}
  /// May destroy everything.
  virtual void stream_gone() = 0;

 protected:
  ~ClosingUser() = default;
};

class Closing final : private machines::vitcp_closing::Context {
 public:
  Closing(const Services& services, ClosingUser& user, std::unique_ptr<streams::Stream> stream)
      : services_(services), user_(user), stream_(std::move(stream)) {}

  [[nodiscard]] bool has_stream() const { return stream_ != nullptr; }
  [[nodiscard]] streams::Stream& stream() { return *stream_; }
  [[nodiscard]] bool is_open() const { return machine_.is<machines::vitcp_closing::Open>(); }
  /// What is owed is being written.
  [[nodiscard]] bool is_finishing() const {
    return machine_.is_any_of<machines::vitcp_closing::Finishing, machines::vitcp_closing::Answering>();
  }

  // Each may destroy its caller, by stream_gone().
  void disconnect();
  void fail();
  void output_finished();
  void end_received();
  void stream_broken();
  /// Reads what has come, and drops it. Only when not open.
  void read_and_drop();
  [[nodiscard]] bool is_consistent() const;

 private:
  template <class Event>
  void process(const Event& event);
  void linger_expired();

  // machines::vitcp_closing
  void leave_connected() override { user_.leave_connected(); }
  void finish_output() override { user_.finish_output(); }
  void discard_input() override { stream_->ask_readable(); }
  void start_linger_timer() override { services_.scheduler.schedule_after(linger_, services_.config.close_timeout); }
  void stop_linger_timer() override { services_.scheduler.cancel(linger_); }
  void shut_down() override { stream_->shut_down(); }
  void drop_stream() override { stream_.reset(); }
  void reset_stream() override;
  void report_lost() override { user_.report_lost(); }
  void closed() override { effects_.push(Effect::Closed); }
  void count_stale() override {}
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  enum class Effect : std::uint8_t { Closed };
  const Services& services_;
  ClosingUser& user_;
  std::unique_ptr<streams::Stream> stream_;
  machines::vitcp_closing::Machine machine_;
  fsm::Outbox<Effect, 1> effects_;
  runtime::Timer<Closing, &Closing::linger_expired> linger_{*this};
};

}  // namespace vitcp
