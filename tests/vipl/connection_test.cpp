// VI-DG 3.3, VI-ARCH 5: connections and the states of a VI.
#include "tests/vipl/programs.hpp"

using namespace support;

constexpr vipl::TimeNs ms = 1'000'000;

TEST(ViplConnection, request_and_accept_tell_each_other_who_they_are) {
  const auto server = [] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi();
    Address local(1, "abc"), remote;
    VIP_VI_ATTRIBUTES found{};
    VIP_CONN_HANDLE connection = nullptr;
    ASSERT_EQ(VipConnectWait(node.nic, &local, VIP_INFINITE, &remote, &found, &connection), VIP_SUCCESS);
    EXPECT_EQ(remote.discriminator(), "from");
    EXPECT_EQ(std::memcmp(remote.bytes + 4, Address(0, "").bytes + 4, 16), 0);
    EXPECT_EQ(found.ReliabilityLevel, VIP_SERVICE_RELIABLE_DELIVERY);
    EXPECT_EQ(found.EnableRdmaWrite, VIP_TRUE);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_SUCCESS);
    EXPECT_EQ(state_of(vi), VIP_STATE_CONNECTED);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_INVALID_PARAMETER);  // used up
    node.rest(10);
    EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);  // the client closed
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  };
  const auto client = [] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    Address local(0, "from"), remote(1, "abc");
    VIP_VI_ATTRIBUTES found{};
    EXPECT_EQ(VipConnectRequest(vi, &local, &remote, 1000, &found), VIP_SUCCESS);
    EXPECT_EQ(found.EnableRdmaRead, VIP_TRUE);
    EXPECT_EQ(state_of(vi), VIP_STATE_CONNECTED);
    EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_STATE);
    EXPECT_EQ(VipConnectRequest(vi, &local, &remote, 1000, &found), VIP_INVALID_STATE);
    VIP_VI_ATTRIBUTES other = attributes();
    EXPECT_EQ(VipSetViAttributes(vi, &other), VIP_INVALID_STATE);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
    EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
  };
  simulate({server, client});
}

TEST(ViplConnection, wait_times_out_exactly) {
  EXPECT_EQ(simulate({[] {
              Node node;
              VIP_CONN_HANDLE connection;
              EXPECT_EQ(node.wait("x", connection, 0), VIP_TIMEOUT);
              EXPECT_EQ(node.wait("x", connection, 1500), VIP_TIMEOUT);
            }}),
            1500 * ms);
}

TEST(ViplConnection, a_week_of_time_outs_takes_no_time) {
  EXPECT_EQ(simulate({[] {
              Node node;
              VIP_VI_HANDLE vi = node.make_vi();
              node.post_receive(vi, node.simple(0, 0, 1));
              VIP_DESCRIPTOR* done;
              EXPECT_EQ(VipRecvWait(vi, week_ms, &done), VIP_TIMEOUT);
            }}),
            static_cast<vipl::TimeNs>(week_ms) * ms);
}

TEST(ViplConnection, request_without_a_waiter_has_no_match_at_once) {
  EXPECT_EQ(simulate({[] {
              Node client, server(1);
              VIP_VI_HANDLE vi = client.make_vi();
              client.post_receive(vi, client.simple(0, 0, 1));
              for (int i = 0; i < 100; ++i) EXPECT_EQ(client.request(vi, 1, "nobody"), VIP_NO_MATCH);
              EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);  // its receives stay posted
              VIP_DESCRIPTOR* done;
              EXPECT_EQ(VipRecvDone(vi, &done), VIP_NOT_DONE);
            }}),
            0);
}

TEST(ViplConnection, request_times_out_while_nobody_decides) {
  const auto server = [] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_CONN_HANDLE connection = nullptr;
    EXPECT_EQ(node.wait("slow", connection), VIP_SUCCESS);
    node.rest(5000);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_TIMEOUT);  // VI-DG 6.7: the client gave up
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  };
  const auto client = [] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(node.request(vi, 1, "slow", 2000), VIP_TIMEOUT);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  };
  simulate({server, client});
}

TEST(ViplConnection, reject_shows_at_the_client) {
  const auto server = [] {
    Node node(1);
    VIP_CONN_HANDLE connection = nullptr;
    EXPECT_EQ(node.wait("door", connection), VIP_SUCCESS);
    EXPECT_EQ(VipConnectReject(connection), VIP_SUCCESS);
    EXPECT_EQ(VipConnectReject(connection), VIP_INVALID_PARAMETER);
  };
  const auto client = [] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(node.request(vi, 1, "door"), VIP_REJECT);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  };
  simulate({server, client});
}

// VI-DG 3.3.2: after an attribute error the request is still there.
TEST(ViplConnection, accept_with_other_attributes_can_be_tried_again) {
  const auto server = [] {
    Node node(1), foreign(2);
    VIP_CONN_HANDLE connection = nullptr;
    ASSERT_EQ(node.wait("pick", connection), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(connection, node.make_vi(VIP_SERVICE_RELIABLE_RECEPTION)),
              VIP_INVALID_RELIABILITY_LEVEL);
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_VI_ATTRIBUTES small = attributes();
    small.MaxTransferSize = 100;
    EXPECT_EQ(VipSetViAttributes(vi, &small), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_INVALID_MTU);
    EXPECT_EQ(VipConnectAccept(connection, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectAccept(connection, foreign.make_vi()), VIP_INVALID_PARAMETER);  // of another device
    VIP_VI_ATTRIBUTES same = attributes();
    EXPECT_EQ(VipSetViAttributes(vi, &same), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_SUCCESS);
    VIP_CONN_HANDLE second = nullptr;
    ASSERT_EQ(node.wait("pick", second), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(second, vi), VIP_INVALID_STATE);
    EXPECT_EQ(VipConnectReject(second), VIP_SUCCESS);
  };
  const auto client = [] {
    Node node;
    EXPECT_EQ(node.request(node.make_vi(), 1, "pick"), VIP_SUCCESS);
    EXPECT_EQ(node.request(node.make_vi(), 1, "pick"), VIP_REJECT);
  };
  simulate({server, client});
}

TEST(ViplConnection, request_to_an_unknown_host_is_not_reachable) {
  const vipl::TimeNs elapsed = simulate({[] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(node.request(vi, 99, "nobody"), VIP_NOT_REACHABLE);
    EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);  // VI-DG 3.3.4, reliable levels
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  }});
  EXPECT_LT(elapsed, 2000 * ms);
}

TEST(ViplConnection, wrong_parameters) {
  simulate({[] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    Address local(0, "a"), remote(1, "b"), foreign(5, "a");
    VIP_VI_ATTRIBUTES found;
    VIP_CONN_HANDLE connection;
    EXPECT_EQ(VipConnectRequest(vi, &local, &remote, 0, &found), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectRequest(vi, &foreign, &remote, 1, &found), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectRequest(vi, nullptr, &remote, 1, &found), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectRequest(vi, &local, nullptr, 1, &found), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectRequest(vi, &local, &remote, 1, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectWait(node.nic, &foreign, 0, &remote, &found, &connection), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectWait(node.nic, &local, 0, &remote, &found, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipConnectWait(vi, &local, 0, &remote, &found, &connection), VIP_INVALID_PARAMETER);
    local.net.DiscriminatorLen = 129;
    EXPECT_EQ(VipConnectWait(node.nic, &local, 0, &remote, &found, &connection), VIP_INVALID_PARAMETER);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  }});
}

TEST(ViplConnection, closing_a_nic_wakes_its_waiters) {
  VIP_NIC_HANDLE shared = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  const auto waiter = [&] {
    Node node(1);
    shared = node.nic;
    vi = node.make_vi();
    VIP_CONN_HANDLE connection = nullptr;
    EXPECT_EQ(node.wait("never", connection), VIP_INVALID_PARAMETER);
    node.nic = nullptr;  // closed below
  };
  const auto receiver = [&] {
    Node node;
    node.rest(1);
    VIP_DESCRIPTOR* done;
    VIP_CQ_HANDLE queue = nullptr;
    VIP_VI_HANDLE found;
    VIP_BOOLEAN receive;
    EXPECT_EQ(VipCreateCQ(shared, 4, &queue), VIP_SUCCESS);
    EXPECT_EQ(VipCQWait(queue, VIP_INFINITE, &found, &receive), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_INVALID_PARAMETER);
    // The abandoned wait takes nobody's request.
    EXPECT_EQ(node.request(node.make_vi(), 1, "never"), VIP_NO_MATCH);
  };
  simulate({waiter, receiver, [&] {
              Node node;
              node.rest(10);
              EXPECT_EQ(VipCloseNic(shared), VIP_SUCCESS);
            }});
}

TEST(ViplConnection, two_nics_of_one_device_connect) {
  simulate({[] {
              Node node;
              node.accept(node.make_vi());
              node.rest(5);
            },
            [] {
              Node node;
              VIP_VI_HANDLE vi = node.make_vi();
              node.connect(vi, 0);
              EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
            }});
}
