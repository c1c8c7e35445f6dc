// SCTP associations between the hosts of a scheduler: messages in any order, with a limit of what is under way, and
// what may befall each direction. Octets are never wrong: SCTP's checksum would find it, and the message is sent again.
#pragma once
#include <algorithm>
#include <list>
#include <map>
#include <random>

#include "iwarp/sctp_association.hpp"
#include "runtime/scheduler.hpp"

namespace iwarp::testing {

class EmulatedAssociations;

/// What the network does.
struct AssociationRules {
  std::uint16_t streams = 8;
  std::size_t max_message = 1440;
  std::size_t messages_under_way = 1000;  // in each direction; more are not taken
  std::uint64_t seed = 0;                 // 0: in order; else in an order that it draws
  bool silent = false;                    // nothing is acknowledged
};

/// What befalls one direction, of all associations.
struct AssociationWay {
  bool silent = false;  // nothing arrives any more
  bool loses = false;   // the next message is lost once: those behind it overtake it
  runtime::TimeNs waits_until = 0;
};

class EmulatedAssociation final : public Association {
 public:
  EmulatedAssociation(EmulatedAssociations& all, const streams::Address& local, const streams::Address& remote,
                      bool accepted);
  ~EmulatedAssociation() override;
  void set_user(AssociationUser& user) override { user_ = &user; }
  [[nodiscard]] streams::Address local() const override { return local_; }
  [[nodiscard]] streams::Address remote() const override { return remote_; }
  [[nodiscard]] std::uint16_t stream_count() const override;
  [[nodiscard]] std::size_t max_message() const override;
  bool send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) override;
  void ask_acknowledged() override;

 private:
  friend class EmulatedAssociations;
  struct Message {
    std::uint16_t stream;
    std::uint32_t protocol;
    std::vector<std::uint8_t> octets;
  };
  void deliver();
  void acknowledge();
  void lose(streams::Reason reason);
  void give_up() { lose(streams::Reason::timed_out); }
  [[nodiscard]] AssociationWay& way_out() const;
  [[nodiscard]] AssociationWay& way_in() const;
  /// Those of under_way_ that arrive now.
  std::vector<Message> take_arriving();
  EmulatedAssociations& all_;
  const streams::Address local_, remote_;
  const bool accepted_;
  AssociationUser* user_ = nullptr;
  EmulatedAssociation* other_ = nullptr;  // nullptr: gone
  std::vector<Message> under_way_;
  bool asks_ = false, refused_ = false, is_new_ = false;
  runtime::Timer<EmulatedAssociation, &EmulatedAssociation::deliver> deliver_{*this};
  runtime::Timer<EmulatedAssociation, &EmulatedAssociation::acknowledge> acknowledge_{*this};
  runtime::Timer<EmulatedAssociation, &EmulatedAssociation::give_up> give_up_{*this};
};

class EmulatedAssociations final : public Associations {
 public:
  explicit EmulatedAssociations(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}
  AssociationRules rules;
  AssociationWay to_acceptor, to_connector;
  std::size_t begun = 0;  // associations, at either end
  std::size_t alive = 0;  // ends of associations

  std::unique_ptr<Association> connect(const streams::Address& to, const streams::Address& from,
                                       AssociationUser& user) override {
    auto made = std::make_unique<EmulatedAssociation>(*this, streams::Address{from.ip, ++last_port_}, to, false);
    made->user_ = &user;
    connecting_.push_back(made.get());
    scheduler_.schedule_after(connect_, delay);
    return made;
  }
  boost::system::result<std::unique_ptr<AssociationListener>, streams::Reason> listen(
      const streams::Address& at, AssociationListenerUser& user) override {
    if (!listeners_.emplace(at, &user).second) return streams::Reason::address_in_use;
    return std::make_unique<Listener>(*this, at);
  }
  [[nodiscard]] bool keeps(const streams::Address&) const override { return false; }  // ports are no matter
  /// Each association breaks.
  void break_all() {
    for (EmulatedAssociation* const one : std::vector(ends_.begin(), ends_.end()))
      if (std::find(ends_.begin(), ends_.end(), one) != ends_.end()) one->lose(streams::Reason::reset);
  }
  /// The accepting, or the other, end of each hears that it is over.
  void break_one(bool accepting) {
    for (EmulatedAssociation* const one : std::vector(ends_.begin(), ends_.end()))
      if (one->accepted_ == accepting && std::find(ends_.begin(), ends_.end(), one) != ends_.end())
        one->lose(streams::Reason::reset);
  }
  static constexpr runtime::TimeNs delay = 50 * runtime::microsecond;
  static constexpr runtime::TimeNs patience = 15 * runtime::second;  // with a peer that is silent

 private:
  friend class EmulatedAssociation;
  class Listener final : public AssociationListener {
   public:
    Listener(EmulatedAssociations& all, const streams::Address& at) : all_(all), at_(at) {}
    ~Listener() override { all_.listeners_.erase(at_); }
    [[nodiscard]] streams::Address address() const override { return at_; }

   private:
    EmulatedAssociations& all_;
    const streams::Address at_;
  };
  void set_up() {
    const runtime::TimeNs now = scheduler_.now(), due = std::max(to_acceptor.waits_until, to_connector.waits_until);
    if (to_acceptor.silent || to_connector.silent) return lose_connecting(now + patience);
    if (now < due) return scheduler_.schedule(connect_, due);
    for (EmulatedAssociation* const one : std::exchange(connecting_, {})) {
      const auto listener = listeners_.find(one->remote());
      if (listener == listeners_.end()) {
        one->lose(streams::Reason::refused);
        continue;
      }
      auto accepted = std::make_unique<EmulatedAssociation>(*this, one->remote(), one->local(), true);
      accepted->other_ = one;
      one->other_ = accepted.get();
      ++begun;
      listener->second->accepted(std::move(accepted));
      if (one->other_ != nullptr) one->user_->associated();  // else it was not taken, and is lost
    }
  }
  /// They are told in time.
  void lose_connecting(runtime::TimeNs at) {
    for (EmulatedAssociation* const one : std::exchange(connecting_, {})) scheduler_.schedule(one->give_up_, at);
  }
  runtime::Scheduler& scheduler_;
  std::uint16_t last_port_ = 50'000;
  std::map<streams::Address, AssociationListenerUser*> listeners_;
  std::vector<EmulatedAssociation*> connecting_;
  std::list<EmulatedAssociation*> ends_;
  runtime::Timer<EmulatedAssociations, &EmulatedAssociations::set_up> connect_{*this};
};

inline EmulatedAssociation::EmulatedAssociation(EmulatedAssociations& all, const streams::Address& local,
                                                const streams::Address& remote, bool accepted)
    : all_(all), local_(local), remote_(remote), accepted_(accepted) {
  all.ends_.push_back(this);
  ++all.alive;
}

/// What was sent still arrives, unless nothing does.
inline EmulatedAssociation::~EmulatedAssociation() {
  std::erase(all_.connecting_, this);
  all_.ends_.remove(this);
  --all_.alive;
  way_out().waits_until = 0;
  while (other_ != nullptr && !under_way_.empty() && !way_out().silent) deliver();
  EmulatedAssociation* const other = std::exchange(other_, nullptr);
  if (other == nullptr) return;
  other->other_ = nullptr;
  if (way_out().silent)
    all_.scheduler_.schedule_after(other->give_up_, EmulatedAssociations::patience);
  else
    other->lose(streams::Reason::reset);
}

inline AssociationWay& EmulatedAssociation::way_out() const { return accepted_ ? all_.to_connector : all_.to_acceptor; }
inline AssociationWay& EmulatedAssociation::way_in() const { return accepted_ ? all_.to_acceptor : all_.to_connector; }

inline std::uint16_t EmulatedAssociation::stream_count() const { return all_.rules.streams; }
inline std::size_t EmulatedAssociation::max_message() const { return all_.rules.max_message; }

inline bool EmulatedAssociation::send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) {
  if (under_way_.size() >= all_.rules.messages_under_way) return false;
  under_way_.push_back({stream, protocol, {octets.begin(), octets.end()}});
  if (!deliver_.pending()) all_.scheduler_.schedule_after(deliver_, EmulatedAssociations::delay);
  return true;
}

inline std::vector<EmulatedAssociation::Message> EmulatedAssociation::take_arriving() {
  std::vector<Message> messages = std::exchange(under_way_, {});
  if (all_.rules.seed != 0) {
    std::mt19937_64 chance(all_.rules.seed++);
    std::shuffle(messages.begin(), messages.end(), chance);
  }
  if (messages.empty() || !std::exchange(way_out().loses, false)) return messages;
  under_way_.push_back(std::move(messages.front()));
  messages.erase(messages.begin());
  all_.scheduler_.schedule_after(deliver_, 3 * EmulatedAssociations::delay);
  return messages;
}

/// What is under way, as its direction lets it.
inline void EmulatedAssociation::deliver() {
  if (way_out().silent) return all_.scheduler_.schedule_after(give_up_, EmulatedAssociations::patience);
  if (all_.scheduler_.now() < way_out().waits_until) return all_.scheduler_.schedule(deliver_, way_out().waits_until);
  for (const Message& one : take_arriving()) {
    if (other_ == nullptr || other_->user_ == nullptr) return;
    other_->user_->message_received(one.stream, one.protocol, one.octets);
  }
  if (user_ != nullptr) user_->room_again();
  if (asks_ && !all_.rules.silent) all_.scheduler_.schedule_after(acknowledge_, EmulatedAssociations::delay);
}

inline void EmulatedAssociation::ask_acknowledged() {
  asks_ = true;
  if (under_way_.empty() && !all_.rules.silent)
    all_.scheduler_.schedule_after(acknowledge_, EmulatedAssociations::delay);
}

inline void EmulatedAssociation::acknowledge() {
  if (!under_way_.empty() || way_in().silent) return;
  if (all_.scheduler_.now() < way_in().waits_until) return all_.scheduler_.schedule(acknowledge_, way_in().waits_until);
  asks_ = false;
  if (user_ != nullptr) user_->acknowledged();
}

inline void EmulatedAssociation::lose(streams::Reason reason) {
  if (AssociationUser* const user = std::exchange(user_, nullptr)) user->association_lost(reason);
}

}  // namespace iwarp::testing
