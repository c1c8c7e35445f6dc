// Prints what the library takes from the environment, a line each. secure_environment_test.py runs it as any program,
// and as one that has more rights than its user.
#include <sys/auxv.h>

#include <cstdio>

#include "fc2_fabric/drivers/fabric_service.hpp"
#include "vipl/configuration/usual_places.hpp"
#include "vipl/vipl.h"

// A sanitizer cannot look for leaks in a process that it may not trace, nor read its options in that one's environment.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() { return "detect_leaks=0"; }

int main() {
  std::printf("secure %lu\n", ::getauxval(AT_SECURE));
  for (const char* name : {"FCVI_CONFIG", "FCVI_NODE"}) std::printf("%s %s\n", name, vipl::environment(name).c_str());
  std::printf("places %s\n", vipl::usual_places("vipl.yaml").front().c_str());
  std::printf("runtime %s\n", fc2::drivers::RuntimeDirectory::default_path().c_str());
  std::printf("service %s\n", fc2::drivers::find_service_program().c_str());
  VIP_NIC_HANDLE nic = nullptr;
  std::printf("open %d\n", static_cast<int>(VipOpenNic("only_in_this_file", &nic)));
}
