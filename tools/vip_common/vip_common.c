#define _POSIX_C_SOURCE 200809L
#include "vip_common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char* program_name = "vip";

/* Bytes of the printable character that begins here; 0: none does. Control characters are those of ASCII and, in UTF-8,
 * U+0080 to U+009F; an encoding that is longer than it need be would hide one (RFC 3629). */
static size_t printable_bytes(const unsigned char* at) {
  const size_t length = at[0] < 0xC2 || at[0] > 0xF4 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
  size_t i;
  if (length == 1) return at[0] >= 0x20 && at[0] < 0x7F;
  for (i = 1; i < length; ++i)
    if ((at[i] & 0xC0) != 0x80) return 0;
  if ((at[0] == 0xC2 || at[0] == 0xE0) && at[1] < 0xA0) return 0;
  return at[0] == 0xF0 && at[1] < 0x90 ? 0 : length;
}

void to_printable(const char* from, char* to, size_t room) {
  const unsigned char* at = (const unsigned char*)from;
  char* const end = to + room - 1;
  while (*at != '\0') {
    const size_t plain = printable_bytes(at), needed = plain == 0 ? strlen("\\xHH") : plain;
    if ((size_t)(end - to) < needed) break;
    if (plain == 0)
      sprintf(to, "\\x%02X", *at); /* its NUL is before or at `end` */
    else
      memcpy(to, at, plain);
    to += needed;
    at += plain == 0 ? 1 : plain;
  }
  *to = '\0';
}

static void say_line(const char* format, va_list arguments) {
  char line[1024], shown[4 * sizeof line];
  vsnprintf(line, sizeof line, format, arguments);
  to_printable(line, shown, sizeof shown);
  fprintf(stderr, "%s: %s\n", program_name, shown);
}

void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say_line(format, arguments);
  va_end(arguments);
}

void refuse(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say_line(format, arguments);
  va_end(arguments);
  fprintf(stderr, "Try '%s --help'.\n", program_name);
  exit(EXIT_USAGE);
}

/* ---- words ----------------------------------------------------------------------------------------------- */

const char* result_text(VIP_RETURN result) {
  static const char* const texts[] = {"success",
                                      "not done",
                                      "invalid parameter",
                                      "insufficient resources",
                                      "timeout",
                                      "rejected",
                                      "the reliability levels differ",
                                      "the transfer sizes conflict",
                                      "invalid quality of service",
                                      "invalid protection tag",
                                      "no RDMA Read",
                                      "descriptor error",
                                      "invalid state",
                                      "the name is not known",
                                      "nobody waits there",
                                      "not reachable",
                                      "not supported"};
  return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result";
}

const char* error_text(VIP_ERROR_CODE error) {
  static const char* const texts[] = {
      "bad descriptor posted",       "connection lost",       "receive queue empty", "too many descriptors posted",
      "RDMA Write protection error", "RDMA Write data error", "RDMA Write aborted",  "RDMA Read protection error",
      "completion protection error", "RDMA transport error",  "catastrophic error"};
  return (unsigned)error < sizeof texts / sizeof *texts ? texts[error] : "unknown error";
}

const char* status_text(VIP_UINT32 status) {
  if (status & VIP_STATUS_TRANSPORT_ERROR) return "transport error";
  if (status & VIP_STATUS_DESC_FLUSHED_ERROR) return "connection lost";
  if (status & VIP_STATUS_RDMA_PROT_ERROR) return "RDMA protection error";
  if (status & VIP_STATUS_REMOTE_DESC_ERROR) return "error of the remote descriptor";
  if (status & VIP_STATUS_PROTECTION_ERROR) return "protection error";
  if (status & VIP_STATUS_LENGTH_ERROR) return "length error";
  if (status & VIP_STATUS_PARTIAL_ERROR) return "partial packet";
  return status & VIP_STATUS_FORMAT_ERROR ? "format error" : "no error";
}

VIP_RELIABILITY_LEVEL level_from_word(const char* word) {
  if (strcmp(word, "unreliable") == 0) return VIP_SERVICE_UNRELIABLE;
  if (strcmp(word, "delivery") == 0) return VIP_SERVICE_RELIABLE_DELIVERY;
  return strcmp(word, "reception") == 0 ? VIP_SERVICE_RELIABLE_RECEPTION : 0;
}

const char* level_text(VIP_RELIABILITY_LEVEL level) {
  if (level == VIP_SERVICE_UNRELIABLE) return "Unreliable Delivery";
  return level == VIP_SERVICE_RELIABLE_DELIVERY ? "Reliable Delivery" : "Reliable Reception";
}

unsigned long number_from_word(const char* option, const char* word, unsigned long least, unsigned long most) {
  char* end;
  unsigned long value;
  errno = 0;
  value = strtoul(word, &end, 10);
  if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || value < least || value > most)
    refuse("%s: '%s' is no whole number of %lu to %lu", option, word, least, most);
  return value;
}

unsigned long milliseconds_from_word(const char* option, const char* word) {
  char* end;
  const double seconds = strtod(word, &end);
  if (end == word || *end != '\0' || !(seconds >= 0.0 && seconds <= 1e6))
    refuse("%s: '%s' is no number of seconds, 0 to 1000000", option, word);
  return (unsigned long)(seconds * 1000.0 + 0.5);
}

/* ---- hosts ----------------------------------------------------------------------------------------------- */

static int copy_text(char* to, size_t room, const char* from, size_t length) {
  if (length >= room) return 0;
  memcpy(to, from, length);
  to[length] = '\0';
  return 1;
}

int target_from_word(const char* word, int colon_needed, target* to, const char** why) {
  const char* host = word;
  const char* end = strchr(word, ':');
  if (word[0] == '[') {
    host = word + 1;
    end = strchr(host, ']');
    if (end == NULL || (end[1] != ':' && end[1] != '\0')) return *why = "']' and a colon expected", 0;
  }
  if (end == NULL) end = host + strlen(host);
  if (end == host) return *why = "the host is missing", 0;
  if (!copy_text(to->host, sizeof to->host, host, (size_t)(end - host))) return *why = "the host's name is too long", 0;
  if (*end == ']') ++end;
  if (*end == '\0' && colon_needed) return *why = "HOST:[DISCRIMINATOR] expected", 0;
  if (*end == ':') ++end;
  if (word[0] != '[' && strchr(end, ':') != NULL) return *why = "an address with colons needs brackets: [ADDRESS]:", 0;
  if (!copy_text(to->discriminator, sizeof to->discriminator, end, strlen(end)))
    return *why = "the discriminator is too long", 0;
  return 1;
}

static void set_discriminator(net_address* to, const char* discriminator) {
  const size_t length = strlen(discriminator);
  to->address.DiscriminatorLen = (VIP_UINT16)length;
  memcpy(to->room + offsetof(VIP_NET_ADDRESS, HostAddress) + to->address.HostAddressLen, discriminator, length);
}

void local_address(VIP_NIC_HANDLE nic, const char* discriminator, net_address* to) {
  VIP_NIC_ATTRIBUTES attributes;
  memset(to, 0, sizeof *to);
  if (VipQueryNic(nic, &attributes) != VIP_SUCCESS) return;
  to->address.HostAddressLen = attributes.NicAddressLen;
  memcpy(to->room + offsetof(VIP_NET_ADDRESS, HostAddress), attributes.LocalNicAddress, attributes.NicAddressLen);
  set_discriminator(to, discriminator);
}

VIP_RETURN remote_address(VIP_NIC_HANDLE nic, const char* host, const char* discriminator, net_address* to) {
  char name[256];
  VIP_RETURN result;
  memset(to, 0, sizeof *to);
  local_address(nic, "", to); /* its length of a host address */
  if (!copy_text(name, sizeof name, host, strlen(host))) return VIP_INVALID_PARAMETER;
  result = VipNSGetHostByName(nic, name, &to->address, 0);
  if (result == VIP_SUCCESS) set_discriminator(to, discriminator);
  return result;
}

void address_to_text(const net_address* from, char* text, size_t room) {
  static const VIP_UINT8 mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  static const VIP_UINT8 zero[12];
  const VIP_UINT8* bytes = from->room + offsetof(VIP_NET_ADDRESS, HostAddress);
  int v4 = from->address.HostAddressLen == 4;
  text[0] = '\0';
  if (from->address.HostAddressLen == 16 && (memcmp(bytes, mapped, 12) == 0 || memcmp(bytes, zero, 12) == 0)) {
    v4 = 1;
    bytes += 12;
  }
  inet_ntop(v4 ? AF_INET : AF_INET6, bytes, text, (socklen_t)room);
}

void host_name_of(VIP_NIC_HANDLE nic, const net_address* from, char* text, size_t room) {
  char name[256];
  net_address copy = *from;
  VIP_ULONG length = sizeof name;
  if (VipNSGetHostByAddr(nic, &copy.address, name, &length) != VIP_SUCCESS) address_to_text(from, name, sizeof name);
  to_printable(name, text, room);
}

VIP_RETURN connect_patiently(VIP_VI_HANDLE vi, net_address* local, net_address* remote, unsigned long timeout_ms,
                             VIP_VI_ATTRIBUTES* remote_attributes) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  const uint64_t deadline = now_ns() + timeout_ms * 1000000ULL;
  int answered = 0;  // that nobody waits: the last try's time-out says less
  for (;;) {
    const uint64_t now = now_ns();
    const unsigned long left_ms = now < deadline ? (unsigned long)((deadline - now) / 1000000U) : 0;
    const VIP_RETURN result =
        VipConnectRequest(vi, &local->address, &remote->address, left_ms == 0 ? 1 : left_ms, remote_attributes);
    if (result == VIP_TIMEOUT && answered) return VIP_NO_MATCH;
    if (result != VIP_NO_MATCH || left_ms == 0) return result;
    answered = 1;
    nanosleep(&pause, NULL);
  }
}

static void drain(VIP_VI_HANDLE vi, VIP_RETURN (*done)(VIP_VI_HANDLE, VIP_DESCRIPTOR**)) {
  VIP_DESCRIPTOR* left = NULL;
  do done(vi, &left);
  while (left != NULL);
}

void drain_vi(VIP_VI_HANDLE vi) {
  drain(vi, VipSendDone);
  drain(vi, VipRecvDone);
}

int end_vi(VIP_VI_HANDLE vi) {
  VipDisconnect(vi); /* what it says shows in the VI's state */
  drain_vi(vi);
  return VipDestroyVi(vi) == VIP_SUCCESS;
}

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}
