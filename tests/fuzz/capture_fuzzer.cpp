// Any file as a capture for `fcvi-sim decode`: pcap and pcapng, Ethernet and Fibre Channel. It is printed to where it
// makes sense, and the rest refused with the file's name and the frame's number.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "property.hpp"
#include "tools/fcvi_sim/decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("capture", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size))
    wire::fuzz::fail("cannot write", "capture");
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  static const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "w"), &std::fclose);
  const std::string error = sim::decode_capture(path, nowhere.get());
  if (!error.empty() && error.find(path) == std::string::npos)
    wire::fuzz::fail("an error without the file's name", error);
  ::close(descriptor);
  return 0;
}
