/* Programs free memory that is registered. Wherever a message meets it, at either end of every operation, the outcome
 * is that of memory which is not registered: a protection error, the error handler, the Error state (VI-ARCH 3.2.1,
 * VI-DG 3.8.1, 5.2). The process lives, whatever handlers of SIGSEGV it has, and its own faults stay its own.
 *
 * Each case runs in a process of its own. unmapped [CASE] */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "pair.h"

enum { PAGE = 4096, PAGES = 8, BYTES = PAGES * PAGE, NONE = 99 };

/* ---- memory that goes away ------------------------------------------------------------------------------ */

typedef enum { UNMAP, PROTECT, READ_ONLY, TRUNCATE } way_t;
static const char* const way_names[] = {"unmapped", "protected", "read-only", "truncated"};

typedef struct {
  char* bytes;
  VIP_MEM_HANDLE handle;
  int file;
} area_t;

static void make_area(area_t* area, VIP_NIC_HANDLE nic) {
  VIP_MEM_ATTRIBUTES remote;
  memset(&remote, 0, sizeof remote);
  remote.EnableRdmaWrite = remote.EnableRdmaRead = VIP_TRUE;
  area->file = memfd_create("area", 0);
  REQUIRE(area->file >= 0 && ftruncate(area->file, BYTES) == 0);
  area->bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, area->file, 0);
  REQUIRE(area->bytes != MAP_FAILED);
  memset(area->bytes, 'x', BYTES);
  SUCCEEDS(VipRegisterMem(nic, area->bytes, BYTES, &remote, &area->handle));
}

/* From this page on. */
static void take_away(const area_t* area, int page, way_t way) {
  char* from = area->bytes + page * PAGE;
  const size_t size = (size_t)(PAGES - page) * PAGE;
  if (way == UNMAP) REQUIRE(munmap(from, size) == 0);
  if (way == PROTECT) REQUIRE(mprotect(from, size, PROT_NONE) == 0);
  if (way == READ_ONLY) REQUIRE(mprotect(from, size, PROT_READ) == 0);
  if (way == TRUNCATE) REQUIRE(ftruncate(area->file, page * PAGE) == 0);
}

/* ---- two ends and what their error handlers hear -------------------------------------------------------- */

static end_t client, server;
static int heard[2]; /* by handlers, on threads of their own */
static int heard_at(int end) { return __atomic_load_n(&heard[end], __ATOMIC_ACQUIRE); }

static void hear(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  if (error->ErrorCode != VIP_ERROR_CONN_LOST) __atomic_store_n((int*)context, (int)error->ErrorCode, __ATOMIC_RELEASE);
}
static void set_up(VIP_RELIABILITY_LEVEL level) {
  __atomic_store_n(&heard[0], NONE, __ATOMIC_RELEASE);
  __atomic_store_n(&heard[1], NONE, __ATOMIC_RELEASE);
  open_end(&client, "VINIC0", level, BYTES);
  open_end(&server, "VINIC1", level, BYTES);
  SUCCEEDS(VipErrorCallback(client.nic, (VIP_PVOID)&heard[0], hear));
  SUCCEEDS(VipErrorCallback(server.nic, (VIP_PVOID)&heard[1], hear));
  connect_ends(&client, &server);
}
static void hears(int end, int code) {
  int tries;
  for (tries = 0; tries < 5000 && heard_at(end) != code; ++tries) usleep(1000);
  if (heard_at(end) == code) return;
  fprintf(stderr, "the error handler of end %d heard %d, not %d\n", end, heard_at(end), code);
  _exit(1);
}
static void becomes_error(const end_t* end) {
  int tries;
  for (tries = 0; tries < 5000 && state_of(end) != VIP_STATE_ERROR; ++tries) usleep(1000);
  REQUIRE(state_of(end) == VIP_STATE_ERROR);
}
static void tear_down(void) {
  SUCCEEDS(VipCloseNic(client.nic));
  SUCCEEDS(VipCloseNic(server.nic));
}

static VIP_UINT32 message_bytes = BYTES;

static void post_receive(void* to, VIP_MEM_HANDLE handle, VIP_UINT32 length) {
  SUCCEEDS(VipPostRecv(server.vi, describe(&server, 0, to, handle, length), server.handle));
}
static void post_send(void* from, VIP_MEM_HANDLE handle) {
  SUCCEEDS(VipPostSend(client.vi, describe(&client, 0, from, handle, message_bytes), client.handle));
}
static void post_rdma(VIP_UINT16 operation, void* local, VIP_MEM_HANDLE handle, void* remote,
                      VIP_MEM_HANDLE remote_handle) {
  VIP_DESCRIPTOR* descriptor = describe(&client, 0, local, handle, message_bytes);
  descriptor->DS[1] = descriptor->DS[0];
  descriptor->DS[0].Remote.Data.Address = remote;
  descriptor->DS[0].Remote.Handle = remote_handle;
  descriptor->DS[0].Remote.Reserved = 0;
  descriptor->CS.SegCount = 2;
  descriptor->CS.Control = operation;
  SUCCEEDS(VipPostSend(client.vi, descriptor, client.handle));
}
static void send_ends_with(VIP_UINT32 error) {
  VIP_DESCRIPTOR* done;
  require_code(VIP_DESCRIPTOR_ERROR, VipSendWait(client.vi, VIP_INFINITE, &done), "VipSendWait");
  if ((done->CS.Status & VIP_STATUS_ERROR_MASK & ~(VIP_UINT32)VIP_STATUS_PARTIAL_ERROR) == error) return;
  fprintf(stderr, "the send ended with status %x\n", (unsigned)done->CS.Status);
  _exit(1);
}
static void receive_ends_with(VIP_UINT32 error) {
  VIP_DESCRIPTOR* done;
  require_code(VIP_DESCRIPTOR_ERROR, VipRecvWait(server.vi, VIP_INFINITE, &done), "VipRecvWait");
  if ((done->CS.Status & VIP_STATUS_ERROR_MASK & ~(VIP_UINT32)VIP_STATUS_PARTIAL_ERROR) == error) return;
  fprintf(stderr, "the receive ended with status %x\n", (unsigned)done->CS.Status);
  _exit(1);
}

/* ---- data, at either end of every operation; `page` of the buffer is the first that is gone -------------- */

static void send_source(int page, way_t way) {
  area_t area;
  make_area(&area, client.nic);
  post_receive(data_of(&server), server.handle, message_bytes);
  take_away(&area, page, way);
  post_send(area.bytes, area.handle);
  send_ends_with(VIP_STATUS_PROTECTION_ERROR);
  becomes_error(&client);
}
static void receive_target(int page, way_t way) {
  area_t area;
  make_area(&area, server.nic);
  post_receive(area.bytes, area.handle, message_bytes);
  take_away(&area, page, way);
  post_send(data_of(&client), client.handle);
  receive_ends_with(VIP_STATUS_PROTECTION_ERROR);
  becomes_error(&server);
  becomes_error(&client);
}
static void write_source(int page, way_t way) {
  area_t area;
  make_area(&area, client.nic);
  take_away(&area, page, way);
  post_rdma(VIP_CONTROL_OP_RDMAWRITE, area.bytes, area.handle, data_of(&server), server.handle);
  send_ends_with(VIP_STATUS_PROTECTION_ERROR);
  becomes_error(&client);
}
static void write_target(int page, way_t way) {
  area_t area;
  make_area(&area, server.nic);
  take_away(&area, page, way);
  post_rdma(VIP_CONTROL_OP_RDMAWRITE, data_of(&client), client.handle, area.bytes, area.handle);
  send_ends_with(VIP_STATUS_RDMA_PROT_ERROR);
  hears(1, VIP_ERROR_RDMAW_PROT);
  becomes_error(&server);
}
static void read_source(int page, way_t way) {
  area_t area;
  make_area(&area, server.nic);
  take_away(&area, page, way);
  post_rdma(VIP_CONTROL_OP_RDMAREAD, data_of(&client), client.handle, area.bytes, area.handle);
  send_ends_with(VIP_STATUS_RDMA_PROT_ERROR);
  hears(1, VIP_ERROR_RDMAR_PROT);
  becomes_error(&server);
}
static void read_target(int page, way_t way) {
  area_t area;
  make_area(&area, client.nic);
  take_away(&area, page, way);
  post_rdma(VIP_CONTROL_OP_RDMAREAD, area.bytes, area.handle, data_of(&server), server.handle);
  send_ends_with(VIP_STATUS_PROTECTION_ERROR);
  becomes_error(&client);
}

typedef struct {
  const char* name;
  void (*run)(int page, way_t way);
  int writes; /* the library writes to the memory */
} data_case_t;
static const data_case_t data_cases[] = {
    {"send_source", send_source, 0},   {"receive_target", receive_target, 1}, {"write_source", write_source, 0},
    {"write_target", write_target, 1}, {"read_source", read_source, 0},       {"read_target", read_target, 1},
};

/* ---- descriptors ------------------------------------------------------------------------------------------ */

static VIP_DESCRIPTOR* describe_in(area_t* area, const end_t* end) {
  VIP_DESCRIPTOR* descriptor = (VIP_DESCRIPTOR*)(void*)area->bytes;
  memcpy(descriptor, describe(end, 0, data_of(end), end->handle, 8), sizeof *descriptor);
  return descriptor;
}
static void posted_send_descriptor(int page, way_t way) {
  VIP_DESCRIPTOR* descriptor;
  area_t area;
  make_area(&area, client.nic);
  descriptor = describe_in(&area, &client);
  take_away(&area, page, way);
  SUCCEEDS(VipPostSend(client.vi, descriptor, area.handle));
  hears(0, VIP_ERROR_POST_DESC);
  becomes_error(&client);
}
static void posted_receive_descriptor(int page, way_t way) {
  VIP_DESCRIPTOR* descriptor;
  area_t area;
  make_area(&area, server.nic);
  descriptor = describe_in(&area, &server);
  take_away(&area, page, way);
  SUCCEEDS(VipPostRecv(server.vi, descriptor, area.handle));
  hears(1, VIP_ERROR_POST_DESC);
  becomes_error(&server);
}
/* Gone while it is posted: it is read when a message comes, and written when it completes. */
static void claimed_receive_descriptor(int page, way_t way) {
  VIP_DESCRIPTOR *descriptor, *done = NULL;
  area_t area;
  make_area(&area, server.nic);
  descriptor = describe_in(&area, &server);
  SUCCEEDS(VipPostRecv(server.vi, descriptor, area.handle));
  REQUIRE(state_of(&server) == VIP_STATE_CONNECTED);
  take_away(&area, page, way);
  SUCCEEDS(VipPostSend(client.vi, describe(&client, 0, data_of(&client), client.handle, 8), client.handle));
  require_code(VIP_DESCRIPTOR_ERROR, VipRecvWait(server.vi, VIP_INFINITE, &done), "VipRecvWait");
  REQUIRE(done == descriptor);
  hears(1, VIP_ERROR_COMP_PROT);
  becomes_error(&server);
}
static void flushed_receive_descriptor(int page, way_t way) {
  VIP_DESCRIPTOR *descriptor, *done = NULL;
  area_t area;
  make_area(&area, server.nic);
  descriptor = describe_in(&area, &server);
  SUCCEEDS(VipPostRecv(server.vi, descriptor, area.handle));
  REQUIRE(state_of(&server) == VIP_STATE_CONNECTED);
  take_away(&area, page, way);
  SUCCEEDS(VipDisconnect(server.vi));
  require_code(VIP_DESCRIPTOR_ERROR, VipRecvDone(server.vi, &done), "VipRecvDone");
  REQUIRE(done == descriptor);
  hears(1, VIP_ERROR_COMP_PROT);
}
static const data_case_t descriptor_cases[] = {
    {"posted_send_descriptor", posted_send_descriptor, 1},
    {"posted_receive_descriptor", posted_receive_descriptor, 1},
    {"claimed_receive_descriptor", claimed_receive_descriptor, 1},
    {"flushed_receive_descriptor", flushed_receive_descriptor, 1},
};

/* ---- the program's own handlers ---------------------------------------------------------------------------- */

static sigjmp_buf own_place;
static volatile sig_atomic_t own_faults;
static struct sigaction before;
static void (*before_by_number)(int);

static void leave(int signal) {
  (void)signal;
  ++own_faults;
  siglongjmp(own_place, 1);
}
static int is_own(const void* address) { return address == NULL; }
static void leave_own(int signal, siginfo_t* info, void* context) {
  if (is_own(info->si_addr)) leave(signal);
  if ((before.sa_flags & SA_SIGINFO) != 0) before.sa_sigaction(signal, info, context);
}
static volatile sig_atomic_t expects_own;
static void leave_by_number(int signal) {
  if (expects_own) leave(signal);
  before_by_number(signal);
}
static void own_fault(void) {
  const int faults = own_faults;
  expects_own = 1;
  if (sigsetjmp(own_place, 1) == 0) *(volatile char*)NULL = 1;
  expects_own = 0;
  REQUIRE(own_faults == faults + 1);
}
static void install(void (*by_number)(int), void (*with_info)(int, siginfo_t*, void*), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  if (with_info != NULL)
    action.sa_sigaction = with_info;
  else
    action.sa_handler = by_number;
  action.sa_flags = flags | (with_info != NULL ? SA_SIGINFO : 0);
  REQUIRE(sigaction(SIGSEGV, &action, &before) == 0);
}
static void meet_hole_and_own_faults(void) {
  own_fault();
  write_target(3, UNMAP);
  own_fault();
  own_fault();
  tear_down();
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  own_fault();
  send_source(3, UNMAP);
  own_fault();
}

static void handler_from_before(void) {
  install(leave, NULL, 0);
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  meet_hole_and_own_faults();
}
static void handler_from_before_on_a_stack_of_its_own(void) {
  static char room[65536];
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = room;
  stack.ss_size = sizeof room;
  REQUIRE(sigaltstack(&stack, NULL) == 0);
  install(leave, NULL, SA_ONSTACK);
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  meet_hole_and_own_faults();
}
/* It passes nothing on: the library finds it out in the calls that follow. */
static void later_handler(void) {
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  install(leave, NULL, 0);
  meet_hole_and_own_faults();
  tear_down();
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  install(leave, NULL, 0); /* once more */
  meet_hole_and_own_faults();
}
/* It passes on what it does not know; the library puts its own in front of it again, and knows the way round. */
static void later_handler_that_passes_on(void) {
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  install(NULL, leave_own, 0);
  meet_hole_and_own_faults();
}
static void later_handler_that_passes_the_number_on(void) {
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  before_by_number = signal(SIGSEGV, leave_by_number);
  meet_hole_and_own_faults();
}
/* Between the last control call and the hole: only the handler's passing on helps. */
static void handler_between_calls(int with_info) {
  area_t area;
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  make_area(&area, server.nic);
  take_away(&area, 3, UNMAP);
  if (with_info)
    install(NULL, leave_own, 0);
  else
    before_by_number = signal(SIGSEGV, leave_by_number);
  post_rdma(VIP_CONTROL_OP_RDMAWRITE, data_of(&client), client.handle, area.bytes, area.handle);
  send_ends_with(VIP_STATUS_RDMA_PROT_ERROR);
  own_fault();
}
static void handler_between_calls_that_passes_on(void) { handler_between_calls(1); }
static void handler_between_calls_that_passes_the_number_on(void) { handler_between_calls(0); }

static void blocked_signals(void) {
  sigset_t all, found;
  sigfillset(&all);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  send_source(3, UNMAP);
  tear_down();
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  write_target(3, TRUNCATE);
  REQUIRE(pthread_sigmask(SIG_SETMASK, NULL, &found) == 0);
  REQUIRE(sigismember(&found, SIGSEGV) == 1 && sigismember(&found, SIGBUS) == 1); /* as the program wants it */
}
static void mask_stays(void) {
  sigset_t mask, found;
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &mask, NULL) == 0);
  send_source(3, UNMAP);
  REQUIRE(pthread_sigmask(SIG_SETMASK, NULL, &found) == 0);
  REQUIRE(sigismember(&found, SIGUSR1) == 1 && sigismember(&found, SIGSEGV) == 0 && sigismember(&found, SIGBUS) == 0);
}
/* The default action is the program's, too: its own fault ends it, with the signal that the shell names. */
static void own_fault_without_a_handler(void) {
  signal(SIGSEGV, SIG_DFL); /* a sanitizer has one */
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  write_target(3, UNMAP);
  *(volatile char*)NULL = 1;
  _exit(1);
}
static void signal_of_another_process(void) {
  signal(SIGBUS, SIG_DFL);
  set_up(VIP_SERVICE_RELIABLE_RECEPTION);
  kill(getpid(), SIGBUS);
  for (;;) pause();
}

typedef struct {
  const char* name;
  void (*run)(void);
  int signal; /* that ends it */
} program_case_t;
static const program_case_t program_cases[] = {
    {"handler_from_before", handler_from_before, 0},
    {"handler_from_before_on_a_stack_of_its_own", handler_from_before_on_a_stack_of_its_own, 0},
    {"later_handler", later_handler, 0},
    {"later_handler_that_passes_on", later_handler_that_passes_on, 0},
    {"later_handler_that_passes_the_number_on", later_handler_that_passes_the_number_on, 0},
    {"handler_between_calls_that_passes_on", handler_between_calls_that_passes_on, 0},
    {"handler_between_calls_that_passes_the_number_on", handler_between_calls_that_passes_the_number_on, 0},
    {"blocked_signals", blocked_signals, 0},
    {"mask_stays", mask_stays, 0},
    {"own_fault_without_a_handler", own_fault_without_a_handler, SIGSEGV},
    {"signal_of_another_process", signal_of_another_process, SIGBUS},
};

/* ---- running them -------------------------------------------------------------------------------------------- */

static const char* only;
static int failures, cases;

static void judge(const char* name, pid_t child, int signal) {
  int status = 0;
  ++cases;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == signal : status == 0) return;
  ++failures;
  if (WIFSIGNALED(status))
    fprintf(stderr, "FAILED %s: ended by signal %d\n", name, WTERMSIG(status));
  else
    fprintf(stderr, "FAILED %s: exit code %d\n", name, WEXITSTATUS(status));
}
static int chosen(const char* name) { return only == NULL || strcmp(only, name) == 0; }

static void run_data_case(const data_case_t* one, int page, way_t way, VIP_UINT32 bytes, VIP_RELIABILITY_LEVEL level) {
  char name[100];
  pid_t child;
  snprintf(name, sizeof name, "%s.%s.%u_bytes.from_page_%d", one->name, way_names[way], (unsigned)bytes, page);
  if (!chosen(one->name) && !chosen(name)) return;
  if (way == READ_ONLY && !one->writes) return;
  child = fork();
  if (child == 0) {
    alarm(30);
    message_bytes = bytes;
    set_up(level);
    one->run(page, way);
    tear_down();
    exit(0);
  }
  judge(name, child, 0);
}

/* Cases end where a fault is caught: what they have then is not theirs to free. Read by AddressSanitizer, if it is
   there. */
__attribute__((visibility("default"))) const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "detect_leaks=0"; }
/* The library goes on from the handler of a fault elsewhere than where it was: ThreadSanitizer thinks that the handler
   never ends. */
__attribute__((visibility("default"))) const char* __tsan_default_options(void);
const char* __tsan_default_options(void) { return "report_signal_unsafe=0"; }

int main(int count, char** arguments) {
  size_t i;
  int way;
  only = count > 1 ? arguments[1] : NULL;
  for (i = 0; i < sizeof data_cases / sizeof data_cases[0]; ++i)
    for (way = UNMAP; way <= TRUNCATE; ++way) {
      run_data_case(&data_cases[i], 0, (way_t)way, BYTES, VIP_SERVICE_RELIABLE_RECEPTION);
      run_data_case(&data_cases[i], 3, (way_t)way, BYTES, VIP_SERVICE_RELIABLE_RECEPTION);
      run_data_case(&data_cases[i], PAGES - 1, (way_t)way, BYTES, VIP_SERVICE_RELIABLE_RECEPTION);
      run_data_case(&data_cases[i], 0, (way_t)way, 1,
                    VIP_SERVICE_RELIABLE_RECEPTION); /* few bytes go another way through the library */
      run_data_case(&data_cases[i], 0, (way_t)way, 32, VIP_SERVICE_RELIABLE_RECEPTION);
      run_data_case(&data_cases[i], 0, (way_t)way, 33, VIP_SERVICE_RELIABLE_RECEPTION);
    }
  for (i = 0; i < sizeof descriptor_cases / sizeof descriptor_cases[0]; ++i)
    for (way = UNMAP; way <= TRUNCATE; ++way)
      run_data_case(&descriptor_cases[i], 0, (way_t)way, BYTES, VIP_SERVICE_RELIABLE_DELIVERY);
  for (i = 0; i < sizeof program_cases / sizeof program_cases[0]; ++i) {
    pid_t child;
    if (!chosen(program_cases[i].name)) continue;
    child = fork();
    if (child == 0) {
      alarm(30);
      program_cases[i].run();
      exit(0);
    }
    judge(program_cases[i].name, child, program_cases[i].signal);
  }
  printf("%d cases, %d failed\n", cases, failures);
  return failures != 0 || cases == 0;
}
