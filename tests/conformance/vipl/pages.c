/* The return codes on the pages of VI-DG chapter 3, a page a line. */
#include "registry.h"

#define PARAMETER PROVES(VIP_INVALID_PARAMETER)
#define RESOURCE PROVES(VIP_ERROR_RESOURCE)
#define LEVEL PROVES(VIP_INVALID_RELIABILITY_LEVEL)
#define MTU PROVES(VIP_INVALID_MTU)
#define QOS PROVES(VIP_INVALID_QOS)
#define TAG PROVES(VIP_INVALID_PTAG)
#define READ PROVES(VIP_INVALID_RDMAREAD)
#define STATE PROVES(VIP_INVALID_STATE)
#define TIMEOUT PROVES(VIP_TIMEOUT)
#define REJECT PROVES(VIP_REJECT)
#define MATCH PROVES(VIP_NO_MATCH)
#define REACH PROVES(VIP_NOT_REACHABLE)
#define NOT_DONE PROVES(VIP_NOT_DONE)
#define DESCRIPTOR PROVES(VIP_DESCRIPTOR_ERROR)
#define NAME PROVES(VIP_ERROR_NAMESERVICE)
#define MISMATCH (LEVEL | MTU | QOS)

/* clang-format off */
/* provoked: a test must see it. The others no portable program can provoke, for want of a limit to exceed
 * (scarce) or of a network partition. */
static const struct {
  unsigned provoked, scarce, partition;
} pages[CALL_COUNT] = {
/*  call                                codes that tests provoke                                       why not: see why_not() */
  [ID_VipOpenNic]                    = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipCloseNic]                   = {OK | PARAMETER,                                                0,         0},
  [ID_VipCreateVi]                   = {OK | RESOURCE | PARAMETER | MISMATCH | TAG | READ,             0,         0},
  [ID_VipDestroyVi]                  = {OK | PARAMETER | STATE,                                        RESOURCE,  0},
  [ID_VipConnectWait]                = {OK | TIMEOUT | PARAMETER,                                      RESOURCE,  0},
  [ID_VipConnectAccept]              = {OK | PARAMETER | MISMATCH | TIMEOUT | STATE,                   RESOURCE,  REACH},
  [ID_VipConnectReject]              = {OK | PARAMETER,                                                RESOURCE,  REACH},
  [ID_VipConnectRequest]             = {OK | TIMEOUT | PARAMETER | REJECT | MATCH | STATE | REACH,     RESOURCE,  0},
  [ID_VipDisconnect]                 = {OK | PARAMETER,                                                RESOURCE,  REACH},
  [ID_VipConnectPeerRequest]         = {OK | STATE | PARAMETER,                                        RESOURCE,  0},
  [ID_VipConnectPeerDone]            = {OK | PARAMETER | MISMATCH | TIMEOUT | NOT_DONE | STATE | REACH, RESOURCE,  0},
  [ID_VipConnectPeerWait]            = {OK | PARAMETER | MISMATCH | TIMEOUT | STATE | REACH,           RESOURCE,  0},
  [ID_VipCreatePtag]                 = {OK | RESOURCE | PARAMETER,                                     0,         0},
  [ID_VipDestroyPtag]                = {OK | RESOURCE | PARAMETER,                                     0,         0},
  [ID_VipRegisterMem]                = {OK | RESOURCE | PARAMETER | TAG | READ,                        0,         0},
  [ID_VipDeregisterMem]              = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipPostSend]                   = {OK | PARAMETER,                                                0,         0},
  [ID_VipSendDone]                   = {OK | DESCRIPTOR | NOT_DONE | PARAMETER,                        0,         0},
  [ID_VipSendWait]                   = {OK | DESCRIPTOR | PARAMETER | TIMEOUT | RESOURCE,              0,         0},
  [ID_VipPostRecv]                   = {OK | PARAMETER,                                                0,         0},
  [ID_VipRecvDone]                   = {OK | DESCRIPTOR | NOT_DONE | PARAMETER,                        0,         0},
  [ID_VipRecvWait]                   = {OK | DESCRIPTOR | PARAMETER | TIMEOUT | RESOURCE,              0,         0},
  [ID_VipCQDone]                     = {OK | NOT_DONE | PARAMETER,                                     0,         0},
  [ID_VipCQWait]                     = {OK | PARAMETER | TIMEOUT,                                      RESOURCE,  0},
  [ID_VipSendNotify]                 = {OK | PARAMETER | DESCRIPTOR | RESOURCE,                        0,         0},
  [ID_VipRecvNotify]                 = {OK | PARAMETER | DESCRIPTOR | RESOURCE,                        0,         0},
  [ID_VipCQNotify]                   = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipCreateCQ]                   = {OK | PARAMETER | RESOURCE,                                     0,         0},
  [ID_VipDestroyCQ]                  = {OK | PARAMETER | RESOURCE,                                     0,         0},
  [ID_VipResizeCQ]                   = {OK | PARAMETER | RESOURCE,                                     0,         0},
  [ID_VipQueryNic]                   = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipSetViAttributes]            = {OK | PARAMETER | STATE | MISMATCH | TAG | READ,                RESOURCE,  0},
  [ID_VipQueryVi]                    = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipSetMemAttributes]           = {OK | PARAMETER | TAG | READ,                                   RESOURCE,  0},
  [ID_VipQueryMem]                   = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipQuerySystemManagementInfo]  = {OK | PARAMETER | RESOURCE,                                     0,         0},
  [ID_VipErrorCallback]              = {OK | PARAMETER,                                                RESOURCE,  0},
  [ID_VipNSInit]                     = {OK | PARAMETER | NAME,                                         RESOURCE,  0},
  [ID_VipNSGetHostByName]            = {OK | NAME | PARAMETER,                                         RESOURCE,  0},
  [ID_VipNSGetHostByAddr]            = {OK | NAME | PARAMETER,                                         RESOURCE,  0},
  [ID_VipNSShutdown]                 = {OK | NAME | PARAMETER,                                         RESOURCE,  0},
};
/* clang-format on */

const char* why_not(CallId call, unsigned code) {
  if ((pages[call].scarce & PROVES(code)) != 0)
    return "needs insufficient resources, and no NIC attribute names the limit";
  if ((pages[call].partition & PROVES(code)) != 0)
    return "needs a network partition, which no portable program can make";
  return NULL;
}

unsigned codes_of(CallId call) { return pages[call].provoked | pages[call].scarce | pages[call].partition; }
