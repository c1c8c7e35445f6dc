// How fast FC-VI is over FCoE beside a raw AF_PACKET sender with equal frames, on one veth pair in a
// namespace of its own. usage: bench_fcoe_veth [MESSAGES [ROUNDS]]; exit status 77: skipped, the reason
// is printed. tests/bench/README.md.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "tests/bench/raw_ethernet.hpp"
#include "tests/bench/vipl_load.hpp"
#include "tests/support/veth_pair.hpp"

namespace bench {
namespace {
constexpr int skipped = 77;

/// What one process measured; passed on by a pipe.
struct Sample {
  double seconds = 0, cpu_seconds = 0;
};

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Sample measured(const std::function<bool()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  if (!work()) return {};
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), cpu_seconds() - cpu};
}

/// Two processes, as two hosts would be; they say goodbye to their neighbours at exit(). `receive` may end
/// when `end` does.
Sample run(const std::function<void(int end)>& receive, const std::function<Sample()>& send) {
  int end[2], answer[2];
  if (::pipe(end) != 0 || ::pipe(answer) != 0) return {};
  const pid_t receiver = ::fork();
  if (receiver == 0) {
    ::close(end[1]);
    receive(end[0]);
    std::exit(0);
  }
  const pid_t sender = ::fork();
  if (sender == 0) {
    ::close(end[1]);
    const Sample sample = send();
    std::exit(::write(answer[1], &sample, sizeof sample) == sizeof sample ? 0 : 1);
  }
  ::close(answer[1]);
  Sample sample;
  if (::read(answer[0], &sample, sizeof sample) != sizeof sample) sample = {};
  for (const int descriptor : {end[0], end[1], answer[0]}) ::close(descriptor);
  ::waitpid(sender, nullptr, 0);
  ::waitpid(receiver, nullptr, 0);
  return sample;
}

Sample raw(std::uint64_t messages, bool with_receiver) {
  return run(
      [&](int end) {
        if (with_receiver) receive_raw("vb", end);
      },
      [&] {
        RawSender sender("va", support::VethPair::mac_b, support::VethPair::mac_a);
        return measured([&] { return sender.send(messages); });
      });
}

Sample fcvi(std::uint64_t messages) {
  return run([&](int) { receive_messages("vb"); },
             [&] {
               MessageSender sender("va");
               if (!sender.connected() || !sender.send(warm_up_messages)) return Sample{};
               return measured([&] { return sender.send(messages); });
             });
}

/// The middle one of several, by time: others use this machine too.
Sample middle(std::vector<Sample> samples) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; });
  return samples[samples.size() / 2];
}

void print(const char* what, const Sample& sample, std::uint64_t messages) {
  const double frames = static_cast<double>(messages * frames_of_message.size());
  std::printf("%-44s %8.0f frames/s  %6.2f Gbit/s of data  sender's CPU %5.0f ns a frame\n", what,
              frames / sample.seconds, static_cast<double>(messages) * message_bytes * 8 / sample.seconds / 1e9,
              sample.cpu_seconds / frames * 1e9);
}

int compare(std::uint64_t messages, std::size_t rounds) {
  std::vector<Sample> alone, received, ours;
  for (std::size_t round = 0; round < rounds; ++round) {
    alone.push_back(raw(messages, false));
    received.push_back(raw(messages, true));
    ours.push_back(fcvi(messages));
    if (alone.back().seconds == 0 || received.back().seconds == 0 || ours.back().seconds == 0) {
      std::printf("a transfer failed\n");
      return 1;
    }
  }
  print("raw AF_PACKET sender, nobody listens", middle(alone), messages);
  print("raw AF_PACKET sender and receiver", middle(received), messages);
  print("FC-VI, VN2VN, 64 KiB Sends, Reliable Delivery", middle(ours), messages);
  std::printf("FC-VI to raw sender: %.2f beside a receiver, %.2f where nobody listens (%zu rounds, the middle ones)\n",
              middle(received).seconds / middle(ours).seconds, middle(alone).seconds / middle(ours).seconds, rounds);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const std::uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  const std::size_t rounds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 5;
  if (messages == 0 || rounds == 0) {
    std::fprintf(stderr, "usage: bench_fcoe_veth [MESSAGES [ROUNDS]]\n");
    return 2;
  }
  const support::VethPair veth;
  if (!veth.trouble().empty()) {
    std::printf("skipped: %s\n", veth.trouble().c_str());
    return bench::skipped;
  }
  return bench::compare(messages, rounds);
}
