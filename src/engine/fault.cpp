#include "engine/fault.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "engine/shared_region.hpp"
#include "engine/worker.hpp"
#include "engine/x86_operand.hpp"

// The C library's own, beside the one of this name that libcudart puts in front of it.
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);

namespace sb::engine {

namespace {

// What the hardware answers; h200/faults.tsv. A recursion that runs out of stack is an illegal
// address there too.
struct {
  int signal;
  status error;
  const char* what;
} constexpr answers[] = {
    {SIGSEGV, status::illegal_address, "illegal address"},
    {SIGBUS, status::misaligned_address, "misaligned address"},
    {SIGFPE, status::launch_failure, "arithmetic fault"},
    {SIGILL, status::illegal_instruction, "illegal instruction"},
    {SIGTRAP, status::launch_failure, "trap"},
};
constexpr std::size_t signal_count = sizeof answers / sizeof answers[0];

std::size_t index_of(int signal) {
  std::size_t which = 0;
  while (which < signal_count && answers[which].signal != signal) ++which;
  return which;
}

// What the program wants to happen at these signals, once ours are installed.
struct sigaction wanted[signal_count];
bool installed = false;

// Guards both. A signal handler may come here while its own thread holds the lock: its holder takes
// no signals.
class actions_lock {
 public:
  actions_lock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    while (held_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~actions_lock() {
    held_.clear(std::memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  actions_lock(const actions_lock&) = delete;
  actions_lock& operator=(const actions_lock&) = delete;

 private:
  static std::atomic_flag held_;
  sigset_t before_;
};
constinit std::atomic_flag actions_lock::held_{};

thread_local detail::guard_frame* guard_of_thread = nullptr;
thread_local bool thread_takes_faults = false;

// A thread that blocks all signals, as servers have which leave them to one thread, would end the
// process by a fault. Once: asking each time would take longer than a small kernel.
void take_faults() {
  sigset_t faults;
  sigemptyset(&faults);
  for (const auto& answer : answers) sigaddset(&faults, answer.signal);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  thread_takes_faults = true;
}

// Where a faulting fiber goes on, on an empty stack of its own.
[[noreturn]] void leave_faulted_fiber() {
  worker* w = current_worker();
  forget_own_frames(*w->running);
  device_thread* t = w->current;
  auto* b = reinterpret_cast<block*>(t->context.block);
  b->fail(*t, b->named(w->fault));
}

[[noreturn]] void leave_guard() {
  detail::guard_frame* frame = guard_of_thread;
  siglongjmp(frame->jump, 1);
}

// Makes the return from the signal continue in `function`, on `stack` if given.
void redirect(ucontext_t& context, void (*function)(), char* stack) {
#if defined(__aarch64__)
  mcontext_t& m = context.uc_mcontext;
  if (stack != nullptr) m.sp = reinterpret_cast<std::uintptr_t>(stack);
  m.sp &= ~std::uintptr_t{15};
  m.regs[29] = 0;
  m.regs[30] = 0;
  m.pc = reinterpret_cast<std::uintptr_t>(function);
#else
  greg_t* r = context.uc_mcontext.gregs;
  auto top = stack != nullptr ? reinterpret_cast<std::uintptr_t>(stack)
                              : static_cast<std::uintptr_t>(r[REG_RSP]) - 128;  // the red zone
  top = (top & ~std::uintptr_t{15}) - 8;                                        // as after a call
  if (stack != nullptr) *reinterpret_cast<std::uintptr_t*>(top) = 0;
  r[REG_RSP] = static_cast<greg_t>(top);
  r[REG_RBP] = 0;
  r[REG_RIP] = reinterpret_cast<greg_t>(function);
#endif
}

// As the system would have done it for the program's own action.
void pass_on(std::size_t which, int signal, siginfo_t* info, void* context) {
  struct sigaction action;
  {
    const actions_lock lock;
    action = wanted[which];
    if ((action.sa_flags & SA_RESETHAND) != 0) wanted[which].sa_handler = SIG_DFL;
  }
  const bool sent = info->si_code <= 0;  // by somebody, not by an instruction
  if (action.sa_handler == SIG_IGN && sent) return;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
    // The instruction runs again and ends the process as if we had not been here.
    struct sigaction none{};
    none.sa_handler = SIG_DFL;
    __sigaction(signal, &none, nullptr);
    if (sent) raise(signal);  // nothing would run again
    return;
  }
  sigset_t blocked = action.sa_mask;  // until the return from the signal
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

std::uintptr_t program_counter(const ucontext_t& context) {
#if defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#endif
}

// The address that the compiler marked as misaligned, without the mark; null for any other. CUDA:
// that counts before whether there is memory at all; h200/accesses.tsv access.unmapped.1.*
const void* without_mark(const void* accessed) {
  auto address = reinterpret_cast<std::uintptr_t>(accessed);
  if ((address & barred_address) == barred_address) address &= ~barred_address;
  constexpr std::uintptr_t mark = ((std::uintptr_t{1} << abi::misaligned_bits) - 1)
                                  << abi::misaligned_shift;
  // The mark repeats bits of the address, or of where the word lies in what was accessed as one:
  // the third word of an int4 that is misaligned by 8 has an address without them. An index that is
  // far too large sets others.
  constexpr std::uintptr_t word = 4;
  const std::uintptr_t bits = address >> abi::misaligned_shift;
  const bool repeats = (address & bits) == bits || (bits % word == 0 && address % word == 0);
  const bool marked = (address & mark) != 0 && bits <= mark >> abi::misaligned_shift && repeats;
  return marked ? reinterpret_cast<const void*>(address & ~mark) : nullptr;
}

// What the instruction accessed. x86 does not tell an address that is not canonical, as marked ones
// are where page tables have four levels.
const void* accessed_address(const siginfo_t& info, const ucontext_t& context) {
#if defined(__x86_64__)
  const std::uintptr_t pc = program_counter(context);
  constexpr unsigned canonical_bits = 47;
  if (info.si_code != SI_KERNEL || info.si_addr != nullptr || pc >> canonical_bits != 0)
    return info.si_addr;
  constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                           REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  x86_registers registers;
  for (unsigned i = 0; i < 16; ++i)
    registers[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[order[i]]);
  const x86_accesses found = accesses_of(reinterpret_cast<const unsigned char*>(pc), registers);
  for (unsigned i = 0; i < found.count; ++i)
    if (found.address[i] >> canonical_bits != 0)
      return reinterpret_cast<const void*>(found.address[i]);
#else
  (void)context;
#endif
  return info.si_addr;
}

failure_record fault_of(std::size_t which, const siginfo_t& info, const ucontext_t& context) {
  const int signal = answers[which].signal;
  // Only a bad access has an address worth telling.
  if (signal != SIGSEGV && signal != SIGBUS)
    return {answers[which].error, nullptr, answers[which].what};
  const void* address = accessed_address(info, context);
  if (const void* misaligned = without_mark(address))
    return {status::misaligned_address, misaligned, "misaligned address"};
  // h200/accesses.tsv access.call.null.*
  if (reinterpret_cast<std::uintptr_t>(address) == program_counter(context))
    return {status::invalid_pc, address, "call of what is no function, at"};
  return {answers[which].error, address, answers[which].what};
}

void handle(int signal, siginfo_t* info, void* raw) {
  const int saved_errno = errno;
  // Memory that moves into a file for another process: the instruction runs again until it is
  // there.
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && in_shared_region(info->si_addr)) {
    sched_yield();
    errno = saved_errno;
    return;
  }
  const std::size_t which = index_of(signal);
  if (which == signal_count) return;
  auto& context = *static_cast<ucontext_t*>(raw);
  const bool synchronous = info->si_code > 0;
  const failure_record fault = fault_of(which, *info, context);
  worker* w = current_worker();
  if (synchronous && w != nullptr && w->running != nullptr) {
    w->fault = fault;
    redirect(context, &leave_faulted_fiber, w->running->stack + w->running->stack_bytes);
  } else if (detail::guard_frame* frame = guard_of_thread; synchronous && frame != nullptr) {
    frame->fault = fault;
    redirect(context, &leave_guard, nullptr);
  } else {
    pass_on(which, signal, info, raw);
  }
  errno = saved_errno;
}

}  // namespace

namespace detail {

[[gnu::noinline]] guard_frame*& present_guard() {
  asm volatile("");
  if (!thread_takes_faults) [[unlikely]]
    take_faults();
  return guard_of_thread;
}

}  // namespace detail

void install_fault_handlers() {
  const actions_lock lock;
  if (installed) return;
  for (std::size_t i = 0; i < signal_count; ++i) {
    struct sigaction action{};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    __sigaction(answers[i].signal, nullptr, &wanted[i]);
    __sigaction(answers[i].signal, &action, nullptr);
  }
  installed = true;
}

bool is_fault_signal(int signal) { return index_of(signal) != signal_count; }

int program_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  const std::size_t which = index_of(signal);
  if (which == signal_count) return __sigaction(signal, action, old);
  // A bad pointer of the program must not fault under the lock.
  struct sigaction asked{}, before{};
  if (action != nullptr) asked = *action;
  {
    const actions_lock lock;
    if (!installed) return __sigaction(signal, action, old);
    before = wanted[which];
    if (action != nullptr) wanted[which] = asked;
  }
  if (old != nullptr) *old = before;
  return 0;
}

sigset_t take_only_faults() {
  sigset_t all, before;
  sigfillset(&all);
  for (const auto& answer : answers) sigdelset(&all, answer.signal);
  sigdelset(&all, SIGABRT);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

namespace {
constexpr std::size_t signal_stack_bytes = 64 << 10;
}

signal_stack::signal_stack() {
  memory_ = static_cast<char*>(mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0));
  stack_t mine{};
  mine.ss_sp = memory_;
  mine.ss_size = signal_stack_bytes;
  sigaltstack(&mine, &old_);
}

signal_stack::~signal_stack() {
  sigaltstack(&old_, nullptr);
  munmap(memory_, signal_stack_bytes);
}

}  // namespace sb::engine
