#include "tools/fcvi_sim/host/data_time.hpp"

namespace sim {
namespace {
std::chrono::steady_clock::duration spent{};
}  // namespace

std::chrono::steady_clock::duration time_spent_on_data() { return spent; }

OnData::~OnData() { spent += std::chrono::steady_clock::now() - begin_; }

}  // namespace sim
