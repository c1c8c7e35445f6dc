// Shared receive queues, by the calls of both libraries as programs see them.
#include "tests/verbs/calls_fixture.hpp"

namespace {
using namespace calls;

// ibv_create_srq(3), ibv_modify_srq(3): Sends take the oldest buffers; below the limit an event comes, once; at the end
// of its last queue pair the queue has what was not taken.
TEST_F(Calls, share_receives_between_queue_pairs) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(server.id->verbs, &device), 0);
  EXPECT_GT(device.max_srq, 0);
  EXPECT_GT(device.max_srq_wr, 0);
  ibv_srq_init_attr wanted{};
  wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ibv_srq* const shared = ibv_create_srq(server.id->pd, &wanted);
  ASSERT_NE(shared, nullptr) << std::strerror(errno);
  server.make_queue_pair(shared);
  EXPECT_EQ(server.receive(1), EINVAL);  // it has no queue of its own
  EXPECT_EQ(ibv_destroy_srq(shared), EBUSY);
  ibv_sge sge = server.piece();
  ibv_recv_wr *bad = nullptr, last{3, nullptr, &sge, 1}, second{2, &last, &sge, 1}, first{1, &second, &sge, 1};
  ASSERT_EQ(ibv_post_srq_recv(shared, &first, &bad), 0);
  ibv_srq_attr attributes{.max_wr = 0, .max_sge = 0, .srq_limit = 5};
  EXPECT_EQ(ibv_modify_srq(shared, &attributes, IBV_SRQ_LIMIT), EINVAL);  // beyond max_wr
  attributes.srq_limit = 2;
  ASSERT_EQ(ibv_modify_srq(shared, &attributes, IBV_SRQ_LIMIT), 0);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
  next_event(channel);
  next_event(channel);
  for (std::uint64_t number = 1; number <= 2; ++number) {
    ASSERT_EQ(client.post(IBV_WR_SEND), 0);
    const ibv_wc wc = server.completion();
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.wr_id, number);
    EXPECT_EQ(wc.qp_num, server.id->qp->qp_num);
  }
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(server.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(event.element.srq, shared);
  ibv_ack_async_event(&event);
  ASSERT_EQ(ibv_query_srq(shared, &attributes), 0);
  EXPECT_EQ(attributes.srq_limit, 0U);
  EXPECT_EQ(attributes.max_wr, 4U);
  ASSERT_EQ(rdma_disconnect(client.id), 0);
  ASSERT_EQ(ibv_get_async_event(server.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  ibv_ack_async_event(&event);
  rdma_destroy_qp(server.id);
  EXPECT_EQ(ibv_destroy_srq(shared), 0);
}

// One queue for two queue pairs: who sends first gets the oldest buffer.
TEST_F(Calls, give_shared_receives_to_whoever_sends) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ibv_srq_init_attr wanted{};
  wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ibv_srq* const shared = ibv_create_srq(server.id->pd, &wanted);
  server.make_queue_pair(shared);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
  next_event(channel);
  next_event(channel);
  End second_client, second_server;
  ask({}, second_client);
  second_server.id = next_event(channel).id;
  second_server.make_queue_pair(shared);
  ASSERT_EQ(rdma_accept(second_server.id, nullptr), 0);
  next_event(channel);
  next_event(channel);
  ibv_sge sge = server.piece();
  ibv_recv_wr *bad = nullptr, last{2, nullptr, &sge, 1}, first{1, &last, &sge, 1};
  ASSERT_EQ(ibv_post_srq_recv(shared, &first, &bad), 0);
  ASSERT_EQ(second_client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(second_server.completion().wr_id, 1U);
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(server.completion().wr_id, 2U);
  for (rdma_cm_id* const id : {server.id, second_server.id}) rdma_destroy_qp(id);
  EXPECT_EQ(ibv_destroy_srq(shared), 0);
}

// RFC 5041 7.1, ruling M-8: a Send for which a shared queue has no buffer ends the stream.
TEST_F(Calls, end_the_connection_when_a_shared_queue_is_empty) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ibv_srq_init_attr wanted{};
  wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ASSERT_EQ(rdma_create_srq(server.id, nullptr, &wanted), 0) << std::strerror(errno);
  server.make_queue_pair(server.id->srq);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
  next_event(channel);
  next_event(channel);
  ASSERT_EQ(client.post(IBV_WR_SEND), 0);
  EXPECT_EQ(next_event(channel).type, RDMA_CM_EVENT_DISCONNECTED);
  rdma_destroy_qp(server.id);
  rdma_destroy_srq(server.id);
  EXPECT_EQ(server.id->srq, nullptr);
}

// rdma_create_srq(3), ibv_create_qp(3): a queue pair has the id's own queue without being told; what the program says
// of its receives is ignored.
TEST_F(Calls, have_the_shared_queue_of_their_id) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ibv_pd* const domain = server.id->pd;
  ibv_srq_init_attr wanted{};
  wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ASSERT_EQ(rdma_create_srq(server.id, nullptr, &wanted), 0) << std::strerror(errno);
  ibv_cq* const queue = ibv_create_cq(server.id->verbs, 8, nullptr, nullptr, 0);
  ibv_qp_init_attr pair{};
  pair.send_cq = pair.recv_cq = queue;
  pair.cap = {8, 1'000'000, 2, 1'000, 64};
  pair.qp_type = IBV_QPT_RC;
  ASSERT_EQ(rdma_create_qp(server.id, domain, &pair), 0) << std::strerror(errno);
  EXPECT_EQ(server.id->qp->srq, server.id->srq);
  server.region = ibv_reg_mr(domain, server.octets.data(), server.octets.size(), IBV_ACCESS_LOCAL_WRITE);
  ASSERT_EQ(rdma_post_recv(server.id, nullptr, server.octets.data(), 64, server.region), 0);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
  next_event(channel);
  next_event(channel);
  ibv_send_wr empty{}, *bad = nullptr;
  empty.opcode = IBV_WR_SEND;
  ASSERT_EQ(ibv_post_send(client.id->qp, &empty, &bad), 0);
  server.queue = queue;
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
  rdma_destroy_qp(server.id);
  rdma_destroy_srq(server.id);
}

// ibv_create_srq(3): the event comes for a queue pair that was never connected, too; once.
TEST_F(Calls, tell_the_last_receive_of_a_queue_pair_that_was_never_connected) {
  listen();
  ask();
  server.id = next_event(channel).id;
  ibv_srq_init_attr wanted{};
  wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ibv_srq* const shared = ibv_create_srq(server.id->pd, &wanted);
  server.make_queue_pair(shared);
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(server.id->qp, &error, IBV_QP_STATE), 0);
  ASSERT_EQ(ibv_modify_qp(server.id->qp, &error, IBV_QP_STATE), 0);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(server.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  ibv_ack_async_event(&event);
  pollfd more{server.id->verbs->async_fd, POLLIN, 0};
  EXPECT_EQ(::poll(&more, 1, 0), 0);
  rdma_destroy_qp(server.id);
  EXPECT_EQ(ibv_destroy_srq(shared), 0);
}

}  // namespace
