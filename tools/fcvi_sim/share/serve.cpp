#include "tools/fcvi_sim/share/serve.hpp"

#include <csignal>

#include "tools/fcvi_sim/share/pause.hpp"
#include "tools/fcvi_sim/share/watch.hpp"
#include "tools/fcvi_sim/share/workers.hpp"

namespace sim::share {
namespace {

class Server {
 public:
  Server(const Run& run, const Team& team)
      : company_(*team.company), ranks_(company_.ranks()), workers_(run, team.jobs) {}
  void begin(const Hello& hello) { say(ranks_, 0, hello); }
  /// False: it is over.
  bool go_on() {
    bool came = false;
    while (const auto heard = hear(ranks_)) {
      came = true;
      if (heard->from != 0) continue;
      rank_0_.heard();
      if (const auto* end = std::get_if<End>(&heard->said)) return is_over(end->somebody_died);
      if (const auto* welcome = std::get_if<Welcome>(&heard->said)) rank_0_.begin(welcome->place);
      if (const auto* pieces = std::get_if<Pieces>(&heard->said)) workers_.add(*pieces);
    }
    Results results;
    workers_.wait(pause_.after(came || came_), results.all);
    came_ = !results.all.empty();
    if (came_) say(ranks_, 0, results);
    if (rank_0_.is_due()) say(ranks_, 0, Alive{});
    return rank_0_.is_dead() ? is_over(true) : true;
  }
  void end() {
    workers_.stop();
    say(ranks_, 0, Bye{});
  }

 private:
  bool is_over(bool somebody_died) {
    if (somebody_died) company_.somebody_died();
    return false;
  }
  Company& company_;
  ranks::Ranks& ranks_;
  Workers workers_;
  Watch rank_0_;
  Pause pause_;
  bool came_ = false;  // a result, when last looked
};

}  // namespace

void serve(const Run& run, const Team& team, const std::string& wrong) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  Server server(run, team);
  server.begin({.place = own_place(), .jobs = team.jobs, .identity = team.identity, .wrong = wrong});
  while (server.go_on()) {}
  server.end();
}

}  // namespace sim::share
