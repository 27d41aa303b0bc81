// On its way to the queue a launch asks neither the heap nor the system for anything, and looks at
// the clock at most once. What is counted here is what the launching thread does: every call of the
// system traps (seccomp), whoever makes it; the heap and the clock, which may need no such call,
// are counted where the C library is entered.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct counts {
  long allocations, calls, clock_reads;
  long last_call;
};
static thread_local bool counting = false;
static thread_local counts seen{};

// In place of the C library's, for the runtime as well.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* counted_malloc(size_t bytes) __asm__("malloc");
void* counted_calloc(size_t n, size_t bytes) __asm__("calloc");
void* counted_realloc(void* old, size_t bytes) __asm__("realloc");
void counted_free(void* p) __asm__("free");
void* counted_memalign(size_t alignment, size_t bytes) __asm__("memalign");
void* counted_aligned_alloc(size_t alignment, size_t bytes) __asm__("aligned_alloc");
int counted_posix_memalign(void** out, size_t alignment, size_t bytes) __asm__("posix_memalign");
int counted_clock_gettime(clockid_t clock, timespec* out) __asm__("clock_gettime");
int counted_gettimeofday(timeval* out, void* zone) __asm__("gettimeofday");
time_t counted_time(time_t* out) __asm__("time");

void* counted_malloc(size_t bytes) {
  seen.allocations += counting;
  return __libc_malloc(bytes);
}
void* counted_calloc(size_t n, size_t bytes) {
  seen.allocations += counting;
  return __libc_calloc(n, bytes);
}
void* counted_realloc(void* old, size_t bytes) {
  seen.allocations += counting;
  return __libc_realloc(old, bytes);
}
void counted_free(void* p) {
  seen.allocations += counting && p != nullptr;
  __libc_free(p);
}
void* counted_memalign(size_t alignment, size_t bytes) {
  seen.allocations += counting;
  return __libc_memalign(alignment, bytes);
}
void* counted_aligned_alloc(size_t alignment, size_t bytes) {
  return counted_memalign(alignment, bytes);
}
int counted_posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = counted_memalign(alignment, bytes);
  return *out == nullptr ? 12 : 0;
}
int counted_clock_gettime(clockid_t clock, timespec* out) {
  static const auto next =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  seen.clock_reads += counting;
  return next(clock, out);
}
int counted_gettimeofday(timeval* out, void*) {
  timespec now;
  counted_clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
time_t counted_time(time_t* out) {
  timespec now;
  counted_clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

// The one place whose calls of the system do not trap: between the two labels.
long repeated_call(long number, long a, long b, long c, long d, long e, long f);
extern char repeated_call_begin, repeated_call_end;
}
#if defined(__aarch64__)
constexpr std::uint32_t this_machine = AUDIT_ARCH_AARCH64;
__asm__(
    ".text\n"
    ".globl repeated_call, repeated_call_begin, repeated_call_end\n"
    "repeated_call:\n"
    "  mov x8, x0\n  mov x0, x1\n  mov x1, x2\n  mov x2, x3\n  mov x3, x4\n  mov x4, x5\n"
    "  mov x5, x6\n"
    "repeated_call_begin:\n"
    "  svc #0\n"
    "  nop\n"
    "repeated_call_end:\n"
    "  ret\n");
static void repeat(ucontext_t& c) {
  auto* r = c.uc_mcontext.regs;
  seen.last_call = static_cast<long>(r[8]);
  r[0] = static_cast<std::uint64_t>(repeated_call(static_cast<long>(r[8]), static_cast<long>(r[0]),
                                                  static_cast<long>(r[1]), static_cast<long>(r[2]),
                                                  static_cast<long>(r[3]), static_cast<long>(r[4]),
                                                  static_cast<long>(r[5])));
}
#else
constexpr std::uint32_t this_machine = AUDIT_ARCH_X86_64;
__asm__(
    ".text\n"
    ".globl repeated_call, repeated_call_begin, repeated_call_end\n"
    "repeated_call:\n"
    "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n  mov %r8, %r10\n"
    "  mov %r9, %r8\n  mov 8(%rsp), %r9\n"
    "repeated_call_begin:\n"
    "  syscall\n"
    "  nop\n"
    "repeated_call_end:\n"
    "  ret\n");
static void repeat(ucontext_t& c) {
  auto* r = c.uc_mcontext.gregs;
  seen.last_call = r[REG_RAX];
  r[REG_RAX] = repeated_call(r[REG_RAX], r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8],
                             r[REG_R9]);
}
#endif

// From here on every call of the system that this thread makes is counted, and made after all.
static bool trap_calls() {
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    seen.calls += counting;
    repeat(*static_cast<ucontext_t*>(context));
  };
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  // The kernel says where the instruction after the call lies.
  const auto begin = reinterpret_cast<std::uintptr_t>(&repeated_call_begin);
  const auto low = static_cast<std::uint32_t>(begin),
             high = static_cast<std::uint32_t>(begin >> 32);
  const auto bytes = static_cast<std::uint32_t>(&repeated_call_end - &repeated_call_begin);
  const auto at = [](size_t offset) { return static_cast<std::uint32_t>(offset); };
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at(offsetof(seccomp_data, arch))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, this_machine, 0, 8),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at(offsetof(seccomp_data, nr))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 6, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at(offsetof(seccomp_data, instruction_pointer)) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at(offsetof(seccomp_data, instruction_pointer))),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low, 0, 1),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, low + bytes, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#define CHECK(call)                                                                            \
  do {                                                                                         \
    const cudaError_t e = (call);                                                              \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(e)), std::exit(1); \
  } while (0)

template <int Words>
struct arguments {
  int words[Words];
};
// A loop: nobody knows how long it will take, so that it is handed over.
template <int Words>
__global__ void looping(int times, volatile int* out, arguments<Words> more) {
  for (int i = 0; i < times; ++i) *out = more.words[i % Words];
}
// None: it runs in the call when nothing is before it.
__global__ void straight(volatile int* out) { *out = 1; }

static std::atomic<bool> open;
constexpr int launches = 50;

template <class Launch>
static counts launched(Launch launch) {
  seen = {};
  counting = true;
  for (int i = 0; i < launches; ++i) launch();
  counting = false;
  return seen;
}

// The stream is held meanwhile: nothing but the way to the queue is counted.
template <class Launch>
static counts behind_a_gate(cudaStream_t s, Launch launch) {
  open = false;
  CHECK(cudaLaunchHostFunc(
      s,
      [](void*) {
        while (!open) std::this_thread::yield();
      },
      nullptr));
  const counts here = launched(launch);
  CHECK(cudaGetLastError());
  open = true;
  CHECK(cudaStreamSynchronize(s));
  return here;
}

// Lists grow in the first rounds, and now and then a worker that fell asleep is woken: most rounds
// are without any of it. An allocation or a call for each launch, or for every 50th, is in all.
template <class Round>
static bool is_quiet(const char* what, Round round) {
  constexpr int warm = 100, counted = 100;
  for (int i = 0; i < warm; ++i) round();
  int quiet = 0;
  counts sum{};
  for (int i = 0; i < counted; ++i) {
    const counts c = round();
    quiet += c.allocations == 0 && c.calls == 0 && c.clock_reads <= launches;
    sum.allocations += c.allocations;
    sum.calls += c.calls;
    sum.clock_reads += c.clock_reads;
    if (c.calls != 0) sum.last_call = c.last_call;
  }
  const bool enough = quiet >= counted * 4 / 5;
  std::printf(
      "%s: %d of %d rounds of %d launches quiet; %ld allocations, %ld system calls (last: "
      "%ld), %ld looks at the clock in all\n",
      what, quiet, counted, launches, sum.allocations, sum.calls, sum.last_call, sum.clock_reads);
  return enough;
}

// That counting works, and what it counts still happens.
static bool counts_right() {
  seen = {};
  counting = true;
  void* volatile some = std::malloc(16);
  std::free(some);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int id = getpid();
  sched_yield();
  counting = false;
  return seen.allocations == 2 && seen.clock_reads == 1 && seen.calls == 2 && id == getpid();
}

int main() {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  int* out;
  CHECK(cudaMallocManaged(&out, sizeof *out));
  // Kernels are loaded, and all threads are there: those that this one makes would be trapped, too.
  const auto few = [=] { looping<<<1, 1, 0, s>>>(1, out, arguments<2>{}); };
  const auto many = [=] { looping<<<1, 1, 0, s>>>(1, out, arguments<56>{}); };
  const auto none = [=] { straight<<<1, 1, 0, s>>>(out); };
  for (int i = 0; i < 100; ++i) {
    few();
    many();
    CHECK(cudaStreamSynchronize(s));
    none();
  }
  behind_a_gate(s, few);
  if (!trap_calls()) return std::puts("skipped: seccomp is not available"), 0;
  if (!counts_right()) return std::puts("counted wrongly"), 1;

  bool quiet = is_quiet("few parameters", [&] { return behind_a_gate(s, few); });
  quiet &= is_quiet("many parameters", [&] { return behind_a_gate(s, many); });
  quiet &= is_quiet("in the call", [&] { return launched(none); });
  if (quiet) std::puts("ok");
  return !quiet;
}
