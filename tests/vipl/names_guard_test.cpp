// VI-DG 3.9 where something is thrown inside: the program, which is C, gets VIP_ERROR_RESOURCE, and the
// next call works.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>

#include "tests/vipl/programs.hpp"
#include "vipl/api/call.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/names/name_service.hpp"

namespace {
thread_local long until_failure = -1;  // of operator new: so many succeed; negative: all do
}

[[gnu::noinline]] void* operator new(std::size_t size) {  // not inlined: the compiler would take malloc for a mistake
  void* memory = until_failure >= 0 && until_failure-- == 0 ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace support;

namespace {

template <class Thrown>
class ThrowingSource final : public vipl::NameSource {
 public:
  explicit ThrowingSource(Thrown thrown) : thrown_(thrown) {}
  Answer addresses_of(const std::string&, std::vector<wire::IpAddress>&) const override { throw thrown_; }
  Answer name_of(const wire::IpAddress&, std::string&) const override { throw thrown_; }

 private:
  Thrown thrown_;
};

/// From now on the NIC's name service asks a source that throws.
template <class Thrown>
void use_throwing_source(Node& node, Thrown thrown) {
  std::vector<std::unique_ptr<const vipl::NameSource>> sources;
  sources.push_back(std::make_unique<ThrowingSource<Thrown>>(thrown));
  const std::vector own{*wire::IpAddress::from_string("10.0.0.1")};
  vipl::Call call;
  call.find<vipl::NicObject>(node.nic)->name_service() =
      std::make_shared<const vipl::NameService>("host0", own, std::move(sources));
}

VIP_RETURN by_name(Node& node, const char* name) {
  std::string copy(name);
  Address address;
  return VipNSGetHostByName(node.nic, copy.data(), &address, 0);
}

VIP_RETURN by_address(Node& node, Address address) {
  char name[64];
  VIP_ULONG length = sizeof name;
  return VipNSGetHostByAddr(node.nic, &address, name, &length);
}

/// Makes the call until no allocation fails in it, the first time its first one, then its second, ...; how many did.
/// It takes no effect until it succeeds.
int failed_allocations(const std::function<VIP_RETURN()>& call) {
  for (int count = 0;; ++count) {
    until_failure = count;
    const VIP_RETURN result = call();
    const bool failed = until_failure < 0;
    until_failure = -1;
    if (failed)
      EXPECT_EQ(result, VIP_ERROR_RESOURCE) << "allocation " << count;
    else
      EXPECT_EQ(result, VIP_SUCCESS);
    if (!failed) return count;
  }
}

/// No file of the user who runs the test is read.
class ViplNamesGuard : public testing::Test {
 protected:
  ViplNamesGuard() : hosts_(testing::TempDir() + "/fcvi_guard_hosts_" + std::to_string(getpid())) {
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    setenv("XDG_CONFIG_DIRS", "/nonexistent", 1);
    std::ofstream(hosts_) << "10.0.0.9 a-name-that-is-longer-than-a-short-string\n";
  }
  ~ViplNamesGuard() override { ::unlink(hosts_.c_str()); }
  std::string hosts_;
};

TEST_F(ViplNamesGuard, a_source_that_throws) {
  simulate({[] {
    Node node;
    const auto check = [&] {
      EXPECT_EQ(by_name(node, "somebody"), VIP_ERROR_RESOURCE);
      EXPECT_EQ(by_address(node, Address(7, "")), VIP_ERROR_RESOURCE);
      EXPECT_EQ(by_name(node, "localhost"), VIP_SUCCESS);  // asks none
    };
    use_throwing_source(node, std::bad_alloc());
    check();
    use_throwing_source(node, std::runtime_error("no reason"));
    check();
    use_throwing_source(node, 1);  // nothing that comes of std::exception
    check();
  }});
}

TEST_F(ViplNamesGuard, every_allocation_of_each_call_fails) {
  simulate({[this] {
    Node node;
    EXPECT_GT(failed_allocations([&] { return VipNSInit(node.nic, nullptr); }), 0);
    EXPECT_EQ(VipNSShutdown(node.nic), VIP_SUCCESS);
    EXPECT_EQ(VipNSInit(node.nic, hosts_.data()), VIP_SUCCESS);
    char name[] = "a-name-that-is-longer-than-a-short-string", found[64];
    Address address;
    EXPECT_GT(failed_allocations([&] { return VipNSGetHostByName(node.nic, name, &address, 0); }), 0);
    EXPECT_EQ(address.bytes[4 + 15], 9);
    EXPECT_GT(failed_allocations([&] {
                VIP_ULONG length = sizeof found;
                return VipNSGetHostByAddr(node.nic, &address, found, &length);
              }),
              0);
    EXPECT_STREQ(found, name);
  }});
}

}  // namespace
