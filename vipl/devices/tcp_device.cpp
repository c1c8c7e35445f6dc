#include "vipl/devices/tcp_device.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/drivers/descriptor.hpp"
#include "vipl/devices/own_port.hpp"
#include "vipl/devices/shared_port.hpp"
#include "vipl/devices/tcp_status.hpp"
#include "vipl/engine/log.hpp"
#include "vipl/names/hosts_file.hpp"
#include "vipl/names/name_service.hpp"
#include "vipl/names/reachable_names.hpp"
#include "vipl/names/system_names.hpp"

namespace vipl {
namespace {

constexpr rlim_t files_beside_vis = 32;  // the engine's, the port's, the program's own
constexpr runtime::TimeNs tcp_goodbye_limit = 5 * runtime::second, goodbye_looks = 2 * runtime::millisecond;

/// All addresses of the host: of IPv4 and IPv6, or of IPv4 alone where the system has no other.
wire::IpAddress everywhere() {
  const runtime::drivers::Descriptor probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe ? wire::IpAddress{} : wire::IpAddress::v4(0, 0, 0, 0);
}

std::vector<NodeEntry> nodes_of(const HostsFile& hosts, const std::vector<wire::IpAddress>& own_addresses) {
  std::vector<NodeEntry> nodes;
  for (const auto& [address, name] : hosts.hosts())
    if (is_reachable(address, own_addresses)) nodes.push_back({name, {address}, 1});
  return nodes;
}

}  // namespace

TcpDevice::TcpDevice(TcpShared& shared, NicConfiguration configuration, NodeIdentity identity)
    : Device(std::move(configuration), std::move(identity)), shared_(shared),
      provider_(shared.streams(), shared.engine().scheduler(), provider_config()), port_(make_port()) {
  provider_.set_wait_listener(port_.get());
  ready_ = port_->listens();
  tell_status();
}

TcpDevice::~TcpDevice() {
  questions_->clear();  // their handlers find nobody
  provider_.set_wait_listener(nullptr);
}

vitcp::ProviderConfig TcpDevice::provider_config() const {
  vitcp::ProviderConfig config = choices().provider;
  config.addresses = addresses();
  config.number_seed = identity().nic_hash;
  return config;
}

std::vector<streams::Address> TcpDevice::listening_addresses() const {
  std::vector<wire::IpAddress> at = configuration().addresses;
  if (choices().listen_at)
    at = {*choices().listen_at};
  else if (at.empty())
    at = {everywhere()};
  std::vector<streams::Address> addresses;
  for (const wire::IpAddress& ip : at) addresses.push_back({ip, choices().provider.port});
  return addresses;
}

std::unique_ptr<TcpPort> TcpDevice::make_port() {
  TcpPortUser& user = *this;
  switch (choices().listen) {
    case Listening::None: return std::make_unique<OwnPort>(shared_.streams(), std::vector<streams::Address>{}, user);
    case Listening::Own: return std::make_unique<OwnPort>(shared_.streams(), listening_addresses(), user);
    case Listening::Shared: break;
  }
  vitcp::drivers::PortClientOptions options;
  options.process_name = identity().nic_of_process;
  options.service_idle_seconds = static_cast<int>(process_configuration()->fabric_idle_time / runtime::second);
  options.request_time = choices().provider.request_timeout;
  options.connect_limit = configuration().open_timeout;
  return std::make_unique<SharedPort>(shared_, listening_addresses(), options, user);
}

// Not having it is no reason for a NIC not to work.
void TcpDevice::tell_status() {
  std::string ignored;
  const auto directory = runtime::drivers::RuntimeDirectory::open({}, ignored);
  if (!directory) return;
  Engine& engine = shared_.engine();
  status_ = std::make_unique<runtime::drivers::StatusSocket>(
      *engine.runtime().io(), engine, *directory, tcp_status_kind, [this] { return describe(name(), provider_); });
}

vi::NicLimits TcpDevice::limits() const {
  vi::NicLimits limits = Device::limits();
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return limits;
  const rlim_t left = files.rlim_cur > 2 * files_beside_vis ? files.rlim_cur - files_beside_vis : files.rlim_cur / 2;
  limits.max_vis = static_cast<std::uint32_t>(std::clamp<rlim_t>(left, 1, limits.max_vis));
  return limits;
}

void TcpDevice::port_changed() {
  if (port_ == nullptr) return;  // it is being made
  if (std::exchange(ready_, ready_ || port_->listens()) && !port_->trouble().empty())
    log().warn("{}: {}", name(), port_->trouble());
  shared_.engine().runtime().notify_all(ready_point());
}

void TcpDevice::say_goodbye() {
  status_.reset();
  Engine& engine = shared_.engine();
  const auto now = [&] { return engine.runtime().now(); };
  const runtime::TimeNs end = now() + tcp_goodbye_limit;
  provider_.say_goodbye();
  EventCount nobody_tells;
  while (provider_.ending() != 0 && now() < end)
    engine.wait_until(nobody_tells, now() + goodbye_looks, [this] { return provider_.ending() == 0; });
}

Device::NameSources TcpDevice::name_sources(std::shared_ptr<FabricAccess>) const {
  NameSources sources;
  sources.push_back(std::make_unique<HostNameSource>(identity().host_name, addresses()));
  sources.push_back(std::make_unique<ReachableNames>(std::make_unique<SystemNames>(), addresses()));
  return sources;
}

/// The file is read without the engine's lock.
void TcpDevice::list_nodes(NodeListener& listener) {
  const std::uint64_t question = (*questions_)[&listener] = ++last_question_;
  boost::asio::post(*shared_.engine().runtime().io(), [this, &engine = shared_.engine(), &listener, question,
                                                       questions = questions_, file = configuration().hosts_file] {
    const auto hosts = HostsFile::load_for(file);
    const runtime::CoreSection section(engine);
    const auto found = questions->find(&listener);
    if (found == questions->end() || found->second != question) return;
    questions->erase(found);
    if (!hosts) {
      log().error("{}", hosts.error().message);
      return listener.listing_failed();
    }
    std::vector<NodeEntry> nodes = nodes_of(*hosts, addresses());
    nodes.insert(nodes.begin(), {identity().node_name, addresses(), 1});
    listener.nodes_listed(std::move(nodes));
  });
}

}  // namespace vipl
