/* The 41 calls of VI-DG chapter 3 with their page and the phase that asks for them (VI-DG 2.2.1 to 2.2.3). */
#ifndef CONFORMANCE_VIPL_CALLS_H
#define CONFORMANCE_VIPL_CALLS_H

#include "vipl.h"

/* clang-format off */
#define CONFORMANCE_CALLS(X)                          \
  X(VipOpenNic,                    "3.1.1",  EARLY)      \
  X(VipCloseNic,                   "3.1.2",  EARLY)      \
  X(VipCreateVi,                   "3.2.1",  EARLY)      \
  X(VipDestroyVi,                  "3.2.2",  EARLY)      \
  X(VipConnectWait,                "3.3.1",  EARLY)      \
  X(VipConnectAccept,              "3.3.2",  EARLY)      \
  X(VipConnectReject,              "3.3.3",  EARLY)      \
  X(VipConnectRequest,             "3.3.4",  EARLY)      \
  X(VipDisconnect,                 "3.3.5",  EARLY)      \
  X(VipConnectPeerRequest,         "3.3.6",  FUNCTIONAL) \
  X(VipConnectPeerDone,            "3.3.7",  FUNCTIONAL) \
  X(VipConnectPeerWait,            "3.3.8",  FUNCTIONAL) \
  X(VipCreatePtag,                 "3.4.1",  FUNCTIONAL) \
  X(VipDestroyPtag,                "3.4.2",  FUNCTIONAL) \
  X(VipRegisterMem,                "3.4.3",  EARLY)      \
  X(VipDeregisterMem,              "3.4.4",  EARLY)      \
  X(VipPostSend,                   "3.5.1",  EARLY)      \
  X(VipSendDone,                   "3.5.2",  EARLY)      \
  X(VipSendWait,                   "3.5.3",  EARLY)      \
  X(VipPostRecv,                   "3.5.4",  EARLY)      \
  X(VipRecvDone,                   "3.5.5",  EARLY)      \
  X(VipRecvWait,                   "3.5.6",  EARLY)      \
  X(VipCQDone,                     "3.5.7",  FUNCTIONAL) \
  X(VipCQWait,                     "3.5.8",  FUNCTIONAL) \
  X(VipSendNotify,                 "3.5.9",  FULL)       \
  X(VipRecvNotify,                 "3.5.10", FULL)       \
  X(VipCQNotify,                   "3.5.11", FULL)       \
  X(VipCreateCQ,                   "3.6.1",  FUNCTIONAL) \
  X(VipDestroyCQ,                  "3.6.2",  FUNCTIONAL) \
  X(VipResizeCQ,                   "3.6.3",  FUNCTIONAL) \
  X(VipQueryNic,                   "3.7.1",  EARLY)      \
  X(VipSetViAttributes,            "3.7.2",  FULL)       \
  X(VipQueryVi,                    "3.7.3",  EARLY)      \
  X(VipSetMemAttributes,           "3.7.4",  FULL)       \
  X(VipQueryMem,                   "3.7.5",  EARLY)      \
  X(VipQuerySystemManagementInfo,  "3.7.6",  FULL)       \
  X(VipErrorCallback,              "3.8.1",  FUNCTIONAL) \
  X(VipNSInit,                     "3.9.1",  FUNCTIONAL) \
  X(VipNSGetHostByName,            "3.9.2",  FUNCTIONAL) \
  X(VipNSGetHostByAddr,            "3.9.3",  FUNCTIONAL) \
  X(VipNSShutdown,                 "3.9.4",  FUNCTIONAL)
/* clang-format on */

typedef enum {
#define X(name, clause, phase) ID_##name,
  CONFORMANCE_CALLS(X)
#undef X
      CALL_COUNT
} CallId;

/* A library may lack calls: it still links, and the tests of what is missing fail. Without the first calls
 * there is nothing to judge. */
#pragma weak VipCreateVi
#pragma weak VipDestroyVi
#pragma weak VipConnectWait
#pragma weak VipConnectAccept
#pragma weak VipConnectReject
#pragma weak VipConnectRequest
#pragma weak VipDisconnect
#pragma weak VipConnectPeerRequest
#pragma weak VipConnectPeerDone
#pragma weak VipConnectPeerWait
#pragma weak VipCreatePtag
#pragma weak VipDestroyPtag
#pragma weak VipRegisterMem
#pragma weak VipDeregisterMem
#pragma weak VipPostSend
#pragma weak VipSendDone
#pragma weak VipSendWait
#pragma weak VipPostRecv
#pragma weak VipRecvDone
#pragma weak VipRecvWait
#pragma weak VipCQDone
#pragma weak VipCQWait
#pragma weak VipSendNotify
#pragma weak VipRecvNotify
#pragma weak VipCQNotify
#pragma weak VipCreateCQ
#pragma weak VipDestroyCQ
#pragma weak VipResizeCQ
#pragma weak VipQueryNic
#pragma weak VipSetViAttributes
#pragma weak VipQueryVi
#pragma weak VipSetMemAttributes
#pragma weak VipQueryMem
#pragma weak VipQuerySystemManagementInfo
#pragma weak VipErrorCallback
#pragma weak VipNSInit
#pragma weak VipNSGetHostByName
#pragma weak VipNSGetHostByAddr
#pragma weak VipNSShutdown

#endif
