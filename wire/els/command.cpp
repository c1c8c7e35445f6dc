#include "wire/els/command.hpp"

#include "wire/text.hpp"

namespace wire::els {

std::string_view to_string(Command value) {
  switch (value) {
    case Command::ls_rjt: return "LS_RJT";
    case Command::ls_acc: return "LS_ACC";
    case Command::plogi: return "PLOGI";
    case Command::flogi: return "FLOGI";
    case Command::logo: return "LOGO";
    case Command::rtv: return "RTV";
    case Command::rls: return "RLS";
    case Command::echo: return "ECHO";
    case Command::rrq: return "RRQ";
    case Command::rec: return "REC";
    case Command::prli: return "PRLI";
    case Command::prlo: return "PRLO";
    case Command::fdisc: return "FDISC";
    case Command::adisc: return "ADISC";
    case Command::farp_req: return "FARP-REQ";
    case Command::farp_reply: return "FARP-REPLY";
    case Command::fan: return "FAN";
    case Command::rscn: return "RSCN";
    case Command::scr: return "SCR";
    case Command::rnid: return "RNID";
  }
  return text::unknown;
}

}  // namespace wire::els
