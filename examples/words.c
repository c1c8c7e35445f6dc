/* See words.h. */
#include "words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned long count_words(const char* text, size_t bytes) {
  unsigned long words = 0;
  size_t i;
  for (i = 0; i < bytes; ++i)
    if (!isspace((unsigned char)text[i]) && (i == 0 || isspace((unsigned char)text[i - 1]))) ++words;
  return words;
}

/* ---- both ends ------------------------------------------------------------------------------------------ */

static void open_end(words_end* end, VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level) {
  end->nic = nic;
  end->memory = alloc_registered(nic, sizeof *end->memory, VIP_FALSE, &end->handle);
  end->vi = create_vi(nic, level, VIP_FALSE, NULL);
}

void close_words(words_end* end) {
  destroy_vi(end->vi);
  free_registered(end->nic, end->memory, end->handle);
}

static void post_receive(words_end* end) {
  describe(&end->memory->receive, end->memory->in, end->handle, sizeof end->memory->in);
  check(VipPostRecv(end->vi, &end->memory->receive, end->handle), "VipPostRecv");
}

static VIP_RETURN send_out(words_end* end, size_t bytes) {
  VIP_DESCRIPTOR* done;
  describe(&end->memory->send, end->memory->out, end->handle, (VIP_UINT32)bytes);
  check(VipPostSend(end->vi, &end->memory->send, end->handle), "VipPostSend");
  return VipSendWait(end->vi, WAIT_MS, &done);
}

/* ---- the server ----------------------------------------------------------------------------------------- */

/* Until the client disconnects, which flushes the receive, does something wrong, or is silent for WAIT_MS. */
static unsigned long answer_client(words_end* end) {
  unsigned long answered = 0;
  VIP_DESCRIPTOR* done;
  while (VipRecvWait(end->vi, WAIT_MS, &done) == VIP_SUCCESS) {
    const unsigned long words = count_words(end->memory->in, done->CS.Length);
    const int bytes = snprintf(end->memory->out, sizeof end->memory->out, "%lu", words);
    post_receive(end); /* before the answer: the client may ask again as soon as it has it */
    if (send_out(end, (size_t)bytes) != VIP_SUCCESS) break;
    ++answered;
  }
  return answered;
}

unsigned long serve_words(VIP_NIC_HANDLE nic, const char* name, VIP_RELIABILITY_LEVEL level, unsigned long clients) {
  unsigned long answered = 0;
  while (clients-- > 0) {
    words_end end;
    open_end(&end, nic, level);
    post_receive(&end);
    if (accept_client(nic, name, VIP_INFINITE, end.vi) == VIP_SUCCESS) answered += answer_client(&end);
    bury(nic, end.vi, end.memory, end.handle, NULL, NULL);
  }
  wait_for_burials();
  return answered;
}

/* ---- the client ----------------------------------------------------------------------------------------- */

VIP_RETURN connect_words(words_end* end, VIP_NIC_HANDLE nic, const char* service, VIP_RELIABILITY_LEVEL level,
                         VIP_ULONG patience_ms) {
  VIP_RETURN result;
  open_end(end, nic, level);
  result = connect_to(nic, end->vi, service, WORDS_DEFAULT_NAME, patience_ms);
  if (result != VIP_SUCCESS) close_words(end);
  return result;
}

VIP_RETURN ask_words(words_end* end, const char* text, size_t bytes, unsigned long* words) {
  char answer[32] = {0};
  VIP_DESCRIPTOR* done;
  VIP_RETURN result;
  if (bytes > WORDS_TEXT_BYTES) return VIP_INVALID_PARAMETER;
  memcpy(end->memory->out, text, bytes);
  post_receive(end); /* for the answer, before there can be one */
  result = send_out(end, bytes);
  if (result == VIP_SUCCESS) result = VipRecvWait(end->vi, WAIT_MS, &done);
  if (result != VIP_SUCCESS) return result;
  memcpy(answer, end->memory->in, done->CS.Length < sizeof answer ? done->CS.Length : sizeof answer - 1);
  *words = strtoul(answer, NULL, 10);
  return VIP_SUCCESS;
}
