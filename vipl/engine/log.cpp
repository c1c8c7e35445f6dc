#include "vipl/engine/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace vipl {

spdlog::logger& log() {
  static auto* const instance = new spdlog::logger("vipl", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return *instance;
}

}  // namespace vipl
