// One host address in the cache by itself: what its members say of each other (state_machines/consistency.hpp).
#include "farp/address_entry.hpp"

#include "tests/farp/resolver_fixture.hpp"

namespace farp {
namespace {

/// Asks the entry each time that the entry calls.
struct Owner final : EntryOwner {
  void settled(AddressEntry& told, bool found) override { log += told.is_consistent() ? (found ? 'R' : 'F') : '!'; }
  [[nodiscard]] bool is_own(const wire::IpAddress& address) const override { return address == farp_test::ip(0); }
  void send_farp_request(const wire::IpAddress&) override { log += entry->is_consistent() ? 'b' : '!'; }
  AddressEntry* entry = nullptr;
  std::string log;
};

class AddressEntryTest : public farp_test::FarpTest {
 protected:
  AddressEntryTest() { bring_up(2, farp_alone); }
  const ResolverConfig config{.use_name_server = false, .retries = 1};
  Owner owner;
};

// It holds from one event to the next, in every state.
TEST_F(AddressEntryTest, everyState_holdsBetweenEvents) {
  AddressEntry entry(owner, fabric.port(0), config, farp_test::nobody);
  owner.entry = &entry;
  const auto run = [&](runtime::TimeNs duration) {
    const runtime::TimeNs end = fabric.scheduler.now() + duration;
    while (fabric.scheduler.run_next(end)) EXPECT_TRUE(entry.is_consistent());
  };
  EXPECT_TRUE(entry.is_consistent());
  entry.resolve();
  EXPECT_TRUE(entry.is_consistent());
  EXPECT_FALSE(entry.idle());
  entry.farp_reply_received(id(1));
  EXPECT_TRUE(entry.is_consistent());
  EXPECT_TRUE(entry.maps_to(id(1)));
  entry.resolve();
  entry.invalidate();
  EXPECT_TRUE(entry.is_consistent());
  EXPECT_TRUE(entry.n_port_ids().empty());
  entry.resolve();
  run(100 * runtime::second);
  EXPECT_TRUE(entry.idle());
  EXPECT_EQ(owner.log, "bRRb!F") << "the second broadcast is within a step";
}

// Within a step it does not: the time for the answer is over, and the next one does not run yet.
TEST_F(AddressEntryTest, awaitingAnswer_withinTheStepOfItsTime_doesNotHold) {
  AddressEntry entry(owner, fabric.port(0), config, farp_test::nobody);
  owner.entry = &entry;
  entry.resolve();
  EXPECT_EQ(owner.log, "b") << "nothing runs yet, and it does not wait yet";
  EXPECT_TRUE(fabric.run_until([&] { return owner.log.size() == 2; }));
  EXPECT_EQ(owner.log, "b!");
  EXPECT_TRUE(entry.is_consistent());
}

// An address of our own is found where the broadcast goes out, and told once.
TEST_F(AddressEntryTest, ownAddress_isToldOnce) {
  AddressEntry entry(owner, fabric.port(0), config, farp_test::ip(0));
  owner.entry = &entry;
  entry.resolve();
  EXPECT_EQ(owner.log, "bR");
  EXPECT_TRUE(entry.maps_to(id(0)));
  EXPECT_TRUE(entry.is_consistent());
}

// The resolver asks its entries: it is in the midst of an answer while it tells one.
TEST_F(AddressEntryTest, resolver_whileItTells_doesNotHold) {
  struct Listener final : ResolveListener {
    void resolved(const wire::IpAddress&, std::span<const wire::FcId>) override { held = resolver->is_consistent(); }
    void not_resolved(const wire::IpAddress&) override {}
    Resolver* resolver = nullptr;
    std::optional<bool> held;
  } listener;
  listener.resolver = resolvers.front().get();
  EXPECT_TRUE(resolvers.front()->is_consistent());
  resolvers.front()->resolve(farp_test::ip(1), listener);
  EXPECT_TRUE(resolvers.front()->is_consistent());
  EXPECT_TRUE(fabric.run_until([&] { return listener.held.has_value(); }));
  EXPECT_EQ(listener.held, false);
  EXPECT_TRUE(resolvers.front()->is_consistent());
}

}  // namespace
}  // namespace farp
