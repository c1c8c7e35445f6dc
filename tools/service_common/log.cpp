#include "tools/service_common/log.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

namespace services {
namespace {

void use(std::shared_ptr<spdlog::logger> logger, const std::string& level) {
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e [%P] %l: %v");
  spdlog::set_level(spdlog::level::from_str(level));
  spdlog::flush_on(spdlog::level::info);
}

void take_standard_error(const std::string& /*path*/, std::FILE* log) { ::dup2(::fileno(log), STDERR_FILENO); }

}  // namespace

void log_to_terminal(const char* name, const std::string& level) { use(spdlog::stderr_color_st(name), level); }

void log_to_file(const char* name, const std::string& path, const std::string& level) {
  spdlog::file_event_handlers handlers;
  handlers.after_open = take_standard_error;
  use(spdlog::rotating_logger_st(name, path, log_bytes, old_logs, false, handlers), level);
}

}  // namespace services
