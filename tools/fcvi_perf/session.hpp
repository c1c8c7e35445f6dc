/// A client and a server: a control connection on which the client says what is measured, the connections that are
/// measured, and the phases.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/fcvi_perf/options.hpp"
#include "tools/fcvi_perf/phases.hpp"

namespace perf {

struct Result {
  std::uint64_t bytes = 0;
  Samples samples;  ///< latency
  Tally client, server;
};

/// Where the server is: filled in by who knows it.
using Address = net_address;

/// Serves one client. `serving` is called when clients may come.
void serve(Endpoint& end, const std::string& discriminator, const std::function<void()>& serving);
/// Measures every size; `connected` is called before, `each` as soon as a result is there.
void measure(Endpoint& end, const Options& options, Address server, const std::function<void()>& connected,
             const std::function<void(const Result&)>& each);

}  // namespace perf
