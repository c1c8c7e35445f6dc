#include "verbs/builders.hpp"

#include <cerrno>

#include "verbs/queue_pair.hpp"

namespace verbs {

void Builders::start() {
  mutex_.lock();
  requests_.clear();
  parts_.clear();
  pieces_.clear();
  octets_.clear();
  error_ = 0;
}

void Builders::end() { mutex_.unlock(); }

ibv_send_wr& Builders::add(const ibv_qp_ex& queue_pair, ibv_wr_opcode opcode) {
  ibv_send_wr request{};
  request.wr_id = queue_pair.wr_id;
  request.opcode = opcode;
  request.send_flags = queue_pair.wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
  parts_.push_back({pieces_.size(), octets_.size()});
  return requests_.emplace_back(request);
}

void Builders::add_piece(const ibv_sge& piece) {
  if (requests_.empty()) return fail(EINVAL);
  pieces_.push_back(piece);
  ++requests_.back().num_sge;
}

void Builders::add_inline(const void* octets, std::size_t count) {
  if (requests_.empty()) return fail(EINVAL);
  const auto* const first = static_cast<const std::uint8_t*>(octets);
  octets_.insert(octets_.end(), first, first + count);
  parts_.back().is_inline = true;
  requests_.back().send_flags |= IBV_SEND_INLINE;
  if (requests_.back().num_sge == 0) add_piece({});
  pieces_.back().length += static_cast<std::uint32_t>(count);
}

/// What moved while the lists grew is at rest now.
ibv_send_wr* Builders::take() {
  if (error_ != 0 || requests_.empty()) return nullptr;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    requests_[i].sg_list = pieces_.data() + parts_[i].first_piece;
    requests_[i].next = i + 1 < requests_.size() ? &requests_[i + 1] : nullptr;
    if (parts_[i].is_inline)
      requests_[i].sg_list->addr = reinterpret_cast<std::uintptr_t>(octets_.data() + parts_[i].first_octet);
  }
  return requests_.data();
}

namespace {

Builders& of(ibv_qp_ex* queue_pair) { return static_cast<QueuePair&>(*queue_pair).builders(); }

void start(ibv_qp_ex* queue_pair) { of(queue_pair).start(); }
void abort_all(ibv_qp_ex* queue_pair) { of(queue_pair).end(); }
int complete(ibv_qp_ex* queue_pair) {
  Builders& builders = of(queue_pair);
  ibv_send_wr* const first = builders.take();
  ibv_send_wr* bad = nullptr;
  const int error = first == nullptr ? builders.error() : QueuePair::of(&queue_pair->qp_base).post_send(first, &bad);
  builders.end();
  return error;
}

void send(ibv_qp_ex* queue_pair) { of(queue_pair).add(*queue_pair, IBV_WR_SEND); }
void send_inv(ibv_qp_ex* queue_pair, std::uint32_t key) {
  of(queue_pair).add(*queue_pair, IBV_WR_SEND_WITH_INV).invalidate_rkey = key;
}
void local_inv(ibv_qp_ex* queue_pair, std::uint32_t key) {
  of(queue_pair).add(*queue_pair, IBV_WR_LOCAL_INV).invalidate_rkey = key;
}
ibv_send_wr& rdma(ibv_qp_ex* queue_pair, ibv_wr_opcode opcode, std::uint32_t key, std::uint64_t address) {
  ibv_send_wr& request = of(queue_pair).add(*queue_pair, opcode);
  request.wr.rdma.rkey = key;
  request.wr.rdma.remote_addr = address;
  return request;
}
void rdma_write(ibv_qp_ex* queue_pair, std::uint32_t key, std::uint64_t address) {
  rdma(queue_pair, IBV_WR_RDMA_WRITE, key, address);
}
void rdma_write_imm(ibv_qp_ex* queue_pair, std::uint32_t key, std::uint64_t address, __be32 immediate) {
  rdma(queue_pair, IBV_WR_RDMA_WRITE_WITH_IMM, key, address).imm_data = immediate;
}
void rdma_read(ibv_qp_ex* queue_pair, std::uint32_t key, std::uint64_t address) {
  rdma(queue_pair, IBV_WR_RDMA_READ, key, address);
}

void set_sge(ibv_qp_ex* queue_pair, std::uint32_t key, std::uint64_t address, std::uint32_t octets) {
  of(queue_pair).add_piece({address, octets, key});
}
void set_sge_list(ibv_qp_ex* queue_pair, std::size_t count, const ibv_sge* list) {
  for (std::size_t i = 0; i < count; ++i) of(queue_pair).add_piece(list[i]);
}
void set_inline_data(ibv_qp_ex* queue_pair, void* octets, std::size_t count) {
  of(queue_pair).add_inline(octets, count);
}
void set_inline_data_list(ibv_qp_ex* queue_pair, std::size_t count, const ibv_data_buf* list) {
  for (std::size_t i = 0; i < count; ++i) of(queue_pair).add_inline(list[i].addr, list[i].length);
}

}  // namespace

void set_builders(ibv_qp_ex& queue_pair) {
  queue_pair.wr_start = start;
  queue_pair.wr_complete = complete;
  queue_pair.wr_abort = abort_all;
  queue_pair.wr_send = send;
  queue_pair.wr_send_inv = send_inv;
  queue_pair.wr_local_inv = local_inv;
  queue_pair.wr_rdma_write = rdma_write;
  queue_pair.wr_rdma_write_imm = rdma_write_imm;
  queue_pair.wr_rdma_read = rdma_read;
  queue_pair.wr_set_sge = set_sge;
  queue_pair.wr_set_sge_list = set_sge_list;
  queue_pair.wr_set_inline_data = set_inline_data;
  queue_pair.wr_set_inline_data_list = set_inline_data_list;
}

}  // namespace verbs
