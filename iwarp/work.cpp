#include "iwarp/work.hpp"

#include "wire/text.hpp"

namespace iwarp {

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::send: return "Send";
    case Operation::rdma_write: return "RDMA Write";
    case Operation::rdma_read: return "RDMA Read";
    case Operation::immediate_data: return "Immediate Data";
    case Operation::local_invalidate: return "Invalidate";
    case Operation::receive: return "receive";
  }
  return wire::text::unknown;
}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::success: return "success";
    case Status::flushed: return "flushed";
    case Status::local_protection: return "local protection error";
    case Status::local_length: return "local length error";
  }
  return wire::text::unknown;
}

}  // namespace iwarp
