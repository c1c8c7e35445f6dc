// One listing of the Directory: its requests, and the answers so far.
#pragma once
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "farp/directory.hpp"

namespace farp {

class ListingOwner {
 public:
  /// Called once. The listing must stay until the call has returned.
  virtual void listing_ended(std::optional<DirectoryFailure> failure) = 0;
  /// See DirectoryListener.
  [[nodiscard]] virtual bool wants_addresses_of(const std::string& symbolic_node_name) const = 0;

 protected:
  ~ListingOwner() = default;
};

class DirectoryListing final : private runtime::Event {
 public:
  DirectoryListing(ListingOwner& owner, fc2::NPort& port, const DirectoryConfig& config)
      : owner_(owner), port_(port), config_(config) {}
  ~DirectoryListing() override { abort_all(); }

  /// May call the owner at once.
  void start();
  [[nodiscard]] bool under_way() const { return pending(); }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// Pre: it ended without failure.
  [[nodiscard]] std::vector<DirectoryEntry> entries() const;

 private:
  enum class Question : std::uint8_t { Ports, NodeNames, NodeName, SymbolicNodeName, Addresses };
  struct Task {
    Question question = Question::Ports;
    std::size_t port = 0;  // of ports_
    int tries = 0;
  };
  struct Port {
    DirectoryEntry entry;
    bool has_node = false;  // entry.node_name is known
    bool gone = false;      // since GPN_FT
  };
  /// A task whose request is under way.
  struct Request final : fc2::ExchangeUser {
    Request(DirectoryListing& its_listing, const Task& its_task) : listing(its_listing), task(its_task) {}
    void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                           std::span<const std::uint8_t> iu) override;
    void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;
    DirectoryListing& listing;
    const Task task;
    fc2::Exchange* exchange = nullptr;
  };
  using Bytes = std::span<const std::uint8_t>;

  void fire(runtime::TimeNs) override { end(DirectoryFailure::NoAnswer); }
  void send_more();
  [[nodiscard]] std::vector<std::uint8_t> payload_of(const Task& task) const;
  /// Takes a request from those under way.
  Task retire(const Request& request);
  void answered(const Task& task, Bytes iu);
  void failed(Task task, fc2::ExchangeFailure failure);
  /// False: this does not answer the question.
  bool take(const Task& task, Bytes iu);
  bool take_ports(Bytes iu);
  void take_node_names(Bytes iu);
  bool take_node_name(const Task& task, Bytes iu);
  void set_node(std::size_t port, wire::Wwn node_name);
  /// The name of a node is known, or it has none.
  void node_named(wire::Wwn node_name, std::string name);
  bool take_reject(const Task& task, Bytes iu);
  void abort_all();
  void end(std::optional<DirectoryFailure> failure);

  ListingOwner& owner_;
  fc2::NPort& port_;
  const DirectoryConfig& config_;
  std::vector<Port> ports_;
  // Symbolic names; a node stands here as soon as it is asked for, and has a value when that was answered.
  std::map<wire::Wwn, std::optional<std::string>> nodes_;
  std::deque<Task> tasks_;       // to be sent
  std::list<Request> requests_;  // under way
};

}  // namespace farp
