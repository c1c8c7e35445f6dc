// Any file as a capture for `fcvi-sim decode` and `ladder`: pcap and pcapng, Ethernet and Fibre Channel. It is
// printed, in each style, to where it makes sense, and the rest refused with the file's name and the frame's number.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "property.hpp"
#include "tools/fcvi_sim/capture/decode.hpp"
#include "tools/fcvi_sim/capture/draw.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("capture", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size))
    wire::fuzz::fail("cannot write", "capture");
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  static const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "w"), &std::fclose);
  using sim::capture::Style;
  for (const Style style : {Style::line, Style::tree, Style::json}) {
    const std::string error = sim::capture::decode({.path = path, .style = style}, nowhere.get()).error;
    if (!error.empty() && error.find(path) == std::string::npos)
      wire::fuzz::fail("an error without the file's name", error);
  }
  const auto drawn = sim::capture::draw({.path = path, .as_text = true});
  if (drawn.picture.empty() && drawn.error.empty()) wire::fuzz::fail("neither a picture nor an error", path);
  ::close(descriptor);
  return 0;
}
