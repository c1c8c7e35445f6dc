// fcvi-sim schema: the JSON Schema of scenarios.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

namespace sim {

/// JSON Schema (draft-07) of a scenario, made of the tables that the loader reads with (scenario/keys.hpp); ends with a
/// line end.
std::string scenario_schema();

const CLI::App* add_schema_command(CLI::App& app);
/// Prints it; returns the exit status.
int schema_command();

}  // namespace sim
