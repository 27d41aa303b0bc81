// What a thread keeps of the call that it is in. One variable for all of it: finding a thread's own
// costs more than most of what is done with it.
#pragma once

#include <array>
#include <cstdint>

#include "trace/pending_calls.hpp"
#include "trace/trace.hpp"

namespace sb::engine {

struct recorded_call {
  trace::number number = trace::none;  // none: the thread is in no call
  const char* name = nullptr;
  trace::number place = trace::none;
  std::uint64_t begin_ns = 0;
  std::uint64_t blocked_ns = 0;
  trace::number blocked_on = trace::none;
  trace::number done = trace::none, like = trace::none;  // trace::call_record
  bool handed_over = false;
  bool behind_clock = false;  // trace::call
};

// What a thread has asked since it did anything else, from the first question whose answer was "not
// ready": some questions in turn, as a loop over some events does.
struct asked_questions {
  struct question {
    const char* name = nullptr;
    trace::number place = trace::none;
    trace::number blocked_on = trace::none;
    std::int32_t status = 0;
    bool operator==(const question&) const = default;
  };
  static constexpr std::size_t most = 64;

  [[nodiscard]] bool has(const char* name) const {
    for (std::size_t i = 0; i < count; ++i)
      if (known[i].name == name) return true;
    return false;
  }
  [[nodiscard]] bool has(const question& one) const {
    for (std::size_t i = 0; i < count; ++i)
      if (known[i] == one) return true;
    return false;
  }

  std::array<question, most> known{};
  std::size_t count = 0;
  // The one that was told last, if its answer was "not ready": it stands for those behind it.
  trace::number call = trace::none;
  trace::call_record told;
};

struct recorded_thread {
  int depth = 0;               // calls that a call makes are its own business
  int own_code_depth = 0;      // where the program's own code runs: deeper in a signal's handler
  int cancel_state = 0;        // of the program, while the thread is inside of a call
  std::uint64_t recorder = 0;  // that knows it; 0: none
  trace::number number = trace::none;
  trace::number maker = trace::none;  // the thread that made it, where that is known, and when
  std::uint64_t made_ns = 0;
  recorded_call call;
  bool looked_at_clock = false;  // since that one
  asked_questions asked;
  trace::pending_lane lane;
  // Files are constants of the program: an address and a line are the place.
  struct known_place {
    const char* file = nullptr;
    std::uint32_t line = 0;
    trace::number place = trace::none;
  };
  std::array<known_place, 64> places;

  static recorded_thread& own() { return own_; }

 private:
  static thread_local recorded_thread own_;
};

inline thread_local constinit recorded_thread recorded_thread::own_;

}  // namespace sb::engine
