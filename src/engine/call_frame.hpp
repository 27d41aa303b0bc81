// A call of the program into the runtime, from its beginning to its end: where modelled time passes
// and what a trace shows of the host.
#pragma once

#include <atomic>

namespace sb::engine {

namespace detail {
// Whether anybody wants to know of calls; never changes after the process began.
extern const bool calls_observed;
}  // namespace detail

struct recorded_thread;

class call_frame {
 public:
  // Work of the runtime itself: nobody is told of it.
  call_frame() : counted_(true), named_(false) { enter(); }
  explicit call_frame(const char* name) : counted_(detail::calls_observed), named_(true) {
    if (counted_) begin(name);
  }
  ~call_frame() {
    if (!counted_) return;
    if (named_)
      end(status_);
    else
      leave();
  }
  // What the call answers.
  int answered(int status) { return status_ = status; }
  // Where the call stands in the program.
  void stands_at(const char* file, unsigned line);
  // Whether calls are followed at all.
  [[nodiscard]] static bool observed() { return detail::calls_observed; }
  // Whether the calling thread is inside of a call.
  [[nodiscard]] static bool inside();
  // Runs the handlers of signals that have come for the calling thread, in the middle of a call.
  static void run_handlers();

  call_frame(const call_frame&) = delete;
  call_frame& operator=(const call_frame&) = delete;

 private:
  void enter();
  void leave();
  void begin(const char* name);
  void end(int status);

  const bool counted_;
  const bool named_;
  recorded_thread* thread_ = nullptr;
  int status_ = 0;
};

}  // namespace sb::engine
