// Programs built with -fsanitize=thread: ThreadSanitizer is told of the order that CUDA guarantees.
//
// Every command is a fiber of ThreadSanitizer's. It comes after the host's call, after what is
// before it in its stream, after the records it waits for and after what the legacy stream's rules
// say; after it come those that wait for it, and the host when it synchronised. Nothing else orders
// it: that two commands happened to run one after the other, or on one thread, says nothing. What
// the runtime itself does is hidden, its locks too.
//
// Thread safety: race_order is guarded by the engine's lock; the rest belongs to its thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/operation.hpp"
#include "model/command.hpp"
#include "model/ids.hpp"

// A build of the runtime that is itself under ThreadSanitizer looks for its own races instead.
#if defined(__SANITIZE_THREAD__)
#define SB_OWN_RACES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SB_OWN_RACES 1
#endif
#endif

// ThreadSanitizer's; null where the program was not linked with it.
extern "C" __attribute__((weak, visibility("default"))) void* __tsan_create_fiber(unsigned flags);

namespace sb::engine {

// True in a program that was built with -fsanitize=thread.
[[nodiscard]] inline bool races_checked() noexcept {
#ifdef SB_OWN_RACES
  return false;
#else
  return &__tsan_create_fiber != nullptr;
#endif
}

// While one lives, ThreadSanitizer sees neither what its thread does nor how it synchronises.
class unwatched {
 public:
  unwatched() noexcept : active_(races_checked()) {
    if (active_) begin();
  }
  ~unwatched() {
    if (active_) end();
  }
  unwatched(const unwatched&) = delete;
  unwatched& operator=(const unwatched&) = delete;

 private:
  static void begin() noexcept;
  static void end() noexcept;
  bool active_;
};

// A place in ThreadSanitizer's order. The addresses are what counts.
struct race_point {
  char submitted = 0;    // released by the host's call
  char done = 0;         // released by what the command did
  void* host = nullptr;  // not null: a call that does nothing on the device, by this host thread
};
using race_set = std::vector<std::shared_ptr<race_point>>;

// A command's half of it.
struct race_command {
  race_set before;
  std::shared_ptr<race_point> own;
  const void* call = nullptr;         // where the program made it
  std::atomic<void*> fiber{nullptr};  // made at the call, so that reports show it

  race_command() = default;
  ~race_command();
  race_command(const race_command&) = delete;
  race_command& operator=(const race_command&) = delete;
};

class race_order {
 public:
  void add_stream(stream_id stream, device_id device, stream_kind kind);
  // A new command, on the thread that makes the call. Null for one that runs nothing.
  std::shared_ptr<race_command> submit(const command& c, command_id id,
                                       std::span<const command_id> after);
  // What is done when these are.
  [[nodiscard]] race_set of(command_id id) const;
  [[nodiscard]] race_set of(stream_id stream) const;  // as a wait for the stream sees it
  [[nodiscard]] race_set of(device_id device) const;
  // A conditional node: the commands of a body come after what is before the node; what is after it
  // comes after them.
  void begin_body(command_id section);
  void end_body(command_id section, command_id end);
  void body_over(command_id section);
  // Memory that others freed is used in the stream: what is done by now comes before.
  void join_all(stream_id stream);

 private:
  struct stream_order {
    device_id device;
    stream_kind kind = stream_kind::blocking;
    race_set last;
  };
  void legacy_rules(const stream_order& s, race_set& into) const;
  void remember(command_id id, race_set set);

  std::vector<stream_order> streams_;  // by stream_id
  std::unordered_map<std::uint64_t, race_set> sets_;
  std::deque<std::uint64_t> ids_;                            // of sets_, oldest first
  command_id body_of_;                                       // while a body is being submitted
  std::unordered_map<std::uint64_t, command_id> body_ends_;  // by section
};

// The calling host thread saw that these are done.
void host_comes_after(const race_set& set);
// Memory that a host thread gave back, and that one takes again.
void memory_given_back();
void memory_taken_again();

// A command that the runtime does itself: what it reads and writes.
void note_accesses(race_command* command, const copy_operation& copy);
void note_accesses(race_command* command, const fill_operation& fill);
// The snapshot of a source, by the calling thread.
void note_read(const void* from, std::size_t bytes);
// Nobody has touched these pages yet; their contents are lost.
void forget_accesses(char* pages, std::size_t bytes);

// The program's own code that runs for a command: kernels, host functions. A fiber is entered on
// one thread at a time; leaving makes what was done visible to what comes after.
class race_fiber {
 public:
  race_fiber() = default;
  ~race_fiber() { end(); }
  race_fiber(const race_fiber&) = delete;
  race_fiber& operator=(const race_fiber&) = delete;

  void start(race_command* command);  // null: races are not checked
  void enter();
  void leave();
  void end();

 private:
  void* fiber_ = nullptr;
  void* outside_ = nullptr;
  race_command* command_ = nullptr;
};

}  // namespace sb::engine
