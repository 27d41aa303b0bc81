// What the library that stands before the C library's clocks and threads (src/interpose) and a
// runtime in modelled time know of each other. Plain C: the two are found by name at run time.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// What a thread waits for, so that a program that hangs can be explained.
enum streambed_awaited_kind : int {
  streambed_awaits_lock,
  streambed_awaits_condition,
  streambed_awaits_semaphore,
  streambed_awaits_barrier,
  streambed_awaits_thread,
  streambed_awaits_memory,
};
struct streambed_awaited {
  streambed_awaited_kind kind;
  // The system's number of the thread that has it, 0 when nobody has or it is not known; null for
  // what nobody can have. The key of a thread's end is the thread (announce).
  int (*holder)(const void* key);
  bool is_interruptible = false;  // interrupt() ends the wait
};

// By the runtime, for the calling thread.
struct streambed_clock_hooks {
  // 0: no (a thread of the runtime, or a call of the runtime itself); 1: yes; 2: yes, although the
  // runtime made the thread (a host function).
  int (*follows)();
  std::uint64_t (*now)();          // nanoseconds of its clock
  void (*pass)(std::uint64_t ns);  // time passes; returns when it is the thread's turn
  // From here on wake() counts for the thread. Then it looks whether it has to wait, and goes on
  // (cancel) or waits, for that or for the time (wait; 1: woken, 0: the time came first, or the
  // process ends, 2: interrupted).
  void (*prepare)(const void* key, std::uint64_t until_ns, const streambed_awaited* what);
  int (*wait)();
  void (*cancel)();
  std::size_t (*wake)(const void* key, std::size_t count);  // how many
  void* (*announce)();                                      // a thread that is about to be made
  void (*adopt)(void* one);     // by that thread; returns when it is its turn
  void (*withdraw)(void* one);  // it could not be made
  int (*over)(void* one);       // it has ended; wake(one, ...) told so
  void (*ends)();               // the program's first thread does, before the program
  // As pass, without a processor; what is left when it was interrupted, else 0.
  std::uint64_t (*sleep)(std::uint64_t ns);
  // Nanoseconds that the thread, or all of the process, had a processor. Those that wait for the
  // device had one: they look for its answer.
  std::uint64_t (*processor_time)(int whole_process);
  // Ends the other thread's sleep or interruptible wait, or its next one; null: the program's first
  // thread.
  void (*interrupt)(void* one);
  void (*exits)();               // the calling thread ends the process
  void (*depends_on_machine)();  // the run does from here on, whatever its threads do
  // By a thread in its turn: at that time `expire` is called once, between turns, inside of a call
  // of the runtime and on any thread. It may call the next three. The maximum: no more.
  void (*call_at)(std::uint64_t ns, void (*expire)(std::uint64_t ns));
  std::size_t (*wake_at)(const void* key, std::size_t count, std::uint64_t ns);
  void* (*announce_at)(std::uint64_t ns);
  // The other thread (null: the first) leaves its wait, as if it were interrupted, and calls
  // `deliver` before it goes on in code of its own. 0: it runs without its turn, or has ended.
  int (*divert)(void* one, std::uint64_t ns, void (*deliver)());
  // As pass, by a thread that lets others go first and then looks whether they did something.
  void (*yield)(std::uint64_t ns);
  // It looked for this in vain, and will go on or look again.
  void (*looked)(const void* key, const streambed_awaited* what);
  // As pass, by a thread that reads a clock: it may time what it did.
  void (*reads_clock)(std::uint64_t ns);
};

// By the library: takes the hooks of a runtime; null: there is none any more.
using streambed_set_clock_hooks_t = void(const streambed_clock_hooks*);
// By the library: takes a function that makes the runtime begin. It is called at the first clock
// read or thread of the program, so that all of them are modelled.
using streambed_set_clock_start_t = void(void (*)());

}  // extern "C"
