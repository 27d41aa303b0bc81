// The runtime's side of what stands before the C library's clocks and threads (src/interpose).
#include "base/clock_hooks.hpp"

#include <dlfcn.h>

#include "engine/call_frame.hpp"
#include "engine/modelled.hpp"
#include "engine/recorded_call.hpp"
#include "engine/recorder.hpp"

namespace sb::engine {

namespace {

modelled* model = nullptr;  // as long as the hooks are taken

int follows() {
  if (call_frame::inside()) return 0;
  return engine::in_host_function() ? 2 : 1;
}
// The clocks have a lock: it is the runtime's own, not one that the program waits for.
std::uint64_t now() {
  const call_frame own;
  return model->clocks().now();
}
void pass(std::uint64_t ns) {
  const call_frame own;
  model->call(ns);
}
int wait(const void* key, std::uint64_t until_ns) {
  const call_frame own;
  return model->wait_for_thread(key, until_ns) ? 1 : 0;
}
void wake(const void* key, std::size_t count) {
  const call_frame own;
  model->clocks().wake_by_thread(key, count);
}
void* announce() {
  const call_frame own;
  return model->clocks().announce_own();
}
void adopt(void* one) {
  const call_frame own;
  auto* self = static_cast<host_clocks::thread*>(one);
  model->clocks().adopt(self);
  const host_clocks::origin made = model->clocks().origin_of(self);
  recorded_thread::own().maker = made.maker;
  recorded_thread::own().made_ns = made.ns;
  model->call(0);
}
void withdraw(void* one) {
  const call_frame own;
  model->clocks().withdraw(static_cast<host_clocks::thread*>(one));
}
int over(void* one) {
  const call_frame own;
  return model->clocks().over(static_cast<host_clocks::thread*>(one)) ? 1 : 0;
}

constexpr streambed_clock_hooks hooks = {&follows,  &now,   &pass,     &wait, &wake,
                                         &announce, &adopt, &withdraw, &over};

void set(const streambed_clock_hooks* given) {
  if (void* found = dlsym(RTLD_DEFAULT, "streambed_set_clock_hooks"); found != nullptr)
    reinterpret_cast<streambed_set_clock_hooks_t*>(found)(given);
}

}  // namespace

static_assert(host_clocks::nobody == trace::none);

// Host functions have a thread that is the runtime's own.
std::uint32_t modelled::calling_thread() {
  return e_.record && !engine::in_host_function() ? e_.record->thread() : host_clocks::nobody;
}

bool modelled::wait_for_thread(const void* key, std::uint64_t until_ns) {
  const std::uint64_t begin = clocks_.now();
  const bool woken = wait_on(key, until_ns);
  const std::uint32_t other = woken ? clocks_.woken_by() : host_clocks::nobody;
  if (other != host_clocks::nobody && now_ > begin) e_.record->thread_waited(other, begin, now_);
  return woken;
}

void modelled::take_clocks() {
  model = this;
  set(&hooks);
}

void modelled::give_clocks_back() { set(nullptr); }

}  // namespace sb::engine
