// Texts of the message request and response IUs.
#include "wire/fcvi/read_resp.hpp"
#include "wire/fcvi/read_rqst.hpp"
#include "wire/fcvi/send_resp.hpp"
#include "wire/fcvi/send_rqst.hpp"
#include "wire/fcvi/write_resp.hpp"
#include "wire/fcvi/write_rqst.hpp"

namespace wire::fcvi {
namespace {

template <class Iu>
std::string text_of_message(const Iu& iu) {
  std::string line(Iu::name);
  text::append(line, "handle", to_string(iu.handle));
  text::append(line, "msg_id", to_string(iu.msg_id));
  if constexpr (requires { iu.status; }) text::append(line, "status", to_string(iu.status));
  if constexpr (requires { iu.rmt_va; }) {
    text::append(line, "rmt_va", text::hex_h(iu.rmt_va, 16));
    text::append(line, "rmt_va_handle", to_string(iu.rmt_va_handle));
  }
  if constexpr (requires { iu.total_length; }) text::append(line, "total_length", std::to_string(iu.total_length));
  if constexpr (requires { iu.immediate_data; })
    if (iu.immediate_data) text::append(line, "immediate_data", text::hex_h(*iu.immediate_data, 8));
  return line;
}

}  // namespace

std::string SendRqst::to_string() const { return text_of_message(*this); }
std::string WriteRqst::to_string() const { return text_of_message(*this); }
std::string ReadRqst::to_string() const { return text_of_message(*this); }
std::string SendResp::to_string() const { return text_of_message(*this); }
std::string WriteResp::to_string() const { return text_of_message(*this); }
std::string ReadResp::to_string() const { return text_of_message(*this); }

}  // namespace wire::fcvi
