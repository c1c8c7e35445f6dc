// Reads captures, plain or gzip, without touching a network.
#pragma once
#include <pcap/pcap.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace wire::test {

struct CapturedFrame {
  std::vector<std::uint8_t> bytes;
  bool cut = false;  // the capture holds less than the wire carried
};

inline std::vector<char> read_file(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<char> content, chunk(1 << 16);
  for (int got = 0; (got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0;)
    content.insert(content.end(), chunk.begin(), chunk.begin() + got);
  return content;
}

inline std::vector<CapturedFrame> read_capture(const std::string& path) {
  auto content = read_file(path);
  char error[PCAP_ERRBUF_SIZE] = "";
  std::FILE* const file = fmemopen(content.data(), content.size(), "rb");  // pcap_close closes it
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> capture(pcap_fopen_offline(file, error), pcap_close);
  if (!capture) throw std::runtime_error(path + ": " + error);
  if (pcap_datalink(capture.get()) != DLT_EN10MB) throw std::runtime_error(path + ": not Ethernet");
  std::vector<CapturedFrame> frames;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  while (pcap_next_ex(capture.get(), &header, &bytes) == 1)
    frames.push_back({{bytes, bytes + header->caplen}, header->caplen < header->len});
  return frames;
}

}  // namespace wire::test
