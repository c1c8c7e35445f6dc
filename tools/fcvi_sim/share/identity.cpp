#include "tools/fcvi_sim/share/identity.hpp"

#include <algorithm>
#include <fstream>

namespace sim::share {

std::uint64_t hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = 0xCBF29CE484222325;  // as FNV-1a, of words
  std::vector<std::uint64_t> words(1 << 16);
  while (file) {
    std::fill(words.begin(), words.end(), 0);
    file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof words[0]));
    for (const std::uint64_t word : words) hash = (hash ^ word) * 0x100000001B3;
  }
  return hash;
}

std::uint64_t own_build() {
  static const std::uint64_t build = hash_of_file("/proc/self/exe");
  return build;
}

std::string identity_of(const std::vector<std::string>& files) {
  std::string all = std::to_string(own_build());
  for (const std::string& file : files) all += " " + std::to_string(hash_of_file(file));
  return all;
}

}  // namespace sim::share
