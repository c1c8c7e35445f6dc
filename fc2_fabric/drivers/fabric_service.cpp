#include "fc2_fabric/drivers/fabric_service.hpp"

#include <sys/socket.h>

namespace fc2::drivers {
namespace {
constexpr const char* program_name = "fcvi-fabricd";
constexpr const char* variable = "FCVI_FABRICD";
}  // namespace

runtime::drivers::ServicePlace fabric_place(const RuntimeDirectory& directory) { return {directory, "fabricd"}; }

int connect_to_service(const RuntimeDirectory& directory) {
  return runtime::drivers::connect_to_service(fabric_place(directory), SOCK_STREAM);
}

std::string find_service_program() { return runtime::drivers::find_service_program(program_name, variable); }

runtime::drivers::ServiceConnector::Program fabric_program(std::string path) {
  return {.name = program_name, .variable = variable, .path = std::move(path)};
}

}  // namespace fc2::drivers
