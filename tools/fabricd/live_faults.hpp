// Faults on the live fabric: rules that come and go while frames pass, on links that come and go.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fc2_fabric/link/faults.hpp"
#include "runtime/scheduler.hpp"
#include "tools/fabricd/fault_rules.hpp"

namespace fabricd {

/// The link of a port, as faults see it. Calls are made inside the core.
class FaultLink {
 public:
  /// On frames that the N_Port sends, and on those that it receives, from now on; nullptr: none. Also repeatedly.
  virtual void set_faults(fc2::FrameFault* sent, fc2::FrameFault* received) = 0;
  /// Frames that faults have delayed, and that are still to be handed over.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  /// Those arrive now, in their order.
  virtual void hasten() = 0;
  /// All of its frames are to pass the service from now on, or no longer; each call once.
  virtual void watch(bool watched) = 0;
  /// Some of its frames may still pass the service by, although they are to pass it.
  [[nodiscard]] virtual bool is_passed_by() const = 0;
  /// People name it so.
  [[nodiscard]] virtual bool is_called(std::string_view name) const = 0;
  /// For people; a name that is_called() knows, and no other link has.
  [[nodiscard]] virtual std::string text() const = 0;
  /// A N_Port with that address is at its end.
  [[nodiscard]] virtual bool has_address(wire::FcId id) const = 0;

 protected:
  ~FaultLink() = default;
};

/// A rule that names a port is on the links of all ports that are called so, whenever they come; one that names none,
/// on all links. On those all frames pass the service, until the rule's time or limit is over. When a rule leaves a
/// link, what faults hold back there arrives at once, in its order; a link that no rule is on any more, or only such as
/// are over, is left alone when that has gone, and its frames count for no rule then. Frames that no rule
/// judges arrive behind those that a rule has delayed whose time or limit is over, unless it chose among frames (nth,
/// every, probability): that one may have meant to change their order. Every call is made inside the core, none from
/// within a frame's way over a link.
class LiveFaults final : private fc2::FaultPolicy {
 public:
  using Id = unsigned;
  /// A fault was carried out on a frame, which the sender's tap has seen.
  using Befell = std::function<void(Id rule, const std::string& note, const fc2::Frame& frame)>;

  LiveFaults(runtime::Scheduler& scheduler, Befell befell);
  LiveFaults(const LiveFaults&) = delete;
  LiveFaults& operator=(const LiveFaults&) = delete;

  // --- rules
  /// False: there would be more than max_live_rules, and none was added. `ids`: of those that were, in their order;
  /// never used again.
  bool add(std::vector<LiveRule> rules, std::vector<Id>& ids);
  /// False: there is no such rule.
  bool remove(Id rule);
  void remove_all();
  [[nodiscard]] std::size_t count() const { return live_.size(); }
  struct State {
    Id id;
    std::string text;
    std::uint64_t matched, fired;
    std::string miss;                // why it never fired, where it did not, as scenarios say it
    std::vector<std::string> links;  // that it is on
    bool any_port;                   // it names none
    bool over;                       // its time or its limit is over
  };
  [[nodiscard]] std::vector<State> states() const;
  /// Frames that passed without being judged, because too many of their link were delayed (max_delayed).
  [[nodiscard]] std::uint64_t unjudged() const { return unjudged_; }

  // --- links
  /// It outlives its time here.
  void add(FaultLink& link);
  /// Frames that faults hold back for it are lost.
  void remove(FaultLink& link);
  /// What it is called has changed, or it may have forgotten its faults.
  void look_at(FaultLink& link);
  /// Links on which one of these rules is, and which still have frames that pass the service by.
  [[nodiscard]] std::vector<std::string> passed_by(const std::vector<Id>& rules) const;

  /// Frames of one link that faults delay at once; with more, frames pass without a fault.
  static constexpr std::size_t max_delayed = 16'384;

 private:
  /// What a rule calls ports, and the links that are called so now.
  struct Called {
    std::vector<std::string> names;
    std::vector<std::size_t> links{};
    /// Whether it has changed.
    bool look_at(const FaultLink& link, std::size_t number);
    [[nodiscard]] bool has(std::size_t number) const {
      return std::find(links.begin(), links.end(), number) != links.end();
    }
    bool forget(std::size_t number) { return std::erase(links, number) != 0; }
    /// For RuleSet: nobody has no_link.
    [[nodiscard]] std::vector<std::size_t> numbers() const;
  };
  static constexpr std::size_t no_link = 0;
  struct Live {
    Id id;
    Called ports, peers;
    std::string text;
  };
  /// The last frame in that direction that the rule has delayed.
  struct Late {
    Id rule;
    fc2::LinkDirection direction;
    runtime::TimeNs arrival;
  };
  struct Link {
    FaultLink* link;
    std::unique_ptr<fc2::FaultyLink> faulty{};
    std::size_t rules = 0;  // that name it
    bool attached = false;
    std::vector<Late> late{};
    [[nodiscard]] std::size_t delayed() const {
      return faulty->sent.held() + faulty->received.held() + link->in_flight();
    }
  };
  Verdict judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, runtime::TimeNs now) override;
  void befell(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame, const Verdict& verdict,
              runtime::TimeNs now) override;
  using Links = std::map<std::size_t, Link>;  // by number, from 1
  [[nodiscard]] Links::iterator find(const FaultLink& link);
  void look_at(Links::value_type& entry);
  void set_ports(std::size_t rule) { rules_.set_ports(rule, live_[rule].ports.numbers(), live_[rule].peers.numbers()); }
  [[nodiscard]] bool concerns(const Link& link) const { return link.rules != 0 || rules_of_all_ != 0; }
  [[nodiscard]] bool is_on(const Live& rule, std::size_t link) const {
    return rule.ports.names.empty() || rule.ports.has(link);
  }
  /// By a rule that is not over.
  [[nodiscard]] bool is_wanted(std::size_t link) const;
  void add(LiveRule rule);
  void remove_at(std::size_t rule);
  void settle_all();
  void settle_soon();
  void settle_when_one_ends();
  [[nodiscard]] std::optional<std::size_t> number_at(wire::FcId id) const;
  [[nodiscard]] bool is_over(std::size_t rule) const;
  [[nodiscard]] std::string miss_of(std::size_t rule) const;
  void settle(Links::value_type& entry);
  static void release(Link& link);
  [[nodiscard]] std::size_t rule_of(Id id) const;
  [[nodiscard]] bool lets_order_hold(Id rule) const;
  [[nodiscard]] Verdict in_order(Link& link, fc2::LinkDirection direction, const Verdict& verdict, runtime::TimeNs now);

  runtime::Scheduler& scheduler_;
  const Befell befell_;
  std::uint64_t random_ = 1;
  faults::RuleSet rules_;
  std::vector<Live> live_;        // as in rules_
  std::size_t rules_of_all_ = 0;  // that name no port
  std::uint64_t unjudged_ = 0;
  Links links_;
  std::size_t last_number_ = no_link;
  Id last_id_ = 0;
  fc2::FaultAction later_{.apply = fc2::fault::delay};  // of the frame that was judged last
  runtime::Timer<LiveFaults, &LiveFaults::settle_all> leaving_{*this};
  runtime::Timer<LiveFaults, &LiveFaults::settle_all> ending_{*this};  // of the first rule whose time ends
};

}  // namespace fabricd
