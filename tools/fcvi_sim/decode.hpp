// Captures as text, a line for each frame.
#pragma once
#include <cstdio>
#include <string>

namespace sim {

/// Reads pcap or pcapng with FCoE (Ethernet), FC, or FC with delimiters. Returns what is wrong with the file (empty:
/// nothing), naming the frame; lines before it are printed. Frames that do not parse are described, not refused.
std::string decode_capture(const std::string& path, std::FILE* output);

}  // namespace sim
