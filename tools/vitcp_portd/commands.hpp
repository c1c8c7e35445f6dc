// The commands: ask the running services, and wait for their answers.
#pragma once
#include <optional>

#include "runtime/drivers/runtime_directory.hpp"
#include "streams/stream.hpp"

namespace vitcp_portd {

// Exit statuses as in every program of the project.
enum ExitStatus { success = 0, failure = 1, bad_input = 2 };

/// Of the service at `listen`, or of all services and NICs of the directory. Each prints its result to stdout, or an
/// error to stderr. `failure`: none runs. As JSON: an array.
ExitStatus print_status(const runtime::drivers::RuntimeDirectory& directory,
                        const std::optional<streams::Address>& listen, bool as_json);
/// Waits until they have ended; succeeds if there is none.
ExitStatus stop_services(const runtime::drivers::RuntimeDirectory& directory,
                         const std::optional<streams::Address>& listen);

}  // namespace vitcp_portd
