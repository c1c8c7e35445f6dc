// What an N_Port does with a frame that arrives: whether it is taken, and whose it is (FC-FS; FC-VI 5.1, 5.6).
#pragma once
#include <vector>

#include "fc2_fabric/node/exchange_user.hpp"
#include "fc2_fabric/node/port_services.hpp"

namespace fc2 {
class ExchangeTable;
class FrameAcknowledger;
class LinkServices;
class PortAttachment;
class RemotePorts;

class FrameSorter {
 public:
  FrameSorter(const PortServices& port, const PortAttachment& attachment, RemotePorts& remote_ports,
              ExchangeTable& exchanges, FrameAcknowledger& acknowledger, LinkServices& link_services);
  void receive(FramePtr frame);
  [[nodiscard]] std::size_t receive_run(const FrameRun& run);
  // See NPort.
  void set_user(wire::Type type, ExchangeUser& user);
  void set_data_user(wire::Type type, DataFrameUser& user);
  void remove_user(wire::Type type);
  /// Between its members, whenever none of its functions runs: of the FC-4s with message data.
  [[nodiscard]] bool is_consistent() const;

 private:
  [[nodiscard]] Discard admits(const ReceivedFrame& frame) const;  // Discard::Count: it is for us
  [[nodiscard]] DataFrameUser* user_of_plain_data(const ReceivedFrame& frame) const;
  [[nodiscard]] std::size_t receive_whole(const Frame& frame);
  [[nodiscard]] bool is_message_data(const wire::FcHeader& header) const;
  /// nullptr: every IU of that TYPE is assembled.
  [[nodiscard]] DataFrameUser* data_user_of(wire::Type type) const {
    const User* const found = find(type);
    return found == nullptr ? nullptr : found->data_user;
  }
  /// Of a TYPE.
  struct User {
    wire::Type type;
    ExchangeUser* user;
    DataFrameUser* data_user;  // the same one, if it has message data
  };
  [[nodiscard]] const User* find(wire::Type type) const {
    for (const User& one : users_)
      if (one.type == type) return &one;
    return nullptr;
  }
  [[nodiscard]] ExchangeUser* user_of(wire::Type type) const {
    const User* const found = find(type);
    return found == nullptr ? nullptr : found->user;
  }
  void set(const User& user);
  bool tell_data_users(const wire::FcHeader& abts) const;
  [[nodiscard]] bool too_much_waits(const wire::FcHeader& header) const;
  [[nodiscard]] bool is_logged_in(wire::FcId peer) const;
  void sort(const ReceivedFrame& frame, bool message_data);
  void basic_link_service(const ReceivedFrame& frame);
  void abts_received(const wire::FcHeader& header);
  void link_control(const wire::FcHeader& header);
  void control_frame(const ReceivedFrame& frame);
  void open_exchange(const ReceivedFrame& frame);

  const PortServices& port_;
  const PortAttachment& attachment_;
  RemotePorts& remote_ports_;
  ExchangeTable& exchanges_;
  FrameAcknowledger& acknowledger_;
  LinkServices& link_services_;
  std::vector<User> users_;  // few: a table of all TYPEs would be most of a port's memory. The newest first
};

}  // namespace fc2
