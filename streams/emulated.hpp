// Hosts and streams on the scheduler's clock, with everything that a network can do to a stream of octets.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "runtime/scheduler.hpp"
#include "streams/stream.hpp"

namespace streams {

/// How many octets travel together, of `available` (at least 1) that could, the first of them number `at` of its
/// direction: 1 to `available`. More or 0 count as all.
using Segmentation = std::function<std::size_t(std::uint64_t at, std::size_t available)>;
/// Segments of 1 to `most` octets, drawn from the seed: the same for the same one.
[[nodiscard]] Segmentation drawn_segments(std::uint64_t seed, std::size_t most);

/// What ends a direction early.
enum class Cut : std::uint8_t {
  none,
  reset,    // both ends see a reset
  end,      // its receiver reads the end, as though the sender had shut down; what the sender writes is lost
  silence,  // nothing arrives any more, and nobody is told
};
[[nodiscard]] std::string_view to_string(Cut cut);

/// What a Gate says of the octets that wait in front of it.
struct Passage {
  std::size_t octets = 0;                  // so many go on now
  Cut cut = Cut::none;                     // behind these the direction ends early
  runtime::TimeNs again = runtime::never;  // it is asked again then, and whenever more was written
};

/// Stands between who writes and the network, in one direction of one stream.
class Gate {
 public:
  virtual ~Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  /// All that was written and did not pass yet, the first octet number `at`, in two pieces where the buffer wraps. It
  /// may change them, but for their number. It can wait for more octets as long as they fit in the send buffer. It
  /// calls nobody back.
  virtual Passage pass(runtime::TimeNs now, std::uint64_t at, wire::MutableBytes first, wire::MutableBytes rest) = 0;

 protected:
  Gate() = default;
};

/// What becomes of one TCP segment of so many octets, the first of them number `at`: after these times, besides the
/// delay, it arrives. None: it is lost. Several: it arrives more than once. A segment that is sent again is a new one,
/// and may be cut elsewhere.
using Trips = std::function<std::vector<runtime::TimeNs>(std::uint64_t at, std::size_t octets)>;
/// Drawn from the seed: of a hundred segments so many are lost, so many come twice; all within `most_late`.
[[nodiscard]] Trips drawn_trips(std::uint64_t seed, unsigned lost, unsigned twice, runtime::TimeNs most_late);

/// One direction of a stream.
struct Way {
  runtime::TimeNs delay = 50 * runtime::microsecond;
  std::uint64_t octets_per_second = 0;        // 0: no limit
  std::size_t send_buffer_bytes = 65'536;     // written and not arrived; at least 1
  std::size_t receive_buffer_bytes = 65'536;  // sent and not read: back-pressure; at least 1
  Segmentation segmentation;                  // empty: at most 1460 octets
  Cut cut = Cut::none;
  std::uint64_t cut_after = 0;           // octets that still arrive
  std::shared_ptr<Gate> gate = nullptr;  // nullptr: all passes
  /// Empty: segments arrive in order, each once. Else segments are those of a TCP: they overtake each other and are
  /// lost, and the receiver may look at those that come early (Stream::early_octets). With neither cut nor gate.
  Trips trips = nullptr;
  /// What was not acknowledged for so long is sent again.
  runtime::TimeNs retransmission_time = 10 * runtime::millisecond;
};

/// What becomes of an attempt to connect.
enum class Reception : std::uint8_t {
  normal,       // accepted if somebody listens, else refused
  refuse,       // refused in any case
  unreachable,  // told after the delay
  silence,      // nothing ever comes back
};
[[nodiscard]] std::string_view to_string(Reception reception);

struct StreamRules {
  Reception reception = Reception::normal;
  Way to_acceptor{}, to_connector{};
};

/// One TCP segment on its way, when it is sent; for a capture with TCP/IP headers of its own.
struct SegmentSeen {
  enum class Kind : std::uint8_t { syn, syn_ack, data, fin, rst };
  Kind kind;
  Address from, to;
  std::uint64_t at = 0;         // number of its first octet in its direction
  wire::Bytes first{}, rest{};  // the octets, in two pieces where the buffer wraps
  bool urgent = false;          // the urgent pointer is there
  std::uint64_t urgent_at = 0;  // number of the octet that it points to
  // What its sender knows of the other direction: octets that arrived there, whether the end did, and room for more.
  std::uint64_t acknowledged = 0;
  bool end_acknowledged = false;
  std::size_t window_bytes = 0;
};
class SegmentTap {
 public:
  virtual void segment_sent(runtime::TimeNs now, const SegmentSeen& segment) = 0;
  /// Octets, or the end, arrived: who got them, `segment.from`, says so at once, with a segment of no octets.
  virtual void acknowledged(runtime::TimeNs /*now*/, const SegmentSeen& /*segment*/) {}

 protected:
  ~SegmentTap() = default;
};

namespace emulated {
class Flow;
class Pair;
class Host;
}  // namespace emulated

/// Hosts by their addresses, and the streams between them. Destroy all streams and listeners before it.
class EmulatedNetwork {
 public:
  explicit EmulatedNetwork(runtime::Scheduler& scheduler);
  ~EmulatedNetwork();
  EmulatedNetwork(const EmulatedNetwork&) = delete;
  EmulatedNetwork& operator=(const EmulatedNetwork&) = delete;

  /// A host with one address or several, IPv4 and IPv6; none of them another host's. The first of the family is the one
  /// that connect() takes.
  Streams& add_host(std::vector<wire::IpAddress> addresses);
  /// Asked for each stream that is begun. Default: StreamRules{}.
  void set_rules(std::function<StreamRules(const Address& from, const Address& to)> rules) {
    rules_ = std::move(rules);
  }
  /// nullptr: none.
  void set_tap(SegmentTap* tap) { tap_ = tap; }
  /// All gates are asked again, soon.
  void ask_gates();
  /// Streams that are not gone yet at both ends.
  [[nodiscard]] std::size_t stream_count() const { return pairs_.size(); }

 private:
  friend class emulated::Flow;
  friend class emulated::Pair;
  friend class emulated::Host;
  void saw(const SegmentSeen& segment) {
    if (tap_ != nullptr) tap_->segment_sent(scheduler_.now(), segment);
  }
  void saw_acknowledgment(const SegmentSeen& segment) {
    if (tap_ != nullptr) tap_->acknowledged(scheduler_.now(), segment);
  }
  [[nodiscard]] emulated::Host* host_of(const wire::IpAddress& ip);
  /// An event of its own: pairs are never destroyed within one of theirs.
  void sweep();
  void sweep_soon() { scheduler_.schedule(sweep_, scheduler_.now()); }

  runtime::Scheduler& scheduler_;
  std::function<StreamRules(const Address&, const Address&)> rules_;
  SegmentTap* tap_ = nullptr;
  std::list<std::unique_ptr<emulated::Host>> hosts_;
  std::list<std::unique_ptr<emulated::Pair>> pairs_;
  runtime::Timer<EmulatedNetwork, &EmulatedNetwork::sweep> sweep_{*this};
};

}  // namespace streams
