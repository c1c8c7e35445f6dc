// Ping-pong, one message at a time, over the connections in turn.
#include <sched.h>
#include <time.h>

#include <cstring>

#include "tools/fcvi_perf/phases.hpp"

namespace perf {

std::uint64_t cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

/* ---- content --------------------------------------------------------------------------------------------- */

namespace {
std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = seed + index * 0x9E3779B97F4A7C15ULL;
  word ^= word >> 29U;
  return word * 0xBF58476D1CE4E5B9ULL;
}
std::uint64_t pattern_seed(std::uint64_t connection, std::uint64_t number, Role sender) {
  return (connection << 33U) ^ (number << 1U) ^ static_cast<std::uint64_t>(sender);
}
}  // namespace

void fill_pattern(std::uint8_t* at, std::uint64_t bytes, std::uint64_t connection, std::uint64_t number, Role sender) {
  const std::uint64_t seed = pattern_seed(connection, number, sender), words = bytes / 8;
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t word = pattern_word(seed, i);
    std::memcpy(at + i * 8, &word, sizeof word);
  }
  const std::uint64_t last = pattern_word(seed, words);
  std::memcpy(at + words * 8, &last, bytes % 8);
}

bool has_pattern(const std::uint8_t* at, std::uint64_t bytes, std::uint64_t connection, std::uint64_t number,
                 Role sender) {
  const std::uint64_t seed = pattern_seed(connection, number, sender), words = bytes / 8;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i * 8, sizeof word);
    wrong |= word ^ pattern_word(seed, i);
  }
  const std::uint64_t last = pattern_word(seed, words);
  return wrong == 0 && std::memcmp(at + words * 8, &last, bytes % 8) == 0;
}

void prepare_phase(Endpoint& end, const Job& job, const Phase& phase, Role role) {
  for (std::uint64_t connection = 0; connection < job.connections; ++connection) {
    for (std::uint64_t number = 0; number < job.buffers; ++number)  // what a peer reads stays as it is
      if (job.check != 0 && job.operation == Operation::Read)
        fill_pattern(end.at(end.layout().source(connection, number)), phase.bytes, connection, number, role);
    // The byte that a test of write latency waits for.
    if (job.operation == Operation::Write) end.at(end.layout().target(connection, 0))[phase.bytes - 1] = 0;
  }
}

namespace {

class PingPong {
 public:
  PingPong(Endpoint& end, const Job& job, const Phase& phase, Role role)
      : end_(end), job_(job), phase_(phase), role_(role), patience_(job.timeout_ms) {}

  Tally client(Samples& samples) {
    const std::uint64_t begun = now_ns(), cpu_begun = cpu_ns();
    const std::uint64_t deadline = phase_.duration_ns == 0 ? ~0ULL : begun + phase_.duration_ns;
    const std::uint64_t parts = job_.operation == Operation::Read ? 1 : 2;
    std::uint64_t before = begun, number = 0;
    while (number != phase_.iterations || phase_.iterations == 0) {
      ask(number++);
      const std::uint64_t now = now_ns();
      samples.add((now - before) / parts);
      before = now;
      if (now >= deadline) break;
    }
    const Tally tally{number, before - begun, cpu_ns() - cpu_begun, errors_};
    for (std::uint64_t connection = 0; connection < job_.connections; ++connection) {
      finish_sends(connection, 0);
      end_.post_notice(connection, Notice::End, number);
    }
    for (std::uint64_t connection = 0; connection < job_.connections; ++connection) expect_notice(connection);
    return tally;
  }

  Tally server() {
    const std::uint64_t begun = now_ns(), cpu_begun = cpu_ns();
    std::uint64_t number = 0;
    if (job_.operation != Operation::Read)
      while (answer(number)) ++number;
    const Tally tally{number, now_ns() - begun, cpu_ns() - cpu_begun, errors_};
    for (std::uint64_t connection = 0; connection < job_.connections; ++connection)
      if (job_.operation == Operation::Read || connection != last_.connection) expect_notice(connection);
    for (std::uint64_t connection = 0; connection < job_.connections; ++connection) {
      finish_sends(connection, 0);
      end_.post_notice(connection, Notice::Answer, number);
    }
    return tally;
  }

 private:
  [[nodiscard]] bool by_memory() const { return job_.operation == Operation::Write && job_.immediate == 0; }
  /// What the last byte of RDMA Write `number` has; never what the one before had, and never 0.
  [[nodiscard]] std::uint8_t tag(std::uint64_t number) const {
    return static_cast<std::uint8_t>(number / job_.connections % 255 + 1);
  }

  void finish_sends(std::uint64_t connection, std::uint64_t left) {
    while (end_.data_under_way(connection) > left) end_.next_send(connection);
  }

  void send(std::uint64_t connection, std::uint64_t number) {
    std::uint8_t* const data = end_.at(end_.layout().source(connection, number));
    if (job_.check != 0) {
      finish_sends(connection, 0);  // the buffer is used again
      fill_pattern(data, phase_.bytes, connection, number, role_);
    }
    if (by_memory()) data[phase_.bytes - 1] = tag(number);
    end_.collect_sends(connection);
    finish_sends(connection, latency_depth - 1);
    end_.post_data(connection, number, phase_.bytes);
  }

  void judge(std::uint64_t connection, std::uint64_t at_number, std::uint64_t number) {
    if (job_.check == 0) return;
    const std::uint64_t bytes = by_memory() ? phase_.bytes - 1 : phase_.bytes;
    const Role sender = other(role_);
    const std::uint64_t expected = job_.operation == Operation::Read ? at_number % job_.buffers : number;
    if (!has_pattern(end_.at(end_.layout().target(connection, at_number)), bytes, connection, expected, sender))
      ++errors_;
  }

  /// false: the peer ended the phase.
  bool receive(std::uint64_t connection, std::uint64_t number) {
    const Event event = end_.next_receive(connection);
    const VIP_CONTROL_SEGMENT& control = event.descriptor->CS;
    const bool notice =
        (control.Status & VIP_STATUS_IMMEDIATE) != 0 && notice_of(control.ImmediateData) != Notice::Data;
    const std::uint64_t where = job_.operation == Operation::Send ? end_.receive_number(event) : number;
    if (!notice) {
      if (control.Length != phase_.bytes && job_.operation == Operation::Send) ++errors_;
      judge(connection, where, number);
    }
    last_ = event;
    return !notice;
  }

  /// The same for RDMA Writes: looks at memory, and now and then whether there is a notice or the end.
  bool watch(std::uint64_t connection, std::uint64_t number) {
    const volatile std::uint8_t* const last = end_.at(end_.layout().target(connection, number)) + phase_.bytes - 1;
    const std::uint8_t expected = tag(number);
    Event event{};
    for (std::uint32_t looks = 1; *last != expected; ++looks) {
      if (job_.progress == 0 && looks % 4096 != 0) continue;
      if (looks % 4096 == 0) ::sched_yield();
      if (end_.any(event) && event.received) {
        last_ = event;
        end_.repost(event);
        return false;
      }
      patience_.idle();
    }
    patience_.progress();
    static_cast<void>(__atomic_load_n(last, __ATOMIC_ACQUIRE));  // what came before it is there
    judge(connection, number, number);
    return true;
  }

  void ask(std::uint64_t number) {
    const std::uint64_t connection = number % job_.connections;
    send(connection, number);
    if (job_.operation == Operation::Read) {
      finish_sends(connection, 0);
      judge(connection, number, number);
    } else if (by_memory()) {
      if (!watch(connection, number)) fail("the server ended the test");
    } else {
      if (!receive(connection, number)) fail("the server ended the test");
      end_.repost(last_);
    }
  }

  bool answer(std::uint64_t number) {
    const std::uint64_t connection = number % job_.connections;
    if (by_memory()) {
      if (!watch(connection, number)) return false;
      send(connection, number);
      return true;
    }
    const bool data = receive(connection, number);
    if (data) send(connection, number);
    end_.repost(last_);
    return data;
  }

  void expect_notice(std::uint64_t connection) { end_.repost(end_.next_receive(connection)); }

  Endpoint& end_;
  const Job& job_;
  const Phase& phase_;
  const Role role_;
  Patience patience_;
  std::uint64_t errors_ = 0;
  Event last_{};  ///< what receive() and watch() took
};

}  // namespace

Tally run_latency(Endpoint& end, const Job& job, const Phase& phase, Role role, Samples& samples) {
  PingPong test(end, job, phase, role);
  return role == Role::Client ? test.client(samples) : test.server();
}

}  // namespace perf
