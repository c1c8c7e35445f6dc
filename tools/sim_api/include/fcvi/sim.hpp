// Simulated Fibre Channel fabrics for tests of FC-VI: ports, VIs, frames with their fields, faults, scripted peers,
// all in virtual time. The Python module fcvi is the same; docs/python.md describes both.
//
//   fcvi::sim::Fabric fabric;
//   auto alice = fabric.add_port("alice"), bob = fabric.add_port("bob");
//
// Nothing happens but in step(), the run...() functions and those that say that they run: connect(), expect(), ... A
// seed repeats a run byte for byte. Ports, VIs and the other handles share their fabric: copies are the same object,
// and a fabric lives as long as one of them; after Fabric::close() their calls throw.
//
// Errors: everything that the caller did wrong throws Error, and nothing has changed then. What a predicate or a script
// throws comes out of the call that ran; the event was finished before, and the fabric can be used on.
//
// Threads: a fabric is used by one thread at a time; different fabrics know nothing of one another.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace fcvi::sim {

using Duration = std::chrono::nanoseconds;
using Bytes = std::vector<std::uint8_t>;

/// The caller asked for what there is not, or cannot be: the text names it, and the nearest name that there is.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// What was expected did not come in time: the text tells what came.
class NotMet : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// A call of VIPL returned something else than VIP_SUCCESS.
class CallFailed : public std::runtime_error {
 public:
  CallFailed(const std::string& what, std::string result) : std::runtime_error(what), result_(std::move(result)) {}
  /// As VI-DG 4.2 names it, in short: "Timeout", "Reject".
  [[nodiscard]] const std::string& result() const { return result_; }

 private:
  std::string result_;
};

/// A field as text: "FC.s_id" is "010200".
struct Field {
  std::string name, value;
};

/// A Fibre Channel frame, by value: header, Device_Header, data and fill bytes, without SOF, CRC and EOF.
///
/// Names of fields are those of faults in scenarios ("ox_id", "fcvi_flags"; docs/scenarios.md) and those that
/// `fcvi-sim decode -v` prints, from any dot on: "payload.local_address.host" is
/// "FCVI_CONNECT_RQST.payload.local_address.host". The outermost one counts. Field lists: FC-FS 9, FC-VI 5.9 and 6.
class Frame {
 public:
  /// An IU of FC-VI Table 1 ("FCVI_SEND_RQST") with fields for a message or request in one frame of an Exchange of
  /// its own, or a basic link service ("ABTS").
  static Frame make(std::string_view message, std::initializer_list<std::pair<std::string_view, std::uint64_t>> = {});
  /// 24 to 2136 bytes, header included.
  static Frame from_bytes(Bytes bytes);

  /// What it carries: "PLOGI", "FCVI_SEND_RQST", "ABTS"; or the protocol.
  [[nodiscard]] std::string message() const;
  [[nodiscard]] bool is(std::string_view name) const { return message() == name; }
  [[nodiscard]] bool has(std::string_view field) const;
  /// Of a field of at most 8 bytes. A name that no frame has, and a field that this one has not, are Errors.
  [[nodiscard]] std::uint64_t get(std::string_view field) const;
  /// Of any field.
  [[nodiscard]] Bytes get_bytes(std::string_view field) const;
  /// As `fcvi-sim decode` shows it.
  [[nodiscard]] std::string text(std::string_view field) const;
  /// Error: the value does not fit. The whole frame is taken anew: an opcode decides about the rest.
  Frame& set(std::string_view field, std::uint64_t value);
  /// As many bytes as the field has, or fewer: zeros follow.
  Frame& set_bytes(std::string_view field, const Bytes& value);
  /// All of them, from the outside to the inside.
  [[nodiscard]] std::vector<Field> fields() const;
  /// Behind the header and the Device_Header; fill bytes are not part of it.
  [[nodiscard]] Bytes payload() const;
  /// Also sets the fill bytes, and FCVI_TOT_LEN of a message.
  Frame& set_payload(const Bytes& payload);
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  /// One line: route, message, fields.
  [[nodiscard]] std::string to_string() const;

  /// The answer to this one, from its destination to its source: an IU of FC-VI, or BA_ACC, in the same Exchange. An
  /// FCVI_CONNECT_RESP1 accepts with the attributes of the request, and `handle` is the endpoint of who answers.
  [[nodiscard]] Frame reply(std::string_view message, std::uint32_t handle = 0x1000) const;

  /// Of frames that were seen: when it was sent (received, by a Peer), the names of the ports that sent it and that
  /// it is for ("FFFFFE": a service of the fabric, by its address), and the note of the fault that befell it.
  Duration at{};
  std::string source, destination;
  std::string fault;
  /// Sent with a wrong CRC, or received so.
  bool crc_error = false;
  /// SOF: it is the first of its Sequence. Set it to false for the others of an IU of several frames.
  bool begins_sequence = true;

 private:
  friend class Fabric;
  Frame() = default;
  /// The same IU goes on in that frame.
  void append(const Frame& next);
  Bytes bytes_;
};

/// What becomes of a frame on a link.
class Action {
 public:
  static Action pass() { return {}; }
  static Action drop() { return Action(Kind::drop); }
  static Action delay(Duration by) { return Action(Kind::delay, by.count()); }
  /// So many more arrive, each a nanosecond later.
  static Action duplicate(unsigned copies = 1) { return Action(Kind::duplicate, copies); }
  /// Goes after so many that follow it on that link, or after 2 s.
  static Action reorder(unsigned frames = 1) { return Action(Kind::reorder, frames); }
  /// One bit, counted from the first of the header, is turned over; the CRC tells.
  static Action corrupt(unsigned bit = 24 * 8) { return Action(Kind::corrupt, bit); }
  /// This one arrives in its place, with a right CRC.
  static Action replace(Frame by) {
    Action action(Kind::replace);
    action.frame_ = std::make_shared<const Frame>(std::move(by));
    return action;
  }

  enum class Kind : std::uint8_t { pass, drop, delay, duplicate, reorder, corrupt, replace };
  Action() = default;
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::int64_t amount() const { return amount_; }
  [[nodiscard]] const Frame* frame() const { return frame_.get(); }

 private:
  explicit Action(Kind kind, std::int64_t amount = 0) : kind_(kind), amount_(amount) {}
  Kind kind_ = Kind::pass;
  std::int64_t amount_ = 0;
  std::shared_ptr<const Frame> frame_;
};

/// Asked of each frame once, when its port sends it, or its fabric's service. It may look at all, and do nothing:
/// calls that change the fabric are Errors there.
using Predicate = std::function<Action(const Frame&)>;

namespace detail {
struct FabricState;
struct PortState;
struct ViState;
struct WorkState;
struct CallState;
struct MemoryState;
struct FaultState;
struct IslState;
}  // namespace detail

/// A call of VIPL that may still be under way.
class Call {
 public:
  [[nodiscard]] bool done() const;
  /// As VI-DG 4.2 names it, in short: "Success", "Timeout"; "NotDone" until then.
  [[nodiscard]] std::string result() const;

 private:
  friend class Vi;
  friend class Fabric;
  explicit Call(std::shared_ptr<detail::CallState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::CallState> state_;
};

/// A descriptor that was posted.
class Work {
 public:
  [[nodiscard]] bool done() const;
  /// Done, without error.
  [[nodiscard]] bool ok() const;
  /// Of VI-DG 5.2: "flushed", "length_error and partial_error". Empty: none, or not done.
  [[nodiscard]] std::string error() const;
  /// Received, sent, read: as far as the descriptor's length says. Empty until it is done.
  [[nodiscard]] Bytes data() const;
  /// Of a receive.
  [[nodiscard]] std::optional<std::uint32_t> immediate() const;

 private:
  friend class Vi;
  friend class Fabric;
  explicit Work(std::shared_ptr<detail::WorkState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::WorkState> state_;
};

/// Registered memory, for RDMA of the other side.
class Memory {
 public:
  [[nodiscard]] std::uint64_t address() const;
  [[nodiscard]] std::uint32_t handle() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] Bytes read(std::size_t offset = 0, std::optional<std::size_t> size = {}) const;
  void write(const Bytes& data, std::size_t offset = 0);

 private:
  friend class Vi;
  explicit Memory(std::shared_ptr<detail::MemoryState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::MemoryState> state_;
};

enum class Reliability : std::uint8_t { unreliable_delivery, reliable_delivery, reliable_reception };

struct ViOptions {
  Reliability reliability = Reliability::reliable_delivery;
  bool rdma_write = true, rdma_read = true;  // read: not of unreliable_delivery
  unsigned depth = 256;                      // descriptors of each queue, 1 to 4096
};

class Vi {
 public:
  /// Waits for a request to `discriminator` (1 to 128 bytes) and accepts it: VipConnectWait, VipConnectAccept.
  Call listen(std::string_view discriminator);
  /// VipConnectRequest. `host`: the name of a port or peer of the fabric, or an IP address.
  Call begin_connect(std::string_view host, std::string_view discriminator,
                     Duration timeout = std::chrono::seconds(30));
  /// The same, and runs until it is done. CallFailed: not Success.
  void connect(std::string_view host, std::string_view discriminator, Duration timeout = std::chrono::seconds(30));
  /// VipDisconnect.
  Call disconnect();
  /// As VI-ARCH 5 and FC-VI 8.2 name it: "Idle", "Connected", "Error".
  [[nodiscard]] std::string state() const;

  Work post_receive(std::uint32_t size = 65536);
  Work send(const Bytes& data, std::optional<std::uint32_t> immediate = {});
  Memory allocate(std::size_t size);
  /// To, or from, `offset` of the other side's memory.
  Work rdma_write(const Bytes& data, const Memory& remote, std::size_t offset = 0,
                  std::optional<std::uint32_t> immediate = {});
  Work rdma_read(std::uint32_t size, const Memory& remote, std::size_t offset = 0);
  /// The same of any address: what a peer tells, or what there is not.
  Work rdma_write(const Bytes& data, std::uint64_t address, std::uint32_t handle,
                  std::optional<std::uint32_t> immediate = {});

 private:
  friend class Port;
  explicit Vi(std::shared_ptr<detail::ViState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::ViState> state_;
};

struct PortOptions {
  std::string address = "";                         // IP; empty: 10.0.0.1 for the first port, and so on
  Duration latency = std::chrono::microseconds(1);  // of its link
  std::uint64_t bytes_per_second = 1'600'000'000;   // of its link; 0: no limit
  std::string switch_name = "";                     // where its link goes; empty: the first switch
  /// Messages of this port go in class 2, where the other port has end-to-end credit too (FC-VI 8.1); else in class 3.
  bool class_2 = false;
  /// Frames that each other port may send here before one is acknowledged, 0 to 32767. 0: no class 2. Not set: 16 with
  /// class_2, else 0.
  std::optional<std::uint16_t> end_to_end_credit = {};
  bool ack_0 = false;  // a Sequence is acknowledged at once (ACK_0), where the other port does the same
};

struct IslOptions {
  Duration latency = std::chrono::microseconds(1);
  std::uint64_t bytes_per_second = 1'600'000'000;  // 0: no limit
};

/// An N_Port with the FC-VI provider, on a link of its own.
class Port {
 public:
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& address() const;
  /// 24 bits; 0: not logged in.
  [[nodiscard]] std::uint32_t n_port_id() const;
  /// Logged in to the fabric and registered with its name server.
  [[nodiscard]] bool ready() const;
  Vi vi(const ViOptions& options = {});
  /// Asynchronous errors of its VIs (VI-DG 3.8.1), oldest first: "Connection Lost".
  [[nodiscard]] std::vector<std::string> errors() const;
  /// The cable is pulled, or put back: the port logs in again, perhaps at another address.
  void unplug();
  void plug();

 private:
  friend class Fabric;
  explicit Port(std::shared_ptr<detail::PortState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::PortState> state_;
};

/// A scripted N_Port: it logs in, registers its name, and answers link services (ABTS too) as any port; what is FC-VI
/// comes to the test, which sends whatever frames it likes, right or wrong.
class Peer {
 public:
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& address() const;
  [[nodiscard]] std::uint32_t n_port_id() const;
  /// PLOGI, and runs until it is accepted: who sends FC-VI first must. NotMet: it is not, within 30 s.
  void log_in(std::string_view port);
  /// LOGO, which leaves as soon as the link takes it: all that the two have with each other ends. Without a login
  /// nothing is sent.
  void log_out(std::string_view port);
  /// As it is; S_ID is the peer's where the frame has none. OX_ID FFFFh: the next one of the peer's. It leaves as
  /// soon as the link takes it.
  void send(Frame frame);
  /// The oldest frame of TYPE FC-VI that came and was not taken.
  std::optional<Frame> take();
  /// Runs until a frame with that name came, and takes it with those before it. NotMet: it did not.
  Frame expect(std::string_view message, Duration timeout = std::chrono::seconds(1));
  /// Called for each frame of TYPE FC-VI that comes, after its event: it may send, not run. Empty: frames wait for
  /// take().
  void on_frame(std::function<void(const Frame&)> script);

 private:
  friend class Fabric;
  explicit Peer(std::shared_ptr<detail::PortState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::PortState> state_;
};

/// A predicate at work.
class Fault {
 public:
  /// Frames that did not just pass.
  [[nodiscard]] std::uint64_t fired() const;
  /// It is asked no more.
  void remove();

 private:
  friend class Fabric;
  explicit Fault(std::shared_ptr<detail::FaultState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::FaultState> state_;
};

struct FabricOptions {
  std::uint64_t seed = 1;  // of OX_IDs, FCVI_HANDLEs and FCVI_CONNECTION_IDs
  bool in_order = true;    // what the fabric promises (FC-VI 8.1)
  bool record = true;      // keep all frames: for frames(), captures, ladders, reports. Else they have nothing.
};

/// A link between two switches.
class Isl {
 public:
  /// Frames on it are lost; later ones take another path after the reconfiguration delay of 10 ms, where there is one.
  void unplug();
  void plug();

 private:
  friend class Fabric;
  explicit Isl(std::shared_ptr<detail::IslState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::IslState> state_;
};

/// Switches and what is attached to them. There is one, named "switch"; more can be added.
class Fabric {
 public:
  explicit Fabric(const FabricOptions& options = {});
  /// Its login begins with the next run.
  Port add_port(std::string name, const PortOptions& options = {});
  Peer add_peer(std::string name, const PortOptions& options = {});
  /// At most 239 with the first. It gets the lowest Domain_ID that is free: before the first event at once, later after
  /// the reconfiguration delay of 10 ms, which ISLs that come later have, too.
  void add_switch(std::string name);
  /// Between two different switches; there may be several. Frames of two ports keep to one of the shortest paths.
  Isl add_isl(std::string_view one, std::string_view other, const IslOptions& options = {});

  // --- virtual time; a limit that is never reached is none
  /// Since the fabric was made.
  [[nodiscard]] Duration now() const;
  /// The next event, whenever it is. False: there is none.
  bool step();
  /// So long, whether something happens or not.
  void run(Duration time);
  /// Until it holds, asked after each event, for at most `limit`. False: it does not, or nothing more happens.
  bool run_until(const std::function<bool()>& condition, Duration limit = std::chrono::seconds(60));
  /// NotMet: not within `limit`.
  void run_until(const Call& call, Duration limit = std::chrono::seconds(60));
  void run_until(const Work& work, Duration limit = std::chrono::seconds(60));
  /// All ports and peers are ready. NotMet: not within `limit`.
  void run_until_ready(Duration limit = std::chrono::seconds(60));

  // --- frames
  /// On all links. Of several faults the first that does not pass the frame decides. `note`: for captures and ladders.
  Fault add_fault(Predicate predicate, std::string note = "fault");
  /// All frames, each once, as they were sent by ports and services; of one message only, where it is named. Here and
  /// where a message is expected, a name that no message has is an Error.
  [[nodiscard]] std::vector<Frame> frames(std::string_view message = {}) const;
  /// All IUs whose last frame was sent, each as if it had been one frame, however long: header, Device_Header, whole
  /// payload. Faults did not befall them yet.
  [[nodiscard]] std::vector<Frame> ius(std::string_view message = {}) const;
  /// Runs until a frame with that name is sent; one that was sent since the last run, as posts do, counts. NotMet:
  /// none is.
  Frame expect(std::string_view message, Duration timeout = std::chrono::seconds(1));

  // --- what happened
  /// pcapng with FCoE frames.
  [[nodiscard]] Bytes capture() const;
  /// As text, or as SVG.
  [[nodiscard]] std::string ladder(bool svg = false) const;
  /// A page of HTML.
  [[nodiscard]] std::string report() const;

  /// Forgets predicates and scripts, and takes all down. Handles stay, their calls throw Error.
  void close();
  [[nodiscard]] bool closed() const;
  /// Called every 1000 events; what it throws ends the run. For hosts that have signals of their own.
  void set_interrupt(std::function<void()> check);

 private:
  std::shared_ptr<detail::FabricState> state_;
};

}  // namespace fcvi::sim
#pragma GCC visibility pop
