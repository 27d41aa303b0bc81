// The runtime's side of what stands before the C library's clocks and threads (src/interpose).
#include "base/clock_hooks.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <map>
#include <utility>

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
// A call of the C library's. The clocks have a lock: it is the runtime's own, not one that the
// program waits for.
struct hooked_call {
  const call_frame own;
  hooked_call() { model->host_code_ran(); }
  ~hooked_call() { model->host_code_begins(); }
};

std::uint64_t now() {
  const hooked_call own;
  return model->clocks().now();
}
void pass(std::uint64_t ns) {
  const hooked_call own;
  model->call(ns);
}
std::uint64_t sleep(std::uint64_t ns) {
  const hooked_call own;
  return model->sleep(ns);
}
void interrupt(void* one) {
  const hooked_call own;
  model->clocks().interrupt(static_cast<host_clocks::thread*>(one));
}
std::uint64_t processor_time(int whole_process) {
  const hooked_call own;
  return whole_process != 0 ? model->clocks().processor_time_of_all()
                            : model->clocks().processor_time();
}
void prepare(const void* key, std::uint64_t until_ns, const streambed_awaited* what) {
  const hooked_call own;
  model->clocks().prepare(key, until_ns, what);
}
int wait() {
  const call_frame own;
  constexpr int interrupted = 2;
  const int woken = model->wait_for_thread() ? 1 : 0;
  model->host_code_begins();
  return model->clocks().interrupted() ? interrupted : woken;
}
void cancel() {
  const call_frame own;
  model->clocks().cancel();
}
std::size_t wake(const void* key, std::size_t count) {
  const hooked_call own;
  const std::size_t woken = model->clocks().wake_by_thread(key, count);
  // It slept to do something, not to look again.
  if (woken != 0 && model->clocks().has_slept()) model->looks_are_over();
  return woken;
}
void* announce() {
  const hooked_call own;
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
  model->host_code_begins();
}
void withdraw(void* one) {
  const call_frame own;
  model->clocks().withdraw(static_cast<host_clocks::thread*>(one));
}
int over(void* one) {
  const call_frame own;
  return model->clocks().over(static_cast<host_clocks::thread*>(one)) ? 1 : 0;
}

void ends() {
  const call_frame own;
  model->clocks().leave();
}

void depends_on_machine() {
  const hooked_call own;
  model->clocks().depends_on_machine();
}

void call_at(std::uint64_t ns, void (*expire)(std::uint64_t)) {
  const hooked_call own;
  model->call_at(ns, expire);
}
std::size_t wake_at(const void* key, std::size_t count, std::uint64_t ns) {
  const call_frame own;
  return model->clocks().wake(key, count, ns);
}
void* announce_at(std::uint64_t ns) {
  const call_frame own;
  return model->clocks().announce_by_timer(ns);
}
int divert(void* one, std::uint64_t ns, void (*deliver)()) {
  const call_frame own;
  return model->clocks().divert(static_cast<host_clocks::thread*>(one), ns, deliver) ? 1 : 0;
}
void yield(std::uint64_t ns) {
  const hooked_call own;
  model->yield(ns);
}
void looked(const void* key, const streambed_awaited* what) {
  const call_frame own;
  model->clocks().looked(key, what);
}
void reads_clock(std::uint64_t ns) {
  recorded_thread::own().looked_at_clock = true;
  pass(ns);
}

constexpr streambed_clock_hooks hooks = {&follows,
                                         &now,
                                         &pass,
                                         &prepare,
                                         &wait,
                                         &cancel,
                                         &wake,
                                         &announce,
                                         &adopt,
                                         &withdraw,
                                         &over,
                                         &ends,
                                         &sleep,
                                         &processor_time,
                                         &interrupt,
                                         &host_clocks::ends_process,
                                         &depends_on_machine,
                                         &call_at,
                                         &wake_at,
                                         &announce_at,
                                         &divert,
                                         &yield,
                                         &looked,
                                         &reads_clock};

void set(const streambed_clock_hooks* given) {
  if (void* found = dlsym(RTLD_DEFAULT, "streambed_set_clock_hooks"); found != nullptr)
    reinterpret_cast<streambed_set_clock_hooks_t*>(found)(given);
}

}  // namespace

static_assert(host_clocks::nobody == trace::none);

// Host functions have a thread that is the runtime's own.
std::uint32_t modelled::calling_thread() {
  if (!e_.record) return host_clocks::nobody;
  return engine::in_host_function() ? host_clocks::the_function : e_.record->thread();
}

static_assert(static_cast<int>(trace::awaited::lock) == streambed_awaits_lock &&
              static_cast<int>(trace::awaited::condition) == streambed_awaits_condition &&
              static_cast<int>(trace::awaited::semaphore) == streambed_awaits_semaphore &&
              static_cast<int>(trace::awaited::barrier) == streambed_awaits_barrier &&
              static_cast<int>(trace::awaited::thread) == streambed_awaits_thread &&
              static_cast<int>(trace::awaited::memory) == streambed_awaits_memory);

void modelled::tell_stuck() {
  std::map<const void*, trace::number> objects;
  const auto name = [&](const host_clocks::party& p, trace::number& thread,
                        trace::number& function) {
    if (p.self == nullptr) return;
    if (p.self == host_function_thread_ && host_function_ != nullptr)
      function = host_function_->recorded.number;
    else if (p.recorded != nullptr)
      thread = e_.record->thread(*p.recorded);
  };
  for (const host_clocks::stuck_thread& each : clocks_.stuck()) {
    trace::stuck_thread told;
    name(each.who, told.thread, told.function);
    name(each.holder, told.holder, told.holding_function);
    if (each.holder.ended) told.holder = each.holder.traced;
    told.holder_ended = each.holder.ended;
    told.what = static_cast<trace::awaited>(each.what);
    told.object =
        objects.emplace(each.key, static_cast<trace::number>(objects.size())).first->second;
    if (told.thread != trace::none || told.function != trace::none) e_.record->stuck(told);
  }
}

namespace {
trace::awaited kind_of(const streambed_awaited* what) {
  return what == nullptr ? trace::awaited::memory : static_cast<trace::awaited>(what->kind);
}
}  // namespace

// Who looked for the same in vain before it waits has waited since.
bool modelled::wait_for_thread() {
  const std::uint64_t begin = clocks_.now();
  if (!clocks_.waits_on()) looks_are_over();
  const bool woken = clocks_.wait();
  now_ = clocks_.now();
  clocks_.rests(now_ - begin);
  changed_ = true;
  if (!woken) return false;
  const host_clocks::looks before = clocks_.take_looks();
  const std::uint64_t since = before.count != 0 ? before.begin_ns : begin;
  const std::uint32_t other = clocks_.woken_by();
  if (other != host_clocks::nobody && now_ > since)
    tell_wait(other, kind_of(clocks_.awaited()), since, now_);
  return true;
}

// Of the calling thread. Host functions run one after the other: it was the last that began.
void modelled::tell_wait(std::uint32_t other, trace::awaited what, std::uint64_t begin,
                         std::uint64_t end) {
  if (engine::in_host_function()) return;
  if (other != host_clocks::the_function)
    return e_.record->thread_waited({.other = other, .what = what}, begin, end);
  const auto last = std::find_if(functions_.rbegin(), functions_.rend(),
                                 [&](const begun_function& f) { return f.ns <= end; });
  if (last != functions_.rend() && last->number != trace::none)
    e_.record->thread_waited({.what = what, .function = last->number}, begin, end);
}

void modelled::yield(std::uint64_t ns) {
  if (!clocks_.looks_on()) looks_are_over();
  clocks_.yield(ns);
  came_in();
}

void modelled::looks_are_over() {
  if (const host_clocks::looks all = clocks_.take_looks(); all.count != 0) tell_looks(all);
}

// Whose doing ended them, as far as that is known.
void modelled::tell_looks(const host_clocks::looks& all) {
  const host_clocks::party& other = all.ended_by;
  if (!e_.record || other.self == nullptr || engine::in_host_function()) return;
  trace::number who = other.traced;
  if (other.self == host_function_thread_)
    who = host_clocks::the_function;
  else if (other.recorded != nullptr)
    who = e_.record->thread(*other.recorded);
  if (who != trace::none) tell_wait(who, kind_of(all.what), all.begin_ns, all.end_ns);
}

namespace {
// By the real clock: when the program's own code began to run on the thread.
thread_local std::uint64_t own_code_since_ns = 0;
}  // namespace

void modelled::host_code_ran() {
  if (!e_.options.host_time || own_code_since_ns == 0) return;
  call(steady_ns() - std::exchange(own_code_since_ns, 0));
}

void modelled::host_code_begins() {
  if (e_.options.host_time) own_code_since_ns = steady_ns();
}

void modelled::take_clocks() {
  // The child of a fork has none of the threads that time passes by.
  static const int registered = pthread_atfork(nullptr, nullptr, [] { set(nullptr); });
  (void)registered;
  model = this;
  set(&hooks);
}

void modelled::give_clocks_back() { set(nullptr); }

}  // namespace sb::engine
