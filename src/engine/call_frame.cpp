#include "engine/call_frame.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <utility>

#include "base/clock_hooks.hpp"
#include "engine/engine.hpp"
#include "engine/host_clocks.hpp"
#include "engine/recorded_call.hpp"
#include "engine/recorder.hpp"

namespace sb::engine {

namespace {

bool is_set(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != 0;
}

// Nobody is cancelled inside of a call: CUDA's calls are no cancellation points, and in modelled
// time threads wait for their turn in functions that are. It is a matter of modelled time alone, as
// the waits by the real clock are none.
bool in_modelled_time = false;

void hold_cancellation(recorded_thread& thread) {
  if (in_modelled_time) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &thread.cancel_state);
}
void allow_cancellation(const recorded_thread& thread) {
  if (in_modelled_time) pthread_setcancelstate(thread.cancel_state, nullptr);
}

}  // namespace

namespace detail {
const bool calls_observed = [] {
  if (profile_in_environment() != nullptr) {  // a wrong one ends here, before main
    in_modelled_time = true;
    // Clang's OpenMP looks for so many ms before a thread of it sleeps, by the processor's own
    // counter, which is real time.
    ::setenv("KMP_BLOCKTIME", "0", 0);
    if (void* found = dlsym(RTLD_DEFAULT, "streambed_set_clock_start"); found != nullptr) {
      reinterpret_cast<streambed_set_clock_start_t*>(found)([] {
        if (call_frame::inside()) return;  // it begins just now
        const call_frame own;
        engine::instance();
      });
    }
  }
  if (is_set("STREAMBED_TRACE")) recorder::prepare_environment();
  return is_set("STREAMBED_DEVICE") || is_set("STREAMBED_TRACE");
}();
}  // namespace detail

bool call_frame::inside() {
  const recorded_thread& own = recorded_thread::own();
  return own.depth != own.own_code_depth;
}

void call_frame::run_handlers() {
  recorded_thread& own = recorded_thread::own();
  while (void (*deliver)() = host_clocks::take_delivery()) {
    const int before = std::exchange(own.own_code_depth, own.depth);
    host_clocks::left();
    deliver();
    own.own_code_depth = before;
  }
}

void call_frame::enter() {
  thread_ = &recorded_thread::own();
  if (thread_->depth++ == 0) hold_cancellation(*thread_);
}

void call_frame::leave() {
  if (thread_->depth == thread_->own_code_depth + 1) host_clocks::left();
  if (--thread_->depth == 0) allow_cancellation(*thread_);
  if (in_modelled_time && !inside()) run_handlers();
}

void call_frame::begin(const char* name) {
  thread_ = &recorded_thread::own();
  if (thread_->depth++ != 0) return;
  hold_cancellation(*thread_);
  engine::instance().call(*thread_, name);
}

void call_frame::stands_at(const char* file, unsigned line) {
  if (thread_ != nullptr) engine::instance().call_place(*thread_, file, line);
}

void call_frame::end(int status) {
  if (thread_->depth == 1) engine::instance().end_call(*thread_, status);
  if (--thread_->depth == 0) allow_cancellation(*thread_);
  if (in_modelled_time && !inside()) run_handlers();
}

}  // namespace sb::engine
