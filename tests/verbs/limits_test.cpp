// Each limit that ibv_query_device(3) tells is reached, and one more fails with the errno of the call's manual page.
#include <sys/resource.h>

#include <functional>

#include "calls_fixture.hpp"

namespace calls {
namespace {

class LimitsOfTheDevice : public ::testing::Test {
 protected:
  LimitsOfTheDevice() {
    int count = 0;
    ibv_device** const all = ibv_get_device_list(&count);
    EXPECT_GT(count, 0);
    context = ibv_open_device(all[0]);
    ibv_free_device_list(all);
    query();
    domain = ibv_alloc_pd(context);
    queue = ibv_create_cq(context, 1, nullptr, nullptr, 0);
  }
  ~LimitsOfTheDevice() override {
    if (queue != nullptr) ibv_destroy_cq(queue);
    if (domain != nullptr) ibv_dealloc_pd(domain);
    ibv_close_device(context);
  }
  void query() { ASSERT_EQ(ibv_query_device(context, &limits), 0); }
  /// `most` in all are made, of which `there` are there already; the next one fails so; when they are gone one is made.
  template <class Object>
  void expect_limit(int most, int there, const std::function<Object*()>& make, int (*destroy)(Object*)) {
    std::vector<Object*> made;
    for (int i = there; i < most; ++i) made.push_back(make());
    EXPECT_EQ(std::count(made.begin(), made.end(), nullptr), 0);
    errno = 0;
    EXPECT_EQ(make(), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    for (Object* const one : made)
      if (one != nullptr) {
        EXPECT_EQ(destroy(one), 0);
      }
    Object* const again = make();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(destroy(again), 0);
  }
  [[nodiscard]] ibv_qp_init_attr queue_pair_with(std::uint32_t requests, std::uint32_t pieces) const {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap = {requests, requests, pieces, pieces, 0};
    return wanted;
  }
  /// 0, or errno.
  int make_queue_pair(std::uint32_t requests, std::uint32_t pieces) const {
    ibv_qp_init_attr wanted = queue_pair_with(requests, pieces);
    ibv_qp* const made = ibv_create_qp(domain, &wanted);
    return made != nullptr ? ibv_destroy_qp(made) : errno;
  }

  ibv_context* context = nullptr;
  ibv_device_attr limits{};
  ibv_pd* domain = nullptr;
  ibv_cq* queue = nullptr;
};

// ibv_alloc_pd(3), ibv_create_cq(3), ibv_create_srq(3): ENOMEM.
TEST_F(LimitsOfTheDevice, max_pd) {
  expect_limit<ibv_pd>(
      limits.max_pd, 1, [this] { return ibv_alloc_pd(context); }, ibv_dealloc_pd);
}
TEST_F(LimitsOfTheDevice, max_cq) {
  expect_limit<ibv_cq>(
      limits.max_cq, 1, [this] { return ibv_create_cq(context, 1, nullptr, nullptr, 0); }, ibv_destroy_cq);
}
TEST_F(LimitsOfTheDevice, max_srq) {
  ibv_srq_init_attr wanted{};
  wanted.attr = {1, 1, 0};
  const auto make = [&] {
    ibv_srq_init_attr own = wanted;
    return ibv_create_srq(domain, &own);
  };
  expect_limit<ibv_srq>(limits.max_srq, 0, make, ibv_destroy_srq);
}

// ibv_create_qp(3): ENOMEM. The limit is that of open files.
TEST_F(LimitsOfTheDevice, max_qp) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit fewer = usual;
  fewer.rlim_cur = 300;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);
  query();
  EXPECT_EQ(limits.max_qp, 300);
  const auto make = [this] {
    ibv_qp_init_attr wanted = queue_pair_with(1, 1);
    return ibv_create_qp(domain, &wanted);
  };
  expect_limit<ibv_qp>(limits.max_qp, 0, make, ibv_destroy_qp);
  ::setrlimit(RLIMIT_NOFILE, &usual);
}

// ibv_reg_mr(3): ENOMEM.
TEST_F(LimitsOfTheDevice, max_mr) {
  if (std::getenv("FCVI_REGIONS") == nullptr)
    GTEST_SKIP() << "FCVI_REGIONS=1: " << limits.max_mr << " regions, seconds";
  std::vector<char> octets(64);
  const auto make = [&] { return ibv_reg_mr(domain, octets.data(), octets.size(), IBV_ACCESS_LOCAL_WRITE); };
  expect_limit<ibv_mr>(limits.max_mr, 0, make, ibv_dereg_mr);
}

// ibv_create_qp(3), ibv_create_srq(3), ibv_create_cq(3), ibv_resize_cq(3): EINVAL.
TEST_F(LimitsOfTheDevice, max_qp_wr_and_max_sge) {
  const auto requests = static_cast<std::uint32_t>(limits.max_qp_wr);
  const auto pieces = static_cast<std::uint32_t>(limits.max_sge);
  EXPECT_EQ(make_queue_pair(requests, pieces), 0);
  EXPECT_EQ(make_queue_pair(requests + 1, pieces), EINVAL);
  EXPECT_EQ(make_queue_pair(requests, pieces + 1), EINVAL);
}
TEST_F(LimitsOfTheDevice, max_srq_wr_and_max_srq_sge) {
  const auto make = [this](int requests, int pieces) {
    ibv_srq_init_attr wanted{};
    wanted.attr = {static_cast<std::uint32_t>(requests), static_cast<std::uint32_t>(pieces), 0};
    ibv_srq* const made = ibv_create_srq(domain, &wanted);
    return made != nullptr ? ibv_destroy_srq(made) : errno;
  };
  EXPECT_EQ(make(limits.max_srq_wr, limits.max_srq_sge), 0);
  EXPECT_EQ(make(limits.max_srq_wr + 1, limits.max_srq_sge), EINVAL);
  EXPECT_EQ(make(limits.max_srq_wr, limits.max_srq_sge + 1), EINVAL);
}
TEST_F(LimitsOfTheDevice, max_cqe) {
  EXPECT_EQ(ibv_resize_cq(queue, limits.max_cqe), 0);
  EXPECT_EQ(ibv_resize_cq(queue, limits.max_cqe + 1), EINVAL);
  EXPECT_EQ(ibv_create_cq(context, limits.max_cqe + 1, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

// ibv_post_send(3): an RDMA Read has max_sge_rd pieces at most.
TEST_F(Calls, read_into_as_many_pieces_as_the_device_says) {
  connect();
  ibv_device_attr limits{};
  ASSERT_EQ(ibv_query_device(client.id->verbs, &limits), 0);
  std::vector<ibv_sge> pieces(static_cast<std::size_t>(limits.max_sge_rd) + 1, client.piece(8));
  ibv_send_wr request{}, *bad = nullptr;
  request.opcode = IBV_WR_RDMA_READ;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = pieces.data();
  request.wr.rdma = {reinterpret_cast<std::uintptr_t>(server.octets.data()), server.region->rkey};
  request.num_sge = limits.max_sge_rd;
  EXPECT_EQ(ibv_post_send(client.id->qp, &request, &bad), 0);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  request.num_sge = limits.max_sge_rd + 1;
  EXPECT_EQ(ibv_post_send(client.id->qp, &request, &bad), EINVAL);
}

}  // namespace
}  // namespace calls
