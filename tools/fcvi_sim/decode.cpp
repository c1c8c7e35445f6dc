#include "tools/fcvi_sim/decode.hpp"

#include <pcap/pcap.h>

#include <memory>

#include "wire/bytes.hpp"
#include "wire/describe.hpp"

namespace sim {
namespace {

struct Close {
  void operator()(pcap_t* capture) const { pcap_close(capture); }
};
using Capture = std::unique_ptr<pcap_t, Close>;

// Not in every pcap/dlt.h under these names.
constexpr int link_ethernet = DLT_EN10MB, link_fc = 224, link_fc_with_delimiters = 225;
constexpr std::size_t delimiter_bytes = 4, crc_bytes = 4;

std::string describe_frame(int link_type, wire::Bytes frame) {
  if (link_type == link_ethernet) return wire::describe_ethernet(frame);
  if (link_type == link_fc) return wire::describe(frame);
  constexpr std::size_t around = 2 * delimiter_bytes + crc_bytes;
  if (frame.size() < around) return "FC truncated: sof";
  return wire::describe(frame.subspan(delimiter_bytes, frame.size() - around));
}

void print_frame(std::FILE* output, unsigned long number, int link_type, const pcap_pkthdr& header,
                 const u_char* data) {
  const std::string text = describe_frame(link_type, {data, header.caplen});
  std::fprintf(output, "%6lu %lld.%09ld %s", number, static_cast<long long>(header.ts.tv_sec),
               static_cast<long>(header.ts.tv_usec), text.c_str());
  if (header.caplen < header.len) std::fprintf(output, " (cut: %u of %u bytes)", header.caplen, header.len);
  std::fputc('\n', output);
}

}  // namespace

std::string decode_capture(const std::string& path, std::FILE* output) {
  char error[PCAP_ERRBUF_SIZE] = "";
  const Capture capture(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error));
  if (capture == nullptr) {
    const std::string what(error);
    return what.find(path) != std::string::npos ? what : path + ": " + what;
  }
  const int link_type = pcap_datalink(capture.get());
  if (link_type != link_ethernet && link_type != link_fc && link_type != link_fc_with_delimiters)
    return path + ": expected Ethernet (FCoE) or Fibre Channel frames, got link type " +
           std::to_string(link_type);
  unsigned long number = 0;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int result = 0;
  while ((result = pcap_next_ex(capture.get(), &header, &data)) == 1)
    print_frame(output, ++number, link_type, *header, data);
  if (result == PCAP_ERROR_BREAK) return {};
  return path + ": frame " + std::to_string(number + 1) + ": " + pcap_geterr(capture.get());
}

}  // namespace sim
