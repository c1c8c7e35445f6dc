// Frames of one stream that came in their turn and wait all the same, in order: for RESP2 (FC-VI C.5.4), or until read
// data is out (VI-ARCH 6.3.1.1). What overtook other frames on an out-of-order fabric: fcvi/epoch.hpp.
#pragma once
#include <boost/circular_buffer.hpp>

#include "fc2_fabric/frame/frame.hpp"
#include "fcvi/iu_frame.hpp"
#include "fcvi/reorder_pool.hpp"

namespace fcvi {

/// The frames are taken over, not copied.
class EarlyFrames {
 public:
  struct Entry {
    fc2::FramePtr frame;  // what `received` looks at
    fc2::ReceivedFrame received;
    wire::fcvi::DeviceHeader header;
    [[nodiscard]] IuFrame iu() const { return {received, header, received.data_field.subspan(header.size())}; }
  };
  /// What one costs of the pool.
  static constexpr std::size_t frame_bytes = kept_frame_bytes + sizeof(Entry);

  explicit EarlyFrames(ReorderPool::Share& share) : share_(share) {}
  /// False: the pool has no room for it.
  [[nodiscard]] bool add(const IuFrame& iu);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// What all of them take of the pool.
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * frame_bytes; }
  [[nodiscard]] const Entry& first() const { return entries_.front(); }
  Entry take_first();

 private:
  static constexpr std::size_t first_capacity = 16;
  ReorderPool::Share& share_;
  boost::circular_buffer<Entry> entries_;
};

}  // namespace fcvi
