#include "tools/fcvi_sim/share/company.hpp"

#include <utility>

#include "tools/fcvi_sim/share/messages.hpp"

namespace sim::share {

Company::Company(std::unique_ptr<ranks::Ranks> ranks) : ranks_(std::move(ranks)) {
  for (int rank = 1; leads() && rank < ranks_->size(); ++rank) say(*ranks_, rank, Welcome{own_place()});
}

Company::~Company() {
  if (leads()) dismiss();
}

void Company::dismiss() {
  if (dismissed_) return;
  dismissed_ = true;
  for (int rank = 1; rank < ranks_->size(); ++rank) say(*ranks_, rank, End{somebody_died_});
}

void Company::somebody_died() {
  somebody_died_ = true;
  ranks_->somebody_died();
}

}  // namespace sim::share
