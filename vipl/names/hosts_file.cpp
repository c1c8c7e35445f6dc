#include "vipl/names/hosts_file.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "settings/file.hpp"
#include "vipl/configuration/node_identity.hpp"
#include "vipl/configuration/usual_places.hpp"

namespace vipl {
namespace {

constexpr std::uint64_t max_file_bytes = 16u << 20;
constexpr std::string_view blanks = " \t\r\v\f";

}  // namespace

class HostsFile::Parser {
 public:
  Parser(HostsFile& hosts, const std::string& file) : hosts_(hosts), file_(file) {}

  std::optional<ConfigurationError> parse_line(std::string_view line, std::size_t number) {
    line_ = line.substr(0, line.find('#'));
    number_ = number;
    at_ = 0;
    const std::string_view address_text = next_word();
    if (address_text.empty()) return std::nullopt;
    const auto address = wire::IpAddress::from_string(address_text);
    if (!address) return error("an IPv4 or IPv6 address", address_text);
    std::string_view name = next_word();
    if (name.empty()) return error("a name after the address", "the end of the line");
    for (; !name.empty(); name = next_word()) {
      if (!is_node_name(name)) return error("a host name (letters, digits, '.', '-', '_', ':')", name);
      add(*address, name);
    }
    return std::nullopt;
  }

 private:
  std::string_view next_word() {
    begin_ = std::min(line_.find_first_not_of(blanks, at_), line_.size());
    at_ = std::min(line_.find_first_of(blanks, begin_), line_.size());
    return line_.substr(begin_, at_ - begin_);
  }
  void add(const wire::IpAddress& address, std::string_view name) {
    hosts_.names_[short_name(name)].push_back({std::string(name), address});
    hosts_.addresses_.try_emplace(address, name);
  }
  [[nodiscard]] ConfigurationError error(std::string_view expected, std::string_view got) const {
    const std::string place = file_ + ":" + std::to_string(number_) + ":" + std::to_string(begin_ + 1);
    return {place + ": expected " + std::string(expected) + ", got \"" + std::string(got.substr(0, 256)) + "\""};
  }

  HostsFile& hosts_;
  const std::string& file_;
  std::string_view line_;
  std::size_t number_ = 0, begin_ = 0, at_ = 0;
};

ConfigurationResult<HostsFile> HostsFile::parse(std::string_view text, const std::string& file) {
  HostsFile hosts;
  Parser parser(hosts, file);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto error = parser.parse_line(text.substr(0, end), number)) return *std::move(error);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return hosts;
}

ConfigurationResult<HostsFile> HostsFile::load(const std::string& path) {
  const auto text = settings::read_file(path, max_file_bytes);
  if (!text) return text.error();
  return parse(*text, path);
}

ConfigurationResult<HostsFile> HostsFile::load_first(const std::vector<std::string>& paths) {
  std::error_code ignored;  // what cannot be looked for is not there
  for (const std::string& path : paths)
    if (std::filesystem::exists(path, ignored)) return load(path);
  return HostsFile{};
}

ConfigurationResult<HostsFile> HostsFile::load_for(const std::string& configured) {
  return configured.empty() ? load_first(usual_places("hosts")) : load(configured);
}

NameSource::Answer HostsFile::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  const auto entries = names_.find(short_name(name));
  if (entries == names_.end()) return Answer::Unknown;
  for (const NameMatch wanted : {NameMatch::Exact, NameMatch::Short}) {
    for (const Name& entry : entries->second)
      if (match(name, entry.name) == wanted) found.push_back(entry.address);
    if (!found.empty()) return Answer::Found;
  }
  return Answer::Unknown;
}

NameSource::Answer HostsFile::name_of(const wire::IpAddress& address, std::string& found) const {
  const auto entry = addresses_.find(address);
  if (entry == addresses_.end()) return Answer::Unknown;
  found = entry->second;
  return Answer::Found;
}

}  // namespace vipl
