// The port that the processes of a user share: which accepted stream goes to which of them (VI-TCP 4.3, Incoming and
// Matching). No I/O here: the streams are numbers, and what is to be done with one is told to PortActions.
#pragma once
#include <memory>

#include "runtime/scheduler.hpp"
#include "vitcp/port_service/first_segment.hpp"
#include "vitcp/port_service/waiters.hpp"

namespace vitcp::port_service {

/// An accepted stream; later ones have higher numbers.
using ConnectionId = std::uint64_t;

/// How a stream left the service.
enum class Fate : std::uint8_t {
  handed_over,    // to a process that waited
  no_match,       // nobody waited: ConnectNoMatch
  other_version,  // as Finding says, and so on
  bad_request,
  other_segment,
  no_segment,
  bad_crc,
  timed_out,  // no whole ConnectRequest within the time for it: closed
  cut,        // the other end closed it before it was matched
  reset,      // the same with a reset, or the network gave up
  evicted,    // too many were half open: closed
};
inline constexpr std::array<Fate, 11> fates{
    Fate::handed_over, Fate::no_match,  Fate::other_version, Fate::bad_request, Fate::other_segment, Fate::no_segment,
    Fate::bad_crc,     Fate::timed_out, Fate::cut,           Fate::reset,       Fate::evicted};
[[nodiscard]] std::string_view to_string(Fate fate);

struct Counters {
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, fates.size()> by_fate{};
  std::uint64_t not_taken = 0;  // a process that waited could not be given the stream when it came
  std::uint64_t returned = 0;   // by a process that had stopped to wait when the stream came
  [[nodiscard]] std::uint64_t of(Fate fate) const { return by_fate[static_cast<std::size_t>(fate)]; }
};

struct PortLimits {
  std::size_t half_open = 256;                          // streams that are not matched, or not closed, yet
  runtime::TimeNs request_time = 10 * runtime::second;  // for a whole ConnectRequest (ruling V-16)
  runtime::TimeNs closing_time = runtime::second;       // impl: for the other end to read why it is refused
  // impl: until a stream is offered again to those who wait for it, where none of them could be given it
  runtime::TimeNs offer_again = 50 * runtime::millisecond;
};

/// The caller of Port. Calls nothing of it from within.
class PortActions {
 public:
  /// The stream, of which nothing was read, is the waiter's. False: that process cannot be given any now.
  virtual bool hand_over(ConnectionId stream, const Waiter& waiter) = 0;
  /// Sends a segment of that type, and then the end; drained() tells when the other end has read it.
  virtual void refuse(ConnectionId stream, wire::vitcp::SegmentType type) = 0;
  virtual void close(ConnectionId stream) = 0;

 protected:
  ~PortActions() = default;
};

/// The streams between accept() and hand-over, limited in number and time. When there are too many the oldest of the
/// sender goes that has most of them: a host that opens many does not keep out others. Of IPv6 the first half of an
/// address counts as the sender. A process that does not read what it is handed keeps its waits: a stream for which
/// nobody else waits is held, and offered again until its time is over (request_time).
class Port {
 public:
  enum class Phase : std::uint8_t { incoming, held, closing };
  struct HalfOpen {
    ConnectionId stream = 0;
    Ends ends{wire::IpAddress{}};
    Phase phase = Phase::incoming;
    std::size_t octets = 0;  // that were there when it was looked at last
    runtime::TimeNs since = 0;
  };

  /// Both outlive it.
  Port(runtime::Scheduler& scheduler, const PortLimits& limits, PortActions& actions);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Until then a request that nobody waits for is held: those who waited at a service before this one are on their
  /// way.
  void expect_waiters_until(runtime::TimeNs time) { held_until_ = time; }

  // --- streams; of one that is gone nothing is done
  void accepted(ConnectionId stream, const Ends& ends);
  /// A process gave it back.
  void returned(ConnectionId stream, const Ends& ends);
  /// What is there to read of it, from its first octet on; `ended`: no more will come. How many octets must be there
  /// before it is worth another call; none: it was decided.
  std::optional<std::size_t> arrived(ConnectionId stream, wire::Bytes so_far, bool ended);
  void broken(ConnectionId stream);
  /// Of one that was refused: the other end has closed, too.
  void drained(ConnectionId stream);

  // --- processes
  /// False: it has a wait of that id, or too many.
  bool wait(ClientId client, WaitId id, const Wanted& wanted);
  void cancel(ClientId client, WaitId id) { waiters_.remove(client, id); }
  void client_gone(ClientId client) { waiters_.remove_all(client); }

  [[nodiscard]] const Waiters& waiters() const { return waiters_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// The oldest first.
  [[nodiscard]] std::vector<HalfOpen> half_open() const;

 private:
  struct Entry;
  using Entries = std::map<ConnectionId, std::unique_ptr<Entry>>;
  void add(ConnectionId stream, const Ends& ends);
  void make_room();
  enum class Offered { taken, to_nobody, in_vain };
  /// Once it is taken the entry is gone.
  [[nodiscard]] Offered offer(Entry& entry, const wire::vitcp::CeHeader& request);
  void match(Entry& entry, const wire::vitcp::CeHeader& request);
  void refuse(Entry& entry, Fate fate, wire::vitcp::SegmentType type);
  void close(Entry& entry, Fate fate);
  void judge(Entry& entry, const FirstSegment& first);
  void time_is_over(Entry& entry);
  void count(Fate fate) { ++counters_.by_fate[static_cast<std::size_t>(fate)]; }

  runtime::Scheduler& scheduler_;
  const PortLimits limits_;
  PortActions& actions_;
  runtime::TimeNs held_until_ = 0;
  Waiters waiters_;
  Entries entries_;
  Counters counters_;
};
[[nodiscard]] std::string_view to_string(Port::Phase phase);

}  // namespace vitcp::port_service
