#include "tools/fabricd/login_file.hpp"

#include <spdlog/spdlog.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

namespace fabricd {
namespace {
using fc2::fcoe::FormerLogin;

std::optional<FormerLogin> parse(const std::string& line) {
  std::istringstream words(line);
  std::string interface, mac, number, more;
  if (!(words >> interface >> mac >> number) || words >> more) return {};
  const auto address = wire::MacAddress::from_string(mac);
  std::size_t f_port = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), f_port);
  if (!address || address->is_group() || error != std::errc{} || end != number.data() + number.size()) return {};
  return FormerLogin{interface, *address, f_port};
}

std::string trouble(const std::string& path) { return path + ": cannot be written: " + std::strerror(errno); }

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return true;
}
}  // namespace

std::vector<FormerLogin> read_logins(const std::string& path) {
  std::vector<FormerLogin> logins;
  std::ifstream file(path);
  std::string line;
  for (std::size_t number = 1; number <= max_kept_logins && std::getline(file, line); ++number) {
    if (const auto login = parse(line))
      logins.push_back(*login);
    else
      spdlog::warn("{}:{}: expected an interface, a MAC address and the number of an F_Port; passed over", path,
                   number);
  }
  return logins;
}

std::string write_logins(const std::string& path, const std::vector<FormerLogin>& logins) {
  std::string text;
  for (const FormerLogin& login : logins)
    text += login.interface + " " + to_string(login.e_node) + " " + std::to_string(login.f_port) + "\n";
  const std::string unfinished = path + ".new";
  const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return trouble(unfinished);
  const bool whole = write_all(file, text);
  const std::string error = whole ? std::string() : trouble(unfinished);
  ::close(file);
  if (whole && ::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  return whole ? trouble(path) : error;
}

}  // namespace fabricd
