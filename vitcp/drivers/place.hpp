// Where the service of a port and its clients meet, and its program.
#pragma once
#include <vector>

#include "runtime/drivers/runtime_directory.hpp"
#include "runtime/drivers/service_launcher.hpp"
#include "streams/stream.hpp"

namespace vitcp::drivers {

inline constexpr const char* program_name = "vitcp-portd";

/// One for each address and port: "vitcp-127.0.0.1-8474", "vitcp-::-8474".
[[nodiscard]] runtime::drivers::ServicePlace port_place(const runtime::drivers::RuntimeDirectory& directory,
                                                        const streams::Address& listen);
/// The addresses whose services have left a socket in the directory, sorted; not all of them need be running.
[[nodiscard]] std::vector<streams::Address> known_ports(const runtime::drivers::RuntimeDirectory& directory);

/// $FCVI_VITCP_PORTD, or where runtime::drivers::find_service_program() looks; `path`, unless empty, replaces both.
[[nodiscard]] runtime::drivers::ServiceConnector::Program port_program(std::string path);

}  // namespace vitcp::drivers
