/*
 * A service that counts words: the client sends a text, the server answers with the number of its words. It shows how
 * a program is made so that unit tests reach it: main() and its options are in word_count.c; all else is here, gets its
 * NIC as an argument, and returns what a peer may cause. word_count_test.c is the unit test.
 */
#ifndef WORDS_H
#define WORDS_H

#include "vipl_util.h"

enum { WORDS_TEXT_BYTES = 1000 }; /* the longest text */
#define WORDS_DEFAULT_NAME "word_count"

/* Registered memory of one end of a connection: a message to send and one to receive, and their descriptors. */
typedef struct {
  VIP_DESCRIPTOR send, receive;
  char out[WORDS_TEXT_BYTES], in[WORDS_TEXT_BYTES];
} words_memory;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  words_memory* memory;
} words_end;

/* Words are what white space separates. */
unsigned long count_words(const char* text, size_t bytes);

/* The server: serves so many clients, one after the other, and returns how many texts it has answered. A client that
 * cannot be accepted counts too. */
unsigned long serve_words(VIP_NIC_HANDLE nic, const char* name, VIP_RELIABILITY_LEVEL level, unsigned long clients);

/* The client. connect_words: to HOST[:NAME]; close_words must follow after VIP_SUCCESS, and only then. */
VIP_RETURN connect_words(words_end* end, VIP_NIC_HANDLE nic, const char* service, VIP_RELIABILITY_LEVEL level,
                         VIP_ULONG patience_ms);
/* VIP_INVALID_PARAMETER: the text is too long and was not sent. After another failure only close_words is left. */
VIP_RETURN ask_words(words_end* end, const char* text, size_t bytes, unsigned long* words);
void close_words(words_end* end);

#endif
