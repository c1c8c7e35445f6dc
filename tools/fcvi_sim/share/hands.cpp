#include "tools/fcvi_sim/share/hands.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <utility>

#include "settings/units.hpp"

namespace sim::share {
namespace {

constexpr std::chrono::seconds longest_farewell{10};

std::string name_of(int rank, const Place& place) {
  return "rank " + std::to_string(rank) + " (" + place.host + ", process " + std::to_string(place.pid) + ")";
}

void warn(const std::string& text) { std::fprintf(stderr, "fcvi-sim: %s\n", text.c_str()); }

/// mpirun binds each rank to one processor, or to the cores of one, if nobody says otherwise.
void warn_if_bound(std::size_t jobs) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const auto here = static_cast<std::size_t>(CPU_COUNT(&allowed));
  if (here < jobs && here < static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN)))
    warn("warning: the " + std::to_string(jobs) + " processes of --jobs may use " + std::to_string(here) +
         " of this machine's processors: expected mpirun --bind-to none");
}

}  // namespace

Hands::Hands(Run run, const Team& team) : own_(std::move(run), team.jobs), team_(team) {
  if (team.company != nullptr) warn_if_bound(team.jobs);
  for (int rank = 1; team.company != nullptr && rank < ranks().size(); ++rank)
    others_.push_back(std::make_unique<Other>());
}

Hands::~Hands() { end(false); }

std::uint64_t Hands::size() const {
  std::uint64_t size = team_.jobs;
  for (const auto& other : others_)
    if (other->state == Other::State::Working) size += other->jobs;
  return size;
}

bool Hands::is_wanting() const { return again_.empty() && has_idle(); }

bool Hands::has_idle() const {
  return own_.is_wanting() || std::ranges::any_of(others_, [](const auto& other) { return other->is_wanting(); });
}

void Hands::give(Pieces pieces) {
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (!others_[i]->is_wanting()) continue;
    others_[i]->given.push_back(pieces);
    return say(ranks(), static_cast<int>(i) + 1, pieces);
  }
  own_.add(pieces);
}

bool Hands::is_busy() const {
  return !again_.empty() || own_.is_busy() ||
         std::ranges::any_of(others_, [](const auto& other) { return !other->given.empty(); });
}

void Hands::wait(int milliseconds, std::vector<Result>& to) {
  if (team_.company == nullptr) return own_.wait(milliseconds, to);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  const std::size_t before = to.size();
  do {
    const std::size_t of_others = to.size();
    listen(to);
    const bool heard = to.size() != of_others;
    const std::size_t of_own = to.size();
    own_.wait(heard ? 0 : pause_.after(came_), to);
    own_done_ += to.size() - of_own;
    came_ = to.size() != of_others;
    look_after_others();
    give_again();
  } while (to.size() == before && !is_wanting() && std::chrono::steady_clock::now() < end);
}

void Hands::listen(std::vector<Result>& to) {
  while (const auto heard = hear(ranks())) {
    if (heard->from < 1 || static_cast<std::size_t>(heard->from) > others_.size()) continue;
    take(heard->from, *others_[static_cast<std::size_t>(heard->from) - 1], heard->said, to);
  }
}

void Hands::take(int from, Other& other, const Said& said, std::vector<Result>& to) {
  other.watch.heard();
  if (std::holds_alternative<Bye>(said)) other.state = Other::State::Gone;
  if (other.state == Other::State::Lost) return;  // others have its pieces
  if (const auto* hello = std::get_if<Hello>(&said)) welcome(from, other, *hello);
  if (const auto* results = std::get_if<Results>(&said)) take_results(other, *results, to);
}

void Hands::welcome(int from, Other& other, const Hello& hello) {
  other.place = hello.place;
  other.jobs = hello.jobs;
  other.watch.begin(hello.place);
  const std::string wrong = !hello.wrong.empty()               ? hello.wrong
                            : hello.identity != team_.identity ? "another fcvi-sim, or other input files, than rank 0"
                                                               : "";
  other.state = wrong.empty() ? Other::State::Working : Other::State::Refused;
  if (!wrong.empty()) warn(name_of(from, other.place) + " takes no part: " + wrong);
}

void Hands::take_results(Other& other, const Results& results, std::vector<Result>& to) {
  for (const Result& result : results.all) {
    const auto given = std::ranges::find(other.given, result.piece, &Pieces::first);
    if (given == other.given.end()) continue;
    ++given->first;
    if (--given->count == 0) other.given.erase(given);
    ++other.done;
    to.push_back(result);
  }
}

void Hands::look_after_others() {
  for (std::size_t i = 0; i < others_.size(); ++i) {
    Other& other = *others_[i];
    const int rank = static_cast<int>(i) + 1;
    if (other.state == Other::State::Lost || other.state == Other::State::Gone) continue;
    if (other.watch.is_dead()) {
      lose(rank, other);
    } else if (other.watch.is_due()) {
      say(ranks(), rank, Alive{});
    }
  }
}

void Hands::lose(int rank, Other& other) {
  other.state = Other::State::Lost;
  team_.company->somebody_died();
  warn(name_of(rank, other.place) + " died: others carry out what it had");
  again_.insert(again_.end(), other.given.begin(), other.given.end());
  other.given.clear();
}

void Hands::give_again() {
  while (!again_.empty() && has_idle()) {
    give(again_.front());
    again_.pop_front();
  }
}

bool Hands::has_all_left() const {
  return std::ranges::all_of(others_, [](const auto& other) {
    return other->state == Other::State::Gone || other->state == Other::State::Lost || other->watch.is_dead();
  });
}

void Hands::end(bool hurried) {
  if (std::exchange(ended_, true)) return;
  own_.stop();
  if (team_.company == nullptr) return;
  team_.company->dismiss();
  const auto until = std::chrono::steady_clock::now() + longest_farewell;
  std::vector<Result> ignored;
  while (!hurried && !has_all_left() && std::chrono::steady_clock::now() < until) {
    listen(ignored);
    ::usleep(Pause::shortest_ms * 1000);
  }
}

std::string Hands::summary() const {
  if (team_.company == nullptr) return {};
  std::set<std::string> machines{own_place().machine};
  std::string pieces = settings::format_count(own_done_);
  for (const auto& other : others_) {
    if (!other->place.machine.empty()) machines.insert(other->place.machine);
    pieces += ", " + settings::format_count(other->done);
  }
  return "shared by " + std::to_string(others_.size() + 1) + " ranks on " + std::to_string(machines.size()) +
         (machines.size() == 1 ? " machine: " : " machines: ") + pieces + " pieces";
}

}  // namespace sim::share
