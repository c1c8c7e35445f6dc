#include "wire/fcvi/flags.hpp"

#include "wire/fcvi/message_status.hpp"
#include "wire/text.hpp"

namespace wire::fcvi {

std::string_view to_string(ConnectMode value) {
  switch (value) {
    case ConnectMode::client_server: return "client_server";
    case ConnectMode::peer_to_peer: return "peer_to_peer";
  }
  return text::unknown;
}

std::string to_string(MessageStatus status) {
  std::string line = status.ok() ? "ok" : "error";
  text::append_flag(line, status.desc_err, "desc_err");
  text::append_flag(line, status.prot_err, "prot_err");
  text::append_flag(line, status.trans_err, "trans_err");
  return line;
}

}  // namespace wire::fcvi
