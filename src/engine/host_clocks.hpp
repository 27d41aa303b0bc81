// The clocks of the program's threads in modelled time, and whose turn it is.
//
// Each thread has its own clock; of those that can go on, the one with the least (time, number)
// runs, alone. It gives its turn away where it calls in: the program's code between two calls takes
// no modelled time and is not interrupted. The device's events up to the time of a thread happen
// before its turn, on whichever thread comes by.
//
// Whether a new thread comes before its turn or is late for it makes no difference: its turn waits
// for it, and is not over before it did something.
//
// A thread that does not call in for long while others wait for their turn loses it: it goes on
// beside them, and the run is no longer deterministic. What counts is the time that it computes or
// is blocked outside: on a busy machine it may wait for a processor as long as it has to.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock_hooks.hpp"

namespace sb::engine {

struct recorded_thread;

class host_clocks {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr std::uint32_t the_function = nobody - 1;

  // What happens between turns: the device. Called by one thread at a time, under no lock.
  class events {
   public:
    [[nodiscard]] virtual std::uint64_t next_ns() = 0;  // never: nothing is on its way
    virtual void step() = 0;                            // makes the next one happen
    // Nothing is on its way, and nothing looks for what the host writes; does nothing.
    [[nodiscard]] virtual bool idle() const = 0;
    // Lets what waits for memory look at it again: the host writes it unseen. False: nothing waits
    // for memory.
    virtual bool look_again() { return false; }
    // What is on its way looks at memory, and has done so in vain for so long that it would for
    // ever.
    [[nodiscard]] virtual bool in_vain() const { return false; }
    // Nothing can happen any more. True when something did all the same.
    [[nodiscard]] virtual bool hung() = 0;
    virtual void host_ran(std::uint64_t ns) = 0;  // a thread had its turn until then
    // Of these, when the next of the program's timers is over. While a thread runs without its turn
    // and no other can go on, it comes by the real clock: the thread may compute for long.
    [[nodiscard]] virtual std::uint64_t timer_ns() const { return never; }
    virtual void host_ends() {}  // the process does: no timers any more
    // What a trace calls the calling thread; `nobody` without one. `the_function`: it runs a host
    // function.
    [[nodiscard]] virtual std::uint32_t calling_thread() { return nobody; }

   protected:
    ~events() = default;
  };

  struct thread;  // a thread of the program, from its first call or its making to its end

  explicit host_clocks(events& device);
  ~host_clocks();
  host_clocks(const host_clocks&) = delete;
  host_clocks& operator=(const host_clocks&) = delete;

  thread* self();                     // of the calling thread, made at its first call
  [[nodiscard]] std::uint64_t now();  // the calling thread's clock
  [[nodiscard]] std::uint32_t number();

  // Of its time, the calling thread has or had no processor for so long.
  void rests(std::uint64_t ns);
  [[nodiscard]] std::uint64_t processor_time();
  [[nodiscard]] std::uint64_t processor_time_of_all();

  // The calling thread's turn: returns when everything before it has happened. `ns` passes first.
  void turn(std::uint64_t ns = 0);

  // A new thread that can go on from `ns` on; the thread that calls adopt() becomes it.
  thread* announce(std::uint64_t ns);
  // The same for a thread that the calling one makes.
  thread* announce_own();
  thread* announce_by_timer(std::uint64_t ns);
  struct origin {
    std::uint32_t maker = nobody;  // as calling_thread() says it
    std::uint64_t ns = 0;
  };
  [[nodiscard]] origin origin_of(const thread* one);
  void adopt(thread* one);
  void withdraw(thread* one);  // it is not made after all
  // A thread that left begins again.
  void again(thread* one, std::uint64_t ns);
  void leave();  // the calling thread ends
  // The calling thread ends the process: it keeps its turn for what the program does at its end.
  static void ends_process();
  // Before that, what is on its way happens, on the device and in host functions.
  void finish_device();
  // The calling thread goes back to its own code: from here on it may be too silent.
  static void left();
  [[nodiscard]] bool over(thread* one);

  // Waits, in its turn, for wake() or, if there is one, for the time. False: the time came first.
  bool wait_on(const void* key, std::uint64_t until_ns = never,
               const streambed_awaited* what = nullptr) {
    prepare(key, until_ns, what);
    return wait();
  }
  void sleep(std::uint64_t ns);  // the same for the time alone
  // The same in two steps, between which the thread looks whether it has to wait: one that lost its
  // turn runs beside those that wake it.
  void prepare(const void* key, std::uint64_t until_ns = never,
               const streambed_awaited* what = nullptr);
  bool wait();
  void cancel();  // instead of wait()
  // Wakes up to `count` of those that wait on the key, in the order in which they came. They go on
  // at `ns` at the earliest.
  std::size_t wake(const void* key, std::size_t count, std::uint64_t ns);
  // The same by what the calling thread does now.
  std::size_t wake_by_thread(const void* key, std::size_t count);
  // The thread's wait ends as if its time had come, now, if what it waits for says that it may, or
  // the next one that may does; null: that of the program's first thread.
  void interrupt(thread* one);
  [[nodiscard]] bool interrupted();  // the calling thread's last wait
  // The other thread's wait, whatever it is, ends at `ns`, and the thread calls `deliver` as soon
  // as it runs code of its own. False: it has lost its turn, or has ended.
  bool divert(thread* one, std::uint64_t ns, void (*deliver)());
  // Of the calling thread, which is about to run code of its own; null: nothing is to be done.
  [[nodiscard]] static void (*take_delivery())();
  // Who woke the calling thread from its last wait, as calling_thread() says it.
  [[nodiscard]] std::uint32_t woken_by();
  // What the calling thread named at its last prepare(); null: nothing.
  [[nodiscard]] const streambed_awaited* awaited();

  // Those that wait for what they named at prepare(), in the order of their numbers, and who has
  // that. For a run in which nothing moves.
  struct party {
    const thread* self = nullptr;         // null: not known
    recorded_thread* recorded = nullptr;  // what the recorder keeps of it
    bool ended = false;
    std::uint32_t traced = nobody;  // one that has ended: what a trace called it
  };
  struct stuck_thread {
    party who, holder;
    streambed_awaited_kind what;
    const void* key;
  };
  [[nodiscard]] std::vector<stuck_thread> stuck();

  // Looks of a thread for something that another one does: it lets the others go first, for so long
  // each time, and finds that it may go on. (libstdc++ waits so for atomics, semaphores, latches
  // and barriers before it asks the system.) Sleeps, and waits that end by their time, are looks
  // as well, where more of them follow.
  void yield(std::uint64_t ns);
  void looked(const void* key, const streambed_awaited* what);  // in vain
  // Whether a yield, a wait that the calling thread has prepared, or a sleep of that length, is one
  // more of its looks. Behind a sleep, which may be code of the program's own, only sleeps are.
  [[nodiscard]] bool looks_on();
  [[nodiscard]] bool waits_on();
  [[nodiscard]] bool sleeps_on(std::uint64_t ns);
  // Whether the thread's last look was sleep.
  [[nodiscard]] bool has_slept();
  struct looks {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t count = 0;
    std::uint64_t slept_ns = 0;               // the last one; 0: it was no sleep
    const streambed_awaited* what = nullptr;  // of the last one; null: not known
    party ended_by;  // who did something during the last one that may have ended them

    [[nodiscard]] std::uint64_t each_ns() const { return (end_ns - begin_ns) / count; }
  };
  // Those of the calling thread since it was asked last.
  looks take_looks();

  [[nodiscard]] bool deterministic();
  void depends_on_machine();  // it is not, for a reason that the clocks do not see
  void stop();                // the process ends: nobody waits for a turn any more

 private:
  thread* found(thread* one);
  void choose(std::unique_lock<std::mutex>& lock);
  void step(std::unique_lock<std::mutex>& lock, std::uint64_t ns);
  void step_beside(std::unique_lock<std::mutex>& lock, thread& silent);
  thread* make(std::uint64_t ns);
  void await_turn(std::unique_lock<std::mutex>& lock, thread& me);
  thread* first_ready();
  [[nodiscard]] bool all_wait() const;
  thread* first_outside();
  // Of a thread that makes no calls, since it was looked at last.
  struct silence {
    std::uint64_t ns = 0;
    bool outside = false;  // it waits for something other than a processor
  };
  [[nodiscard]] silence silence_of(thread& one) const;
  [[nodiscard]] bool timer_is_over(const thread& one, std::uint64_t silent) const;
  void watch();
  std::size_t wake_locked(const void* key, std::size_t count, std::uint64_t ns, thread* by);
  [[nodiscard]] static party party_of(const thread& one);
  [[nodiscard]] thread* likely_doer(const thread& looks) const;
  void turn_ends(thread& me);
  void waited_in_vain(thread& me);
  void tell_lookers(const void* key, thread& by);

  // What a thread did in a turn of its, from what hardly changes anything for others to what does.
  enum class doing : std::uint8_t { looked, ran, looked_and_woke, woke };
  struct done {
    thread* who = nullptr;
    std::uint64_t place = 0;
  };

  events& device_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<thread>> threads_;
  thread* running_ = nullptr;
  thread* ending_ = nullptr;  // waits in finish_device()
  bool stepping_ = false;     // a thread makes events happen
  bool stopped_ = false;
  bool deterministic_ = true;
  pid_t first_ = 0;               // of the threads that nobody announced
  std::uint64_t latest_ns_ = 0;   // of a turn
  std::uint64_t stepped_ns_ = 0;  // of the device's last event
  std::uint64_t waits_ = 0;       // numbers them
  std::uint64_t turns_ = 0;
  std::array<done, 4> last_{};  // by doing
  std::uint64_t doings_ = 0;    // numbers them
  std::condition_variable watch_;
  std::thread watcher_;
};

}  // namespace sb::engine
