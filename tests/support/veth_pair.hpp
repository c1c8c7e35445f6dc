// Ethernet between two interfaces of a network namespace that is made for it.
#pragma once
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "wire/ethernet.hpp"

namespace support {

/// A network namespace with the veth pair va, vb (MTU 2500) in it, while this lives; the thread is back in
/// its own afterwards.
class VethPair {
 public:
  static constexpr wire::MacAddress mac_a{{2, 0, 0, 0, 0, 0xA}}, mac_b{{2, 0, 0, 0, 0, 0xB}};

  VethPair() : own_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    if (own_ < 0 || ::unshare(CLONE_NEWNET) != 0) {
      trouble_ = std::string("network namespaces: ") + std::strerror(errno);
      return;
    }
    entered_ = true;
    const int made = std::system(
        "ip link add va address 02:00:00:00:00:0a type veth peer name vb address 02:00:00:00:00:0b && "
        "ip link set va mtu 2500 up && ip link set vb mtu 2500 up");
    if (made != 0) trouble_ = "ip link: exit status " + std::to_string(WEXITSTATUS(made));
  }
  ~VethPair() {
    if (entered_ && ::setns(own_, CLONE_NEWNET) != 0) std::perror("setns");  // the other one goes with its interfaces
    ::close(own_);
  }
  VethPair(const VethPair&) = delete;
  VethPair& operator=(const VethPair&) = delete;
  /// Why there is none; empty: there is.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  int own_;
  bool entered_ = false;
  std::string trouble_;
};

}  // namespace support
