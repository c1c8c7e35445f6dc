// The RDMA Read Requests that this end holds, and its RDMA Read Responses (RFC 5040 5.2, 7.2).
#pragma once
#include <boost/circular_buffer.hpp>

#include "iwarp/framing.hpp"
#include "iwarp/services.hpp"
#include "iwarp/work.hpp"
#include "state_machines/rdmap_read_responder.hpp"

namespace iwarp {

class ReadResponderUser {
 public:
  /// A segment is due.
  virtual void response_due() = 0;
  /// The stream is to end with a Terminate Message that tells it. Leads to stream_ended().
  virtual void responder_failed(const CapturedError& error) = 0;

 protected:
  ~ReadResponderUser() = default;
};

class ReadResponder final : private machines::rdmap_read_responder::Context {
 public:
  /// `ird`: requests that it holds at the most.
  ReadResponder(const Services& services, ReadResponderUser& user, Accessor who, std::size_t ird)
      : services_(services), user_(user), who_(who), ird_(ird),
        requests_(PlacesAllocator<Request>(services.workspace.places)) {}
  /// Before any request: fewer, as the start-up agreed.
  void limit(std::size_t ird) { ird_ = std::min(ird_, ird); }
  [[nodiscard]] std::size_t ird() const { return ird_; }

  /// `where`: its DDP header, for an error.
  void request_received(const wire::rdmap::ReadRequest& request, const CapturedError& where);
  /// A segment can be added.
  [[nodiscard]] bool is_due() const { return due_; }
  /// The next segment of the oldest response; true: it was its last. Pre: is_due(), framing.has_room(). When its memory
  /// has gone nothing is added: responder_failed().
  bool add_segment(Framing& framing);
  void stream_ended();
  [[nodiscard]] bool is_consistent() const;

 private:
  struct Request {
    wire::rdmap::ReadRequest header;  // of what is left (RFC 5040 4.8)
    CapturedError where;
  };

  template <class Event>
  void process(const Event& event);
  [[nodiscard]] boost::system::result<wire::MutableBytes, Denial> memory_of(const wire::rdmap::ReadRequest& request,
                                                                            std::uint32_t octets) const;
  void capture(const Request& request, wire::rdmap::Cause cause);

  // machines::rdmap_read_responder
  void enqueue() override;
  void begin_response() override { due_ = true; }
  void send_segment() override { due_ = true; }
  void finish_response() override;
  void capture_no_buffer() override;
  void fail_stream() override { failed_ = true; }
  void clear_queue() override { requests_.clear(), requests_.set_capacity(0); }
  void count_stale() override { ++services_.counters.stale; }
  [[nodiscard]] bool has_place() const override { return requests_.size() < ird_; }
  [[nodiscard]] bool another_waits() const override { return requests_.size() > 1; }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  const Services& services_;
  ReadResponderUser& user_;
  const Accessor who_;
  std::size_t ird_;
  machines::rdmap_read_responder::Machine machine_;
  /// The first is being answered; at most IRD. Empty, it has no memory.
  boost::circular_buffer<Request, PlacesAllocator<Request>> requests_;
  const Request* arriving_ = nullptr;  // while it is judged
  CapturedError error_;
  bool due_ = false, failed_ = false;
};

}  // namespace iwarp
