// Two ends of a connection in one process, by the calls of both libraries as programs see them.
#pragma once
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace calls {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

/// Ports for which the configuration of this process has rules, beside what IWARP_CONFIG named before; written before
/// any call reads it.
struct Ports {
  std::uint16_t ift, immediate_data;
  bool sctp;  // elsewhere
};

/// Another one each time, and none that the system gives to who asks for any.
inline std::uint16_t free_port() {
  static int next = ::getpid();
  for (int tries = 0; tries < 12'000; ++tries) {
    const auto port = static_cast<std::uint16_t>(20'000 + ++next % 12'000);
    sockaddr_in at = loopback(port);
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const bool is_free = ::bind(socket, generic(at), sizeof at) == 0;
    ::close(socket);
    if (is_free) return port;
  }
  ADD_FAILURE() << "no port is free";
  return 0;
}

inline const Ports ports = [] {
  std::ostringstream usual;
  if (const char* const given = std::getenv("IWARP_CONFIG")) usual << std::ifstream(given).rdbuf();
  const Ports made{free_port(), free_port(), usual.str().find("framing: sctp") != std::string::npos};
  static std::string name = "/tmp/calls_test.XXXXXX";
  const int file = ::mkstemp(name.data());
  const std::string text = usual.str() + "rules: [{port: " + std::to_string(made.ift) +
                           ", framing: ift}, {port: " + std::to_string(made.immediate_data) +
                           ", immediate_data: true}]\n";
  EXPECT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(file);
  ::setenv("IWARP_CONFIG", name.c_str(), 1);
  std::atexit([] { ::unlink(name.c_str()); });
  return made;
}();

/// An event, acknowledged; its private data is copied.
struct Event {
  rdma_cm_event_type type{};
  int status = 0;
  rdma_cm_id* id = nullptr;
  std::string data;
  rdma_conn_param parameters{};
};

inline Event next_event(rdma_event_channel* channel) {
  rdma_cm_event* got = nullptr;
  pollfd waits{channel->fd, POLLIN, 0};
  if (::poll(&waits, 1, 60'000) != 1 || rdma_get_cm_event(channel, &got) != 0)
    return {RDMA_CM_EVENT_TIMEWAIT_EXIT, -1, nullptr, {}, {}};
  Event event{got->event, got->status, got->id, {}, got->param.conn};
  if (got->param.conn.private_data != nullptr)
    event.data.assign(static_cast<const char*>(got->param.conn.private_data), got->param.conn.private_data_len);
  rdma_ack_cm_event(got);
  return event;
}

/// One end: an id, its queue pair, queues and a region.
struct End {
  rdma_cm_id* id = nullptr;
  ibv_cq* queue = nullptr;
  std::vector<char> octets = std::vector<char>(4096);
  ibv_mr* region = nullptr;
  bool has_channel = false;
  ibv_comp_channel* events = nullptr;

  void make_queue_pair(ibv_srq* shared = nullptr, std::uint32_t depth = 8) {
    if (has_channel) events = ibv_create_comp_channel(id->verbs);
    queue = ibv_create_cq(id->verbs, 64, nullptr, events, 0);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.cap = {depth, depth, 2, 2, 64};
    wanted.qp_type = IBV_QPT_RC;
    wanted.srq = shared;
    ASSERT_EQ(rdma_create_qp(id, id->pd, &wanted), 0) << std::strerror(errno);
    region = ibv_reg_mr(id->pd, octets.data(), octets.size(),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    ASSERT_NE(region, nullptr);
  }
  ~End() {
    if (id != nullptr && id->qp != nullptr) rdma_destroy_qp(id);
    if (region != nullptr) ibv_dereg_mr(region);
    if (queue != nullptr) ibv_destroy_cq(queue);
    if (events != nullptr) ibv_destroy_comp_channel(events);
    if (id != nullptr) rdma_destroy_id(id);
  }
  ibv_sge piece(std::uint32_t count = 64) const {
    return {reinterpret_cast<std::uintptr_t>(octets.data()), count, region->lkey};
  }
  int receive(std::uint64_t number) {
    ibv_sge sge = piece();
    ibv_recv_wr request{number, nullptr, &sge, 1}, *bad = nullptr;
    return ibv_post_recv(id->qp, &request, &bad);
  }
  int post(ibv_wr_opcode opcode, const End* far = nullptr, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge sge = piece();
    ibv_send_wr request{}, *bad = nullptr;
    request.wr_id = 7;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = flags;
    if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_IMM) request.imm_data = htonl(0xCAFE0001);
    if (far != nullptr) request.wr.rdma = {reinterpret_cast<std::uintptr_t>(far->octets.data()), far->region->rkey};
    return ibv_post_send(id->qp, &request, &bad);
  }
  ibv_wc completion() const {
    ibv_wc wc{};
    for (int i = 0; i < 60'000; ++i) {
      if (ibv_poll_cq(queue, 1, &wc) != 0) return wc;
      if (i > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    wc.status = IBV_WC_GENERAL_ERR;
    return wc;
  }
};

class Calls : public ::testing::Test {
 protected:
  rdma_event_channel* channel = rdma_create_event_channel();
  rdma_cm_id* listener = nullptr;
  End client, server;
  std::uint16_t port = 0;

  ~Calls() override {
    for (End* const end : {&client, &server}) {
      if (end->id != nullptr && end->id->qp != nullptr) rdma_destroy_qp(end->id);
      if (end->id != nullptr) rdma_destroy_id(std::exchange(end->id, nullptr));
    }
    if (listener != nullptr) rdma_destroy_id(listener);
    rdma_destroy_event_channel(channel);
  }
  void listen(int backlog = 4, std::uint16_t wanted = 0) {
    sockaddr_in at = loopback(wanted);
    ASSERT_EQ(rdma_create_id(channel, &listener, nullptr, RDMA_PS_TCP), 0);
    ASSERT_EQ(rdma_bind_addr(listener, generic(at)), 0);
    ASSERT_EQ(rdma_listen(listener, backlog), 0) << std::strerror(errno);
    port = ntohs(rdma_get_src_port(listener));
    ASSERT_NE(port, 0);
  }
  void resolve(rdma_cm_id* id) {
    sockaddr_in to = loopback(port);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, generic(to), 1000), 0);
    ASSERT_EQ(next_event(channel).type, RDMA_CM_EVENT_ADDR_RESOLVED);
    ASSERT_EQ(rdma_resolve_route(id, 1000), 0);
    ASSERT_EQ(next_event(channel).type, RDMA_CM_EVENT_ROUTE_RESOLVED);
  }
  void ask(const std::string& data = {}) { ask(data, client); }
  void ask(const std::string& data, End& end) {
    ASSERT_EQ(rdma_create_id(channel, &end.id, nullptr, RDMA_PS_TCP), 0);
    resolve(end.id);
    end.make_queue_pair();
    rdma_conn_param parameters{};
    parameters.private_data = data.data();
    parameters.private_data_len = static_cast<std::uint8_t>(data.size());
    parameters.initiator_depth = 3;
    parameters.responder_resources = 2;
    ASSERT_EQ(rdma_connect(end.id, &parameters), 0) << std::strerror(errno);
  }
  void connect(std::uint16_t at = 0) {
    listen(4, at);
    ask();
    server.id = next_event(channel).id;
    server.make_queue_pair();
    ASSERT_EQ(server.receive(1), 0);
    ASSERT_EQ(rdma_accept(server.id, nullptr), 0) << std::strerror(errno);
    ASSERT_EQ(next_event(channel).type, RDMA_CM_EVENT_ESTABLISHED);
    ASSERT_EQ(next_event(channel).type, RDMA_CM_EVENT_ESTABLISHED);
  }
};

}  // namespace calls
