// What the handles of the API stand for.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "vi/nic.hpp"
#include "vipl/domain.hpp"
#include "vipl/error_reporter.hpp"
#include "vipl/runtime.hpp"

namespace vipl {
class Device;
class NameService;

struct Object : std::enable_shared_from_this<Object> {
  enum class Kind : std::uint8_t { Nic, Vi, Queue, Connection, Tag };
  explicit Object(Kind its_kind) : kind(its_kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const Kind kind;
  void* handle = nullptr;
};

/// What belongs to an open NIC. A thread that is blocked on one keeps it alive; `closed` tells it to leave.
struct Part : Object {
  Part(Kind its_kind, NicObject& its_nic) : Object(its_kind), nic(&its_nic) {}
  NicObject* nic;  // valid until closed
  bool closed = false;
};

struct ViObject final : Part {
  static constexpr Kind its_kind = Kind::Vi;
  explicit ViObject(NicObject& owner) : Part(its_kind, owner) {}
  /// Where the waiters of a work queue are.
  WaitPoint& point(bool receive_queue) { return points[receive_queue ? 1 : 0]; }
  vi::Vi* model = nullptr;  // until closed
  std::array<WaitPoint, 2> points;
};

struct QueueObject final : Part {
  static constexpr Kind its_kind = Kind::Queue;
  explicit QueueObject(NicObject& owner) : Part(its_kind, owner) {}
  vi::CompletionQueue* model = nullptr;  // until closed
  WaitPoint point;
};

struct ConnectionObject final : Part {
  static constexpr Kind its_kind = Kind::Connection;
  ConnectionObject(NicObject& owner, vi::ConnectionToken its_token) : Part(its_kind, owner), token(its_token) {}
  vi::ConnectionToken token;
};

struct TagObject final : Part {
  static constexpr Kind its_kind = Kind::Tag;
  TagObject(NicObject& owner, vi::Ptag its_tag) : Part(its_kind, owner), tag(its_tag) {}
  vi::Ptag tag;
};

/// One VipOpenNic: a NIC of the model on a device that others may have open too.
class NicObject final : public Object, private vi::Listener {
 public:
  static constexpr Kind its_kind = Kind::Nic;
  NicObject(Domain& domain, Device& device);
  ~NicObject() override;

  Domain& domain() { return domain_; }
  Device& device() { return device_; }
  vi::Nic& model() { return *model_; }
  ErrorReporter& errors() { return *errors_; }
  /// VipNSInit to VipNSShutdown; nullptr else. A call that looks a name up keeps it meanwhile.
  std::shared_ptr<const NameService>& name_service() { return name_service_; }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] const std::uint8_t* address_bytes() const { return address_.bytes.data(); }

  /// Gives a new part its handle; nullptr when there are too many.
  void* adopt(const std::shared_ptr<Part>& part);
  /// The part is gone: its handle is no longer valid, and who waits on it leaves.
  void release(Part& part);
  /// A tag's handle as programs know it; nullptr for the NULL tag.
  [[nodiscard]] void* handle_of(vi::Ptag tag) const;
  /// A ConnectWait that is under way, woken when the NIC is closed.
  void add_waiter(WaitPoint& point) { waiters_.insert(&point); }
  void remove_waiter(WaitPoint& point) { waiters_.erase(&point); }
  /// VipCloseNic. Disconnects what is connected and waits for that; then all handles of this NIC are invalid.
  void close();

 private:
  void disconnect_all();
  void release_all();
  // vi::Listener
  void work_completed(vi::Vi& vi, bool receive_queue) override;
  void completion_queued(vi::CompletionQueue& queue) override;
  void asynchronous_error(vi::Vi* vi, vi::CompletionQueue* queue, std::uint64_t descriptor_address,
                          std::uint32_t op_code, vi::ResourceCode resource, vi::ErrorCode error) override;

  Domain& domain_;
  Device& device_;
  wire::IpAddress address_;
  std::shared_ptr<ErrorReporter> errors_;
  std::shared_ptr<const NameService> name_service_;
  std::unique_ptr<vi::Nic> model_;
  std::map<void*, Part*> parts_;
  std::map<std::uint32_t, void*> tag_handles_;
  std::set<WaitPoint*> waiters_;
  bool closed_ = false;
};

/// A call that the transport answers later. Kept alive by the domain until then, and by the caller while it waits.
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
    domain_.runtime().notify_all(point);
    if constexpr (std::is_same_v<Base, vi::ConnectWaitOperation>)
      if (abandoned_by != nullptr && value == vi::Return::Success)
        domain_.reject_later(*abandoned_by, this->token);
  }

  std::optional<vi::Return> result;
  WaitPoint point;
  Device* abandoned_by = nullptr;  // the caller left: who comes now is rejected there

 private:
  Domain& domain_;
};

}  // namespace vipl
