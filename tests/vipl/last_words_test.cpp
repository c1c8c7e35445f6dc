// A program exits as soon as its Sends are done: what it was told is sent arrives.
#include <fstream>

#include "tests/local_fabric/fixture.hpp"
#include "tests/vipl/programs.hpp"

namespace support {
namespace {

/// To tell another process of this test something.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void tell(int value) { EXPECT_EQ(::write(ends_[1], &value, sizeof value), static_cast<ssize_t>(sizeof value)); }
  int hear() {
    int value = -1;
    EXPECT_EQ(::read(ends_[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
    return value;
  }

 private:
  int ends_[2]{};
};

constexpr std::size_t messages = 60;
constexpr std::uint32_t message_bytes = 16 * 1024;

class LastWords : public LocalFabricTest {
 public:
  LastWords() {
    std::ofstream(path("nics.yaml"))
        << "nics:\n"
           "- {name: VINIC0, transport: local, addresses: [10.0.0.1], timeouts: {open: 60s}}\n"
           "- {name: VINIC1, transport: local, addresses: [10.0.0.2], timeouts: {open: 60s}}\n";
    ::setenv("FCVI_CONFIG", path("nics.yaml").c_str(), 1);
  }
  ~LastWords() override { ::unsetenv("FCVI_CONFIG"); }

  /// Takes what comes until the connection ends, and tells how many it was.
  int receive() {
    ::setenv("FCVI_NODE", "receiver", 1);
    Node node(0);
    const VIP_VI_HANDLE vi = node.make_vi();
    for (std::size_t i = 0; i < messages; ++i) node.post_receive(vi, node.simple(i, 0, message_bytes));
    node.accept(vi);
    int received = 0;
    for (VIP_DESCRIPTOR* done = nullptr; VipRecvWait(vi, VIP_INFINITE, &done) == VIP_SUCCESS; ++received)
      if ((done->CS.Status & VIP_STATUS_ERROR_MASK) != 0) break;
    received_.tell(received);
    return 0;
  }
  /// Sends until the fabric takes no more, tells how many are done, and exits at once.
  int send() {
    ::setenv("FCVI_NODE", "sender", 1);
    Node node(1);
    const VIP_VI_HANDLE vi = node.make_vi();
    node.connect(vi, 0);
    VIP_DESCRIPTOR* done = nullptr;
    node.post_send(vi, node.simple(0, 0, message_bytes));
    EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);  // RESP3 came, too (FC-VI C.5.5)
    connected_.tell(1);
    stopped_.hear();
    for (std::size_t i = 1; i < messages; ++i) node.post_send(vi, node.simple(i, 0, message_bytes));
    int sent = 1;
    while (VipSendWait(vi, 300, &done) == VIP_SUCCESS) ++sent;
    sent_.tell(sent);
    std::exit(0);  // as a program that returns from main()
  }

  /// While somebody captures, all frames go by the service, and no path is being made.
  int capture() {
    return ::execl(FCVI_FABRICD_PROGRAM, "fcvi-fabricd", "capture", path("live.pcapng").c_str(), nullptr);
  }
  bool is_captured() { return command("status --json") == 0 && output.find("\"captures\":1") != std::string::npos; }

 protected:
  Pipe connected_, stopped_, sent_, received_;
};

// VI-ARCH 2.5.2: at Reliable Delivery a Send is done when it is on its way, and nothing but an error stops it there.
// The service of the local fabric is busy: neither its socket nor the library's buffer is empty when the program ends.
TEST_F(LastWords, exit_afterSendsAreDone_theyArrive) {
  ASSERT_TRUE(start_service());
  const pid_t busy = service();
  ASSERT_GT(busy, 0) << output;
  Child capturing([this] { return capture(); });
  ASSERT_TRUE(eventually([this] { return is_captured(); })) << output;
  Child receiver([this] { return receive(); });
  Child sender([this] { return send(); });
  connected_.hear();
  ::kill(busy, SIGSTOP);
  stopped_.tell(1);
  const int sent = sent_.hear();
  ::kill(busy, SIGCONT);
  EXPECT_EQ(sender.wait(), 0);
  EXPECT_GE(received_.hear(), sent);
  EXPECT_GT(sent, 1);
  EXPECT_EQ(receiver.wait(), 0);
}

}  // namespace
}  // namespace support
