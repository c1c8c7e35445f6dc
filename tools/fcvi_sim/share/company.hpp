// The ranks that one mpirun started, in the hands of one command.
#pragma once
#include <memory>

#include "tools/fcvi_sim/ranks/ranks.hpp"

namespace sim::share {

class Company {
 public:
  /// At rank 0: says to the others where it is, so that they go if it dies.
  explicit Company(std::unique_ptr<ranks::Ranks> ranks);
  /// At rank 0: lets the others go, if nobody did. Then ends MPI.
  ~Company();
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  [[nodiscard]] ranks::Ranks& ranks() { return *ranks_; }
  /// This is rank 0, which hands out the work.
  [[nodiscard]] bool leads() const { return ranks_->rank() == 0; }

  /// At rank 0: says to all others that this is the end; a second time does nothing.
  void dismiss();
  /// Then MPI ends without those who are gone; dismiss() says so to the others.
  void somebody_died();

 private:
  const std::unique_ptr<ranks::Ranks> ranks_;
  bool dismissed_ = false, somebody_died_ = false;
};

}  // namespace sim::share
