// Starts fcvi-fabricd for a program that needs the fabric and finds no listener. The program notices nothing of it: no
// signal, no child that its own wait() would return, no descriptor.
#pragma once
#include <string>
#include <vector>

namespace fc2::drivers {

/// $FCVI_FABRICD; else beside the file that contains this code (../bin, ../../bin, ../libexec/fcvi, the same
/// directory); else the directory where the project was installed; else $PATH. Empty: not found.
std::string find_service_program();

/// Returns when the program was loaded; it is ready when it listens. Empty, or why it failed.
std::string start_service_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace fc2::drivers
