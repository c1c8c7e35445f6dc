// Which port of a host a Connection Setup asks next. FC-VI 7.6 leaves the choice among the N_Ports of one address to
// us: each is asked in turn, until one accepts.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "vi/types.hpp"
#include "wire/types.hpp"

namespace fcvi {

/// Only remembers: who resolves, logs in and sends says here what became of each port. Ports come and go meanwhile, so
/// the address is resolved again before each of them.
class PortWalk {
 public:
  /// The host has these ports now. The one to ask, current() from here on: the first that was not asked; when all were,
  /// the first of those that were late, once more. Nothing: all were asked, see outcome().
  std::optional<wire::FcId> next(std::span<const wire::FcId> ports);
  /// VIP_NO_MATCH if a port said so, else VIP_NOT_REACHABLE.
  [[nodiscard]] vi::Return outcome() const;

  /// {} before the first.
  [[nodiscard]] wire::FcId current() const { return current_; }
  /// current() is being asked. False: next() is to say whom.
  [[nodiscard]] bool is_asking() const { return asking_; }
  /// current() is not the last one: it must not keep us from the others for long.
  [[nodiscard]] bool others_wait() const { return unasked_ != 0 || has(Result::Late); }

  // --- what became of current() ----------------------------------------------------------------------------------
  void login_is_late() { note(Result::Late); }
  /// It is not asked any more.
  void leave() { asking_ = false; }
  /// The newest RESP1 counts (FC-VI 8.5.4: there may be a retry).
  void resp1_received(bool no_match) { note(no_match ? Result::NoMatch : Result::None); }
  /// Its newest RESP1 said no match, and others_wait().
  [[nodiscard]] bool another_may_match() const;
  /// A new login with it is made, `renewed` if it was we who renewed it: it is asked again if it is still there.
  void ask_again(bool renewed);
  /// For ask_again(), since another port was asked.
  [[nodiscard]] bool renewed() const { return renewed_; }
  /// What it told with its login is of no use. True unless it was asked for that anew already.
  [[nodiscard]] bool ask_parameters_anew();

  /// For the next set-up of the same call: knows whom this one asked, and has no current() yet.
  [[nodiscard]] PortWalk continued() const;

 private:
  enum class Result : std::uint8_t { None, Late, NoMatch };
  struct Asked {
    wire::FcId port;
    Result result;
  };
  void note(Result result);
  [[nodiscard]] bool has(Result result) const;
  [[nodiscard]] bool was_asked(wire::FcId port) const;

  std::vector<Asked> asked_;  // each port once
  std::size_t unasked_ = 0;   // ports of the last resolution that wait behind current()
  wire::FcId current_{};
  wire::FcId parameters_of_{};  // whose were asked for anew last
  bool asking_ = false;
  bool renewed_ = false;
};

}  // namespace fcvi
