#include "tools/fcvi_sim/decode.hpp"

#include <pcap/pcap.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "wire/describer.hpp"

namespace sim {
namespace {

struct Close {
  void operator()(pcap_t* capture) const { pcap_close(capture); }
};
using Capture = std::unique_ptr<pcap_t, Close>;

ssize_t read_gzip(void* file, char* to, std::size_t size) {
  const int got = gzread(static_cast<gzFile>(file), to, static_cast<unsigned>(size));
  if (got < 0) errno = EIO;
  return got;
}
int close_gzip(void* file) { return gzclose_r(static_cast<gzFile>(file)) == Z_OK ? 0 : EOF; }

/// Compressed by gzip or not. nullptr: errno says why; else whoever closes the stream closes the file.
std::FILE* open_capture(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return nullptr;
  std::FILE* const stream =
      fopencookie(file, "rb", {.read = read_gzip, .write = nullptr, .seek = nullptr, .close = close_gzip});
  if (stream == nullptr) gzclose_r(file);
  return stream;
}

// Not in every pcap/dlt.h under these names.
constexpr int link_ethernet = DLT_EN10MB, link_fc = 224, link_fc_with_delimiters = 225;

std::string describe_frame(wire::Describer& describer, int link_type, wire::Bytes frame, bool is_cut) {
  if (link_type == link_ethernet) return describer.ethernet_frame(frame, is_cut);
  if (link_type == link_fc) return describer.fc_frame(frame, {.is_cut = is_cut});
  return describer.delimited_frame(frame, is_cut);
}

void print_frame(std::FILE* output, wire::Describer& describer, unsigned long number, int link_type,
                 const pcap_pkthdr& header, const u_char* data) {
  const std::string text = describe_frame(describer, link_type, {data, header.caplen}, header.caplen < header.len);
  std::fprintf(output, "%6lu %lld.%09ld %s", number, static_cast<long long>(header.ts.tv_sec),
               static_cast<long>(header.ts.tv_usec), text.c_str());
  if (header.caplen < header.len) std::fprintf(output, " (cut: %u of %u bytes)", header.caplen, header.len);
  std::fputc('\n', output);
}

}  // namespace

std::string decode_capture(const std::string& path, std::FILE* output) {
  char error[PCAP_ERRBUF_SIZE] = "";
  std::FILE* const file = open_capture(path);
  if (file == nullptr) return path + ": " + std::strerror(errno);
  const Capture capture(pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error));
  if (capture == nullptr) {
    std::fclose(file);
    const std::string what(error);
    return what.find(path) != std::string::npos ? what : path + ": " + what;
  }
  const int link_type = pcap_datalink(capture.get());
  if (link_type != link_ethernet && link_type != link_fc && link_type != link_fc_with_delimiters)
    return path + ": expected Ethernet (FCoE) or Fibre Channel frames, got link type " + std::to_string(link_type);
  wire::Describer describer;
  unsigned long number = 0;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int result = 0;
  while ((result = pcap_next_ex(capture.get(), &header, &data)) == 1)
    print_frame(output, describer, ++number, link_type, *header, data);
  if (result == PCAP_ERROR_BREAK) return {};
  return path + ": frame " + std::to_string(number + 1) + ": " + pcap_geterr(capture.get());
}

}  // namespace sim
