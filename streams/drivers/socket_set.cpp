#include "streams/drivers/socket_set.hpp"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

namespace streams::drivers {
namespace {

/// Between two looks of the io_context's thread whether somebody polls.
constexpr std::chrono::milliseconds tick{2};

constexpr auto bit(SetMember::For what) { return static_cast<std::uint8_t>(what); }
constexpr std::uint8_t reading = bit(SetMember::For::reading), writing = bit(SetMember::For::writing);
constexpr std::uint32_t broken = EPOLLERR | EPOLLHUP;

std::uint32_t events_of(std::uint8_t waited) {
  return ((waited & reading) != 0 ? std::uint32_t{EPOLLIN} : 0) |
         ((waited & writing) != 0 ? std::uint32_t{EPOLLOUT} : 0);
}

int make_set() {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) throw boost::system::system_error(errno, boost::system::system_category(), "epoll_create1");
  return set;
}

}  // namespace

// --- a socket ------------------------------------------------------------------------------------------------------

bool SetMember::join(int socket, For what) {
  socket_ = socket;
  if (set_->add(*this, bit(what))) return true;
  socket_ = -1;
  return false;
}

void SetMember::leave() {
  if (socket_ < 0) return;
  set_->remove(*this);
  socket_ = -1;
}

void SetMember::ask(For what) {
  asked_ |= bit(what);
  if (socket_ >= 0 && (waited_ & bit(what)) == 0) set_->control(EPOLL_CTL_MOD, *this, waited_ | bit(what));
}

/// By the last statement of each branch it may be gone.
void SetMember::tell(std::uint32_t events) {
  const auto happened = static_cast<std::uint8_t>(((events & (EPOLLIN | broken)) != 0 ? reading : 0) |
                                                  ((events & (EPOLLOUT | broken)) != 0 ? writing : 0));
  const std::uint8_t due = happened & asked_;
  if (due == 0) return release(events);
  if ((waited_ & happened & ~asked_) != 0) release(events);
  const bool both = due == (reading | writing);
  asked_ = asked_ & ~(both ? reading : due);  // the other one is told by the next look
  ready((due & reading) != 0 ? For::reading : For::writing);
}

/// Nobody asks for it: else the set would tell of it for ever.
void SetMember::release(std::uint32_t events) {
  const bool is_broken = (events & broken) != 0;
  set_->control(is_broken ? EPOLL_CTL_DEL : EPOLL_CTL_MOD, *this, is_broken ? 0 : waited_ & asked_);
}

// --- the set -------------------------------------------------------------------------------------------------------

SocketSet::SocketSet(boost::asio::io_context& io, runtime::CoreGuard& guard)
    : guard_(guard), epoll_(make_set()), known_(std::in_place, epoll_.number()), watched_(io), timer_(io) {}

void SocketSet::close() {
  if (members_ != 0) guard_.remove_input(*this);
  members_ = 0;
  stop_watching();
  known_.reset();
  runtime::drivers::Descriptor closed;
  std::swap(closed, epoll_);
  timer_.cancel();
}

bool SocketSet::add(SetMember& member, std::uint8_t waited) {
  if (!control(EPOLL_CTL_MOD, member, waited)) return false;
  if (members_++ == 0) guard_.add_input(*this);
  if (!checks_ && !elsewhere_) watch();  // who polls, or is about to sleep, sees it
  return true;
}

void SocketSet::remove(SetMember& member) {
  if (member.is_known_) control(EPOLL_CTL_DEL, member, 0);  // a child of fork() may have the socket open
  for (std::size_t i = next_; i < count_; ++i)
    if (events_[i].data.ptr == &member) events_[i].data.ptr = nullptr;
  if (epoll_ && --members_ == 0) guard_.remove_input(*this);
}

bool SocketSet::control(int operation, SetMember& member, std::uint8_t waited) {
  if (!epoll_) return true;
  epoll_event event{};
  event.events = events_of(waited);
  event.data.ptr = &member;
  if (operation == EPOLL_CTL_MOD && !std::exchange(member.is_known_, true)) operation = EPOLL_CTL_ADD;
  if (operation == EPOLL_CTL_DEL) member.is_known_ = false;
  member.waited_ = waited;
  return ::epoll_ctl(epoll_.number(), operation, member.socket_, &event) == 0;
}

bool SocketSet::look() {
  const auto self = shared_from_this();
  const int count = ::epoll_wait(epoll_.number(), events_.data(), static_cast<int>(events_.size()), 0);
  count_ = static_cast<std::size_t>(std::max(count, 0));
  for (next_ = 0; next_ < count_;) {
    const epoll_event& event = events_[next_++];
    if (event.data.ptr != nullptr) static_cast<SetMember*>(event.data.ptr)->tell(event.events);
  }
  return count > 0;
}

// --- who looks -----------------------------------------------------------------------------------------------------

bool SocketSet::read_now() {
  polled_ = true;
  return look();
}

void SocketSet::wait_for_input() {
  if (elsewhere_) return;
  polled_ = false;
  watch();
}

void SocketSet::set_watched(bool watched) {
  elsewhere_ = watched;
  if (watched) return stop_watching();
  polled_ = true;
  if (!checks_ && !watches_) check_later();
}

// Where the system has no room to watch it, it is looked at as while somebody polls.
void SocketSet::watch() {
  if (watches_) return;
  boost::system::error_code error;
  watched_.assign(epoll_.number(), error);  // throws where there is no memory for it: nobody watches
  watches_ = !error;
  if (watches_) return wait_for_events();
  polled_ = true;
  check_later();
}

// Where there is no memory for it, nobody watches: the next that is asked begins anew.
void SocketSet::wait_for_events() {
  try {
    watched_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this(), watch = watch_](const boost::system::error_code& error) {
                          if (error) return;  // somebody polls, or it is closed
                          const runtime::CoreSection section(self->guard_);
                          if (self->is_current(watch)) self->event_came();
                        });
  } catch (...) {
    stop_watching();
    throw;
  }
}

void SocketSet::event_came() {
  const std::uint32_t watch = watch_;
  look();
  if (!is_current(watch)) return;
  if (!std::exchange(polled_, false)) return wait_for_events();
  stop_watching();
  check_later();
}

void SocketSet::stop_watching() {
  if (!std::exchange(watches_, false)) return;
  static_cast<void>(watched_.release());
  ++watch_;  // one that has waited for the core meanwhile comes too late
}

// Where there is no memory for it, it has not begun: the next that is asked begins anew.
void SocketSet::check_later() {
  timer_.expires_after(tick);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;
    const runtime::CoreSection section(self->guard_);
    self->check();
  });
  checks_ = true;
}

void SocketSet::check() {
  checks_ = false;
  if (watches_ || elsewhere_ || !epoll_) return;
  std::exchange(polled_, false) ? check_later() : watch();
}

}  // namespace streams::drivers
