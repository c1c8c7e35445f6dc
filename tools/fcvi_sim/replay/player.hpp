// Plays a captured conversation to a port: hands over what it received, and compares what it sends with what it sent.
//
// All goes in virtual time. A captured frame is handed over at its time, but not before the port has sent what it had
// sent before. The link takes a frame of the port no earlier than it was captured, so that what the port has to send at
// one time leaves at the pace of its own link then.
#pragma once
#include <deque>
#include <set>

#include "fc2_fabric/frame/frame_output.hpp"
#include "tools/fcvi_sim/replay/comparison.hpp"
#include "tools/fcvi_sim/replay/vi_user.hpp"

namespace sim::replay {

struct Difference {
  /// `early`: the same, but it comes before another one that it was behind.
  enum class Kind : std::uint8_t { changed, missing, extra, early };
  Kind kind{};
  const CapturedFrame* captured = nullptr;   // of `extra`: the one that was awaited
  SentFrame now = {};                        // not of `missing`
  capture::Time at = 0;                      // when it came now, or was missed; as the capture counts
  std::vector<FieldDifference> fields = {};  // of `changed`
  const CapturedFrame* before = nullptr;     // of `early`: the one that was awaited
};

class Player final : private runtime::Event, private fc2::FrameOutput {
 public:
  struct Options {
    capture::Time tolerance = 0;  // that a frame may come late, or early
    bool all = false;             // go on after the first difference
  };
  Player(const Conversation& conversation, const Script& script, const PortTraits& traits, Options options);
  ~Player();

  /// To the end of the conversation, or the first difference.
  void run();
  [[nodiscard]] const std::vector<Difference>& differences() const { return differences_; }
  [[nodiscard]] std::size_t frames_compared() const { return compared_; }
  [[nodiscard]] std::size_t frames_handed_over() const { return handed_over_; }
  /// Frames that it sent for other FC-4s: they are left out.
  [[nodiscard]] std::size_t frames_of_others() const { return of_others_; }
  /// What it sent now when all was over, and may have sent then: the capture does not go on for long enough to tell.
  [[nodiscard]] const std::vector<SentFrame>& frames_behind_end() const { return behind_end_; }
  /// Where in the conversation it stands: position of the next frame.
  [[nodiscard]] std::size_t position() const { return next_; }

 private:
  // FrameOutput
  void send(fc2::FramePtr frame) override;
  [[nodiscard]] std::uint16_t own_bb_credit() const override { return traits_.bb_credit; }
  [[nodiscard]] bool alternate_bb_credit() const override { return traits_.alternate_bb_credit; }
  // Event
  void fire(runtime::TimeNs now) override { advance(now); }

  void advance(runtime::TimeNs now);
  bool step(runtime::TimeNs now);
  bool await_frame(runtime::TimeNs now);
  bool await_end(runtime::TimeNs now);
  void call_user();
  void hand_over(const CapturedFrame& frame);
  void reconnect();
  void break_link();
  void await(std::size_t at);
  void connect();
  /// Of the frame that the port sends next: without a fabric its S_ID is what the link gave it, on a public loop it
  /// ends in that, and D_ID tells whether the port has to log in.
  [[nodiscard]] wire::FcHeader next_sent() const;
  [[nodiscard]] bool breaks_link(std::size_t at) const;
  void set_gate();
  [[nodiscard]] runtime::TimeNs due_time() const;
  void skip_matched();
  void note(Difference difference);
  void note_extra(const SentFrame& now, runtime::TimeNs ready);
  [[nodiscard]] bool may_be_behind_end(capture::Time at) const;
  /// Takes note of when frames began to wait for the link.
  void watch_queue();

  bool match(const SentFrame& now);  // with a captured one
  bool matches(std::size_t at, const SentFrame& now);
  void no_match(const SentFrame& now, runtime::TimeNs ready);
  [[nodiscard]] std::optional<std::size_t> find_match(const SentFrame& now);
  [[nodiscard]] bool may_pass(std::size_t at) const;
  [[nodiscard]] std::size_t best_candidate(const SentFrame& now) const;
  void accept(std::size_t at);

  [[nodiscard]] runtime::TimeNs time_of(std::size_t at) const { return start_ + conversation_.frames[at].at; }
  [[nodiscard]] capture::Time captured_time() const { return scheduler_.now() - start_; }

  const Conversation& conversation_;
  const Script& script_;
  const PortTraits& traits_;
  const Options options_;
  const bool takes_late_;    // frames may have been taken in later than they were captured
  const capture::Time end_;  // so long it is listened to
  fc2::FramePool pool_;
  runtime::Scheduler scheduler_;
  const runtime::TimeNs start_;
  Driver driver_;
  Translation translation_;
  runtime::Timer<Player, &Player::set_gate> gate_timer_{*this};  // where the link takes frames ahead of their time
  PortHost host_;
  ViUser user_;
  std::size_t next_ = 0;               // frame of the conversation
  std::size_t called_ = 0;             // the user's calls before that one were made
  std::size_t broken_at_ = 0;          // before that one the link went down
  std::vector<std::size_t> awaited_;   // frames that the port is to send, in order
  std::size_t first_awaited_ = 0;      // of those
  runtime::TimeNs taken_until_ = 0;    // when the latest frame of those that came was captured
  std::set<std::size_t> came_;         // frames that came out of turn
  std::deque<runtime::TimeNs> ready_;  // since when the port's frames wait, in order
  std::vector<Difference> differences_;
  std::vector<SentFrame> behind_end_;
  std::size_t compared_ = 0, handed_over_ = 0, of_others_ = 0;
  bool connected_ = false, over_ = false;
};

}  // namespace sim::replay
