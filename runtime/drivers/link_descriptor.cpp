#include "runtime/drivers/link_descriptor.hpp"

#include <unistd.h>

#include <array>
#include <atomic>

namespace runtime::drivers {
namespace {

constexpr int none = -1;
/// A process has a link for each NIC. What finds no place is only not closed in a child; the service never forks.
constexpr std::size_t places = 64;

class Table {
 public:
  Table() {
    for (auto& place : places_) place.store(none);
  }
  void exchange_one(int expected, int wanted) {
    for (auto& place : places_) {
      int value = expected;
      if (place.compare_exchange_strong(value, wanted)) return;
    }
  }
  void close_all() {
    for (auto& place : places_)
      if (const int descriptor = place.exchange(none); descriptor != none) ::close(descriptor);
  }

 private:
  std::array<std::atomic<int>, places> places_;
};

Table table;

}  // namespace

LinkDescriptor::LinkDescriptor(int descriptor) : descriptor_(descriptor) { table.exchange_one(none, descriptor); }
LinkDescriptor::~LinkDescriptor() { table.exchange_one(descriptor_, none); }
void LinkDescriptor::close_all_in_child() { table.close_all(); }

}  // namespace runtime::drivers
