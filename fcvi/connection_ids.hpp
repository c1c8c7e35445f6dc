// FCVI_CONNECTION_IDs of one FC-VI Port: ours, unique among our open set-ups (FC-VI 5.3.2, 5.9.10), and those of failed
// set-ups, ours and our peers', which rest (8.5.3 a, b; CSerr of C.1, C.2).
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "runtime/scheduler.hpp"
#include "wire/types.hpp"

namespace fcvi {

class ConnectionIds {
 public:
  /// Who originated the set-up.
  enum class Originator : std::uint8_t { Us, Peer };
  struct Id {
    Originator originator{};
    wire::ConnectionId id{};
    wire::FcId peer{};
    friend auto operator<=>(const Id&, const Id&) = default;
  };

  explicit ConnectionIds(std::uint32_t first) : next_(first) {}

  /// For a set-up of ours: none that is open has it, and it does not rest. In use until close().
  wire::ConnectionId open(runtime::TimeNs now);
  void close(wire::ConnectionId id) { open_.erase(id.value); }
  /// Tests: the next one, if it is free. 2^32 set-ups take too long.
  void begin_at(std::uint32_t next) { next_ = next; }

  /// CSerr: `id` rests for R_A_TOV, and until the Disconnect of our `endpoint` is over; FFFFFFFFh: none owes one.
  void set_error(const Id& id, wire::FcviHandle endpoint, runtime::TimeNs now, runtime::TimeNs r_a_tov);
  [[nodiscard]] bool in_error(const Id& id, runtime::TimeNs now) const;
  /// C.2 rule 1 b).
  void disconnected(wire::FcviHandle endpoint);
  /// C.2 rule 1 c), 8.5.3 c).
  void logged_out(wire::FcId peer);
  [[nodiscard]] std::size_t in_use() const { return open_.size(); }
  /// That rest at `now`.
  [[nodiscard]] std::size_t resting(runtime::TimeNs now) const;

 private:
  /// Errors of peers' set-ups that are remembered, half of them of one peer. One more is not: its peer sends more than
  /// a set-up per 4 ms.
  static constexpr std::size_t max_peers_errors = 4096, max_of_one_peer = max_peers_errors / 2;
  [[nodiscard]] bool is_full(const Id& id) const;
  [[nodiscard]] bool rests(std::uint32_t id, runtime::TimeNs now) const;
  void forget_old(runtime::TimeNs now);

  std::uint32_t next_;
  std::set<std::uint32_t> open_;
  struct Error {
    runtime::TimeNs until = 0;
    bool owes_disconnect = false;
    [[nodiscard]] bool is_set(runtime::TimeNs now) const { return owes_disconnect || now < until; }
  };
  std::map<Id, Error> errors_;
  std::map<std::uint32_t, std::size_t> of_peer_;   // how many of errors_ are of set-ups that this peer originated
  std::map<std::uint32_t, std::vector<Id>> owed_;  // by the FCVI_HANDLE whose Disconnect ends them
  std::size_t forget_at_ = 64;                     // size of errors_ ...
  runtime::TimeNs earliest_ = 0;                   // ... or time from which forget_old() is worth its while
};

}  // namespace fcvi
