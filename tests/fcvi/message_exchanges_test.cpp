// Which connection an Exchange of a peer brings messages to (FC-VI 8.4.2 a: its ABTS goes there).
#include "fcvi/message_exchanges.hpp"

#include <gtest/gtest.h>

namespace {
constexpr wire::FcId peer{0x010203}, other{0x010204};
constexpr wire::OxId ox_id{7};

TEST(MessageExchanges, exchange_is_found_by_its_originator_and_id) {
  fcvi::MessageExchanges exchanges;
  exchanges.opened(peer, ox_id, {100});
  EXPECT_EQ(exchanges.find(peer, ox_id), wire::FcviHandle{100});
  EXPECT_EQ(exchanges.find(other, ox_id), std::nullopt);
  EXPECT_EQ(exchanges.find(peer, {8}), std::nullopt);
}

TEST(MessageExchanges, exchange_used_again_names_the_latest_connection) {
  fcvi::MessageExchanges exchanges;
  exchanges.opened(peer, ox_id, {100});
  exchanges.opened(peer, ox_id, {101});
  EXPECT_EQ(exchanges.find(peer, ox_id), wire::FcviHandle{101});
}

// FC-VI 7.7.1: a logout ends the peer's exchanges, and nobody else's.
TEST(MessageExchanges, logout_forgets_those_of_that_port) {
  fcvi::MessageExchanges exchanges;
  exchanges.opened(peer, ox_id, {100});
  exchanges.opened(other, ox_id, {101});
  exchanges.logged_out(peer);
  EXPECT_EQ(exchanges.find(peer, ox_id), std::nullopt);
  EXPECT_EQ(exchanges.find(other, ox_id), wire::FcviHandle{101});
}

}  // namespace
