// Who has a port, by /proc/net/tcp, and what is said of it.
#include "tools/vitcp_portd/port_owner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace vitcp_portd {
namespace {
using testing::HasSubstr;

// 8474 is 211Ah. Of user 1000 one that listens at 127.0.0.1, of user 7 one at all addresses, of user 8 a connection.
constexpr std::string_view v4 =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:211A 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0\n"
    "   1: 00000000:211B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 1 1 0 100 0 0 10 0\n"
    "   2: 0100007F:211C 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     8        0 1 1 0 100 0 0 10 0\n"
    "garbage\n";
constexpr std::string_view v6 =
    "   0: 00000000000000000000000001000000:211A 00000000000000000000000000000000:0000 0A 00000000:00000000 "
    "00:00000000 "
    "00000000  1001        0 1 1 0 100 0 0 10 0\n"
    "   1: 00000000000000000000000000000000:211B 00000000000000000000000000000000:0000 0A 00000000:00000000 "
    "00:00000000 "
    "00000000  1002        0 1 1 0 100 0 0 10 0\n";

std::optional<unsigned> owner(std::string_view table, const char* address) {
  return owner_in(table, *streams::address_from_string(address));
}

TEST(PortOwnerTest, same_address_or_all_of_them) {
  EXPECT_EQ(owner(v4, "127.0.0.1:8474"), 1000U);
  EXPECT_EQ(owner(v4, "0.0.0.0:8474"), 1000U);
  EXPECT_EQ(owner(v4, "[::]:8474"), 1000U);
  EXPECT_EQ(owner(v4, "10.0.0.1:8474"), std::nullopt);
  EXPECT_EQ(owner(v4, "10.0.0.1:8475"), 7U);
  EXPECT_EQ(owner(v6, "[::1]:8474"), 1001U);
  EXPECT_EQ(owner(v6, "[fd00::1]:8474"), std::nullopt);
  EXPECT_EQ(owner(v6, "10.0.0.1:8475"), 1002U);
}

TEST(PortOwnerTest, connections_and_garbage_own_nothing) {
  EXPECT_EQ(owner(v4, "127.0.0.1:8476"), std::nullopt);
  EXPECT_EQ(owner("", "127.0.0.1:8474"), std::nullopt);
  EXPECT_EQ(owner("0: zz:211A 0 0A 0 0 0 5\n1: 0100007F:211A\n", "127.0.0.1:8474"), std::nullopt);
}

TEST(PortOwnerTest, trouble_says_where_who_and_what_to_do) {
  const streams::Address at = *streams::address_from_string("127.0.0.1:8474");
  const std::string other = listen_trouble(at, EADDRINUSE, 54'321, std::nullopt);
  EXPECT_THAT(other, HasSubstr("cannot listen at 127.0.0.1:8474"));
  EXPECT_THAT(other, HasSubstr("in use by a program of user 54321"));
  EXPECT_THAT(other, HasSubstr("give this NIC another port"));
  EXPECT_THAT(listen_trouble(at, EADDRINUSE, ::geteuid(), std::nullopt), HasSubstr("another program of yours"));
  EXPECT_THAT(listen_trouble(at, EADDRINUSE, std::nullopt, std::nullopt), HasSubstr("in use by another program"));
  EXPECT_THAT(listen_trouble(at, EADDRINUSE, ::geteuid(), streams::address_from_string("[::]:8474")),
              HasSubstr("your own vitcp-portd has the port at [::]:8474"));
  EXPECT_THAT(listen_trouble(at, EADDRNOTAVAIL, std::nullopt, std::nullopt), HasSubstr("no interface of this host"));
  EXPECT_THAT(listen_trouble(at, EACCES, std::nullopt, std::nullopt), HasSubstr("below 1024"));
}

}  // namespace
}  // namespace vitcp_portd
