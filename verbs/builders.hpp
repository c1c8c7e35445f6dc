// Work requests that a program builds part by part (ibv_wr_start(3)).
#pragma once
#include <infiniband/verbs.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace verbs {

/// Of one queue pair. From start() to take() or abort() they are one thread's.
class Builders {
 public:
  void start();
  /// The request from now on. Its number and flags are those of the queue pair.
  ibv_send_wr& add(const ibv_qp_ex& queue_pair, ibv_wr_opcode opcode);
  void add_piece(const ibv_sge& piece);
  /// Copied now.
  void add_inline(const void* octets, std::size_t count);
  void fail(int error) { error_ = error_ == 0 ? error : error_; }
  /// The requests as a list, or nullptr: there are none, or one is wrong, and error() says how.
  [[nodiscard]] ibv_send_wr* take();
  [[nodiscard]] int error() const { return error_; }
  void end();

 private:
  struct Parts {
    std::size_t first_piece = 0, first_octet = 0;  // in pieces_, in octets_
    bool is_inline = false;
  };
  std::mutex mutex_;
  std::vector<ibv_send_wr> requests_;
  std::vector<Parts> parts_;
  std::vector<ibv_sge> pieces_;
  std::vector<std::uint8_t> octets_;
  int error_ = 0;
};

/// Gives the queue pair its functions.
void set_builders(ibv_qp_ex& queue_pair);
/// Of IBV_QP_EX_WITH_...: those that there are.
inline constexpr std::uint64_t known_builders = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |
                                                IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_LOCAL_INV |
                                                IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;

}  // namespace verbs
