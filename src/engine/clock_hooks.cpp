// The runtime's side of what stands before the C library's clocks and threads (src/interpose).
#include "base/clock_hooks.hpp"

#include <dlfcn.h>

#include "engine/call_frame.hpp"
#include "engine/modelled.hpp"

namespace sb::engine {

namespace {

modelled* model = nullptr;  // as long as the hooks are taken

int follows() {
  if (call_frame::inside()) return 0;
  return engine::in_host_function() ? 2 : 1;
}
std::uint64_t now() { return model->clocks().now(); }
void pass(std::uint64_t ns) {
  const call_frame own;
  model->call(ns);
}
int wait(const void* key, std::uint64_t until_ns) {
  const call_frame own;
  return model->wait_on(key, until_ns) ? 1 : 0;
}
void wake(const void* key, std::size_t count) {
  const call_frame own;
  model->clocks().wake(key, count, model->clocks().now());
}
void* announce() {
  const call_frame own;
  return model->clocks().announce(model->clocks().now());
}
void adopt(void* one) {
  const call_frame own;
  model->clocks().adopt(static_cast<host_clocks::thread*>(one));
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

void modelled::take_clocks() {
  model = this;
  set(&hooks);
}

void modelled::give_clocks_back() { set(nullptr); }

}  // namespace sb::engine
