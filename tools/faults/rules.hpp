// Rules: which frames get a fault. The first rule that matches a frame, and whose turn it is, decides.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fc2_fabric/link/faults.hpp"
#include "tools/faults/frame_facts.hpp"
#include "tools/faults/frame_fields.hpp"

namespace faults {

/// Both ends are included.
struct FieldRange {
  const FrameField* field;
  std::uint64_t min, max;
  [[nodiscard]] bool holds(std::span<const std::uint8_t> frame) const {
    const auto value = field->read(frame);
    return value && *value >= min && *value <= max;
  }
};

/// All members that are set must hold.
struct Match {
  std::string message = {};                   // as wire::message_name; empty: any
  std::vector<std::size_t> links = {};        // empty: any
  std::vector<std::size_t> peers = {};        // the port at the other end (S_ID or D_ID) is one of these; empty: anyone
  std::vector<std::size_t> connections = {};  // the frame is of one of these; empty: any, or none
  bool sent = true, received = false;         // directions, as the link's port sees them
  std::vector<std::string> flags = {}, flags_clear = {};  // FCVI_FLAGS that are set, and that are not
  std::optional<wire::fcvi::Reason> reason = {};
  std::vector<FieldRange> fields = {};
  runtime::TimeNs from = always, until = runtime::never;  // after start_clock(); `until` not included

  static constexpr runtime::TimeNs always = -1;  // also before the clock starts
};

struct Rule {
  Match match = {};
  std::vector<std::uint64_t> turns = {};        // of the frames that match, from 1; empty: each one
  std::uint64_t every = 1;                      // of these each n-th, the n-th first
  std::uint64_t limit = no_limit;               // so often at most
  double probability = 1;                       // of a frame whose turn it is
  std::optional<fc2::FaultAction> action = {};  // none: the frame passes, and only `happened` hears of it
  std::string note = {};                        // its effect, for captures and diagrams

  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
};

/// Not for use by several threads.
class RuleSet final : public fc2::FaultPolicy {
 public:
  /// [0, 1), for that rule at that link
  using Chance = std::function<double(std::size_t rule, std::size_t link)>;
  /// The link whose N_Port has that address.
  using PortOf = std::function<std::optional<std::size_t>(wire::FcId)>;
  /// The connection that the frame is of; asked for every frame, in order, where a rule wants to know.
  using ConnectionOf = std::function<std::optional<std::size_t>(const FrameFacts& facts, const fc2::Frame& frame)>;
  /// It is a rule's turn: `rule` counts from 0.
  using Happened =
      std::function<void(std::size_t rule, std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame)>;

  /// `connection_of` may be empty where no rule has connections.
  RuleSet(std::vector<Rule> rules, Chance chance, PortOf port_of, ConnectionOf connection_of = {});

  /// For frames: called when their fault is carried out; for rules without an action: before the frame goes.
  void set_listener(Happened happened) { happened_ = std::move(happened); }
  /// From now on no frame gets a fault.
  void heal() { healed_ = true; }
  /// The times of rules with a time window count from here on; before, those match nothing.
  void start_clock(runtime::TimeNs zero) { zero_ = zero; }

  Verdict judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, runtime::TimeNs now) override;
  void befell(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, const Verdict& verdict,
              runtime::TimeNs now) override;

  // --- while frames pass; not from within judge() or befell()
  /// Behind the others, whose positions stay. Returns its position.
  std::size_t add(Rule rule);
  /// Those behind it move up by one.
  void remove(std::size_t rule);
  /// The links and peers that the rule names are these from now on.
  void set_ports(std::size_t rule, std::vector<std::size_t> links, std::vector<std::size_t> peers);

  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }
  /// How often a rule matched, and how often it was its turn.
  [[nodiscard]] std::uint64_t matched(std::size_t rule) const { return seen_[rule]; }
  [[nodiscard]] std::uint64_t fired(std::size_t rule) const { return fired_[rule]; }
  /// How often it would have been its turn, but an earlier rule took the frame.
  [[nodiscard]] std::uint64_t came_late(std::size_t rule) const { return late_[rule]; }
  /// What a rule asks, in this order.
  enum class Key : std::uint8_t { Direction, Time, Port, Message, Workload, Peer, Reason, Flags, Fields, None };
  /// Of a rule that never matched: the frames that came nearest.
  struct NearMiss {
    Key key = Key::Direction;  // what did not hold of them; all before it did
    std::uint64_t frames = 0;
    /// Of that many frames more.
    void add(const NearMiss& other) {
      if (other.key > key) *this = {other.key, 0};
      if (other.key == key) frames += other.frames;
    }
  };
  [[nodiscard]] NearMiss near_miss(std::size_t rule) const;

 private:
  /// A frame, where it is met.
  struct Met {
    std::size_t link;
    fc2::LinkDirection direction;
    const fc2::Frame& frame;
    const FrameFacts& facts;
    runtime::TimeNs now;
    std::optional<std::size_t> connection;
  };
  /// The first that does not hold.
  [[nodiscard]] Key unmatched(const Match& match, const Met& met) const;
  [[nodiscard]] bool matches(std::size_t rule, const Met& met);
  [[nodiscard]] bool in_time(const Match& match, runtime::TimeNs now) const;
  [[nodiscard]] bool has_turn(std::size_t rule, std::size_t link);

  std::vector<Rule> rules_;
  std::vector<std::uint64_t> seen_, fired_, late_;
  std::vector<NearMiss> nearest_;  // by rule, until it matches
  Chance chance_;
  PortOf port_of_;
  ConnectionOf connection_of_;
  bool asks_connection_;
  Happened happened_;
  runtime::TimeNs zero_ = runtime::never;
  bool healed_ = false;
};

/// "message": the key of a scenario.
[[nodiscard]] std::string_view to_string(RuleSet::Key key);

}  // namespace faults
