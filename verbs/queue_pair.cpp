#include "verbs/queue_pair.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "verbs/connection.hpp"
#include "verbs/pieces.hpp"

namespace verbs {
using iwarp::Operation;
using iwarp::Status;

namespace {

boost::system::error_code error_code(int error) { return {error, boost::system::system_category()}; }

int judge(const ibv_qp_init_attr& wanted, const Configuration& configuration) {
  if (wanted.qp_type != IBV_QPT_RC) return EOPNOTSUPP;
  if (wanted.send_cq == nullptr || wanted.recv_cq == nullptr) return EINVAL;
  const ibv_qp_cap& cap = wanted.cap;
  const bool fits = cap.max_send_wr <= configuration.depth && cap.max_recv_wr <= configuration.depth &&
                    cap.max_send_sge <= Limits::sges && cap.max_recv_sge <= Limits::sges &&
                    cap.max_inline_data <= Limits::inline_octets;
  return fits ? 0 : EINVAL;
}

/// Of a queue pair with a shared receive queue what the program says of receives is ignored (ibv_create_qp(3)).
QueuePairConfig without_receives(QueuePairConfig config) {
  config.attributes.cap.max_recv_wr = config.attributes.cap.max_recv_sge = 0;
  return config;
}

/// Nothing: what iWARP does not have.
std::optional<Operation> operation_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_INV: return Operation::send;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: return Operation::rdma_write;  // Immediate Data is a message of its own behind it
    case IBV_WR_RDMA_READ: return Operation::rdma_read;
    case IBV_WR_LOCAL_INV: return Operation::local_invalidate;
    case IBV_WR_SEND_WITH_IMM:  // it would take two receives (RFC 7306 6.3)
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_BIND_MW:
    case IBV_WR_TSO:
    case IBV_WR_DRIVER1: break;
    default: break;  // a number that is none
  }
  return std::nullopt;
}

ibv_wc_opcode opcode_of(Operation operation) {
  switch (operation) {
    case Operation::send: return IBV_WC_SEND;
    case Operation::rdma_write: return IBV_WC_RDMA_WRITE;
    case Operation::rdma_read: return IBV_WC_RDMA_READ;
    case Operation::local_invalidate: return IBV_WC_LOCAL_INV;
    case Operation::immediate_data: return IBV_WC_RDMA_WRITE;
    case Operation::receive: break;
  }
  return IBV_WC_RECV;
}

ibv_wc_status status_of(Status status) {
  switch (status) {
    case Status::success: return IBV_WC_SUCCESS;
    case Status::flushed: return IBV_WC_WR_FLUSH_ERR;
    case Status::local_protection: return IBV_WC_LOC_PROT_ERR;
    case Status::local_length: return IBV_WC_LOC_LEN_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

bool has_room(std::uint32_t used, std::uint32_t limit) { return used < limit; }

}  // namespace

// --- made, and gone ------------------------------------------------------------------------------------------------

boost::system::result<QueuePair*> QueuePair::make(ProtectionDomain& domain, const QueuePairConfig& config) {
  Device& device = Context::of(domain.context).device();
  ibv_srq* const shared = config.attributes.srq;
  if (shared != nullptr && shared->pd != &domain) return error_code(EINVAL);  // its regions are that domain's
  const QueuePairConfig own = shared == nullptr ? config : without_receives(config);
  if (const int error = judge(own.attributes, device.process().configuration()); error != 0) return error_code(error);
  auto place = Place::take(device.counts().queue_pairs, Device::most_queue_pairs());
  if (!place) return error_code(ENOMEM);
  return new QueuePair(domain, own, std::move(*place));
}

QueuePair::QueuePair(ProtectionDomain& domain, const QueuePairConfig& config, Place place)
    : ibv_qp_ex{}, place_(std::move(place)), domain_(domain),
      send_queue_(CompletionQueue::of(config.attributes.send_cq)),
      receive_queue_(CompletionQueue::of(config.attributes.recv_cq)),
      shared_(config.attributes.srq == nullptr ? nullptr : &SharedReceives::of(config.attributes.srq)),
      limits_(config.attributes.cap), signals_all_(config.attributes.sq_sig_all != 0),
      has_builders_(config.has_builders), sends_(limits_.max_send_wr), receives_(limits_.max_recv_wr),
      inline_memory_(std::size_t{limits_.max_inline_data} * limits_.max_send_wr) {
  if (has_builders_) set_builders(*this);
  qp_base.context = domain.context;
  qp_base.qp_context = config.attributes.qp_context;
  qp_base.pd = &domain;
  qp_base.send_cq = config.attributes.send_cq;
  qp_base.recv_cq = config.attributes.recv_cq;
  qp_base.srq = config.attributes.srq;
  qp_base.qp_type = IBV_QPT_RC;
  qp_base.state = IBV_QPS_RESET;
  Context& context = Context::of(domain.context);
  const runtime::CoreSection section(context.host());
  qp_base.qp_num = qp_base.handle = context.device().process().add(*this);
  if (!inline_memory_.empty()) inline_stag_ = context.host().memory().add(domain.number(), inline_memory_, 0, {});
  domain_.add_user();
  send_queue_.add_user();
  receive_queue_.add_user();
  if (shared_ != nullptr) shared_->add_user();
}

QueuePair::~QueuePair() {
  Context& context = Context::of(domain_.context);
  {
    const runtime::CoreSection section(context.host());
    if (connection_ != nullptr) connection_->queue_pair_gone();
    context.device().process().remove(qp_base.qp_num);
    if (inline_stag_) context.host().memory().remove(*inline_stag_);
    context.events().remove_if([this](const AsyncEvent& one) { return one.source == &events_; });
  }
  send_queue_.forget(this);
  receive_queue_.forget(this);
  events_.wait_for_all();
  domain_.remove_user();
  send_queue_.remove_user();
  receive_queue_.remove_user();
  if (shared_ != nullptr) shared_->remove_user();
}

// --- sends ---------------------------------------------------------------------------------------------------------

int QueuePair::post_send(ibv_send_wr* request, ibv_send_wr** bad) {
  const runtime::CoreSection section(Context::of(qp_base.context).host());
  for (; request != nullptr; request = request->next)
    if (const int error = post_one(*request); error != 0) {
      *bad = request;
      return error;
    }
  return 0;
}

int QueuePair::post_one(const ibv_send_wr& request) {
  const auto operation = operation_of(request.opcode);
  const bool with_immediate = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (!operation || (with_immediate && !has_immediate_data_)) return EOPNOTSUPP;
  if (state() != IBV_QPS_RTS && state() != IBV_QPS_ERR) return EINVAL;
  if (request.num_sge < 0 || request.num_sge > static_cast<int>(std::max(limits_.max_send_sge, 1U))) return EINVAL;
  if (*operation == Operation::rdma_read && request.num_sge > Limits::sges_of_read) return EINVAL;
  if (!has_room(sends_used_, limits_.max_send_wr)) return ENOMEM;
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0 && *operation != Operation::rdma_read;
  iwarp::SendRequest send{.operation = *operation,
                          .solicited_event = !with_immediate && (request.send_flags & IBV_SEND_SOLICITED) != 0,
                          .fence = (request.send_flags & IBV_SEND_FENCE) != 0};
  if (!is_inline) send.pieces = pieces_of(request.sg_list, request.num_sge);
  if (is_inline) {
    const auto octets = iwarp::octets_of(pieces_of(request.sg_list, request.num_sge));
    if (octets > limits_.max_inline_data) return EINVAL;
    if (octets != 0) send.pieces.push_back(copy_inline(request));
  }
  if (request.opcode == IBV_WR_SEND_WITH_INV) send.invalidates = iwarp::STag{request.invalidate_rkey};
  send.remote_stag = {*operation == Operation::local_invalidate ? request.invalidate_rkey : request.wr.rdma.rkey};
  send.remote_offset = request.wr.rdma.remote_addr;
  ++sends_used_;
  PostedSend posted{request.wr_id, opcode_of(*operation), signals_all_ || (request.send_flags & IBV_SEND_SIGNALED) != 0,
                    with_immediate};
  submit(send, posted);
  if (!with_immediate) return 0;
  posted.is_first_half = false;
  submit({.operation = Operation::immediate_data,
          .solicited_event = (request.send_flags & IBV_SEND_SOLICITED) != 0,
          .immediate = be32toh(request.imm_data)},
         posted);
  return 0;
}

/// A part of the memory is free again when its work request's place is.
iwarp::LocalPiece QueuePair::copy_inline(const ibv_send_wr& request) {
  const std::uint64_t begin = std::uint64_t{next_inline_} * limits_.max_inline_data;
  next_inline_ = (next_inline_ + 1) % limits_.max_send_wr;
  std::uint32_t octets = 0;
  for (const ibv_sge& one : std::span(request.sg_list, static_cast<std::size_t>(request.num_sge))) {
    if (one.length != 0)
      std::memcpy(inline_memory_.data() + begin + octets, reinterpret_cast<const void*>(one.addr), one.length);
    octets += one.length;
  }
  return {*inline_stag_, begin, octets};
}

/// What the stream does not take any more is flushed when it is closed, behind what it has.
void QueuePair::submit(const iwarp::SendRequest& request, const PostedSend& posted) {
  sends_.push_back(posted);
  if (connection_ == nullptr) return flush();
  if (state() == IBV_QPS_RTS) connection_->post(request);
}

// --- receives ------------------------------------------------------------------------------------------------------

int QueuePair::post_receive(ibv_recv_wr* request, ibv_recv_wr** bad) {
  const runtime::CoreSection section(Context::of(qp_base.context).host());
  for (; request != nullptr; request = request->next)
    if (const int error = post_one(*request); error != 0) {
      *bad = request;
      return error;
    }
  return 0;
}

int QueuePair::post_one(const ibv_recv_wr& request) {
  if (state() == IBV_QPS_RESET || shared_ != nullptr) return EINVAL;
  if (request.num_sge < 0 || request.num_sge > static_cast<int>(std::max(limits_.max_recv_sge, 1U))) return EINVAL;
  if (!has_room(receives_used_, limits_.max_recv_wr)) return ENOMEM;
  ++receives_used_;
  receives_.push_back({request.wr_id, {request.wr_id, pieces_of(request.sg_list, request.num_sge)}});
  if (connection_ != nullptr)
    connection_->post(receives_.back().request);
  else if (state() == IBV_QPS_ERR)
    flush();
  return 0;
}

// --- completions ---------------------------------------------------------------------------------------------------

ibv_wc QueuePair::completion_of(std::uint64_t id, Status status) const {
  ibv_wc wc{};
  wc.wr_id = id;
  wc.status = status_of(status);
  wc.qp_num = qp_base.qp_num;
  return wc;
}

void QueuePair::completed(const iwarp::Completion& completion) {
  if (completion.status == Status::local_protection || completion.status == Status::local_length)
    set_state(IBV_QPS_ERR);
  completion.operation == Operation::receive ? complete_receive(completion)
                                             : complete_send(completion.status, completion.octets);
}

void QueuePair::complete_send(Status status, std::uint32_t octets) {
  if (sends_.empty()) return;
  const PostedSend posted = sends_.front();
  sends_.pop_front();
  if (posted.is_first_half) {
    if (status != Status::success) first_half_ = status;
    return;
  }
  status = std::exchange(first_half_, std::nullopt).value_or(status);
  ++untold_;
  if (!posted.signaled && status == Status::success) return;
  QueuedCompletion queued{completion_of(posted.id, status), this, &sends_used_, untold_};
  queued.wc.opcode = posted.opcode;
  queued.wc.byte_len = octets;
  untold_ = 0;
  send_queue_.push(queued, status != Status::success);
}

void QueuePair::complete_receive(const iwarp::Completion& completion) {
  if (receives_.empty() && shared_ == nullptr) return;
  QueuedCompletion queued{completion_of(completion.id, completion.status), this};
  if (shared_ == nullptr) {
    queued.wc.wr_id = receives_.front().id;
    queued.used = &receives_used_;
    receives_.pop_front();
  }
  queued.wc.opcode = completion.immediate ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  if (completion.immediate) {
    queued.wc.wc_flags = IBV_WC_WITH_IMM;
    queued.wc.imm_data = htobe32(static_cast<std::uint32_t>(*completion.immediate));
  }
  queued.wc.byte_len = completion.octets;
  if (completion.invalidated) {
    queued.wc.wc_flags = IBV_WC_WITH_INV;
    queued.wc.invalidated_rkey = completion.invalidated->value;
  }
  receive_queue_.push(queued, completion.solicited_event || completion.status != Status::success);
}

void QueuePair::flush() {
  while (!sends_.empty()) complete_send(Status::flushed, 0);
  while (!receives_.empty()) complete_receive({.status = Status::flushed});
}

// --- its connection ------------------------------------------------------------------------------------------------

iwarp::StreamConfig QueuePair::stream_config(bool immediate_data) {
  has_immediate_data_ = immediate_data;
  if (immediate_data) sends_.set_capacity(2 * std::size_t{limits_.max_send_wr});
  return {.domain = domain_.number(),
          .send_depth = std::max(limits_.max_send_wr, 1U) * (immediate_data ? 2 : 1),
          .receive_depth = std::max(limits_.max_recv_wr, 1U),
          .immediate_data = immediate_data};
}

void QueuePair::attach(Connection& connection) {
  connection_ = &connection;
  for (const PostedReceive& one : receives_) connection.post(one.request);
}

void QueuePair::ended() {
  connection_ = nullptr;
  set_state(IBV_QPS_ERR);
  flush();
  if (shared_ != nullptr) push_event(IBV_EVENT_QP_LAST_WQE_REACHED);  // it takes none any more
}

void QueuePair::tell(ibv_event_type event) {
  if (!std::exchange(told_error_, true)) push_event(event);
}

void QueuePair::push_event(ibv_event_type event) {
  ibv_async_event told{};
  told.element.qp = &qp_base;
  told.event_type = event;
  Context::of(qp_base.context).events().push({told, &events_});
}

void QueuePair::fail_unconnected() {
  flush();
  if (shared_ != nullptr && state() != IBV_QPS_ERR) push_event(IBV_EVENT_QP_LAST_WQE_REACHED);
}

int QueuePair::modify(const ibv_qp_attr& attributes, int mask) {
  if ((mask & IBV_QP_STATE) == 0) return 0;  // rights and depths are the connection's
  const runtime::CoreSection section(Context::of(qp_base.context).host());
  switch (attributes.qp_state) {
    case IBV_QPS_RESET:
      if (connection_ != nullptr) return EINVAL;
      flush();
      set_state(IBV_QPS_RESET);
      return 0;
    case IBV_QPS_INIT:
      if (state() != IBV_QPS_RESET && state() != IBV_QPS_INIT) return EINVAL;
      set_state(IBV_QPS_INIT);
      return 0;
    case IBV_QPS_RTR:
    case IBV_QPS_RTS: return connection_ != nullptr ? 0 : EINVAL;
    case IBV_QPS_ERR:
      if (connection_ != nullptr)
        connection_->abort();
      else if (state() != IBV_QPS_RESET)
        fail_unconnected();
      set_state(IBV_QPS_ERR);
      return 0;
    default: return EINVAL;
  }
}

void QueuePair::query(ibv_qp_attr& attributes, ibv_qp_init_attr& init) const {
  attributes = {};
  init = {};
  attributes.qp_state = attributes.cur_qp_state = state();
  attributes.cap = init.cap = limits_;
  attributes.path_mtu = IBV_MTU_1024;
  attributes.port_num = 1;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
  init.qp_context = qp_base.qp_context;
  init.send_cq = qp_base.send_cq;
  init.recv_cq = qp_base.recv_cq;
  init.srq = qp_base.srq;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = signals_all_ ? 1 : 0;
}

}  // namespace verbs
