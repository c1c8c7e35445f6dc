// The operations that the ULP submits: as DDP segments, in their order, and completed in it (RFC 5040 5.5).
#pragma once
#include <boost/circular_buffer.hpp>

#include "iwarp/receiver.hpp"
#include "iwarp/services.hpp"

namespace iwarp {

/// Neither of these calls the queue.
class SendQueueUser {
 public:
  virtual void operation_completed(const Completion& completion) = 0;
  /// The first FPDU of the stream is out (RFC 6581 9.2).
  virtual void rtr_sent() = 0;

 protected:
  ~SendQueueUser() = default;
};

class SendQueue {
 public:
  SendQueue(const Services& services, SendQueueUser& user, Receiver& receiver, Accessor who, std::size_t depth,
            std::size_t ord)
      : services_(services), user_(user), receiver_(receiver), who_(who), depth_(depth), ord_(ord),
        entries_(PlacesAllocator<Entry>(services.workspace.places)) {}
  /// Before the first RDMA Read: fewer outstanding ones, as the start-up agreed.
  void limit(std::size_t ord) { ord_ = std::min(ord_, ord); }
  [[nodiscard]] std::size_t ord() const { return ord_; }

  /// False: `depth` are not complete.
  bool post(const SendRequest& request) { return put({request}); }
  /// The zero-length message that is the RTR indication; it completes unseen.
  void post_rtr(Operation operation);

  /// A segment can be added: none waits for RDMA Reads (ORD, a fence).
  [[nodiscard]] bool is_due() const;
  enum class Added : std::uint8_t { part, whole, failed };
  /// The next segment. `failed`: its operation completes in error, and the stream is to end (RFC 5040 7.1 rule 1). Pre:
  /// is_due(), framing.has_room().
  [[nodiscard]] Added add_segment(Framing& framing);
  /// All that was added is out: what is complete is told.
  void flushed();
  void response_received();
  /// All that is not complete completes so.
  void flush();
  /// No response comes any more: operations that would wait for one, and RDMA Reads, are not begun.
  void finish() { finishing_ = true; }
  [[nodiscard]] bool is_consistent() const { return next_ <= entries_.size() && entries_.size() <= depth_ + 1; }

 private:
  enum class State : std::uint8_t { waiting, added, awaits_response, done };
  struct Entry {
    SendRequest request;
    bool silent = false, told = false;  // the RTR indication, and that it is out
    State state = State::waiting;
    Status status = Status::success;
    std::uint32_t octets_sent = 0;
  };

  bool put(const Entry& entry);
  [[nodiscard]] Status judge(const SendRequest& request) const;
  Added fail(Entry& entry, Status status);
  Added add_send(Framing& framing, Entry& entry);
  Added add_write(Framing& framing, Entry& entry);
  Added add_read(Framing& framing, Entry& entry);
  Added add_immediate_data(Framing& framing, Entry& entry);
  Added invalidate(Entry& entry);
  Added add(Framing& framing, Entry& entry, const wire::ddp::Header& header, std::uint32_t octets);
  Added message_added(Entry& entry, State state);
  [[nodiscard]] std::uint32_t octets_now(const Framing& framing, const Entry& entry, bool tagged) const;
  void tell_completed();

  const Services& services_;
  SendQueueUser& user_;
  Receiver& receiver_;
  const Accessor who_;
  const std::size_t depth_;
  std::size_t ord_;
  /// Those that are not told yet; grows up to depth, and an RTR indication. Empty, it has no memory.
  boost::circular_buffer<Entry, PlacesAllocator<Entry>> entries_;
  std::size_t next_ = 0;  // the one that is being sent
  wire::ddp::Msn send_msn_{1}, read_msn_{1};
  bool finishing_ = false;
};

}  // namespace iwarp
