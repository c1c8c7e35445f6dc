// The fabric service: a switch, and a connection for each N_Port of another process. One thread, one io_context.
#pragma once
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tools/fabricd/downed_links.hpp"
#include "tools/fabricd/failure_files.hpp"
#include "tools/fabricd/fcoe_side.hpp"
#include "tools/fabricd/live_faults.hpp"
#include "tools/fabricd/paths.hpp"
#include "tools/fabricd/rates.hpp"
#include "tools/fabricd/recorder.hpp"
#include "tools/fabricd/session.hpp"
#include "tools/fabricd/stand_in.hpp"
#include "tools/service_common/instance.hpp"

namespace fabricd {
class CaptureSession;
class PortSession;
struct Status;

struct ServiceConfig {
  int idle_seconds = 30;  // without a link or a capture; 0: for ever
  std::size_t max_ports = 4096;
  std::uint32_t path_slots = 512;   // of each ring between two ports; 0: all frames go by the service
  std::size_t max_paths = 1024;     // 4.4 MB each, of which the system gives what is touched: 4.5 GB at most
  std::size_t max_sessions = 4352;  // ports, control connections, and those without a Hello yet
  fc2::HistoryLimits history;       // of the frames that are kept for captures
  FailureConfig failures;           // where they are written when something fails
  std::vector<LiveRule> faults;     // from the start on
  FcoeConfig fcoe;                  // with interfaces: an FCF, which does not end when idle
};

class Service final : public SessionHost {
 public:
  Service(boost::asio::io_context& io, services::Instance instance, ServiceConfig config);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Why it cannot serve; empty: it serves.
  [[nodiscard]] const std::string& trouble() const { return fcoe_.trouble(); }
  /// Call it inside the core, like everything below.
  void stop(const std::string& reason) override;

  // --- for the sessions
  fc2::drivers::FabricCore& core() override { return core_; }
  fc2::Switch& fabric() override { return fabric_; }
  Paths& paths() override { return paths_; }
  Recorder& recorder() override { return recorder_; }
  LiveFaults& faults() override { return faults_; }
  [[nodiscard]] std::uint32_t process_id() const override { return process_id_; }
  std::shared_ptr<FrameStream> make_stream(fc2::drivers::StreamUser& user, int descriptor) override;
  std::string admit(const Hello& hello, const std::shared_ptr<FrameStream>& stream) override;
  std::string admit(WaitingLink& waiting) override;
  std::string set_link(std::string_view port, LinkAction action) override;
  void make_path(PortSession& from, wire::FcId to) override;
  void names_changed(PortSession& port) override;
  void start_capture(const std::shared_ptr<FrameStream>& stream, const CaptureRequest& request) override;
  void end(Session& session) override;
  [[nodiscard]] Status status() override;

 private:
  static constexpr std::size_t max_controls = 64;  // each for one request; those of captures do not count
  std::string admit_port(const Hello& hello, const std::shared_ptr<FrameStream>& stream,
                         runtime::drivers::DoorbellDescriptors doorbell);
  void set_link(PortSession& port, LinkAction action);
  void set_link(DownedLinks::Downed& downed, LinkAction action);
  [[nodiscard]] std::string no_such_port(std::string_view name) const;
  void add(std::unique_ptr<Session> session);
  void await_connections();
  void accept();
  void await_signals();
  void bury();
  void link_count_changed();
  void idle_for_too_long();
  void take_sample();
  void resume_accepting() { await_connections(); }

  boost::asio::io_context& io_;
  services::Instance instance_;
  const ServiceConfig config_;
  const std::uint32_t process_id_;
  fc2::drivers::FabricCore core_;
  Recorder recorder_;
  LiveFaults faults_;
  FailureFiles failures_;
  FcoeSide fcoe_;
  fc2::Switch fabric_;
  StandIn stand_in_;
  boost::asio::posix::stream_descriptor listener_;
  boost::asio::signal_set signals_;
  const runtime::TimeNs started_at_;
  bool stopping_ = false;
  Paths paths_;
  std::map<const Session*, std::unique_ptr<Session>> sessions_;
  std::vector<PortSession*> ports_;
  std::unordered_map<std::uint32_t, PortSession*> ports_by_address_;
  std::vector<CaptureSession*> captures_;
  std::set<const Session*> controls_;
  DownedLinks downed_;
  std::vector<const Session*> ended_;
  runtime::Timer<Service, &Service::bury> burial_{*this};
  runtime::Timer<Service, &Service::idle_for_too_long> idle_timer_{*this};
  runtime::Timer<Service, &Service::resume_accepting> accept_pause_{*this};
  Rates rates_;
  runtime::Timer<Service, &Service::take_sample> sample_timer_{*this};
};

}  // namespace fabricd
