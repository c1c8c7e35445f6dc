#include "farp/directory.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "farp/directory_listing.hpp"
#include "state_machines/consistency.hpp"

namespace farp {

std::string_view to_string(DirectoryFailure failure) {
  switch (failure) {
    case DirectoryFailure::NoNameServer: return "no name server";
    case DirectoryFailure::NoAnswer: return "the name server does not answer";
    case DirectoryFailure::BadAnswer: return "the name server's answer is bad";
    case DirectoryFailure::TooMany: return "too many ports or requests";
  }
  return "?";
}

/// A listing begins in an event of its own: nothing ends inside of list(), nor a listing inside of the one before.
class Directory::Core final : private ListingOwner, private runtime::Event {
 public:
  Core(fc2::NPort& port, const DirectoryConfig& config) : port_(port), config_(config) {}

  void list(DirectoryListener& listener) {
    waiting_.push_back(&listener);
    if (!busy_) begin_soon();
  }
  void forget(DirectoryListener& listener) {
    std::erase(waiting_, &listener);
    std::erase(told_, &listener);
  }
  /// Busy: a listing will begin, or is under way. Who asked for it waits for its end, and others for the next.
  [[nodiscard]] bool is_consistent() const {
    const bool lists = listing_ && listing_->under_way();
    return busy_ == (pending() || lists) && !(pending() && lists) && (lists || told_.empty()) &&
           (busy_ || waiting_.empty()) && (!listing_ || listing_->is_consistent());
  }

 private:
  void begin_soon() {
    busy_ = true;
    port_.scheduler().schedule_after(*this, 0);
  }
  void fire(runtime::TimeNs) override {
    told_ = std::exchange(waiting_, {});
    listing_.emplace(static_cast<ListingOwner&>(*this), port_, config_);
    listing_->start();
    FCVI_ASSERT_CONSISTENT(*this);
  }
  [[nodiscard]] bool wants_addresses_of(const std::string& symbolic_node_name) const override {
    return std::any_of(told_.begin(), told_.end(), [&](const DirectoryListener* listener) {
      return listener->wants_addresses_of(symbolic_node_name);
    });
  }
  void listing_ended(std::optional<DirectoryFailure> failure) override {
    const std::vector<DirectoryEntry> ports = failure ? std::vector<DirectoryEntry>{} : listing_->entries();
    while (!told_.empty()) {
      DirectoryListener& listener = *told_.front();
      told_.erase(told_.begin());
      if (failure)
        listener.directory_failed(*failure);
      else
        listener.directory_listed(ports);
    }
    busy_ = false;
    if (!waiting_.empty()) begin_soon();
    FCVI_ASSERT_CONSISTENT(*this);
  }

  fc2::NPort& port_;
  const DirectoryConfig config_;
  std::vector<DirectoryListener*> waiting_;  // for the next listing
  std::vector<DirectoryListener*> told_;     // when the present one has ended
  std::optional<DirectoryListing> listing_;  // the latest
  bool busy_ = false;
};

Directory::Directory(fc2::NPort& port, DirectoryConfig config) : core_(std::make_unique<Core>(port, config)) {}
Directory::~Directory() = default;
void Directory::list(DirectoryListener& listener) { core_->list(listener); }
void Directory::forget(DirectoryListener& listener) { core_->forget(listener); }
bool Directory::is_consistent() const { return core_->is_consistent(); }

}  // namespace farp
