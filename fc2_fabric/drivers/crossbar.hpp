// The local fabric's data path between processes: frames for a port of another process go into a ring that both have
// mapped, and not through the fabric's service. The service stays the way for all else: logins, names, state changes,
// frames to and from Ethernet, and all frames of a link that somebody taps.
//
//   first message data for a port       ask the service for a path (PathRequest); frames go by the service meanwhile
//   the service makes the rings         and hands them to both ends (Path)
//   each end                            sends a way mark by the service, behind all frames that went that way, and
//                                       keeps back what comes after
//   the mark has arrived                the receiver opens the ring: nothing is overtaken
//   PathEnd                             the writer ends its ring and goes on by the service; the receiver reads the
//                                       ring to its end before any frame that the service brings from that port
//   both rings are at their end         each end tells the service that it has let go of them (PathEnd, Released)
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>

#include <chrono>
#include <memory>
#include <vector>

#include "fc2_fabric/drivers/frame_ring.hpp"
#include "fc2_fabric/drivers/frame_stream.hpp"
#include "fc2_fabric/drivers/note_board.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "runtime/core_guard.hpp"
#include "runtime/drivers/doorbell.hpp"

namespace fc2::drivers {

/// The output of an N_Port on the local fabric, while its link is up. Every call is made inside the core. A peer's
/// misbehaviour is counted at the port (Discard::BadHeader, WrongAddress) and ends no more than the path to it.
class Crossbar final : public FrameOutput,
                       private OutputListener,
                       private runtime::Input,
                       public std::enable_shared_from_this<Crossbar> {
 public:
  /// The port, the guard and the doorbell (of this process) outlive it; close() it before letting go.
  Crossbar(NPort& port, runtime::CoreGuard& guard, std::shared_ptr<FrameStream> stream,
           runtime::drivers::Doorbell& doorbell);
  ~Crossbar();
  Crossbar(const Crossbar&) = delete;
  Crossbar& operator=(const Crossbar&) = delete;
  /// All paths end; what was received is delivered no more.
  void close();

  [[nodiscard]] FramePtr make_frame(FramePool& pool, wire::FcId destination) override;
  void send(FramePtr frame) override;
  /// Into the ring, as far as message data may fill it.
  [[nodiscard]] std::size_t send_run(const FrameRun& run) override;

  /// From the service, in the order of its socket.
  void frame_received(FramePtr frame);
  void path_received(const PathRecord& path, OpenFiles files);
  void path_ended(const PathEnd& end);
  /// There is room for records again.
  void tell_service();

  /// It takes no message data for that address, or does again.
  void service_holds(wire::FcId peer, bool holds);
  /// The service is gone, the far ends may be there: what they wrote is delivered.
  void read_to_the_end();
  /// For the end of the process: returns when nothing waits for a ring any more but what is for stopped processes, or
  /// at `end`.
  void drain(std::chrono::steady_clock::time_point end);

  /// Ports to which frames go through memory now.
  [[nodiscard]] std::size_t direct_count() const;
  /// Paths whose memory is mapped, and frames that wait for room in a ring or in the service's socket.
  [[nodiscard]] std::size_t path_count() const { return paths_.size(); }
  [[nodiscard]] std::size_t waiting_count() const;
  /// The port keeps back message data for that address.
  [[nodiscard]] bool keeps_back(wire::FcId peer) const {
    const auto found = holds_.find(peer.value);
    return found != holds_.end() && found->second.told;
  }

  /// A frame that only tells the far end of a path that all before it have come: FC-FS defines no such R_CTL, and no
  /// N_Port ever sees one.
  static constexpr auto way_mark = static_cast<wire::RCtl>(0xF0);
  /// A path that the service did not make is asked for again, if there is still something to send.
  static constexpr TimeNs ask_again = second;
  /// While something is expected of a far end, it is looked for so often: a way mark may be lost, as any frame may, and
  /// so may a wake-up where a third process misbehaves.
  static constexpr TimeNs tick = 100 * millisecond;
  /// Way marks that the far end does not answer, and ticks from one to the next: it could not map the path.
  static constexpr unsigned max_marks = 8, ticks_of_a_mark = 5;
  /// Frames that wait for a ring: above the first number its far end is not read from, so that it runs out of slots;
  /// with the second the path ends, as it does after `ticks_to_leave` without a free slot above the first.
  static constexpr std::size_t waiting_to_stop_reading = 1024, max_waiting = 4096;
  static constexpr unsigned ticks_to_leave = 20;
  /// Frames that wait for the service's socket while others go by rings.
  static constexpr std::size_t max_by_service = 256;

 private:
  enum class Way : std::uint8_t {
    Marked,  // the way mark is under way: what is to be sent waits until the far end has opened the ring
    Direct,
    Leaving,  // by the service again, as soon as that takes what waits
  };
  struct Path;
  class Inside;
  /// Why the port keeps back message data for an address.
  struct Hold {
    bool ring = false;     // it has few slots, or is not open yet
    bool service = false;  // the service wants so of what goes by it
    bool socket = false;   // that of the service is full
    bool told = false;     // the port keeps it back
  };
  bool read_now() override;
  [[nodiscard]] bool holds_cancellation_itself() const override { return true; }
  [[nodiscard]] bool has_input(Look look) const override;
  void output_resumed() override;

  [[nodiscard]] Path* find(wire::FcId peer);
  // out
  void send_by_service(FramePtr frame);
  void ask_for_path(wire::FcId peer);
  void put(Path& path, FramePtr frame);
  void keep(Path& path, FramePtr frame);
  void write(Path& path, FramePtr frame);
  [[nodiscard]] std::size_t write(Path& path, const FrameRun& run);
  void published(Path& path, bool last, unsigned frames = 1);
  void ring(Path& path);
  void out_of_room(Path& path);
  bool look_for_room(Path& path);
  void pump(Path& path);
  void set_hold(wire::FcId peer, bool Hold::*reason, bool on);
  void apply_hold(wire::FcId peer, Hold& hold);
  void hold_ring(Path& path, bool on);
  // paths
  void want_notes();
  void send_mark(const Path& path);
  void way_changed(const Path& path);
  void tell_service(const Path& path, PathEnd::Cause cause);
  void leave(Path& path);
  void give_up(Path& path);
  void forget(const Path& path);
  bool remove_finished();
  void start_ticking();
  void tick_over();
  [[nodiscard]] bool tick_of(Path& path);
  void opened_by_far_end(Path& path);
  // in
  void mark_received(Path& path, unsigned note);
  [[nodiscard]] static bool has_news(Path& path);
  bool look_at(Path& path);
  void read(Path& path, std::size_t frames);
  [[nodiscard]] std::size_t read_those(Path& path, std::size_t there);
  void read_one(Path& path, const std::optional<RingReader::Slot>& slot);
  [[nodiscard]] std::size_t read_run(Path& path, const RingReader::Slot& slot, std::size_t most);
  [[nodiscard]] std::size_t read_whole_run(Path& path, const RingReader::Slot& slot);
  void deliver_of_run(const Frame& headers, std::span<const std::uint8_t> data);
  [[nodiscard]] bool deliver_whole(const Path& path, const RingReader::Slot& slot);
  void deliver(Path& path, const RingReader::Slot& slot);
  void give_back(Path& path);

  NPort& port_;
  runtime::CoreGuard& guard_;
  std::shared_ptr<FrameStream> stream_;  // nullptr: closed
  std::vector<std::unique_ptr<Path>> paths_;
  boost::unordered_flat_map<std::uint32_t, Path*> by_peer_;
  boost::unordered_flat_map<unsigned, Path*> by_note_;
  runtime::drivers::Doorbell& doorbell_;
  mutable NoteBoard board_;
  Path* last_used_ = nullptr;
  mutable std::size_t next_to_read_ = 0;
  std::size_t leaving_ = 0;         // paths that go as soon as both ends have ended
  unsigned inside_ = 0;             // calls under way that may close it
  std::shared_ptr<Crossbar> kept_;  // closed by one of them, until they return
  FrameQueue by_service_;           // waits for its socket
  boost::unordered_flat_map<std::uint32_t, Hold> holds_;
  boost::unordered_flat_map<std::uint32_t, TimeNs> asked_;  // when, by address
  std::vector<PathEnd> untold_;                             // the service, for want of room
  Timer<Crossbar, &Crossbar::tick_over> tick_timer_{*this};
};

}  // namespace fc2::drivers
