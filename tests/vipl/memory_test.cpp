// VI-DG 3.4, 3.7.4, 3.7.5: memory and protection tags.
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "tests/vipl/programs.hpp"
#include "vi/consumer_memory.hpp"
#include "vi/memory.hpp"
#include "vipl/engine/memory_faults.hpp"

using namespace support;

TEST(ViplMemory, register_query_set_and_deregister) {
  simulate({[] {
    Node node;
    std::vector<char> room(100);
    VIP_PROTECTION_HANDLE tag = nullptr;
    ASSERT_EQ(VipCreatePtag(node.nic, &tag), VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES wanted{tag, VIP_TRUE, VIP_FALSE}, found{};
    VIP_MEM_HANDLE first = 0, second = 0;
    EXPECT_EQ(VipRegisterMem(node.nic, room.data() + 1, 33, &wanted, &first), VIP_SUCCESS);
    EXPECT_EQ(VipRegisterMem(node.nic, room.data() + 1, 33, nullptr, &second), VIP_SUCCESS);
    EXPECT_NE(first, second);
    ASSERT_EQ(VipQueryMem(node.nic, room.data() + 1, first, &found), VIP_SUCCESS);
    EXPECT_EQ(found.Ptag, tag);
    EXPECT_EQ(found.EnableRdmaWrite, VIP_TRUE);
    EXPECT_EQ(found.EnableRdmaRead, VIP_FALSE);
    EXPECT_EQ(VipDestroyPtag(node.nic, tag), VIP_ERROR_RESOURCE);
    wanted = {nullptr, VIP_FALSE, VIP_TRUE};
    for (const int elsewhere : {0, 2, 5, 33, 34}) {  // VI-DG 3.7.4, 3.7.5: "the base address of the memory region"
      EXPECT_EQ(VipQueryMem(node.nic, room.data() + elsewhere, first, &found), VIP_INVALID_PARAMETER) << elsewhere;
      EXPECT_EQ(VipSetMemAttributes(node.nic, room.data() + elsewhere, first, &wanted), VIP_INVALID_PARAMETER)
          << elsewhere;
    }
    EXPECT_EQ(VipSetMemAttributes(node.nic, room.data() + 1, first, &wanted), VIP_SUCCESS);
    ASSERT_EQ(VipQueryMem(node.nic, room.data() + 1, first, &found), VIP_SUCCESS);
    EXPECT_EQ(found.Ptag, nullptr);
    EXPECT_EQ(found.EnableRdmaRead, VIP_TRUE);
    EXPECT_EQ(VipDestroyPtag(node.nic, tag), VIP_SUCCESS);
    EXPECT_EQ(VipDeregisterMem(node.nic, room.data() + 90, first), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDeregisterMem(node.nic, room.data() + 5, first), VIP_SUCCESS);  // ruling 252
    EXPECT_EQ(VipDeregisterMem(node.nic, room.data() + 1, first), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipQueryMem(node.nic, room.data() + 1, second, &found), VIP_SUCCESS);
  }});
}

TEST(ViplMemory, register_refuses_wrong_parameters) {
  simulate({[] {
    Node node, other;
    char room[8];
    int local = 0;
    VIP_PROTECTION_HANDLE foreign = nullptr;
    ASSERT_EQ(VipCreatePtag(other.nic, &foreign), VIP_SUCCESS);
    VIP_MEM_HANDLE handle = 7;
    EXPECT_EQ(VipRegisterMem(node.nic, room, 0, nullptr, &handle), VIP_INVALID_PARAMETER);
    EXPECT_EQ(handle, 0u);
    EXPECT_EQ(VipRegisterMem(node.nic, nullptr, 8, nullptr, &handle), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRegisterMem(nullptr, room, 8, nullptr, &handle), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRegisterMem(node.nic, room, 8, nullptr, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRegisterMem(node.nic, room, ~0UL, nullptr, &handle), VIP_INVALID_PARAMETER);
    VIP_MEM_ATTRIBUTES wrong{&local, VIP_FALSE, VIP_FALSE};
    EXPECT_EQ(VipRegisterMem(node.nic, room, 8, &wrong, &handle), VIP_INVALID_PTAG);
    wrong.Ptag = foreign;
    EXPECT_EQ(VipRegisterMem(node.nic, room, 8, &wrong, &handle), VIP_INVALID_PTAG);
    EXPECT_EQ(VipSetMemAttributes(node.nic, node.data(), node.handle, &wrong), VIP_INVALID_PTAG);
    EXPECT_EQ(VipSetMemAttributes(node.nic, node.data(), node.handle, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipQueryMem(node.nic, node.data(), node.handle, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreatePtag(node.nic, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDestroyPtag(node.nic, foreign), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDestroyPtag(node.nic, nullptr), VIP_INVALID_PARAMETER);
  }});
}

// VI-ARCH 3.1, 3.2.1: a handle is good where it was given: at another NIC the memory that it names is not registered.
TEST(ViplMemory, handle_of_another_nic_is_a_protection_error) {
  const auto server = [] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_UNRELIABLE);
    node.post_receive(vi, node.simple(0, 0, 100));
    node.accept(vi);
    node.rest(100);
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_NOT_DONE);  // nothing came
  };
  const auto client = [] {
    Node node, other;
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_UNRELIABLE);
    node.connect(vi, 1);
    VIP_DESCRIPTOR *descriptor = node.simple(0, 0, 100), *done = nullptr;
    descriptor->DS[0].Local = {{.Address = other.data()}, other.handle, 100};
    node.post_send(vi, descriptor);
    EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done->CS.Status,
              static_cast<VIP_UINT32>(VIP_STATUS_DONE | VIP_STATUS_PROTECTION_ERROR | VIP_STATUS_OP_SEND));
    node.rest(100);
  };
  simulate({server, client});
}

// VI-DG 3.4.3: memory that is not there, or that must not be written, small and large.
TEST(ViplMemory, register_checks_what_memory_is_there) {
  simulate({[] {
    Node node;
    for (const std::size_t page_count : {4u, 4096u}) {
      const std::size_t size = page_count * 4096;
      auto* room = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      VIP_MEM_HANDLE handle;
      EXPECT_EQ(VipRegisterMem(node.nic, room, size, nullptr, &handle), VIP_SUCCESS);
      VIP_MEM_ATTRIBUTES remote{nullptr, VIP_TRUE, VIP_FALSE};
      mprotect(room + size - 4096, 4096, PROT_READ);
      EXPECT_EQ(VipRegisterMem(node.nic, room, size, &remote, &handle), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipRegisterMem(node.nic, room, size, nullptr, &handle), VIP_SUCCESS);
      EXPECT_EQ(VipSetMemAttributes(node.nic, room, handle, &remote), VIP_INVALID_PARAMETER);
      mprotect(room + size - 4096, 4096, PROT_NONE);
      EXPECT_EQ(VipRegisterMem(node.nic, room, size, nullptr, &handle), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipRegisterMem(node.nic, room, size - 4096, nullptr, &handle), VIP_SUCCESS);
      munmap(room + size - 4096, 4096);
      EXPECT_EQ(VipRegisterMem(node.nic, room, size - 4095, nullptr, &handle), VIP_INVALID_PARAMETER);
      munmap(room, size - 4096);
      EXPECT_EQ(VipRegisterMem(node.nic, room, 1, nullptr, &handle), VIP_INVALID_PARAMETER);
    }
  }});
}

// VI-DG 3.4.3: read-only memory can be sent from, and is not written.
TEST(ViplMemory, read_only_memory_is_sent_from_and_never_written) {
  auto* page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(page, 'r', 4096);
  mprotect(page, 4096, PROT_READ);
  const auto with_page = [page](Node& node, std::size_t index, VIP_MEM_HANDLE handle) {
    VIP_DESCRIPTOR* descriptor = node.simple(index, 0, 100);
    descriptor->DS[0].Local = {{.Address = page}, handle, 100};
    return descriptor;
  };
  const auto server = [&] {
    Node node(1);
    VIP_MEM_HANDLE handle = 0;
    EXPECT_EQ(VipRegisterMem(node.nic, page, 4096, nullptr, &handle), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_UNRELIABLE);
    node.post_receive(vi, node.simple(0, 0, 100));
    node.post_receive(vi, with_page(node, 1, handle));
    node.accept(vi);
    VIP_DESCRIPTOR* done = nullptr;
    ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    EXPECT_EQ(node.data()[99], 'r');
    ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_NE(done->CS.Status & VIP_STATUS_PROTECTION_ERROR, 0u);
  };
  const auto client = [&] {
    Node node;
    VIP_MEM_HANDLE handle = 0;
    EXPECT_EQ(VipRegisterMem(node.nic, page, 4096, nullptr, &handle), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_UNRELIABLE);
    node.connect(vi, 1);
    VIP_DESCRIPTOR* done = nullptr;
    for (std::size_t i = 0; i < 2; ++i) {
      node.post_send(vi, with_page(node, i, handle));
      EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    }
    node.rest(10);
  };
  simulate({server, client});
  munmap(page, 4096);
}

// VI-ARCH 3.2.1: a few bytes that reach into memory which is not there: what lies before it is written, nothing behind
// it, and the caller learns of it. No word straddles the border.
TEST(ViplMemory, few_bytes_end_where_memory_does) {
  if (!vipl::memory_faults().catches_accesses()) GTEST_SKIP() << "single accesses are not caught in this build";
  constexpr std::size_t page = 4096, few = vi::consumer_memory::few_bytes;
  auto* const room =
      static_cast<std::uint8_t*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(room, MAP_FAILED);
  vipl::MemoryFaults::look_again();
  const vipl::MemoryFaults::Section section;
  std::array<std::uint8_t, few> data, copy;
  data.fill(7);
  mprotect(room + page, page, PROT_NONE);
  for (std::size_t before = 1; before < few; ++before) {
    std::fill_n(room, page, std::uint8_t{0});
    auto* const at = reinterpret_cast<std::byte*>(room + page - before);
    EXPECT_FALSE(vi::consumer_memory::place_few(at, data)) << before;
    EXPECT_EQ(std::count(room, room + page, 7), static_cast<std::ptrdiff_t>(before)) << before;
    EXPECT_FALSE(vi::consumer_memory::read_few(copy, at)) << before;
  }
  mprotect(room + page, page, PROT_READ | PROT_WRITE);
  mprotect(room, page, PROT_NONE);
  for (std::size_t before = 1; before < few; ++before) {
    auto* const at = reinterpret_cast<std::byte*>(room + page - before);
    EXPECT_FALSE(vi::consumer_memory::place_few(at, data)) << before;
    EXPECT_EQ(room[page], 0) << before;
    EXPECT_FALSE(vi::consumer_memory::read_few(copy, at)) << before;
  }
  munmap(room, 2 * page);
}

// A handler of a signal makes a call of ours while its thread is within the library: what that thread was at
// is guarded still.
TEST(ViplMemory, sections_within_sections_guard_the_outer_one) {
  void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const auto* const gone = static_cast<const std::byte*>(page);
  vipl::MemoryFaults::look_again();
  const auto reads = [&] {
    struct Read {
      const std::byte* from;
      std::byte value;
    } read{gone, {}};
    return vipl::memory_faults().run(
        gone, 1,
        [](void* context) {
          static_cast<Read*>(context)->value =
              *static_cast<const volatile std::byte*>(static_cast<Read*>(context)->from);
        },
        &read);
  };
  const vipl::MemoryFaults::Section outer;
  { const vipl::MemoryFaults::Section inner; }
  EXPECT_FALSE(reads());
  if (vipl::memory_faults().catches_accesses()) {
    std::uint64_t value = 0;
    EXPECT_FALSE(vi::caught::load(gone, value));
  }
  munmap(page, 4096);
}

// VI-ARCH 3.2.1: data of several frames at once, from and to memory that a program has unmapped: the copy ends, and the
// process lives. Pieces that were in place before count where they lie apart; overlapping ones are left to single
// frames.
TEST(ViplMemory, run_of_frames_ends_where_memory_is_gone) {
  constexpr std::size_t page = 4096, pieces = 4;
  const auto map = [] {
    void* const mapped = mmap(nullptr, pieces * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    return static_cast<std::uint8_t*>(mapped);
  };
  std::uint8_t* const from = map();
  std::uint8_t* const to = map();
  for (std::size_t i = 0; i < pieces * page; ++i) from[i] = static_cast<std::uint8_t>(i * 5 + i / page);
  vipl::MemoryFaults::look_again();
  const vipl::MemoryFaults::Section section;
  const vi::MemoryTable table({}, &vipl::memory_faults());
  auto* const host = reinterpret_cast<std::byte*>(to);
  const vi::MemoryTable::Pieces dense{from, page, page, pieces}, apart{from, 2000, page, pieces};
  EXPECT_EQ(table.write_pieces(host, apart), pieces);
  for (std::size_t i = 0; i < pieces; ++i) EXPECT_TRUE(std::equal(to + 2000 * i, to + 2000 * (i + 1), from + page * i));
  EXPECT_EQ(table.write_pieces(host, dense), pieces);
  EXPECT_TRUE(std::equal(to, to + pieces * page, from));
  EXPECT_EQ(table.write_pieces(reinterpret_cast<std::byte*>(from + 8), {from, page, page, 2}), 0u);
  for (std::uint8_t* const gone : {from, to}) {
    mprotect(gone + 2 * page, page, PROT_NONE);
    EXPECT_EQ(table.write_pieces(host, dense), 0u);
    if (gone == to) {
      EXPECT_EQ(table.write_pieces(host, {from, 2048, 4000, pieces}), pieces);
      EXPECT_EQ(table.write_pieces(host + page, {from, 2048, 4000, pieces}), 2u);
    }
    mprotect(gone + 2 * page, page, PROT_READ | PROT_WRITE);
  }
  munmap(from, pieces * page);
  munmap(to, pieces * page);
}
