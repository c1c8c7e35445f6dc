// How fast 64 KiB messages go from one process to another on this machine with no protocol around them: through the
// local fabric's ring, a slot and two copies for each frame; in runs of frames, which take one copy each way
// (drivers/frame_ring); and fetched by process_vm_readv from where they lie, one call for a message, as libfabric and
// UCX do. With one buffer at each end
// and with 16 in turn, left as they are and written anew before each message. bench_ring [MESSAGES [ROUNDS]]: all ways
// in turn, the middle round of each.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "fc2_fabric/drivers/frame_ring.hpp"

namespace {
using fc2::drivers::RingPair;
using fc2::drivers::RingReader;
using fc2::drivers::RingWriter;
using runtime::drivers::SharedMemory;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t message_bytes = 65536, headers_bytes = 24 + 32;
constexpr std::size_t payload_bytes = fc2::max_frame_bytes - headers_bytes;
static_assert(headers_bytes == fc2::drivers::run_header_bytes && payload_bytes == fc2::drivers::run_data_bytes);
constexpr std::uint32_t slots = 512, most_buffers = 16, frames_of_a_release = 16;
constexpr int skipped = 77;

enum class Kind : std::uint8_t { Ring, Runs, Fetched };
struct Way {
  const char* name;
  Kind kind;
  bool anew;
  std::uint32_t buffers;
  [[nodiscard]] bool fetched() const { return kind == Kind::Fetched; }
};
constexpr std::array<Way, 9> ways{{{"ring, one buffer", Kind::Ring, false, 1},
                                   {"runs, one buffer", Kind::Runs, false, 1},
                                   {"fetched, one buffer", Kind::Fetched, false, 1},
                                   {"ring, 16 buffers", Kind::Ring, false, 16},
                                   {"runs, 16 buffers", Kind::Runs, false, 16},
                                   {"fetched, 16 buffers", Kind::Fetched, false, 16},
                                   {"ring, 16 buffers, each written anew", Kind::Ring, true, 16},
                                   {"runs, 16 buffers, each written anew", Kind::Runs, true, 16},
                                   {"fetched, 16 buffers, each written anew", Kind::Fetched, true, 16}}};

/// The first two processors that this process may use.
std::optional<std::array<int, 2>> two_processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return std::nullopt;
  std::array<int, 2> found{};
  std::size_t count = 0;
  for (int cpu = 0; count < found.size(); ++cpu)
    if (CPU_ISSET(cpu, &allowed)) found[count++] = cpu;
  return found;
}

void run_on(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  sched_setaffinity(0, sizeof only, &only);
}

void wait_a_moment() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

void write_frame(RingWriter& writer, const std::uint8_t* data, std::size_t size, bool last) {
  while (writer.room() == 0) wait_a_moment();
  const auto place = writer.place();
  std::memset(place.data(), 1, headers_bytes);
  if (size != 0) std::memcpy(place.data() + headers_bytes, data, size);
  writer.publish(static_cast<std::uint16_t>(headers_bytes + (size + 3) / 4 * 4), wire::Sof::n3,
                 last ? wire::Eof::t : wire::Eof::n);
}

/// The run that begins at `at` of a message, all but the last bytes of which go in whole frames; else one frame.
std::size_t send_run(RingWriter& writer, const std::uint8_t* message, std::size_t at) {
  const auto whole = static_cast<std::uint32_t>((message_bytes - at) / payload_bytes);
  if (whole == 0) return write_frame(writer, message + at, message_bytes - at, true), message_bytes - at;
  std::uint32_t frames = 0;
  while ((frames = writer.run_room(whole, 0)) == 0) wait_a_moment();
  const auto to = writer.run_place(frames, payload_bytes);
  std::memcpy(to.data(), message + at, to.size());
  std::memset(writer.place().data(), 1, headers_bytes);
  writer.publish_run(fc2::max_frame_bytes, frames);
  return to.size();
}

std::size_t receive_run(RingReader& reader, std::uint8_t* to, std::size_t at) {
  while (!reader.ready()) wait_a_moment();
  const auto slot = *reader.next();
  const std::uint8_t* const data = slot.is_run() ? reader.data_of(slot).data() : slot.bytes.data() + headers_bytes;
  const std::size_t size = slot.is_run() ? reader.data_of(slot).size() : std::min(payload_bytes, message_bytes - at);
  std::memcpy(to + at, data, size);
  (void)reader.release();
  return size;
}

void send_message(const Way& way, RingWriter& writer, const std::uint8_t* message) {
  if (way.fetched()) {
    const auto address = reinterpret_cast<std::uintptr_t>(message);
    return write_frame(writer, reinterpret_cast<const std::uint8_t*>(&address), sizeof address, true);
  }
  for (std::size_t at = 0; way.kind == Kind::Runs && at < message_bytes;) at += send_run(writer, message, at);
  for (std::size_t at = 0; way.kind == Kind::Ring && at < message_bytes; at += payload_bytes) {
    const std::size_t size = std::min(payload_bytes, message_bytes - at);
    write_frame(writer, message + at, size, at + size == message_bytes);
  }
}

/// Seconds until all was taken.
double send(const Way& way, unsigned messages, RingWriter writer, Bytes& buffers) {
  const auto begun = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < messages; ++i) {
    std::uint8_t* const message = buffers.data() + i % way.buffers * message_bytes;
    const std::uint32_t free = slots - way.buffers + 1;  // one message of each buffer is under way at most
    while (way.fetched() && writer.room(free) < free) wait_a_moment();
    if (way.anew) std::memset(message, static_cast<int>(i), message_bytes);
    send_message(way, writer, message);
  }
  while (writer.room(slots) < slots) wait_a_moment();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

bool fetch(pid_t sender, const RingReader::Slot& slot, std::uint8_t* to) {
  std::uintptr_t address = 0;
  std::memcpy(&address, slot.bytes.data() + headers_bytes, sizeof address);
  const iovec here{to, message_bytes}, there{reinterpret_cast<void*>(address), message_bytes};
  return process_vm_readv(sender, &here, 1, &there, 1, 0) == static_cast<ssize_t>(message_bytes);
}

/// False: a message could not be fetched. All are taken.
bool receive(const Way& way, unsigned messages, RingReader reader, pid_t sender, Bytes& buffers) {
  bool good = true;
  for (unsigned i = 0; i < messages; ++i) {
    std::uint8_t* const to = buffers.data() + i % way.buffers * message_bytes;
    for (std::size_t at = 0; way.kind == Kind::Runs && at < message_bytes;) at += receive_run(reader, to, at);
    for (std::size_t at = 0; way.kind != Kind::Runs && at < message_bytes;) {
      while (!reader.ready()) wait_a_moment();
      const auto slot = reader.next();
      if (way.fetched()) good = fetch(sender, *slot, to) && good;
      const std::size_t size = way.fetched() ? message_bytes : std::min(payload_bytes, message_bytes - at);
      if (!way.fetched()) std::memcpy(to + at, slot->bytes.data() + headers_bytes, size);
      at += size;
      if (way.fetched() || at == message_bytes || reader.unreleased() == frames_of_a_release) (void)reader.release();
    }
  }
  return good;
}

/// MB/s; none: the receiver failed.
std::optional<double> measure(const Way& way, unsigned messages, const std::array<int, 2>& cpus, Bytes& buffers) {
  SharedMemory memory = SharedMemory::make(RingPair::size_bytes(slots));
  const auto descriptor = memory.descriptor().duplicate();
  const RingPair near(std::move(memory), slots, 0);
  const pid_t sender = getpid(), child = fork();
  if (child == 0) {
    run_on(cpus[1]);
    Bytes own(most_buffers * message_bytes, 2);
    using enum SharedMemory::Access;
    const RingPair far(SharedMemory::map(descriptor, RingPair::size_bytes(slots), ReadWrite), slots, 1);
    _exit(receive(way, messages, RingReader(far.inbound()), sender, own) ? 0 : 1);
  }
  const double seconds = send(way, messages, RingWriter(near.outbound()), buffers);
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) return std::nullopt;
  return messages * static_cast<double>(message_bytes) / seconds / 1e6;
}
}  // namespace

int main(int argc, char** argv) {
  const auto messages = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 20000);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const auto cpus = two_processors();
  if (!cpus) return std::puts("skipped: fewer than two processors"), skipped;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  run_on((*cpus)[0]);
  Bytes buffers(most_buffers * message_bytes, 1);
  std::array<std::vector<double>, ways.size()> rates;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (const auto rate = measure(ways[i], messages, *cpus, buffers)) rates[i].push_back(*rate);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    auto& found = rates[i];
    std::sort(found.begin(), found.end());
    if (found.empty())
      std::printf("%-42s not allowed here\n", ways[i].name);
    else
      std::printf("%-42s %6.0f MB/s (%.0f to %.0f)\n", ways[i].name, found[found.size() / 2], found.front(),
                  found.back());
  }
  return 0;
}
