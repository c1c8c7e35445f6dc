// The local fabric's data path between processes: frames for a port of another process go into a ring that both have
// mapped, and not through the fabric's service. The service stays the way for all else: logins, names, state changes,
// frames to and from Ethernet, and all frames of a link that somebody taps.
//
//   first frame of an FC-4 for a port   ask the service for a path (PathRequest); frames go by the service meanwhile
//   the service makes the rings         and hands them to both ends (Path)
//   each end                            sends a way mark by the service, behind all frames that went that way, and
//                                       keeps back what comes after
//   the mark has arrived                the receiver opens the ring: nothing is overtaken
//   PathEnd                             the writer ends its ring and goes on by the service; the receiver reads the
//                                       ring to its end before any frame that the service brings from that port
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>

#include <chrono>
#include <memory>
#include <vector>

#include "fc2_fabric/drivers/frame_ring.hpp"
#include "fc2_fabric/drivers/frame_stream.hpp"
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
  /// The port and the guard outlive it; close() it before letting go.
  Crossbar(NPort& port, runtime::CoreGuard& guard, std::shared_ptr<FrameStream> stream);
  ~Crossbar();
  Crossbar(const Crossbar&) = delete;
  Crossbar& operator=(const Crossbar&) = delete;
  /// All paths end; what was received is delivered no more.
  void close();

  [[nodiscard]] FramePtr make_frame(FramePool& pool, wire::FcId destination) override;
  void send(FramePtr frame) override;

  /// From the service, in the order of its socket.
  void frame_received(FramePtr frame);
  void path_received(const PathRecord& path, runtime::drivers::Descriptor memory,
                     const runtime::drivers::DoorbellDescriptors& doorbell);
  void path_ended(const PathEnd& end);

  /// It takes no message data for that address, or does again.
  void service_holds(wire::FcId peer, bool holds);
  /// The service is gone, the far ends may be there: what they wrote is delivered.
  void read_to_the_end();
  /// For the end of the process: returns when nothing waits for a ring any more, or after `limit`.
  void drain(std::chrono::milliseconds limit);

  /// Ports to which frames go through memory now.
  [[nodiscard]] std::size_t direct_count() const;

  /// A frame that only tells the far end of a path that all before it have come: FC-FS defines no such R_CTL, and no
  /// N_Port ever sees one.
  static constexpr auto way_mark = static_cast<wire::RCtl>(0xF0);
  /// A path that the service did not make is asked for again, if there is still something to send.
  static constexpr TimeNs ask_again = second;
  /// A way mark may be lost, as any frame may.
  static constexpr TimeNs mark_again = 500 * millisecond;

 private:
  enum class Way : std::uint8_t {
    Service,  // by the service still: the way mark is to be sent
    Marked,   // it was: what is to be sent waits until the far end has opened the ring
    Direct,
    Leaving,  // by the service again, as soon as that takes what waits
  };
  struct Path;
  bool read_now() override;
  [[nodiscard]] bool has_input() const override;
  void output_resumed() override;

  [[nodiscard]] Path* find(wire::FcId peer);
  void ask_for_path(wire::FcId peer);
  void send_mark(const Path& path);
  void mark_passes(Path& path);
  void put(Path& path, FramePtr frame);
  void write(Path& path, FramePtr frame);
  void release_port(Path& path);
  void out_of_room(Path& path);
  bool look_for_room(Path& path);
  void pump(Path& path);
  void read(Path& path, std::size_t frames);
  void read_all_from(wire::FcId peer);
  void deliver(Path& path, const RingReader::Slot& slot);
  void give_back(Path& path);
  void leave(Path& path);
  void remove_finished();
  void marks_due();

  NPort& port_;
  runtime::CoreGuard& guard_;
  std::shared_ptr<FrameStream> stream_;  // nullptr: closed
  std::vector<std::unique_ptr<Path>> paths_;
  Path* last_used_ = nullptr;
  std::size_t next_to_read_ = 0;
  boost::unordered_flat_map<std::uint32_t, TimeNs> asked_;  // when, by address
  Timer<Crossbar, &Crossbar::marks_due> mark_timer_{*this};
};

}  // namespace fc2::drivers
