// Numbers that are equal where programs and files are.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sim::share {

/// Of the bytes of a file; of one that cannot be read, as of an empty one.
std::uint64_t hash_of_file(const std::string& path);
/// Of this program's own file.
std::uint64_t own_build();
/// Of this program and its input files, as text.
std::string identity_of(const std::vector<std::string>& files);

}  // namespace sim::share
