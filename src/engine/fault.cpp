#include "engine/fault.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "engine/shared_region.hpp"
#include "engine/worker.hpp"

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
struct sigaction earlier[signal_count];

thread_local detail::guard_frame* guard_of_thread = nullptr;

// Where a faulting fiber goes on, on an empty stack of its own.
[[noreturn]] void leave_faulted_fiber() {
  worker* w = current_worker();
  forget_own_frames(*w->running);
  device_thread* t = w->current;
  auto* b = reinterpret_cast<block*>(t->context.block);
  b->fail(*t, b->named(w->fault));
}

[[noreturn]] void leave_guard() {
  detail::guard_frame* frame = detail::present_guard();
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

void pass_on(std::size_t which, int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = earlier[which];
  if ((old.sa_flags & SA_SIGINFO) != 0 && old.sa_sigaction != nullptr) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
  } else {
    // The default: the instruction runs again and ends the process as if we had not been here.
    sigaction(signal, &old, nullptr);
    if (info->si_code <= 0) raise(signal);  // sent by somebody: nothing would run again
  }
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
  std::size_t which = 0;
  while (which < signal_count && answers[which].signal != signal) ++which;
  if (which == signal_count) return;
  auto& context = *static_cast<ucontext_t*>(raw);
  const bool synchronous = info->si_code > 0;
  // Only a bad access has an address worth telling.
  const void* address = signal == SIGSEGV || signal == SIGBUS ? info->si_addr : nullptr;
  const failure_record fault{answers[which].error, address, answers[which].what};
  worker* w = current_worker();
  if (synchronous && w != nullptr && w->running != nullptr) {
    w->fault = fault;
    redirect(context, &leave_faulted_fiber, w->running->stack + w->running->stack_bytes);
  } else if (detail::guard_frame* frame = detail::present_guard();
             synchronous && frame != nullptr) {
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
  return guard_of_thread;
}

}  // namespace detail

void install_fault_handlers() {
  static const bool once = [] {
    for (std::size_t i = 0; i < signal_count; ++i) {
      struct sigaction action{};
      action.sa_sigaction = &handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      sigaction(answers[i].signal, &action, &earlier[i]);
    }
    return true;
  }();
  static_cast<void>(once);
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
