// The objects behind the handles of the API.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "vi/nic.hpp"
#include "vipl/api/domain.hpp"
#include "vipl/api/error_reporter.hpp"
#include "vipl/engine/work_port.hpp"

namespace vipl {
class Device;
class NameService;

struct Object {
  enum class Kind : std::uint8_t { Nic = 1, Vi, Queue, Connection, Tag };
  explicit Object(Kind its_kind) : kind(its_kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const Kind kind;
  void* handle = nullptr;
};

/// An object of an open NIC. All members belong to the engine, except the ports.
struct Part : Object {
  using Object::Object;
  NicObject* nic = nullptr;  // valid until closed
  bool closed = false;
};

/// Kept in a pool: its ports are read without the engine's lock, even after the VI was destroyed.
class ViObject final : public Part, public Bell {
 public:
  static constexpr Kind its_kind = Kind::Vi;
  explicit ViObject(Domain& domain);
  [[nodiscard]] bool try_rest();

  WorkPort& port(bool receive_queue) { return ports_[receive_queue ? 1 : 0]; }
  [[nodiscard]] bool empty() const { return ports_[0].empty() && ports_[1].empty(); }
  /// Inside the engine, where nothing waits that was submitted before: posts a valid descriptor to the VI whose handle
  /// `owner` is. A receive only where nothing has to be done for it. False: it is to be submitted.
  template <bool receive_queue>
  [[nodiscard]] bool post_at_once(void* owner, std::uint64_t address, wire::MemHandle region);

  vi::Vi* model = nullptr;  // until closed
  /// Of its NIC. For threads in a MemoryGate::Reader that have checked there that the port is the right one.
  std::atomic<const vi::MemoryTable*> memory{nullptr};
  std::atomic<std::uint32_t> tag{0}, max_segments{0};  // by which posts are judged
  /// Receives that are posted now wait for a message: nothing has to be done for them before.
  std::atomic<bool> receives_wait{false};
  /// Sends that are posted while many are under way are begun together (Device::gathers_sends).
  std::atomic<bool> gathers_sends{false};
  /// A Send is answered within a time (Reliable Reception).
  std::atomic<bool> times_sends{false};
  std::atomic<VIP_NIC_HANDLE> nic_handle{nullptr};
  /// VipConnectPeerRequest, until its result is taken.
  std::shared_ptr<Pending<vi::ConnectOperation>> peer_request;

 private:
  std::size_t serve() override;
  std::size_t submit(bool receive_queue);
  [[nodiscard]] bool post_judged(bool receive_queue, std::uint64_t address, wire::MemHandle region);

  std::array<WorkPort, 2> ports_;
};

/// Kept in a pool, too.
class QueueObject final : public Part {
 public:
  static constexpr Kind its_kind = Kind::Queue;
  explicit QueueObject(Domain& domain);
  [[nodiscard]] bool try_rest() { return port.try_rest(); }

  vi::CompletionQueue* model = nullptr;  // until closed
  std::atomic<VIP_NIC_HANDLE> nic_handle{nullptr};
  CompletionPort port;
};

struct ConnectionObject final : Part {
  static constexpr Kind its_kind = Kind::Connection;
  ConnectionObject() : Part(its_kind) {}
  vi::ConnectionToken token{};
};

struct TagObject final : Part {
  static constexpr Kind its_kind = Kind::Tag;
  TagObject() : Part(its_kind) {}
  vi::Ptag tag;
};

/// One VipOpenNic: a NIC of the model on a device that other handles may share. Used with the engine's lock.
class NicObject final : public Object, public std::enable_shared_from_this<NicObject>, private vi::Listener {
 public:
  static constexpr Kind its_kind = Kind::Nic;
  NicObject(Domain& domain, Device& device);
  ~NicObject() override;

  Domain& domain() { return domain_; }
  Device& device() { return device_; }
  vi::Nic& model() { return *model_; }
  [[nodiscard]] const vi::Nic& model() const { return *model_; }
  ErrorReporter& errors() { return *errors_; }
  /// Between VipNSInit and VipNSShutdown, else nullptr. A call that looks up a name keeps it meanwhile.
  std::shared_ptr<const NameService>& name_service() { return name_service_; }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] const std::uint8_t* address_bytes() const { return address_.bytes.data(); }

  /// Gives a new part its handle; nullptr if there are too many, or no memory is left.
  void* adopt(const std::shared_ptr<Part>& part);
  /// The part is gone: its handle is invalid, and waiting threads return.
  void release(Part& part);
  [[nodiscard]] std::shared_ptr<Part> owned(const Part& part) const { return parts_.at(part.handle); }
  /// A tag's handle as programs know it; nullptr for the NULL tag.
  [[nodiscard]] void* handle_of(vi::Ptag tag) const;
  /// A VipConnectWait under way, woken when the NIC is closed.
  void add_waiter(EventCount& point) { waiters_.insert(&point); }
  void remove_waiter(EventCount& point) { waiters_.erase(&point); }
  /// The same for a VI or completion queue; leaves the engine while its handlers run.
  void release_and_stop_notifiers(Part& part);
  /// VipCloseNic. Disconnects all connections and waits for that; then all handles of this NIC are invalid.
  void close();
  /// An error that cannot be reported otherwise (VI-DG 4.4).
  void report_catastrophe();

 private:
  friend class ViObject;
  bool failed(ViObject& object, bool receive_queue, std::uint64_t address);
  /// For $FCVI_TRACE.
  void tell_failure(const ViObject& object, bool receive_queue, std::uint64_t address);
  void tell_refusal(const ViObject& object, bool receive_queue, const WorkPort::Submission& submission, bool overrun);
  void tell_error(const VIP_ERROR_DESCRIPTOR& error, std::string_view cause);
  void disconnect_all();
  void release_all();
  // vi::Listener
  bool completed(vi::Vi& vi, bool receive_queue, std::uint64_t descriptor_address, bool error) override;
  void state_changed(vi::Vi& vi) override;
  [[nodiscard]] std::uint64_t taken_count(const vi::Vi& vi, bool receive_queue) const override;
  void asynchronous_error(vi::Vi* vi, vi::CompletionQueue* queue, std::uint64_t descriptor_address,
                          std::uint32_t op_code, vi::ResourceCode resource, vi::ErrorCode error) override;

  Domain& domain_;
  Device& device_;
  wire::IpAddress address_;
  std::shared_ptr<ErrorReporter> errors_;
  std::shared_ptr<const NameService> name_service_;
  std::unique_ptr<vi::Nic> model_;
  std::map<void*, std::shared_ptr<Part>> parts_;
  std::map<std::uint32_t, void*> tag_handles_;
  std::set<EventCount*> waiters_;
  bool closed_ = false;
};

/// A call that the transport completes later. Kept alive by the domain until then, and by the caller while it waits.
template <class Base>
class Pending final : public Base {
 public:
  static std::shared_ptr<Pending> make(Domain& domain) {
    auto pending = std::make_shared<Pending>(domain);
    domain.keep(pending);
    return pending;
  }
  explicit Pending(Domain& domain) : domain_(domain) {}

  void done(vi::Return value) override {
    const std::shared_ptr<vi::Operation> keep = domain_.let_go(*this);
    result = value;
    domain_.engine().notify_after({keep, &point});
  }

  std::optional<vi::Return> result;
  EventCount point;

 private:
  Domain& domain_;
};

}  // namespace vipl
