// A queue between two sides that never wait for each other: one producer at a time, one consumer at a time.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace vipl {

/// Allocates nothing until the first push; then a ring of 16, and when that is full one of twice the size behind it.
/// The consumer moves on to the new ring when it has emptied the old one, which is then freed: in the end there is one
/// ring, large enough, and no further allocation. Each side is wait-free except for the allocation.
template <class T>
class GrowingRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t first_capacity = 16;

  GrowingRing() = default;
  ~GrowingRing() { reset(); }
  GrowingRing(const GrowingRing&) = delete;
  GrowingRing& operator=(const GrowingRing&) = delete;

  /// Producer: the next push needs no memory, as far as is known.
  [[nodiscard]] bool has_room() const {
    return write_ != nullptr && write_->tail.load(std::memory_order_relaxed) - write_->known_head != write_->capacity;
  }
  /// Producer: the next push will not throw. std::bad_alloc changes nothing.
  void make_room() {
    if (!has_room()) [[unlikely]]
      find_room();
  }
  /// Producer. Sequentially consistent: an EventCount may be notified next.
  void push(const T& item) {
    make_room();
    push_into_room(item, std::memory_order_seq_cst);
  }
  /// Producer. Pre: make_room() since the last push. With `memory_order_release` what the producer does next may come
  /// first for others: it then needs a full barrier before it looks whether somebody waits.
  void push_into_room(const T& item, std::memory_order order) {
    Ring& ring = *write_;
    const std::size_t tail = ring.tail.load(std::memory_order_relaxed);
    ring.items[tail & (ring.capacity - 1)] = item;
    ring.tail.store(tail + 1, order);
  }

  /// Consumer. False: empty.
  [[nodiscard, gnu::always_inline]] bool pop(T& item) {
    Ring* ring = read_;
    // Mostly there is one there.
    if (ring == nullptr || ring->head.load(std::memory_order_relaxed) == ring->tail.load()) [[unlikely]] {
      ring = filled();
      if (ring == nullptr) return false;
    }
    const std::size_t head = ring->head.load(std::memory_order_relaxed);
    item = ring->items[head & (ring->capacity - 1)];
    ring->head.store(head + 1, std::memory_order_release);
    return true;
  }
  /// Consumer.
  [[nodiscard]] bool empty() { return filled() == nullptr; }

  /// Neither side may be active: drops the content and frees the memory.
  void reset() {
    for (Ring* ring = read_ != nullptr ? read_ : first_.load(); ring != nullptr;)
      delete std::exchange(ring, ring->next.load());
    write_ = read_ = nullptr;
    first_ = nullptr;
  }

 private:
  struct Ring {
    explicit Ring(std::size_t size) : capacity(size), items(std::make_unique<T[]>(size)) {}
    const std::size_t capacity;  // a power of two
    const std::unique_ptr<T[]> items;
    std::atomic<Ring*> next{nullptr};
    std::size_t known_head = 0;  // the producer's copy, so that it seldom looks at the consumer's line
    alignas(64) std::atomic<std::size_t> tail{0};
    alignas(64) std::atomic<std::size_t> head{0};
  };

  // The consumer may have made some; else a larger ring.
  [[gnu::noinline]] void find_room() {
    if (write_ != nullptr) {
      write_->known_head = write_->head.load(std::memory_order_acquire);
      if (has_room()) return;
    }
    auto* larger = new Ring(write_ == nullptr ? first_capacity : 2 * write_->capacity);
    (write_ == nullptr ? first_ : write_->next).store(larger);
    write_ = larger;
  }

  /// The consumer's ring, if it has an item; nullptr when all is empty.
  Ring* filled() {
    if (read_ == nullptr && (read_ = first_.load()) == nullptr) return nullptr;
    for (;;) {
      const std::size_t head = read_->head.load(std::memory_order_relaxed);
      if (head != read_->tail.load()) return read_;
      Ring* const next = read_->next.load();
      if (next == nullptr) return nullptr;
      if (head != read_->tail.load()) return read_;  // filled up before the producer left it
      delete std::exchange(read_, next);
    }
  }

  // These change only when a ring is added or dropped.
  Ring* write_ = nullptr;              // the producer's
  std::atomic<Ring*> first_{nullptr};  // the way from it to the consumer, once
  Ring* read_ = nullptr;               // the consumer's
};

}  // namespace vipl
