// Which frames of a capture are shown: those of a filter, and those of one connection, Exchange or message.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/faults/rules.hpp"
#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::capture {

/// The keys of a fault's match in a scenario, as YAML: "message: FCVI_SEND_RQST, fields: {seq_cnt: 3}". Its ports are
/// interfaces of the capture, or N_Port_IDs; its times count from the first frame. Decided by the very rules of faults.
class Filter {
 public:
  Filter();
  /// Returns what is wrong with the text; empty: nothing.
  std::string set(const std::string& text);
  /// Frames without a Fibre Channel header only where nothing is asked for.
  [[nodiscard]] bool takes(const Seen& seen, const std::vector<Interface>& interfaces);
  /// Ports that were named, but that no frame came from or went to.
  [[nodiscard]] std::vector<std::string> unseen_ports() const;

 private:
  struct Port {
    std::string name;
    bool seen = false;
  };
  std::size_t port_named(const std::string& name);
  std::optional<std::size_t> find(const std::string& name);
  void learn(std::size_t port, const Seen& seen);
  [[nodiscard]] std::optional<std::size_t> owner_of(wire::FcId id);
  [[nodiscard]] fc2::LinkDirection direction_of(const Seen& seen);
  [[nodiscard]] bool takes_at(std::optional<std::size_t> link, fc2::LinkDirection direction, const Seen& seen);

  [[nodiscard]] bool is_delimited_so(const Frame& frame) const;

  std::optional<int> class_;  // of service
  std::optional<wire::Sof> sof_;
  std::optional<wire::Eof> eof_;
  std::vector<Port> ports_;
  std::optional<std::size_t> port_, peer_;       // the keys of that name; positions
  std::map<std::uint32_t, std::size_t> owners_;  // of N_Port_IDs: ports that are named by their interfaces
  std::unique_ptr<faults::RuleSet> rules_;
  std::unique_ptr<fc2::FramePool> pool_;
  bool fired_ = false;
};

enum class Follow : std::uint8_t { everything, connection, exchange, message };

struct FollowOption {
  Follow what = Follow::everything;
  std::uint64_t index = 0;  // from 1; 0: which there are
};
/// "connection", "3" or "which". Returns what is wrong; empty: nothing.
std::string parse_follow(const std::vector<std::string>& words, FollowOption& option);

/// A number that the capture does not have, which was read to its end: "no connection 9; it has 2". Empty: it has it.
std::string unknown_number(FollowOption option, const Reading& reading);

/// Passes on the frames that belong to what is followed, in order.
class Follower {
 public:
  using Emit = std::function<void(const Seen&)>;
  Follower(FollowOption option, Emit emit) : option_(option), emit_(std::move(emit)) {}
  /// May keep a frame of a set-up until its connection is known.
  void offer(Seen& seen);

 private:
  void offer_to_connection(Seen& seen);

  FollowOption option_;
  Emit emit_;
  std::map<const Setup*, std::vector<std::shared_ptr<Seen>>> pending_;  // of set-ups without a connection yet
};

/// The list of what there is to follow.
class Census {
 public:
  explicit Census(Follow what) : what_(what) {}
  void count(const Seen& seen);
  /// A line each.
  [[nodiscard]] std::string text(const Tracker& tracker) const;

 private:
  struct Tally {
    std::uint64_t frames = 0, violations = 0, first = 0, last = 0;
    std::string words;
  };
  static void add(Tally& tally, const Seen& seen, const std::function<std::string()>& words);
  void count_of_connection(const Seen& seen);
  static std::string line_of(std::uint64_t index, const std::string& words, const Tally& tally);

  Follow what_;
  std::map<std::uint64_t, Tally> tallies_, of_tcp_;
  std::map<std::shared_ptr<const Setup>, Tally>
      pending_;  // of set-ups without a connection yet, as a Follower keeps them
};

}  // namespace sim::capture
