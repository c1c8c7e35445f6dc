// fcvi._fcvi: <fcvi/sim.hpp> for Python. What is more comfortable in Python is written in Python (fcvi/__init__.py).
//
// run() and the others that run keep the GIL: predicates, scripts and conditions are called in the thread that runs,
// and other threads of Python wait.
#include <fcvi/sim.hpp>

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <utility>

namespace py = pybind11;
using namespace fcvi::sim;

namespace {

Duration duration_of(double seconds) {
  constexpr double most_seconds = 9e9;
  if (!(seconds > -most_seconds && seconds < most_seconds)) throw Error("a time is a number of seconds below 9e9");
  return Duration(std::llround(seconds * 1e9));
}

double seconds_of(Duration time) { return static_cast<double>(time.count()) / 1e9; }

Bytes bytes_of(const py::buffer& data) {
  const py::buffer_info info = py::reinterpret_borrow<py::buffer>(data).request();
  if (info.ndim > 1 || (info.ndim == 1 && info.strides[0] != info.itemsize))
    throw Error("bytes in one piece were expected");
  const auto* begin = static_cast<const std::uint8_t*>(info.ptr);
  return Bytes(begin, begin + info.size * info.itemsize);
}

py::bytes to_python(const Bytes& bytes) { return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }

/// None and False: it passes; True: it is dropped; a frame goes in its place.
Action action_of(const py::object& answer) {
  if (answer.is_none()) return Action::pass();
  if (py::isinstance<py::bool_>(answer)) return answer.cast<bool>() ? Action::drop() : Action::pass();
  if (py::isinstance<Frame>(answer)) return Action::replace(answer.cast<Frame>());
  if (py::isinstance<Action>(answer)) return answer.cast<Action>();
  throw Error("a predicate returns None, a bool, a Frame or an Action, not " +
              py::str(py::type::of(answer).attr("__name__")).cast<std::string>());
}

/// It is asked until it had something done to `limit` frames.
Predicate predicate_of(py::function function, std::optional<std::uint64_t> limit) {
  return [function = std::move(function), left = limit](const Frame& frame) mutable {
    if (left == 0U) return Action::pass();
    Action action = action_of(function(frame));
    if (left && action.kind() != Action::Kind::pass) --*left;
    return action;
  };
}

/// A field of at most 8 bytes as int, others as bytes.
py::object value_of(const Frame& frame, const std::string& field) {
  constexpr std::size_t most_bytes = 8;
  const Bytes bytes = frame.get_bytes(field);
  if (bytes.size() > most_bytes) return to_python(bytes);
  return py::int_(frame.get(field));
}

void set_value(Frame& frame, const std::string& field, const py::object& value) {
  if (py::isinstance<py::int_>(value)) {
    if (value.attr("__lt__")(0).cast<bool>() || value.attr("bit_length")().cast<int>() > 64)
      throw Error("field \"" + field + "\" takes no such number: " + py::str(value).cast<std::string>());
    frame.set(field, value.cast<std::uint64_t>());
  } else if (PyObject_CheckBuffer(value.ptr()) != 0) {
    frame.set_bytes(field, bytes_of(value.cast<py::buffer>()));
  } else {
    throw Error("field \"" + field + "\" takes an int or bytes");
  }
}

Frame made_frame(const std::string& message, const py::kwargs& fields) {
  Frame frame = Frame::make(message);
  for (const auto& [name, value] : fields) {
    if (name.cast<std::string>() == "payload")
      frame.set_payload(bytes_of(value.cast<py::buffer>()));
    else
      set_value(frame, name.cast<std::string>(), py::reinterpret_borrow<py::object>(value));
  }
  return frame;
}

Frame made_reply(const Frame& request, const std::string& message, std::uint32_t handle, const py::kwargs& fields) {
  Frame frame = request.reply(message, handle);
  for (const auto& [name, value] : fields)
    set_value(frame, name.cast<std::string>(), py::reinterpret_borrow<py::object>(value));
  return frame;
}

py::dict fields_of(const Frame& frame) {
  py::dict fields;
  for (const Field& field : frame.fields()) fields[py::str(field.name)] = field.value;
  return fields;
}

PortOptions port_options(const std::string& address, double latency, std::uint64_t bytes_per_second,
                         const std::string& switch_name, int service_class,
                         std::optional<std::uint16_t> end_to_end_credit, bool ack_0) {
  if (service_class != 2 && service_class != 3) throw Error("service_class is 2 or 3");
  return {.address = address,
          .latency = duration_of(latency),
          .bytes_per_second = bytes_per_second,
          .switch_name = switch_name,
          .class_2 = service_class == 2,
          .end_to_end_credit = end_to_end_credit,
          .ack_0 = ack_0};
}

Reliability reliability_of(const std::string& name) {
  if (name == "unreliable_delivery") return Reliability::unreliable_delivery;
  if (name == "reliable_delivery") return Reliability::reliable_delivery;
  if (name == "reliable_reception") return Reliability::reliable_reception;
  throw Error("reliability \"" + name +
              "\": unreliable_delivery, reliable_delivery or reliable_reception was expected");
}

std::function<void(const Frame&)> script_of(const py::object& script) {
  if (script.is_none()) return {};
  return [function = script.cast<py::function>()](const Frame& frame) { function(frame); };
}

constexpr double minute = 60;

void define_errors(py::module_& module) {
  py::register_exception<Error>(module, "Error", PyExc_ValueError);
  py::register_exception<NotMet>(module, "NotMet", PyExc_AssertionError);
  // With its result as an attribute.
  static PyObject* const call_failed = PyErr_NewException("fcvi._fcvi.CallFailed", PyExc_RuntimeError, nullptr);
  module.attr("CallFailed") = py::reinterpret_borrow<py::object>(call_failed);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const CallFailed& failed) {
      py::object error = py::reinterpret_borrow<py::object>(call_failed)(failed.what());
      error.attr("result") = failed.result();
      PyErr_SetObject(call_failed, error.ptr());
    }
  });
}

void define_frame(py::module_& module) {
  py::class_<Frame>(module, "Frame",
                    "A Fibre Channel frame, by value: header, Device_Header, data and fill "
                    "bytes.\n\nFrame(\"FCVI_SEND_RQST\", ox_id=7, payload=b\"...\") makes one. frame[\"s_id\"] reads a "
                    "field, frame[\"s_id\"] = 1 writes it; names\nare those of faults in scenarios (ox_id, fcvi_flags) "
                    "and those of fcvi-sim decode, from any dot on (payload.handle).")
      .def(py::init(&made_frame), py::arg("message"))
      .def_static(
          "from_bytes", [](const py::buffer& bytes) { return Frame::from_bytes(bytes_of(bytes)); },
          "A frame of 24 to 2136 bytes, header included.")
      .def_property_readonly("message", &Frame::message,
                             "What it carries: PLOGI, FCVI_SEND_RQST, ABTS; or the protocol.")
      .def("__getitem__", &value_of, py::arg("field"),
           "A field of at most 8 bytes as int, a longer one as bytes. Error: the frame has no such field.")
      .def("__setitem__", &set_value, py::arg("field"), py::arg("value"),
           "Writes a field, of an int or of bytes. Error: it does not fit, and nothing has changed.")
      .def("__contains__", &Frame::has, py::arg("field"), "Whether the frame has that field.")
      .def("text", &Frame::text, py::arg("field"), "A field as fcvi-sim decode shows it.")
      .def_property_readonly("fields", &fields_of, "All fields as texts, from the outside to the inside.")
      .def_property(
          "payload", [](const Frame& frame) { return to_python(frame.payload()); },
          [](Frame& frame, const py::buffer& bytes) { frame.set_payload(bytes_of(bytes)); },
          "What stands behind the Device_Header, without fill bytes. To set it also sets the fill bytes and "
          "FCVI_TOT_LEN.")
      .def("__bytes__", [](const Frame& frame) { return to_python(frame.bytes()); })
      .def("__len__", [](const Frame& frame) { return frame.bytes().size(); })
      .def(
          "__eq__", [](const Frame& frame, const Frame& other) { return frame.bytes() == other.bytes(); },
          py::is_operator())
      .def("__copy__", [](const Frame& frame) { return Frame(frame); })
      .def(
          "copy", [](const Frame& frame) { return Frame(frame); }, "Another frame of the same bytes.")
      .def("__str__", &Frame::to_string)
      .def("__repr__", [](const Frame& frame) { return "<Frame " + frame.to_string() + ">"; })
      .def("reply", &made_reply, py::arg("message"), py::arg("handle") = 0x1000,
           "The answer to this frame, in its Exchange: an IU of FC-VI, or BA_ACC.\n\nhandle: of FCVI_CONNECT_RESP1 the "
           "endpoint of who answers; of others the endpoint that they are for.")
      .def_property_readonly(
          "at", [](const Frame& frame) { return seconds_of(frame.at); },
          "When it was sent (a peer's: when it came), in seconds of virtual time.")
      .def_readonly("source", &Frame::source,
                    "Name of the port that sent it; a service of the fabric by its address, FFFFFE.")
      .def_readonly("destination", &Frame::destination,
                    "Name of the port that it is for; a service of the fabric by its address, FFFFFE.")
      .def_readonly("fault", &Frame::fault, "Note of the fault that befell it; empty: none did.")
      .def_readwrite("crc_error", &Frame::crc_error, "It has a wrong CRC.")
      .def_readwrite("begins_sequence", &Frame::begins_sequence, "SOF: it is the first of its Sequence.")
      .attr("__hash__") = py::none();
}

void define_action(py::module_& module) {
  py::class_<Action>(module, "Action", "What becomes of a frame; predicates return one.")
      .def_static("drop", &Action::drop, "It is lost.")
      .def_static("pass_", &Action::pass, "It passes, as if the predicate had returned None.")
      .def_static(
          "delay", [](double seconds) { return Action::delay(duration_of(seconds)); }, py::arg("seconds"),
          "It arrives so much later.")
      .def_static("duplicate", &Action::duplicate, py::arg("copies") = 1,
                  "So many more arrive, each a nanosecond later.")
      .def_static("reorder", &Action::reorder, py::arg("frames") = 1,
                  "It goes after so many that follow it, or after 2 s.")
      .def_static("corrupt", &Action::corrupt, py::arg("bit") = 24 * 8,
                  "A bit is turned over, counted from the first of the header; the CRC tells.")
      .def_static("replace", &Action::replace, py::arg("frame"), "That frame arrives in its place.");
  py::class_<Fault>(module, "Fault", "A predicate at work.")
      .def_property_readonly("fired", &Fault::fired, "How many frames did not just pass.")
      .def("remove", &Fault::remove, "It is asked no more. Not from within a predicate.");
}

void define_work(py::module_& module) {
  py::class_<Call>(module, "Call", "A call of VIPL that may be under way.")
      .def_property_readonly("done", &Call::done, "It has a result.")
      .def_property_readonly("result", &Call::result,
                             "As VI-DG 4.2 names it: Success, Timeout, Reject; NotDone until then.");
  py::class_<Work>(module, "Work", "A descriptor that was posted.")
      .def_property_readonly("done", &Work::done, "It is complete.")
      .def_property_readonly("ok", &Work::ok, "It is complete, without error.")
      .def_property_readonly("error", &Work::error,
                             "flushed, transport_error, ... (VI-DG 5.2); empty: none, or not done.")
      .def_property_readonly(
          "data", [](const Work& work) { return to_python(work.data()); },
          "What was received, sent or read; empty until it is complete.")
      .def_property_readonly("immediate", &Work::immediate, "Immediate data of a receive, or None.");
  py::class_<Memory>(module, "Memory", "Registered memory, for RDMA of the other side.")
      .def_property_readonly("address", &Memory::address, "What RDMA calls FCVI_RMT_VA.")
      .def_property_readonly("handle", &Memory::handle, "What RDMA calls FCVI_RMT_VA_HANDLE.")
      .def("__len__", &Memory::size, "Its size in bytes.")
      .def(
          "read",
          [](const Memory& memory, std::size_t offset, std::optional<std::size_t> size) {
            return to_python(memory.read(offset, size));
          },
          py::arg("offset") = 0, py::arg("size") = py::none(), "Bytes from offset on.")
      .def(
          "write",
          [](Memory& memory, const py::buffer& data, std::size_t offset) { memory.write(bytes_of(data), offset); },
          py::arg("data"), py::arg("offset") = 0, "Puts bytes at offset.");
}

void define_vi(py::module_& module) {
  py::class_<Vi>(module, "Vi", "A VI of a port.")
      .def("listen", &Vi::listen, py::arg("discriminator"),
           "Waits for a request to that discriminator and accepts it (VipConnectWait, VipConnectAccept).")
      .def(
          "begin_connect",
          [](Vi& vi, const std::string& host, const std::string& discriminator, double timeout) {
            return vi.begin_connect(host, discriminator, duration_of(timeout));
          },
          py::arg("host"), py::arg("discriminator"), py::arg("timeout") = 30.0,
          "VipConnectRequest. host: the name of a port or peer, or an IP address.")
      .def(
          "connect",
          [](Vi& vi, const std::string& host, const std::string& discriminator, double timeout) {
            vi.connect(host, discriminator, duration_of(timeout));
          },
          py::arg("host"), py::arg("discriminator"), py::arg("timeout") = 30.0,
          "The same, and runs until it is done. CallFailed: the result is not Success.")
      .def("disconnect", &Vi::disconnect, "VipDisconnect.")
      .def_property_readonly("state", &Vi::state, "As VI-ARCH 5 and FC-VI 8.2 name it: Idle, Connected, Error.")
      .def("post_receive", &Vi::post_receive, py::arg("size") = 65536, "Posts a receive descriptor.")
      .def(
          "send",
          [](Vi& vi, const py::buffer& data, std::optional<std::uint32_t> immediate) {
            return vi.send(bytes_of(data), immediate);
          },
          py::arg("data"), py::arg("immediate") = py::none(), "Posts a send descriptor.")
      .def("allocate", &Vi::allocate, py::arg("size"), "Memory that the other side may reach.")
      .def(
          "rdma_write",
          [](Vi& vi, const py::buffer& data, const Memory& remote, std::size_t offset,
             std::optional<std::uint32_t> immediate) {
            return vi.rdma_write(bytes_of(data), remote, offset, immediate);
          },
          py::arg("data"), py::arg("remote"), py::arg("offset") = 0, py::arg("immediate") = py::none(),
          "To offset of the other side's memory.")
      .def(
          "rdma_write_to",
          [](Vi& vi, const py::buffer& data, std::uint64_t address, std::uint32_t handle,
             std::optional<std::uint32_t> immediate) {
            return vi.rdma_write(bytes_of(data), address, handle, immediate);
          },
          py::arg("data"), py::arg("address"), py::arg("handle"), py::arg("immediate") = py::none(),
          "The same to any address: what a peer tells, or what there is not.")
      .def("rdma_read", &Vi::rdma_read, py::arg("size"), py::arg("remote"), py::arg("offset") = 0,
           "From offset of the other side's memory.");
}

void define_ports(py::module_& module) {
  py::class_<Port>(module, "Port", "An N_Port with the FC-VI provider.")
      .def_property_readonly("name", &Port::name, "As it was given.")
      .def_property_readonly("address", &Port::address, "IP address.")
      .def_property_readonly("n_port_id", &Port::n_port_id, "24 bits; 0: not logged in.")
      .def_property_readonly("ready", &Port::ready, "Logged in to the fabric and registered with its name server.")
      .def_property_readonly("errors", &Port::errors, "Asynchronous errors of its VIs (VI-DG 3.8.1), oldest first.")
      .def(
          "vi",
          [](Port& port, const std::string& reliability, bool rdma_write, bool rdma_read, unsigned depth) {
            return port.vi({.reliability = reliability_of(reliability),
                            .rdma_write = rdma_write,
                            .rdma_read = rdma_read,
                            .depth = depth});
          },
          py::arg("reliability") = "reliable_delivery", py::kw_only(), py::arg("rdma_write") = true,
          py::arg("rdma_read") = true, py::arg("depth") = 256,
          "A new VI. reliability: unreliable_delivery, reliable_delivery, reliable_reception.")
      .def("unplug", &Port::unplug, "The cable is pulled.")
      .def("plug", &Port::plug, "The cable is put back: the port logs in again.");
  py::class_<Isl>(module, "Isl", "A link between two switches.")
      .def("unplug", &Isl::unplug, "Frames on it are lost; later ones take another path, if there is one, after 10 ms.")
      .def("plug", &Isl::plug, "It comes back.");
  py::class_<Peer>(
      module, "Peer",
      "A scripted N_Port: it logs in and answers link services as any port; what is FC-VI comes to the test.")
      .def_property_readonly("name", &Peer::name, "As it was given.")
      .def_property_readonly("address", &Peer::address, "IP address.")
      .def_property_readonly("n_port_id", &Peer::n_port_id, "24 bits; 0: not logged in.")
      .def("log_in", &Peer::log_in, py::arg("port"),
           "PLOGI, and runs until it is accepted: who sends FC-VI first must.")
      .def("log_out", &Peer::log_out, py::arg("port"),
           "LOGO: all that the two have with each other ends. Nothing is sent where there is no login.")
      .def("send", &Peer::send, py::arg("frame"), "Sends any frame. S_ID 0 and OX_ID FFFFh are filled in.")
      .def("take", &Peer::take, "The oldest FC-VI frame that came and was not taken, or None.")
      .def(
          "expect",
          [](Peer& peer, const std::string& message, double timeout) {
            return peer.expect(message, duration_of(timeout));
          },
          py::arg("message"), py::arg("timeout") = 1.0,
          "Runs until a frame with that name came, and takes it with those before it. NotMet: it did not come.")
      .def(
          "on_frame", [](Peer& peer, const py::object& script) { peer.on_frame(script_of(script)); }, py::arg("script"),
          "Called for each FC-VI frame that comes; it may send, not run. None: frames wait for take().");
}

void run_until(Fabric& fabric, const py::object& what, double timeout) {
  if (py::isinstance<Call>(what)) return fabric.run_until(what.cast<Call>(), duration_of(timeout));
  if (py::isinstance<Work>(what)) return fabric.run_until(what.cast<Work>(), duration_of(timeout));
  if (PyCallable_Check(what.ptr()) == 0) throw Error("run_until() takes a Call, a Work or a function");
  const auto condition = [&] { return py::bool_(what()).cast<bool>(); };
  if (!fabric.run_until(condition, duration_of(timeout)))
    throw NotMet("the condition does not hold within " + std::to_string(timeout) + " s of virtual time");
}

/// add_port() and add_peer() with the names that Python gives.
template <auto add>
auto added(Fabric& fabric, const std::string& name, const std::string& address, double latency,
           std::uint64_t bytes_per_second, const std::string& switch_name, int service_class,
           std::optional<std::uint16_t> end_to_end_credit, bool ack_0) {
  return (fabric.*add)(
      name, port_options(address, latency, bytes_per_second, switch_name, service_class, end_to_end_credit, ack_0));
}

py::class_<Fabric> define_fabric(py::module_& module) {
  return py::class_<Fabric>(module, "Fabric",
                            "Switches and what is attached to them, in virtual time: nothing happens until it runs. A "
                            "seed repeats a run byte "
                            "for byte.\n\nPredicates and scripts are kept until close(); a with statement closes.")
      .def(py::init([](std::uint64_t seed, bool in_order, bool record) {
             Fabric fabric({.seed = seed, .in_order = in_order, .record = record});
             fabric.set_interrupt([] {
               if (PyErr_CheckSignals() != 0) throw py::error_already_set();
             });
             return fabric;
           }),
           py::kw_only(), py::arg("seed") = 1, py::arg("in_order") = true, py::arg("record") = true)
      .def(
          "add_port", &added<&Fabric::add_port>, py::arg("name"), py::kw_only(), py::arg("address") = "",
          py::arg("latency") = 1e-6, py::arg("bytes_per_second") = PortOptions{}.bytes_per_second,
          py::arg("switch") = "", py::arg("service_class") = 3, py::arg("end_to_end_credit") = py::none(),
          py::arg("ack_0") = false,
          "A port on a link of its own to a switch, the first unless named.\n\nlatency in seconds; bytes_per_second 0: "
          "no limit. service_class 2: its messages go in class 2 where the other port has end-to-end credit too, "
          "which is 16 then.")
      .def("add_peer", &added<&Fabric::add_peer>, py::arg("name"), py::kw_only(), py::arg("address") = "",
           py::arg("latency") = 1e-6, py::arg("bytes_per_second") = PortOptions{}.bytes_per_second,
           py::arg("switch") = "", py::arg("service_class") = 3, py::arg("end_to_end_credit") = py::none(),
           py::arg("ack_0") = false, "The same for a scripted peer.")
      .def("add_switch", &Fabric::add_switch, py::arg("name"),
           "Another switch; the first is named \"switch\". Error: there is one of that name.")
      .def(
          "add_isl",
          [](Fabric& fabric, const std::string& one, const std::string& other, double latency,
             std::uint64_t bytes_per_second) {
            return fabric.add_isl(one, other, {.latency = duration_of(latency), .bytes_per_second = bytes_per_second});
          },
          py::arg("one"), py::arg("other"), py::kw_only(), py::arg("latency") = 1e-6,
          py::arg("bytes_per_second") = IslOptions{}.bytes_per_second,
          "A link between two switches. latency in seconds; bytes_per_second 0: no limit.");
}

void define_run(py::class_<Fabric> defined) {
  defined
      .def_property_readonly(
          "now", [](const Fabric& fabric) { return seconds_of(fabric.now()); },
          "Seconds of virtual time since the fabric was made.")
      .def("step", &Fabric::step, "The next event, whenever it is. False: there is none.")
      .def(
          "run", [](Fabric& fabric, double seconds) { fabric.run(duration_of(seconds)); }, py::arg("seconds"),
          "So many seconds of virtual time.")
      .def("run_until", &run_until, py::arg("what"), py::arg("timeout") = minute,
           "Until a Call is done, a Work complete, or a function returns true. NotMet: not within timeout seconds.")
      .def(
          "run_until_ready", [](Fabric& fabric, double timeout) { fabric.run_until_ready(duration_of(timeout)); },
          py::arg("timeout") = minute,
          "Until all ports and peers are logged in and registered. NotMet: not within timeout seconds.")
      .def(
          "add_fault",
          [](Fabric& fabric, py::function predicate, const std::string& note, std::optional<std::uint64_t> limit) {
            return fabric.add_fault(predicate_of(std::move(predicate), limit), note);
          },
          py::arg("predicate"), py::arg("note") = "fault", py::arg("limit") = py::none(),
          "Asks predicate(frame) of each frame once, when it is sent. It returns None or False (it passes), True (it "
          "is lost), a Frame\n(which arrives in its place) or an Action, and changes nothing itself. What it raises "
          "comes out of the call that runs.\nlimit: so many frames at most; then it is asked no more.")
      .def("ius", &Fabric::ius, py::arg("message") = "",
           "All IUs whose last frame was sent, each as if it had been one frame, however long.")
      .def("frames", &Fabric::frames, py::arg("message") = "",
           "All frames, each once, as they were sent; of one message only, where it is named.")
      .def(
          "expect",
          [](Fabric& fabric, const std::string& message, double timeout) {
            return fabric.expect(message, duration_of(timeout));
          },
          py::arg("message"), py::arg("timeout") = 1.0,
          "Runs until a frame with that name is sent; one that was sent since the last run counts. NotMet: none is.")
      .def(
          "capture", [](const Fabric& fabric) { return to_python(fabric.capture()); },
          "All frames as pcapng, for Wireshark and fcvi-sim decode.")
      .def("ladder", &Fabric::ladder, py::arg("svg") = false, "A ladder diagram, as text or SVG.")
      .def("report", &Fabric::report, "A page of HTML.")
      .def("close", &Fabric::close, "Forgets predicates and scripts, and takes all down. Later calls raise Error.")
      .def_property_readonly("closed", &Fabric::closed, "close() was called.")
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](Fabric& fabric, const py::args&) { fabric.close(); });
}

}  // namespace

PYBIND11_MODULE(_fcvi, module) {
  module.doc() = "Simulated Fibre Channel fabrics for tests of FC-VI; see the package fcvi.";
  define_errors(module);
  define_frame(module);
  define_action(module);
  define_work(module);
  define_vi(module);
  define_ports(module);
  define_run(define_fabric(module));
}
