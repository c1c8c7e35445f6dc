// The calls of both libraries as programs see them, within one process over the loopback interface.
#include "tests/verbs/calls_fixture.hpp"

namespace {
using namespace calls;

TEST_F(Calls, carry_private_data_and_depths_with_a_request_and_its_answer) {
  listen();
  ask("question");
  const Event request = next_event(channel);
  ASSERT_EQ(request.type, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(request.data, "question");
  EXPECT_EQ(request.parameters.responder_resources, 3);
  EXPECT_EQ(request.parameters.initiator_depth, 2);
  server.id = request.id;
  EXPECT_STREQ(server.id->verbs->device->name, "iw_lo");
  server.make_queue_pair();
  rdma_conn_param answer{};
  answer.private_data = "answer";
  answer.private_data_len = 6;
  answer.responder_resources = answer.initiator_depth = 1;
  ASSERT_EQ(rdma_accept(server.id, &answer), 0);
  std::string told;
  for (int i = 0; i < 2; ++i) told += next_event(channel).data;
  EXPECT_NE(told.find("answer"), std::string::npos);
}

TEST_F(Calls, tell_a_reject_with_its_private_data) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ASSERT_EQ(rdma_reject(server.id, "no", 2), 0);
  const Event told = next_event(channel);
  EXPECT_EQ(told.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(told.status, -ECONNREFUSED);
  EXPECT_EQ(told.data, "no");
}

// Rulings I-14, I-18: IFT's indications carry no private data and no depths. A call with some fails, and may be
// repeated without; both ends have the configured depths.
TEST_F(Calls, refuse_private_data_over_ift) {
  listen(4, ports.ift);
  ASSERT_EQ(rdma_create_id(channel, &client.id, nullptr, RDMA_PS_TCP), 0);
  resolve(client.id);
  client.make_queue_pair();
  rdma_conn_param parameters{};
  parameters.private_data = "data";
  parameters.private_data_len = 4;
  EXPECT_EQ(rdma_connect(client.id, &parameters), -1);
  EXPECT_EQ(errno, EINVAL);
  parameters.private_data_len = 0;
  parameters.initiator_depth = parameters.responder_resources = 1;
  ASSERT_EQ(rdma_connect(client.id, &parameters), 0) << std::strerror(errno);
  const Event request = next_event(channel);
  ASSERT_EQ(request.type, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(request.parameters.responder_resources, 64);
  EXPECT_EQ(request.parameters.initiator_depth, 64);
  server.id = request.id;
  server.make_queue_pair();
  EXPECT_EQ(rdma_reject(server.id, "no", 2), -1);
  EXPECT_EQ(errno, EINVAL);
  parameters.private_data_len = 4;
  EXPECT_EQ(rdma_accept(server.id, &parameters), -1);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(server.receive(1), 0);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0) << std::strerror(errno);
  EXPECT_EQ(next_event(channel).type, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(next_event(channel).type, RDMA_CM_EVENT_ESTABLISHED);
  std::strcpy(client.octets.data(), "over IFT");
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
  EXPECT_STREQ(server.octets.data(), "over IFT");
}

// IFT 4: who does not agree closes; the ends cannot tell why (ruling I-18).
TEST_F(Calls, tell_a_reject_over_ift) {
  listen(4, ports.ift);
  ask();
  server.id = next_event(channel).id;
  ASSERT_EQ(rdma_reject(server.id, nullptr, 0), 0);
  const Event told = next_event(channel);
  EXPECT_EQ(told.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(told.status, -ECONNRESET);
}

// rdma_create_qp(3): completion queues that nobody gave have channels, and the id as their context, by which
// rdma_get_recv_comp(3) and rdma_get_send_comp(3) know them.
TEST_F(Calls, have_queues_of_their_id) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ibv_qp_init_attr pair{};
  pair.cap = {8, 8, 1, 1, 64};
  pair.qp_type = IBV_QPT_RC;
  ASSERT_EQ(rdma_create_qp(server.id, server.id->pd, &pair), 0) << std::strerror(errno);
  EXPECT_EQ(server.id->recv_cq->cq_context, server.id);
  EXPECT_EQ(server.id->send_cq->cq_context, server.id);
  server.region = ibv_reg_mr(server.id->pd, server.octets.data(), server.octets.size(), IBV_ACCESS_LOCAL_WRITE);
  ASSERT_EQ(rdma_post_recv(server.id, &server, server.octets.data(), 64, server.region), 0);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
  next_event(channel);
  next_event(channel);
  ibv_send_wr empty{}, *bad = nullptr;
  empty.opcode = IBV_WR_SEND;
  ASSERT_EQ(ibv_post_send(client.id->qp, &empty, &bad), 0);
  ibv_wc done{};
  EXPECT_EQ(rdma_get_recv_comp(server.id, &done), 1);
  EXPECT_EQ(done.wr_id, reinterpret_cast<std::uintptr_t>(&server));
  ASSERT_EQ(rdma_post_send(server.id, &server, server.octets.data(), 0, server.region, IBV_SEND_SIGNALED), 0);
  EXPECT_EQ(rdma_get_send_comp(server.id, &done), 1);
  EXPECT_EQ(done.opcode, IBV_WC_SEND);
}

// RFC 7306 6: RDMA Write with Immediate is a Write, and Immediate Data behind it: one completion here, one there.
TEST_F(Calls, write_with_immediate_data) {
  connect(ports.immediate_data);
  std::strcpy(client.octets.data(), "written");
  ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE_WITH_IMM, &server), 0);
  const ibv_wc sent = client.completion(), received = server.completion();
  EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(sent.wr_id, 7U);
  EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received.wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(received.imm_data, htonl(0xCAFE0001));
  EXPECT_EQ(received.byte_len, 64U);
  EXPECT_EQ(received.wr_id, 1U);
  EXPECT_STREQ(server.octets.data(), "written");
  EXPECT_EQ(client.post(IBV_WR_SEND_WITH_IMM), EOPNOTSUPP);
  ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), 0);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);  // and nothing else before it
  const std::uint32_t right = std::exchange(client.region->lkey, 0x12345678);
  ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE_WITH_IMM, &server), 0);
  EXPECT_EQ(client.completion().status, IBV_WC_LOC_PROT_ERR);  // of both halves the first one's
  client.region->lkey = right;
}

// Nothing negotiates it (ruling M-10): by default there is none.
TEST_F(Calls, have_no_immediate_data_unless_configured) {
  connect();
  EXPECT_EQ(client.post(IBV_WR_RDMA_WRITE_WITH_IMM, &server), EOPNOTSUPP);
}

// WARP 15: RDMA Writes complete nothing at the target; the Send behind them does, and says by its Solicited Event that
// it is to be told. 100 Writes and a Send: one completion, one event.
TEST_F(Calls, tell_one_event_for_many_writes_and_a_send) {
  server.has_channel = true;
  connect();
  ASSERT_EQ(server.receive(2), 0);
  ASSERT_EQ(ibv_req_notify_cq(server.queue, 1), 0);
  pollfd waits{server.events->fd, POLLIN, 0};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), 0);
    ASSERT_EQ(client.completion().status, IBV_WC_SUCCESS);
  }
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(server.completion().wr_id, 1U);
  EXPECT_EQ(::poll(&waits, 1, 0), 0) << "a Send without Solicited Event, or a Write, is told";
  ASSERT_EQ(client.post(IBV_WR_SEND, nullptr, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), 0);
  ASSERT_EQ(::poll(&waits, 1, 60'000), 1);
  ibv_cq* told = nullptr;
  void* context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(server.events, &told, &context), 0);
  EXPECT_EQ(told, server.queue);
  ibv_ack_cq_events(told, 1);
  EXPECT_EQ(server.completion().wr_id, 2U);
  ibv_wc none{};
  EXPECT_EQ(ibv_poll_cq(server.queue, 1, &none), 0);
  EXPECT_EQ(::poll(&waits, 1, 0), 0);
}

// WARP 20: what the other end needs of a region is told by its registration, and goes there by a message of the ULP.
TEST_F(Calls, send_write_and_read) {
  connect();
  std::strcpy(client.octets.data(), "sent");
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(client.completion().opcode, IBV_WC_SEND);
  const ibv_wc received = server.completion();
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.byte_len, 64U);
  EXPECT_EQ(received.wr_id, 1U);
  EXPECT_STREQ(server.octets.data(), "sent");
  std::strcpy(server.octets.data(), "read");
  ASSERT_EQ(client.post(IBV_WR_RDMA_READ, &server), 0);
  EXPECT_EQ(client.completion().opcode, IBV_WC_RDMA_READ);
  EXPECT_STREQ(client.octets.data(), "read");
  std::strcpy(client.octets.data(), "written");
  ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), 0);
  ASSERT_EQ(client.post(IBV_WR_RDMA_READ, &server), 0);  // it is there when this is complete
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  EXPECT_STREQ(server.octets.data(), "written");
}

TEST_F(Calls, copy_inline_data_at_the_post) {
  connect();
  std::strcpy(client.octets.data(), "inline");
  ASSERT_EQ(client.post(IBV_WR_SEND, nullptr, IBV_SEND_SIGNALED | IBV_SEND_INLINE), 0);
  std::strcpy(client.octets.data(), "changed");
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
  EXPECT_STREQ(server.octets.data(), "inline");
}

// ibv_post_send(3): the queue is full until completions are polled.
TEST_F(Calls, have_room_for_as_many_requests_as_were_asked_for) {
  connect();
  for (int i = 0; i < 8; ++i) ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), 0);
  EXPECT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), ENOMEM);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), 0);
}

// RFC 5040 7.2, 8.1.1: nothing is written without a valid STag; the stream ends.
TEST_F(Calls, end_the_connection_when_a_key_is_wrong) {
  connect();
  server.region->rkey ^= 0x100;
  ASSERT_EQ(client.post(IBV_WR_RDMA_WRITE, &server), 0);
  EXPECT_EQ(next_event(channel).type, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(server.completion().status, IBV_WC_WR_FLUSH_ERR);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(server.id->verbs, &event), 0);
  EXPECT_TRUE(event.event_type == IBV_EVENT_QP_FATAL || event.event_type == IBV_EVENT_QP_ACCESS_ERR);
  ibv_ack_async_event(&event);
  server.region->rkey ^= 0x100;
}

TEST_F(Calls, refuse_a_local_key_that_is_wrong) {
  connect();
  const std::uint32_t right = std::exchange(client.region->lkey, 0x12345678);
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(client.completion().status, IBV_WC_LOC_PROT_ERR);
  client.region->lkey = right;
}

TEST_F(Calls, flush_what_is_posted_when_the_other_end_disconnects) {
  connect();
  ASSERT_EQ(rdma_disconnect(client.id), 0);
  EXPECT_EQ(next_event(channel).type, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(next_event(channel).type, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(server.completion().status, IBV_WC_WR_FLUSH_ERR);
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(server.id->qp, &attributes, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_ERR);
  ASSERT_EQ(server.receive(2), 0);
  EXPECT_EQ(server.completion().wr_id, 2U);
}

TEST_F(Calls, fail_with_the_errno_of_what_is_not_there) {
  listen();
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_UDP), -1);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
  ibv_qp_init_attr wanted{};
  ibv_cq* const queue = ibv_create_cq(listener->verbs, 1, nullptr, nullptr, 0);
  wanted.send_cq = wanted.recv_cq = queue;
  wanted.qp_type = IBV_QPT_UD;
  EXPECT_EQ(ibv_create_qp(listener->pd, &wanted), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = 1'000'000;
  EXPECT_EQ(ibv_create_qp(listener->pd, &wanted), nullptr);
  EXPECT_EQ(errno, EINVAL);
  wanted.cap.max_send_wr = 1;
  ibv_qp* const queue_pair = ibv_create_qp(listener->pd, &wanted);
  ASSERT_NE(queue_pair, nullptr);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  EXPECT_EQ(ibv_modify_qp(queue_pair, &attributes, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(ibv_destroy_cq(queue), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(queue_pair), 0);
  EXPECT_EQ(ibv_destroy_cq(queue), 0);
  EXPECT_EQ(ibv_reg_mr(listener->pd, this, 8, IBV_ACCESS_REMOTE_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_mr(listener->pd, nullptr, 4096, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(Calls, refuse_a_port_that_is_taken) {
  listen();
  rdma_cm_id* second = nullptr;
  ASSERT_EQ(rdma_create_id(channel, &second, nullptr, RDMA_PS_TCP), 0);
  sockaddr_in at = loopback(port);
  EXPECT_EQ(rdma_bind_addr(second, generic(at)), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  rdma_destroy_id(second);
}

// What these tests show is shown over the framing that was asked for.
TEST_F(Calls, listen_at_the_port_of_their_framing) {
  listen();
  sockaddr_in at = loopback(port);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(socket, generic(at), sizeof at) == 0, !ports.sctp);
  ::close(socket);
}

TEST_F(Calls, listen_anew_where_an_earlier_connection_goes_on) {
  connect();
  rdma_destroy_id(std::exchange(listener, nullptr));
  ASSERT_EQ(rdma_create_id(channel, &listener, nullptr, RDMA_PS_TCP), 0);
  sockaddr_in at = loopback(port);
  ASSERT_EQ(rdma_bind_addr(listener, generic(at)), 0) << std::strerror(errno);
  ASSERT_EQ(rdma_listen(listener, 4), 0) << std::strerror(errno);
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
}

TEST_F(Calls, go_on_with_a_connection_whose_listener_is_gone) {
  connect();
  rdma_destroy_id(std::exchange(listener, nullptr));
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
  ASSERT_EQ(server.post(IBV_WR_RDMA_WRITE, &client), 0);
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
}

/// What rdma_get_cm_event() returned, and meanwhile 1.
struct EventWaiter {
  explicit EventWaiter(rdma_event_channel* at) {
    EXPECT_EQ(::pthread_create(&thread, nullptr, run, this), 0);
    channel.store(at);
  }
  ~EventWaiter() {
    EXPECT_EQ(::pthread_cancel(thread), 0);
    EXPECT_EQ(::pthread_join(thread, nullptr), 0);
  }
  static void* run(void* self) {
    auto& of = *static_cast<EventWaiter*>(self);
    while (of.channel.load() == nullptr) ::usleep(100);
    rdma_cm_event* event = nullptr;
    of.result = rdma_get_cm_event(of.channel.load(), &event);
    return nullptr;
  }
  std::atomic<rdma_event_channel*> channel{nullptr};
  std::atomic<int> result{1};
  pthread_t thread{};
};

// A program that ends destroys the channel at which a thread of it waits, or comes back: no error becomes its exit
// status.
TEST_F(Calls, wait_for_events_of_a_channel_that_is_destroyed) {
  rdma_event_channel* const gone = rdma_create_event_channel();
  EventWaiter waits(gone);
  ::usleep(20'000);
  rdma_destroy_event_channel(gone);
  EventWaiter comes_late(gone);
  ::usleep(50'000);
  EXPECT_EQ(waits.result, 1);
  EXPECT_EQ(comes_late.result, 1);
}

// Four threads post and poll at one queue pair.
TEST_F(Calls, may_be_made_by_several_threads_at_once) {
  connect();
  std::atomic<int> posted{0}, polled{0}, failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (polled < 2000) {
        if (posted < 2000 && client.post(IBV_WR_RDMA_WRITE, &server) == 0) ++posted;
        ibv_wc wc{};
        if (ibv_poll_cq(client.queue, 1, &wc) != 1) continue;
        ++polled;
        if (wc.status != IBV_WC_SUCCESS) ++failed;
      }
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(failed, 0);
}

// ibv_fork_init(3): the parent's connection outlives a child that ends, and a child can look for devices of its own.
TEST_F(Calls, survive_a_fork) {
  ASSERT_EQ(ibv_fork_init(), 0);
  connect();
  const pid_t child = ::fork();
  if (child == 0) {
    client.octets.assign(client.octets.size(), 'c');  // the child's copy
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    ::_exit(list != nullptr && count > 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::strcpy(client.octets.data(), "parent");
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
  EXPECT_STREQ(server.octets.data(), "parent");
}

}  // namespace
