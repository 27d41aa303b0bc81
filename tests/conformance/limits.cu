// What cudaDeviceSetLimit does: the heap of kernels, the buffer of printf, and when it is too late.
#include "probe.h"
#include <fcntl.h>
#include <string.h>

__global__ void take_one(size_t bytes, int* ok) {
  void* p = malloc(bytes);
  *ok = p != nullptr;
  free(p);
}
__global__ void speak(int n) {
  for (int i = 0; i < n; ++i) printf("line %d\n", i);
}
__global__ void speak_long(int n) {
  for (int i = 0; i < n; ++i) printf("line %d of %d in all with a long text behind it and %s and %f\n", i, n, "one more", 0.5);
}

template <class T>
T* managed(size_t n = 1) {
  T* p;
  MUST(cudaMallocManaged((void**)&p, n * sizeof(T)));
  memset(p, 0, n * sizeof(T));
  return p;
}

static void limits(const char* when, const std::string& which = "") {
  const struct { const char* name; cudaLimit limit; } all[] = {{"stack", cudaLimitStackSize}, {"fifo", cudaLimitPrintfFifoSize},
      {"heap", cudaLimitMallocHeapSize}, {"pending", cudaLimitDevRuntimePendingLaunchCount}};
  for (const auto& one : all) {
    if (!which.empty() && which != one.name) continue;
    size_t v = 0;
    const cudaError_t e = cudaDeviceGetLimit(&v, one.limit);
    say(std::string(when) + "." + one.name, e == cudaSuccess ? std::to_string(v) : std::string(cudaGetErrorName(e)));
  }
}

static bool fits(size_t bytes) {
  int* ok = managed<int>();
  take_one<<<1, 1>>>(bytes, ok);
  MUST(cudaDeviceSynchronize());
  return *ok != 0;
}

// The greatest size that one thread gets, to 64 KiB.
static size_t greatest() {
  size_t low = 0, high = size_t(1) << 20;
  while (high * 65536 <= (size_t(1) << 36) && fits(high * 65536)) high *= 2;
  high = std::min<size_t>(high, 1 << 20);
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (fits(middle * 65536) ? low : high) = middle;
  }
  return low * 65536;
}

// What comes out, of lines that are written in one kernel: the number of the first, and how many.
template <class Speak>
static void spoken(const std::string& name, Speak&& kernel) {
  char path[] = "/tmp/limits_XXXXXX";
  const int file = mkstemp(path);
  fflush(stdout);
  const int out = dup(1);
  dup2(file, 1);
  kernel();
  const cudaError_t e = cudaDeviceSynchronize();
  fflush(stdout);
  dup2(out, 1);
  close(out);
  close(file);
  FILE* f = fopen(path, "r");
  char line[256];
  long lines = 0, first = -1, last = -1;
  bool in_order = true;
  while (fgets(line, sizeof line, f) != nullptr) {
    long number = -1;
    sscanf(line, "line %ld", &number);
    if (lines++ == 0) first = number;
    in_order = in_order && (last == -1 || number == last + 1 || number == -1);
    last = number;
  }
  fclose(f);
  unlink(path);
  say(name, std::string(cudaGetErrorName(e)) + " lines " + std::to_string(lines) + " first " + std::to_string(first) + " last " +
                std::to_string(last) + (in_order ? "" : " not in order"));
}

static size_t number(const char* s) { return strtoull(s, nullptr, 0); }

int main(int argc, char** argv) {
  const std::string what = argv[1];
  const std::string name = [&] {
    std::string s = what;
    for (int i = 2; i < argc; ++i) s += std::string(".") + argv[i];
    return s;
  }();
  if (what == "set") {
    limits("set.before");
    for (size_t v : {size_t(0), size_t(1), size_t(65537), size_t(1) << 20, size_t(1) << 30}) {
      say("set.heap." + std::to_string(v), cudaDeviceSetLimit(cudaLimitMallocHeapSize, v));
      cudaGetLastError();
      limits(("set.heap." + std::to_string(v)).c_str(), "heap");
    }
    for (size_t v : {size_t(0), size_t(1), size_t(4096), size_t(1) << 24}) {
      say("set.fifo." + std::to_string(v), cudaDeviceSetLimit(cudaLimitPrintfFifoSize, v));
      cudaGetLastError();
      limits(("set.fifo." + std::to_string(v)).c_str(), "fifo");
    }
    for (size_t v : {size_t(0), size_t(100), size_t(65536), size_t(1) << 20}) {
      say("set.stack." + std::to_string(v), cudaDeviceSetLimit(cudaLimitStackSize, v));
      cudaGetLastError();
      limits(("set.stack." + std::to_string(v)).c_str(), "stack");
    }
  } else if (what == "late") {
    // A kernel that has used the heap, and one that has printed, are over.
    say("late.taken", fits(65536));
    spoken("late.spoken", [] { speak<<<1, 1>>>(3); });
    for (size_t v : {size_t(8) << 20, size_t(16) << 20, size_t(4) << 20}) {
      say("late.heap." + std::to_string(v), cudaDeviceSetLimit(cudaLimitMallocHeapSize, v));
      cudaGetLastError();
    }
    for (size_t v : {size_t(1) << 20, size_t(16) << 20}) {
      say("late.fifo." + std::to_string(v), cudaDeviceSetLimit(cudaLimitPrintfFifoSize, v));
      cudaGetLastError();
    }
    limits("late.after");
    MUST(cudaDeviceReset());
    say("late.reset.heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t(32) << 20));
    limits("late.reset");
    say("late.reset.fits", fits(size_t(20) << 20));
  } else if (what == "loaded") {
    // One that uses neither has run; those that do are in the same program.
    nop_kernel<<<1, 1>>>();
    MUST(cudaDeviceSynchronize());
    say("loaded.heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t(64) << 20));
    cudaGetLastError();
    say("loaded.fifo", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, size_t(1) << 20));
    cudaGetLastError();
    limits("loaded");
    say("loaded.fits", fits(size_t(50) << 20));
  } else if (what == "heap") {
    if (number(argv[2]) != 0) say(name + ".set", cudaDeviceSetLimit(cudaLimitMallocHeapSize, number(argv[2])));
    limits(name.c_str(), "heap");
    say(name + ".greatest", (long long)greatest());
  } else if (what == "fifo") {
    if (number(argv[2]) != 0) say(name + ".set", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, number(argv[2])));
    for (int n : {10, 1000, 400000}) spoken(name + ".short." + std::to_string(n), [n] { speak<<<1, 1>>>(n); });
    spoken(name + ".long.100000", [] { speak_long<<<1, 1>>>(100000); });
  }
}
