// iSCSI over WARP as Appendix B of the draft has it, on RDMAP through rdma_cm and verbs: PDUs by Sends, the data of
// Data-Out and Data-In by RDMA Writes into memory whose STag is the task's tag (rulings W-1, W-11).
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "tools/iscsi_warp/transport.hpp"

namespace iscsi {
namespace {

/// A Send each: all that one command brings (a Data-In or R2T for each burst, a response), and logins.
constexpr std::size_t receives = 2 * command_octets / burst_octets;
constexpr std::size_t message_octets = Pdu::header_octets + first_burst_octets;
constexpr std::string_view protocol = "iSCSI";  // the upper layer, told with the request (B.2)

[[noreturn]] void fail(const std::string& what) { throw ConnectionEnded(what + ": " + std::strerror(errno)); }
void check(int result, const char* what) {
  if (result != 0) fail(what);
}

ibv_qp_init_attr wanted_queues() {
  ibv_qp_init_attr wanted{};
  wanted.cap = {.max_send_wr = 8, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  wanted.qp_type = IBV_QPT_RC;
  wanted.sq_sig_all = 1;
  return wanted;
}

rdma_conn_param parameters() {
  rdma_conn_param wanted{};
  wanted.private_data = protocol.data();
  wanted.private_data_len = protocol.size();
  wanted.responder_resources = wanted.initiator_depth = 1;
  return wanted;
}

class WarpTransport final : public Transport {
 public:
  /// Takes the id, which has its queue pair and is not connected yet.
  explicit WarpTransport(rdma_cm_id* id) : id_(id), octets_((receives + 1) * message_octets) {
    messages_ = rdma_reg_msgs(id_, octets_.data(), octets_.size());
    if (messages_ == nullptr) fail("rdma_reg_msgs");
    for (std::size_t i = 0; i < receives; ++i) post(i);
  }
  ~WarpTransport() override {
    rdma_disconnect(id_);
    for (const auto& [tag, region] : lent_) ibv_dereg_mr(region);
    if (messages_ != nullptr) rdma_dereg_mr(messages_);
    rdma_destroy_ep(id_);
  }
  [[nodiscard]] std::string_view name() const override { return "WARP"; }
  void connect() {
    rdma_conn_param wanted = parameters();
    check(rdma_connect(id_, &wanted), "rdma_connect");
  }
  void accept() {
    rdma_conn_param wanted = parameters();
    check(rdma_accept(id_, &wanted), "rdma_accept");
  }

  void send(const Pdu& pdu) override {
    Pdu sent = pdu;
    sent.set_data_length(pdu.data.size());
    send_message(sent, pdu.data);
  }
  [[nodiscard]] Pdu receive() override {
    ibv_wc done{};
    if (rdma_get_recv_comp(id_, &done) != 1) fail("rdma_get_recv_comp");
    if (done.status != IBV_WC_SUCCESS) throw ConnectionEnded("the connection has ended");
    const std::span<const std::uint8_t> message(slot(done.wr_id), done.byte_len);
    if (message.size() < Pdu::header_octets) throw ConnectionEnded("a message without a header");
    Pdu pdu;
    std::copy_n(message.begin(), Pdu::header_octets, pdu.header.begin());
    pdu.data.assign(message.begin() + Pdu::header_octets, message.end());
    post(done.wr_id);
    return pdu;
  }
  /// Zero-based: the Tagged Offset is the Buffer Offset (B.4).
  [[nodiscard]] std::uint32_t lend(std::span<std::uint8_t> memory) override {
    ibv_mr* const region =
        ibv_reg_mr_iova(id_->pd, memory.data(), memory.size(), 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (region == nullptr) fail("ibv_reg_mr_iova");
    lent_[region->rkey] = region;
    return region->rkey;
  }
  void take_back(std::uint32_t tag) override {
    const auto found = lent_.find(tag);
    if (found == lent_.end()) return;
    ibv_dereg_mr(found->second);
    lent_.erase(found);
  }
  void send_data(Pdu pdu, std::span<const std::uint8_t> data, std::uint32_t tag) override {
    auto* const from = const_cast<std::uint8_t*>(data.data());
    ibv_mr* const region = ibv_reg_mr(id_->pd, from, data.size(), IBV_ACCESS_LOCAL_WRITE);
    if (region == nullptr) fail("ibv_reg_mr");
    try {
      check(
          rdma_post_write(id_, nullptr, from, data.size(), region, IBV_SEND_SIGNALED, pdu.word(at::buffer_offset), tag),
          "rdma_post_write");
      pdu.set_data_length(data.size());
      post_message(pdu, {});
      for (int sent = 0; sent < 2; ++sent) await_sent();
    } catch (...) {
      ibv_dereg_mr(region);
      throw;
    }
    ibv_dereg_mr(region);
  }
  /// RDMAP delivers the Send behind the RDMA Write that it follows (RFC 5040 5.5).
  void place(const Pdu& pdu, std::span<std::uint8_t> memory) override {
    const std::size_t offset = pdu.word(at::buffer_offset);
    if (!pdu.data.empty()) throw ConnectionEnded("a Data PDU with its data in the Send");
    if (offset > memory.size() || pdu.data_length() > memory.size() - offset)
      throw ConnectionEnded("data beyond what was asked for");
  }

 private:
  [[nodiscard]] std::uint8_t* slot(std::size_t number) { return octets_.data() + number * message_octets; }
  void post(std::size_t number) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(slot(number)), message_octets, messages_->lkey};
    ibv_recv_wr request{number, nullptr, &piece, 1}, *bad = nullptr;
    const int error = ibv_post_recv(id_->qp, &request, &bad);
    if (error != 0) errno = error, fail("ibv_post_recv");
  }
  /// Its octets stay until await_sent().
  void post_message(const Pdu& pdu, std::span<const std::uint8_t> data) {
    if (data.size() > first_burst_octets) throw ConnectionEnded("a PDU with more data than a Send may have");
    std::uint8_t* const message = slot(receives);
    std::copy(pdu.header.begin(), pdu.header.end(), message);
    std::copy(data.begin(), data.end(), message + Pdu::header_octets);
    check(rdma_post_send(id_, nullptr, message, Pdu::header_octets + data.size(), messages_, IBV_SEND_SIGNALED),
          "rdma_post_send");
  }
  void send_message(const Pdu& pdu, std::span<const std::uint8_t> data) {
    post_message(pdu, data);
    await_sent();
  }
  void await_sent() {
    ibv_wc done{};
    if (rdma_get_send_comp(id_, &done) != 1) fail("rdma_get_send_comp");
    if (done.status != IBV_WC_SUCCESS) throw ConnectionEnded("the connection has ended");
  }

  rdma_cm_id* const id_;
  std::vector<std::uint8_t> octets_;  // of the messages that come, and of the one that goes
  ibv_mr* messages_ = nullptr;
  std::unordered_map<std::uint32_t, ibv_mr*> lent_;
};

class AddressInfo {
 public:
  AddressInfo(const Address& address, int flags) {
    rdma_addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_port_space = RDMA_PS_TCP;
    char* const host = address.host.empty() ? nullptr : const_cast<char*>(address.host.c_str());
    if (rdma_getaddrinfo(host, const_cast<char*>(address.port.c_str()), &hints, &found_) != 0)
      throw ConnectionEnded(address.host + ": there is no such address");
  }
  ~AddressInfo() { rdma_freeaddrinfo(found_); }
  AddressInfo(const AddressInfo&) = delete;
  AddressInfo& operator=(const AddressInfo&) = delete;
  /// With a queue pair, or one for each request.
  [[nodiscard]] rdma_cm_id* endpoint() const {
    ibv_qp_init_attr wanted = wanted_queues();
    rdma_cm_id* id = nullptr;
    check(rdma_create_ep(&id, found_, nullptr, &wanted), "rdma_create_ep");
    return id;
  }

 private:
  rdma_addrinfo* found_ = nullptr;
};

bool is_for_us(const rdma_cm_id& id) {
  const rdma_conn_param& asked = id.event->param.conn;
  return asked.private_data_len >= protocol.size() &&
         std::memcmp(asked.private_data, protocol.data(), protocol.size()) == 0;
}

class WarpAcceptor final : public Acceptor {
 public:
  explicit WarpAcceptor(rdma_cm_id* id) : id_(id) { check(rdma_listen(id_, 8), "rdma_listen"); }
  ~WarpAcceptor() override { rdma_destroy_ep(id_); }
  [[nodiscard]] std::unique_ptr<Transport> accept() override {
    for (;;) {
      rdma_cm_id* asked = nullptr;
      check(rdma_get_request(id_, &asked), "rdma_get_request");
      if (!is_for_us(*asked)) {
        rdma_reject(asked, nullptr, 0);
        rdma_destroy_ep(asked);
        continue;
      }
      auto transport = std::make_unique<WarpTransport>(asked);
      try {
        transport->accept();
        return transport;
      } catch (const ConnectionEnded&) {  // the initiator has gone meanwhile
      }
    }
  }

 private:
  rdma_cm_id* const id_;
};

}  // namespace

std::unique_ptr<Transport> connect_warp(const Address& to) {
  auto transport = std::make_unique<WarpTransport>(AddressInfo(to, 0).endpoint());
  transport->connect();
  return transport;
}

std::unique_ptr<Acceptor> listen_warp(const Address& at) {
  return std::make_unique<WarpAcceptor>(AddressInfo(at, RAI_PASSIVE).endpoint());
}

}  // namespace iscsi
