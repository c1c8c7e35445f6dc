#include "tools/fcvi_sim/replay/vi_user.hpp"

#include <algorithm>

namespace sim::replay {
namespace {
// Posted ahead at once, in each queue.
constexpr std::uint32_t most_posted = 1024;
}  // namespace

ViUser::ViUser(Driver& driver, PortHost& host, const Script& script, Translation& translation)
    : driver_(driver), host_(host), script_(script), translation_(translation), node_(driver, host, 0),
      users_(script.vis.size()) {
  for (std::size_t i = 0; i < users_.size(); ++i) users_[i].spec = &script.vis[i];
}

ViUser::~ViUser() {
  for (auto& [number, wait] : waits_)
    if (wait.result == vi::Return::NotDone) host_.provider().withdraw(wait);
}

ViUser::User& ViUser::user(std::size_t vi) {
  User& user = users_[vi];
  if (!user.endpoint) open(user);
  return user;
}

void ViUser::open(User& user) {
  const ViSpec& spec = *user.spec;
  user.endpoint = std::make_unique<Endpoint>(node_, spec.attributes, most_posted, 1);
  host_.provider().set_options(user.endpoint->vi(), spec.options);
  const auto longest = std::max_element(spec.receives.begin(), spec.receives.end());
  if (longest != spec.receives.end()) user.inbox = user.endpoint->allocate(*longest);
  for (const MemorySpec& memory : spec.memory) add_memory(user, memory);
  post_receives(user);
}

/// At the very addresses that the peer knows.
void ViUser::add_memory(User& user, const MemorySpec& spec) {
  constexpr std::uint64_t alignment = 64;
  const std::uint64_t begin = spec.begin / alignment * alignment;
  const vi::MemoryAttributes attributes{user.endpoint->ptag(), spec.write, spec.read};
  const std::uint64_t size = std::max<std::uint64_t>(spec.end - begin, 1);
  user.memory.push_back({&spec, Region(node_.nic(), begin, size, attributes)});
  translation_.learn({Translation::Kind::memory, user.spec->handle.value, spec.handle.value,
                      user.memory.back().region.handle().value});
}

void ViUser::post_receives(User& user) {
  const std::vector<std::uint32_t>& lengths = user.spec->receives;
  while (user.receives_posted < lengths.size() && user.endpoint->receives_posted() < most_posted) {
    const std::uint32_t length = lengths[user.receives_posted++];
    const Piece piece{0, length};
    const std::span<const Piece> pieces(&piece, length == 0 ? 0 : 1);
    user.endpoint->post_receive({.pieces = pieces, .base = user.inbox.address(), .handle = user.inbox.handle()});
  }
}

void ViUser::tend(User& user) {
  if (!user.endpoint) return;
  while (user.endpoint->take_send()) user.sends.pop_front();
  while (user.endpoint->take_receive()) {}
}

void ViUser::tend() {
  for (User& user : users_) {
    if (!user.endpoint) continue;
    tend(user);
    post_receives(user);
  }
}

// --- calls -------------------------------------------------------------------------------------------------------

void ViUser::call(const call::Wait& wait) {
  host_.provider().connect_wait(wait.local, runtime::never, waits_[wait.wait]);
}

void ViUser::call(const call::Withdraw& wait) {
  WaitOperation& operation = waits_[wait.wait];
  if (operation.result != vi::Return::NotDone) return;
  host_.provider().withdraw(operation);
  operation.withdrawn = true;
  operation.result = vi::Return::Timeout;
}

void ViUser::call(const call::Connect& connect) {
  User& caller = user(connect.vi);
  vi::Vi& vi = caller.endpoint->vi();
  vi::NetAddress local = connect.local;
  if (local.host.is_unspecified()) local.host = host_.address();
  ConnectOperation& operation = connects_.emplace_back();
  if (connect.peer_to_peer)
    (void)host_.provider().connect_peer_request(vi, local, connect.remote, connect.timeout, operation);
  else
    host_.provider().connect_request(vi, local, connect.remote, connect.timeout, operation);
}

/// nullptr: no request matched it, which the answers that are missed will tell.
ViUser::WaitOperation* ViUser::matched(std::size_t wait) {
  const auto found = waits_.find(wait);
  return found != waits_.end() && found->second.result == vi::Return::Success ? &found->second : nullptr;
}

void ViUser::call(const call::Accept& accept) {
  if (WaitOperation* wait = matched(accept.wait))
    host_.provider().connect_accept(wait->token, user(accept.vi).endpoint->vi(), operations_.emplace_back());
}

void ViUser::call(const call::Reject& reject) {
  if (WaitOperation* wait = matched(reject.wait))
    host_.provider().connect_reject(wait->token, operations_.emplace_back());
}

void ViUser::call(const call::Post& post) {
  User& sender = user(post.vi);
  tend(sender);
  Endpoint& endpoint = *sender.endpoint;
  if (endpoint.sends_posted() == most_posted) return;  // as above
  const auto length = static_cast<std::uint32_t>(post.bytes.size());
  Region region = endpoint.allocate(length);
  std::copy(post.bytes.begin(), post.bytes.end(), region.bytes().begin());
  const Piece piece{0, length};
  endpoint.post_send({.control = post.control,
                      .pieces = std::span<const Piece>(&piece, length == 0 ? 0 : 1),
                      .base = region.address(),
                      .handle = region.handle(),
                      .immediate_data = post.immediate_data,
                      .remote_address = post.remote_address,
                      .remote_handle = post.remote_handle});
  sender.sends.push_back(std::move(region));
}

void ViUser::call(const call::Fill& fill) {
  for (Memory& memory : user(fill.vi).memory)
    if (memory.spec->handle == fill.handle && fill.address >= memory.spec->begin && fill.address <= memory.spec->end &&
        fill.bytes.size() <= memory.spec->end - fill.address)
      std::copy(fill.bytes.begin(), fill.bytes.end(), memory.region.host(fill.address));
}

void ViUser::call(const call::Disconnect& disconnect) {
  User& leaver = user(disconnect.vi);
  host_.provider().disconnect(leaver.endpoint->vi(), operations_.emplace_back());
  tend(leaver);
}

}  // namespace sim::replay
