#include "engine/call_frame.hpp"

#include <dlfcn.h>

#include <cstdlib>

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

}  // namespace

namespace detail {
const bool calls_observed = [] {
  if (profile_in_environment() != nullptr) {  // a wrong one ends here, before main
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

bool call_frame::inside() { return recorded_thread::own().depth != 0; }

void call_frame::enter() {
  thread_ = &recorded_thread::own();
  ++thread_->depth;
}

void call_frame::leave() {
  if (thread_->depth == 1) host_clocks::left();
  --thread_->depth;
}

void call_frame::begin(const char* name) {
  thread_ = &recorded_thread::own();
  if (thread_->depth++ == 0) engine::instance().call(*thread_, name);
}

void call_frame::stands_at(const char* file, unsigned line) {
  if (thread_ != nullptr) engine::instance().call_place(*thread_, file, line);
}

void call_frame::end(int status) {
  if (thread_->depth == 1) engine::instance().end_call(*thread_, status);
  --thread_->depth;
}

}  // namespace sb::engine
