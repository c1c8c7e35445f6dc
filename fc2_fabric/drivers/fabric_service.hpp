// Where the fabric service of a user, fcvi-fabricd, and its clients meet, and its program.
#pragma once
#include "runtime/drivers/runtime_directory.hpp"
#include "runtime/drivers/service_launcher.hpp"

namespace fc2::drivers {
using runtime::drivers::is_own_user;
using runtime::drivers::RuntimeDirectory;

[[nodiscard]] runtime::drivers::ServicePlace fabric_place(const RuntimeDirectory& directory);
/// A stream socket; see runtime::drivers::connect_to_service().
int connect_to_service(const RuntimeDirectory& directory);
/// $FCVI_FABRICD, or where runtime::drivers::find_service_program() looks. Empty: not found.
std::string find_service_program();
/// The program at `path`, or, empty, the one that find_service_program() finds.
[[nodiscard]] runtime::drivers::ServiceConnector::Program fabric_program(std::string path);

}  // namespace fc2::drivers
