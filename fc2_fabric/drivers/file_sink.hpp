// A capture file. It is written under a temporary name, one of its own, and renamed when complete, so that it is never
// half-written; of a symbolic link so is what it leads to. One of what is going on may be read before: its writer
// says when. A device or a FIFO is written to at once. A simulation gives the system much with each call, which takes
// as long as a frame does.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fc2_fabric/frame/capture.hpp"

namespace fc2::drivers {

class FileSink final : public ByteSink {
 public:
  FileSink() = default;
  ~FileSink();  // without commit(): removes the temporary file
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// There is something of that name, by a symbolic link or not, and it is no regular file.
  [[nodiscard]] static bool is_written_directly(const std::string& path);
  /// What waits until it is given to the system: of a capture of what is going on, or of a simulation.
  static constexpr std::size_t live_buffer_bytes = 4096, simulation_buffer_bytes = 1u << 20;
  /// False and error() set if the file cannot be created. Waits for the reader of a FIFO.
  bool open(std::string path, std::size_t buffer_bytes = live_buffer_bytes);
  void write(std::span<const std::uint8_t> bytes) override;
  std::span<std::uint8_t> room(std::size_t size_bytes) override;
  /// What was written until now can be read under the file's name, and the rest will follow there. False and error()
  /// set if not.
  bool publish();
  /// Flushes and renames the file. False and error() set if anything was not written.
  bool commit();
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void fail(const char* what);
  int create_temporary();
  void write_out();
  void put_in_place();
  std::string path_, target_, temporary_path_, error_;  // temporary_path_: empty if it is written at once
  int descriptor_ = -1;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::size_t buffer_bytes_ = 0, used_bytes_ = 0;
};

}  // namespace fc2::drivers
