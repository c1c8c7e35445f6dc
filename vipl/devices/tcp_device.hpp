// A NIC of VI over TCP: the host's TCP connections, and the port at which others set them up.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/drivers/status_socket.hpp"
#include "vipl/devices/device.hpp"
#include "vipl/devices/tcp_port.hpp"
#include "vipl/devices/tcp_shared.hpp"
#include "vitcp/provider.hpp"

namespace vipl {

class TcpDevice final : public Device, private TcpPortUser {
 public:
  /// Pre: `configuration` is of TCP. Begins to listen.
  TcpDevice(TcpShared& shared, NicConfiguration configuration, NodeIdentity identity);
  ~TcpDevice() override;

  vi::Transport& transport() override { return provider_; }
  [[nodiscard]] const vi::Transport& transport() const override { return provider_; }
  /// Each connection is an open file: no more VIs than this process may have of those, but for some of its own.
  [[nodiscard]] vi::NicLimits limits() const override;
  /// A system call.
  [[nodiscard]] bool gathers_sends() const override { return true; }
  /// It has listened. If the port is lost later those who connect need it not.
  [[nodiscard]] bool ready() const override { return ready_; }
  [[nodiscard]] std::string failure() const override { return port_->failure(); }
  [[nodiscard]] std::string trouble() const override { return port_->trouble(); }
  [[nodiscard]] bool needs_goodbye() const override { return true; }
  /// What was reported as sent reaches the peers; who does not read keeps nobody for long.
  void say_goodbye() override;
  /// The system's resolver, and before it what the host calls itself.
  [[nodiscard]] NameSources name_sources(std::shared_ptr<FabricAccess> access) const override;
  /// The hosts of the hosts file, whether they run now or not, and this one.
  void list_nodes(NodeListener& listener) override;
  void forget(NodeListener& listener) override { questions_->erase(&listener); }

 private:
  using Questions = std::map<NodeListener*, std::uint64_t>;

  [[nodiscard]] const TcpChoices& choices() const { return *configuration().tcp(); }
  [[nodiscard]] vitcp::ProviderConfig provider_config() const;
  [[nodiscard]] std::vector<streams::Address> listening_addresses() const;
  [[nodiscard]] std::unique_ptr<TcpPort> make_port();
  void tell_status();
  // TcpPortUser
  void stream_came(std::unique_ptr<streams::Stream> stream) override { provider_.take(std::move(stream)); }
  void stream_accepted(std::unique_ptr<streams::Stream> stream) override { provider_.take_accepted(std::move(stream)); }
  void port_changed() override;

  TcpShared& shared_;
  vitcp::Provider provider_;
  bool ready_ = false;
  std::unique_ptr<TcpPort> port_;  // goes first: it brings streams to the provider
  std::uint64_t last_question_ = 0;
  std::shared_ptr<Questions> questions_ = std::make_shared<Questions>();  // a handler that comes late looks here first
  std::unique_ptr<runtime::drivers::StatusSocket>
      status_;  // nullptr: there is no runtime directory; goes first, it looks at the others
};

}  // namespace vipl
