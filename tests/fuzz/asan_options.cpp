// What AddressSanitizer does in the libFuzzer programs of n_port and switch unless ASAN_OPTIONS says otherwise: little
// memory is kept back, so that the next input finds it in the cache, and each allocation remembers two callers only. A
// finding is replayed with all of them.

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=2:allocator_release_to_os_"
         "interval_ms=-1";
}
