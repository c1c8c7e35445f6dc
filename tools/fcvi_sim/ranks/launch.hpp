// Who started this process, and as which of how many: by the environment, before anything of MPI is loaded.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace sim::ranks {

struct Launch {
  int rank = 0, size = 1;  // size 0: many, it is not known how many
  /// Why the ranks cannot find one another: they were started without what Open MPI needs. Else empty.
  std::string wrong = {};
};

/// The value of a variable; nullptr: there is none.
using Variable = std::function<const char*(const char* name)>;
/// None: this process was started alone. Understands Open MPI's mpirun, PMIx (srun --mpi=pmix, prun); tells PMI-1 and
/// PMI-2 (mpiexec of MPICH, srun --mpi=pmi2) and srun without any as wrong.
std::optional<Launch> launch_of(const Variable& variable);
/// Of this process.
std::optional<Launch> launch();

}  // namespace sim::ranks
