#include "tools/wireshark/plugin_file.hpp"

#include <fstream>
#include <iostream>
#include <iterator>

namespace wireshark {

int write_plugin(int argc, char** argv, const std::string& tables) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " OUTPUT PART...\n";
    return 2;
  }
  std::string text = tables;
  for (int i = 2; i < argc; ++i) {
    std::ifstream part(argv[i], std::ios::binary);
    if (!part) {
      std::cerr << argv[i] << ": cannot be read\n";
      return 2;
    }
    text.append(std::istreambuf_iterator<char>(part), {});
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << text;
  file.close();
  if (!file) std::cerr << argv[1] << ": cannot be written\n";
  return file ? 0 : 2;
}

}  // namespace wireshark
