// Makes faults under qemu's emulation of x86-64 look as on the hardware; loaded before the program.
// - Where page tables have four levels, an address above 47 bits is not told: si_code is SI_KERNEL
//   and si_addr null. qemu tells it, as machines with five levels do. STREAMBED_TEST_LEVELS=4 hides it.
// - A handler begins with the stack that a call would leave. In qemu 7.2 it is off by 8 bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

typedef int change_action(int, const struct sigaction*, struct sigaction*);
typedef void handler(int, siginfo_t*, void*);

static handler* handlers[65];
static int four_levels;

__attribute__((force_align_arg_pointer)) static void as_hardware(int signal, siginfo_t* info,
                                                                 void* context) {
  siginfo_t told = *info;
  if (four_levels && signal == SIGSEGV && info->si_code > 0 && (uintptr_t)info->si_addr >> 47 != 0) {
    told.si_code = SI_KERNEL;
    told.si_addr = 0;
  }
  handlers[signal](signal, &told, context);
}

int __sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  static change_action* next;
  if (next == 0) {
    const char* levels = getenv("STREAMBED_TEST_LEVELS");
    four_levels = levels != 0 && levels[0] == '4';
    next = (change_action*)dlsym(RTLD_NEXT, "__sigaction");
  }
  if (action == 0 || (action->sa_flags & SA_SIGINFO) == 0 || signal < 1 || signal > 64)
    return next(signal, action, old);
  handlers[signal] = action->sa_sigaction;
  struct sigaction ours = *action;
  ours.sa_sigaction = as_hardware;
  return next(signal, &ours, old);
}
