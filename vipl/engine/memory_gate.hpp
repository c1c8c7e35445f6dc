// Lets posts read the tables of registered memory concurrently, while registration changes them.
#pragma once
#include <array>

#include "vipl/engine/futex.hpp"

namespace vipl {

/// A reader/writer lock whose readers share no cache lines: each thread has a stripe, and a writer takes all. Readers
/// wait only for a writer: for registration, not for traffic. The engine reads without it, since it holds its own lock
/// as all writers do.
class MemoryGate {
 public:
  class Reader {
   public:
    explicit Reader(MemoryGate& gate) : stripe_(gate.stripe()) { stripe_.enter(); }
    ~Reader() { stripe_.leave(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    friend class MemoryGate;
    struct alignas(64) Stripe {
      void enter() {
        if ((state.fetch_add(1) & writing) != 0) [[unlikely]]
          enter_after_writer();
      }
      void enter_after_writer();
      void leave() { state.fetch_sub(1); }
      std::atomic<std::uint32_t> state{0};  // number of readers, and `writing`
    };
    Stripe& stripe_;
  };
  /// Pre: the engine's lock is held, so that there is one at a time.
  class Writer {
   public:
    explicit Writer(MemoryGate& gate);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

   private:
    MemoryGate& gate_;
  };

 private:
  static constexpr std::uint32_t writing = 0x80000000u;
  static constexpr std::size_t stripe_count = 16;
  Reader::Stripe& stripe();
  std::array<Reader::Stripe, stripe_count> stripes_;
};

}  // namespace vipl
