// What rank 0 and the others say to one another while they share work. On Channel::Share.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "tools/fcvi_sim/ranks/ranks.hpp"
#include "tools/fcvi_sim/share/worker.hpp"

namespace sim::share {

/// Where a process is: two on the same machine can ask the kernel whether the other one lives.
struct Place {
  std::string host = {};     // its name, for people
  std::string machine = {};  // of the kernel that runs, and of the name space of its processes
  std::uint64_t pid = 0;     // in that
};
Place own_place();

/// To rank 0, once.
struct Hello {
  Place place = {};
  std::uint64_t jobs = 1;     // worker processes
  std::string identity = {};  // of the work: equal where program and input are
  std::string wrong = {};     // why it cannot take part; else empty
};
struct Results {
  std::vector<Result> all;
};
/// Either way, now and then, so that nobody takes silence for death.
struct Alive {};
/// From rank 0: where it is, first; then pieces, and the end.
struct Welcome {
  Place place;
};
struct End {
  bool somebody_died = false;
};
/// To rank 0, the last word.
struct Bye {};

using Said = std::variant<Hello, Results, Alive, Welcome, Pieces, End, Bye>;

void say(ranks::Ranks& ranks, int to, const Said& said);
/// What has arrived: nullopt: nothing; what cannot be read is Alive.
struct Heard {
  int from = 0;
  Said said;
};
std::optional<Heard> hear(ranks::Ranks& ranks);

}  // namespace sim::share
