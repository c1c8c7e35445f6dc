#include "tools/fcvi_sim/join.hpp"

#include <utility>

#include "tools/fcvi_sim/ranks/open.hpp"

namespace sim {

Joined join(const ranks::Launch& launch, const std::string& name, bool shares) {
  if (launch.size == 1) return {};
  if (!launch.wrong.empty()) return {.wrong = launch.wrong};
  if (!shares)
    return {.wrong = "this " + name + " is for one process, and " +
                     (launch.size == 0 ? "several" : std::to_string(launch.size)) +
                     " were started: expected without mpirun or srun, which are for soak, explore and run"};
  Joined joined;
  auto opened = ranks::open(joined.wrong);
  if (opened != nullptr && opened->size() > 1) joined.company = std::make_unique<share::Company>(std::move(opened));
  return joined;
}

}  // namespace sim
