// What a command makes of it that mpirun or srun started several of this program.
#pragma once
#include <memory>
#include <string>

#include "tools/fcvi_sim/ranks/launch.hpp"
#include "tools/fcvi_sim/share/company.hpp"

namespace sim {

struct Joined {
  std::unique_ptr<share::Company> company = {};  // none: this process works alone
  std::string wrong = {};                        // else empty
};

/// Starts MPI where there are several ranks and the command `name` shares its work; where it does not, that is wrong.
Joined join(const ranks::Launch& launch, const std::string& name, bool shares);

}  // namespace sim
