#include "tools/fcvi_sim/ranks/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace sim::ranks {
namespace {

/// Of a variable that is a whole number, 0 or more.
std::optional<int> number_of(const Variable& variable, const char* name) {
  const char* text = variable(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view all(text);
  int number = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  if (error != std::errc() || end != all.data() + all.size() || number < 0) return std::nullopt;
  return number;
}

constexpr const char* without_pmix = "started by srun without PMIx: expected srun --mpi=pmix";
constexpr const char* by_pmi =
    "started through PMI, which this MPI does not speak: expected mpirun of Open MPI, or srun --mpi=pmix";

}  // namespace

std::optional<Launch> launch_of(const Variable& variable) {
  const auto slurm_size = number_of(variable, "SLURM_STEP_NUM_TASKS");
  if (const auto size = number_of(variable, "OMPI_COMM_WORLD_SIZE"))
    return Launch{number_of(variable, "OMPI_COMM_WORLD_RANK").value_or(0), *size};
  if (const auto rank = number_of(variable, "PMIX_RANK")) return Launch{*rank, slurm_size.value_or(0)};
  if (const auto size = number_of(variable, "PMI_SIZE"); size.value_or(1) > 1)
    return Launch{number_of(variable, "PMI_RANK").value_or(0), *size, by_pmi};
  if (slurm_size.value_or(1) > 1)
    return Launch{number_of(variable, "SLURM_PROCID").value_or(0), *slurm_size, without_pmix};
  return std::nullopt;
}

std::optional<Launch> launch() {
  return launch_of([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace sim::ranks
