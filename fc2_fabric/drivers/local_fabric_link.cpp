#include "fc2_fabric/drivers/local_fabric_link.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "fc2_fabric/drivers/frame_stream.hpp"
#include "fc2_fabric/drivers/fabric_service.hpp"

namespace fc2::drivers {
namespace {
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto first_retry = 2ms, longest_retry = 200ms, retry_when_refused = 1000ms;
constexpr auto welcome_limit = 5000ms;  // somebody listens, but does not answer

}  // namespace

std::string_view to_string(LinkState state) {
  switch (state) {
    case LinkState::Up: return "up";
    case LinkState::Down: return "down";
    case LinkState::Unreachable: return "unreachable";
  }
  return "?";
}

// Lives as long as its handlers. `port_` and `listener_` are looked at while not closed only.
class LocalFabricLink::Core final : public StreamUser, public std::enable_shared_from_this<Core> {
 public:
  Core(NPort& port, boost::asio::io_context& io, runtime::CoreGuard& guard, LocalFabricOptions options,
       LinkListener* listener)
      : port_(port), io_(io), guard_(guard), options_(std::move(options)), listener_(listener), timer_(io) {
    if (options_.process_name.empty()) options_.process_name = program_invocation_short_name;
  }
  void begin() {
    down_since_ = Clock::now();
    boost::asio::post(io_, [self = shared_from_this()] { self->attempt(); });
  }
  void close();
  void drain(std::chrono::milliseconds limit);
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] std::size_t direct_paths() const { return crossbar_ != nullptr ? crossbar_->direct_count() : 0; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  using Outcome = runtime::drivers::ServiceConnector::Outcome;
  // Outside of the core: the file system is asked, a program is started.
  void attempt();
  Outcome connect();
  // Inside.
  void finish(const Outcome& outcome);
  void adopt(int descriptor);
  void retry_after(Clock::duration delay);
  void tell(LinkState state);
  void give_up_waiting();

  void frame_received(FramePtr frame) override;
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void stream_has_room() override {
    if (crossbar_ != nullptr) crossbar_->tell_service();
  }
  void welcome(std::span<const std::uint8_t> body);
  bool pause_or_resume(RecordKind kind, std::span<const std::uint8_t> body);
  bool path_changed(RecordKind kind, std::span<const std::uint8_t> body);
  void say_hello();
  void bring_up();
  void bring_down();

  NPort& port_;
  boost::asio::io_context& io_;
  runtime::CoreGuard& guard_;
  LocalFabricOptions options_;
  LinkListener* listener_;
  bool closed_ = false, up_ = false, told_unreachable_ = false, refused_ = false;
  std::string trouble_;
  std::shared_ptr<FrameStream> stream_;
  std::shared_ptr<Crossbar> crossbar_;  // while up, and where there is a doorbell
  boost::asio::steady_timer timer_;     // next attempt, or the end of our patience with a service that does not answer
  Clock::duration delay_ = first_retry;
  Clock::time_point down_since_;
  // of the handlers alone
  std::optional<runtime::drivers::ServiceConnector> connector_;
};

// --- one try to connect, outside of the core ---------------------------------------------------------------------

void LocalFabricLink::Core::attempt() {
  {
    const runtime::CoreSection section(guard_);
    if (closed_ || stream_ != nullptr) return;
  }
  const Outcome outcome = connect();
  const runtime::CoreSection section(guard_);
  finish(outcome);
}

LocalFabricLink::Core::Outcome LocalFabricLink::Core::connect() {
  Outcome outcome;
  const auto directory = RuntimeDirectory::open(options_.runtime_directory, outcome.trouble);
  if (!directory) return outcome;
  if (!connector_) {
    auto program = fabric_program(options_.service_program);
    program.arguments = {"--daemonize", "--runtime-directory", directory->path(), "--idle-seconds",
                         std::to_string(options_.service_idle_seconds)};
    program.start = options_.start_service;
    connector_.emplace(std::move(program), SOCK_STREAM);
  }
  return connector_->connect(fabric_place(*directory));
}

// --- inside the core ---------------------------------------------------------------------------------------------

void LocalFabricLink::Core::finish(const Outcome& outcome) {
  if (outcome.descriptor >= 0) {
    if (!closed_)
      adopt(outcome.descriptor);
    else
      ::close(outcome.descriptor);
    return;
  }
  if (closed_) return;
  trouble_ = outcome.trouble;
  retry_after(delay_);
}

void LocalFabricLink::Core::retry_after(Clock::duration delay) {
  delay_ = std::min<Clock::duration>(2 * delay_, longest_retry);
  const bool too_long = Clock::now() - down_since_ >= std::chrono::nanoseconds(options_.connect_limit);
  if (!up_ && (refused_ || too_long) && !std::exchange(told_unreachable_, true)) tell(LinkState::Unreachable);
  if (closed_) return;
  timer_.expires_after(std::exchange(refused_, false) ? retry_when_refused : delay);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->attempt();
  });
}

void LocalFabricLink::Core::tell(LinkState state) {
  if (listener_ != nullptr) listener_->link_changed(state, trouble_);
}

void LocalFabricLink::Core::adopt(int descriptor) {
  stream_ = FrameStream::make(io_, guard_, port_.scheduler(), port_.pool(), *this, descriptor);
  say_hello();
  timer_.expires_after(welcome_limit);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;
    const runtime::CoreSection section(self->guard_);
    self->give_up_waiting();
  });
}

void LocalFabricLink::Core::say_hello() {
  Hello hello{.process_id = static_cast<std::uint32_t>(::getpid()), .name = options_.process_name};
  const auto alone = hello.write();
  if (options_.doorbell != nullptr) {
    auto descriptors = options_.doorbell->descriptors();
    hello.has_doorbell = static_cast<bool>(descriptors);
    OpenFiles doorbell;
    doorbell.push_back(std::move(descriptors.attention));
    doorbell.push_back(std::move(descriptors.rung));
    if (hello.has_doorbell) {
      stream_->send_record(RecordKind::Hello, hello.write(), std::move(doorbell), alone);
      return;
    }
  }
  stream_->send_record(RecordKind::Hello, alone);
}

void LocalFabricLink::Core::give_up_waiting() {
  if (closed_ || up_ || stream_ == nullptr) return;
  std::exchange(stream_, nullptr)->close();
  stream_closed("the fabric service does not answer");
}

void LocalFabricLink::Core::record_received(RecordKind kind, std::span<const std::uint8_t> body) {
  if (kind == RecordKind::Welcome && !up_) return welcome(body);
  if (up_ && (pause_or_resume(kind, body) || path_changed(kind, body))) return;
  std::exchange(stream_, nullptr)->close();
  refused_ = kind == RecordKind::Refusal;
  stream_closed(refused_ ? std::string(body.begin(), body.end()) : "the fabric service sent a record out of turn");
}

// False: it is no such record.
bool LocalFabricLink::Core::pause_or_resume(RecordKind kind, std::span<const std::uint8_t> body) {
  const auto destination = Destination::parse(body);
  if (!destination || (kind != RecordKind::Hold && kind != RecordKind::Proceed)) return false;
  if (crossbar_ != nullptr)
    crossbar_->service_holds(destination->id, kind == RecordKind::Hold);
  else if (kind == RecordKind::Hold)
    port_.pause_output(destination->id);
  else
    port_.resume_output(destination->id);
  return true;
}

// The same.
bool LocalFabricLink::Core::path_changed(RecordKind kind, std::span<const std::uint8_t> body) {
  if (crossbar_ == nullptr) return false;
  if (kind == RecordKind::PathEnd) {
    const auto end = PathEnd::parse(body);
    if (end) crossbar_->path_ended(*end);
    return end.has_value();
  }
  const auto path = kind == RecordKind::Path ? PathRecord::parse(body) : std::nullopt;
  if (!path) return false;
  crossbar_->path_received(*path, path->slot_count != 0 ? stream_->take_files() : OpenFiles());
  return true;
}

void LocalFabricLink::Core::bring_up() {
  up_ = true;
  if (options_.doorbell == nullptr) return port_.link_up(*stream_);
  crossbar_ = std::make_shared<Crossbar>(port_, guard_, stream_, *options_.doorbell);
  port_.link_up(*crossbar_);
}

void LocalFabricLink::Core::bring_down() {
  up_ = false;
  if (crossbar_ != nullptr) crossbar_->read_to_the_end();
  port_.link_down();
  if (crossbar_ != nullptr) std::exchange(crossbar_, nullptr)->close();
}

void LocalFabricLink::Core::welcome(std::span<const std::uint8_t> body) {
  const auto welcome = Welcome::parse(body);
  if (!welcome || welcome->max_frame_bytes < max_frame_bytes) {
    std::exchange(stream_, nullptr)->close();
    refused_ = true;
    return stream_closed("the fabric service's welcome cannot be understood");
  }
  told_unreachable_ = false;
  trouble_.clear();
  delay_ = first_retry;
  timer_.cancel();
  bring_up();
  tell(LinkState::Up);
}

void LocalFabricLink::Core::frame_received(FramePtr frame) {
  if (up_) return crossbar_ != nullptr ? crossbar_->frame_received(std::move(frame)) : port_.receive(std::move(frame));
  std::exchange(stream_, nullptr)->close();
  stream_closed("the fabric service sent a frame before its welcome");
}

void LocalFabricLink::Core::stream_closed(const std::string& reason) {
  trouble_ = "the link to the fabric service ended: " + reason;
  if (up_) {
    down_since_ = Clock::now();
    delay_ = first_retry;
    bring_down();
    stream_ = nullptr;
    tell(LinkState::Down);
  }
  stream_ = nullptr;
  if (!closed_) retry_after(delay_);
}

// Neither waits for the other: what is for the service goes out while something waits for a ring.
void LocalFabricLink::Core::drain(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  if (crossbar_ != nullptr) crossbar_->drain(end);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  if (stream_ != nullptr) stream_->drain(std::max(left, 0ms));
}

void LocalFabricLink::Core::close() {
  closed_ = true;
  timer_.cancel();
  if (up_) bring_down();
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->close();
}

// --- the public face ---------------------------------------------------------------------------------------------

LocalFabricLink::LocalFabricLink(NPort& port, boost::asio::io_context& io, runtime::CoreGuard& guard,
                                 LocalFabricOptions options, LinkListener* listener)
    : core_(std::make_shared<Core>(port, io, guard, std::move(options), listener)) {
  core_->begin();
}
LocalFabricLink::~LocalFabricLink() { core_->close(); }
bool LocalFabricLink::up() const { return core_->up(); }
std::size_t LocalFabricLink::direct_paths() const { return core_->direct_paths(); }
void LocalFabricLink::drain(std::chrono::milliseconds limit) { core_->drain(limit); }
const std::string& LocalFabricLink::trouble() const { return core_->trouble(); }

}  // namespace fc2::drivers
