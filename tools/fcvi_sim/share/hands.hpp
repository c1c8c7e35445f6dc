// All that carries out pieces of one work: the worker processes of rank 0, and those of the other ranks.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tools/fcvi_sim/share/company.hpp"
#include "tools/fcvi_sim/share/messages.hpp"
#include "tools/fcvi_sim/share/pause.hpp"
#include "tools/fcvi_sim/share/watch.hpp"
#include "tools/fcvi_sim/share/workers.hpp"

namespace sim::share {

/// Who shares the work.
struct Team {
  std::size_t jobs = 1;        // worker processes of this rank
  Company* company = nullptr;  // none: this process works alone
  std::string identity = {};   // of the work: only ranks with the same take part
};

class Hands {
 public:
  /// At rank 0. The other ranks call serve().
  Hands(Run run, const Team& team);
  /// As end(false).
  ~Hands();
  Hands(const Hands&) = delete;
  Hands& operator=(const Hands&) = delete;

  /// How many processes there are, of this rank and of those that take part; at least 1.
  [[nodiscard]] std::uint64_t size() const;
  /// Somebody has nothing to do.
  [[nodiscard]] bool is_wanting() const;
  /// Pre: is_wanting(). The pieces come back by wait(), each once, whoever dies meanwhile; in any order. Throws
  /// std::runtime_error where no process can be started.
  void give(Pieces pieces);
  /// Something was given and has not come back.
  [[nodiscard]] bool is_busy() const;
  /// Until something comes back, at most so many milliseconds; appends it. Says on standard error who is lost.
  void wait(int milliseconds, std::vector<Result>& to);
  /// What has not come back is given up; the worker processes and the other ranks go. `hurried`: does not wait for
  /// these.
  void end(bool hurried);
  /// "shared by 3 ranks of 2 machines: 34, 33, 33 pieces"; empty where this process works alone.
  [[nodiscard]] std::string summary() const;

 private:
  struct Other {
    enum class State : unsigned char { Silent, Working, Refused, Lost, Gone };
    State state = State::Silent;
    Place place;
    std::uint64_t jobs = 0, done = 0;
    std::vector<Pieces> given;  // less what came back
    Watch watch;
    [[nodiscard]] bool is_wanting() const { return state == State::Working && given.size() < jobs; }
  };
  [[nodiscard]] ranks::Ranks& ranks() const { return team_.company->ranks(); }
  void listen(std::vector<Result>& to);
  void take(int from, Other& other, const Said& said, std::vector<Result>& to);
  void welcome(int from, Other& other, const Hello& hello);
  void take_results(Other& other, const Results& results, std::vector<Result>& to);
  void look_after_others();
  void lose(int rank, Other& other);
  void give_again();
  [[nodiscard]] bool has_idle() const;
  [[nodiscard]] bool has_all_left() const;

  Workers own_;
  const Team team_;
  std::vector<std::unique_ptr<Other>> others_;  // by rank, from 1
  std::deque<Pieces> again_;                    // of those who were lost
  std::uint64_t own_done_ = 0;
  Pause pause_;
  bool came_ = false;  // something, when last looked
  bool ended_ = false;
};

}  // namespace sim::share
