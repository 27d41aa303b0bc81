// What a good engineer writes without a runtime, for each thing that is measured. Handing over: one
// thread that takes functions from a ring of the caller, spinning; a chain of functions is one
// entry there, and a second ring waits for what the first has recorded. Sleeping: a thread for each
// queue.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using function = void (*)();
void nothing() {}
// As the kernel with a loop: nobody knows how often it goes round.
volatile int times = 0;
volatile int last = 0;
void nothing_often() {
  for (int i = 0, n = times; i < n; ++i) last = i;
}
using chain = std::array<function, 20>;

enum class kind { call, call_chain, record, wait, stop };
struct entry {
  kind what;
  function call = nullptr;
  const chain* calls = nullptr;
  std::atomic<long>* event = nullptr;
  long value = 0;
};

constexpr std::size_t size = 1024;
struct ring {
  alignas(64) std::array<entry, size> entries;
  alignas(64) std::atomic<std::size_t> put{0};
  alignas(64) std::atomic<std::size_t> taken{0};
};
ring first, second;

// False: it waits for an event.
bool run(const entry& e) {
  switch (e.what) {
    case kind::call:
      e.call();
      return true;
    case kind::call_chain:
      for (const function f : *e.calls) f();
      return true;
    case kind::record:
      e.event->store(e.value, std::memory_order_release);
      return true;
    case kind::wait:
      return e.event->load(std::memory_order_acquire) >= e.value;
    case kind::stop:
      return true;
  }
  return true;
}

void serve_one() {
  for (std::size_t at = 0;; ++at) {
    while (first.put.load(std::memory_order_acquire) == at) {
    }
    const entry& next = first.entries[at % size];
    const bool stop = next.what == kind::stop;
    run(next);
    first.taken.store(at + 1, std::memory_order_release);
    if (stop) return;
  }
}

void serve_both() {
  for (;;)
    for (ring* r : {&first, &second}) {
      const std::size_t at = r->taken.load(std::memory_order_relaxed);
      if (r->put.load(std::memory_order_acquire) == at) continue;
      const entry& next = r->entries[at % size];
      const bool stop = next.what == kind::stop;
      if (!run(next)) continue;
      r->taken.store(at + 1, std::memory_order_release);
      if (stop) return;
    }
}

void submit(ring& r, const entry& e) {
  const std::size_t at = r.put.load(std::memory_order_relaxed);
  while (at - r.taken.load(std::memory_order_acquire) == size) {
  }
  r.entries[at % size] = e;
  r.put.store(at + 1, std::memory_order_release);
}

void finish(ring& r) {
  while (r.taken.load(std::memory_order_acquire) != r.put.load(std::memory_order_relaxed)) {
  }
}

// A queue with a thread that sleeps when there is nothing to do.
class worker {
 public:
  ~worker() {
    submit(nullptr);
    thread_.join();
  }
  void submit(function f) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(f);
    changed_.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.empty(); });
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !queue_.empty(); });
      const function f = queue_.front();
      if (f == nullptr) return;
      lock.unlock();
      f();
      lock.lock();
      queue_.pop_front();
      if (queue_.empty()) changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<function> queue_;
  std::thread thread_{[this] { serve(); }};
};

double now_ns() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <class Work>
double median_of(int runs, Work work) {
  std::vector<double> v;
  for (int i = 0; i < runs; ++i) v.push_back(work());
  return median(v);
}

void say(const char* name, double ns) { std::printf("%s\t%.1f\n", name, ns); }

constexpr int burst = 500;

void hand_over(const char* enqueue_name, const char* through_name, const char* sync_name,
               function f) {
  std::vector<double> enqueue, through;
  for (int r = 0; r < 201; ++r) {
    const double begin = now_ns();
    for (int i = 0; i < burst; ++i) submit(first, {kind::call, f});
    const double issued = now_ns();
    finish(first);
    enqueue.push_back((issued - begin) / burst);
    through.push_back((now_ns() - begin) / burst);
  }
  say(enqueue_name, median(enqueue));
  say(through_name, median(through));
  say(sync_name, median_of(5001, [&] {
        const double begin = now_ns();
        submit(first, {kind::call, f});
        finish(first);
        return now_ns() - begin;
      }));
}

}  // namespace

int main() {
  std::thread server(serve_one);
  hand_over("enqueue", "end to end", "launch and synchronize", nothing);
  hand_over("handed over: enqueue", "handed over: end to end", "handed over: launch, sync",
            nothing_often);
  chain twenty;
  twenty.fill(nothing);
  say("graph of 20", median_of(201, [&] {
        const double begin = now_ns();
        for (int i = 0; i < 20; ++i) submit(first, {kind::call_chain, nullptr, &twenty});
        finish(first);
        return (now_ns() - begin) / 20;
      }));
  submit(first, {kind::stop});
  server.join();

  first.put = first.taken = 0;
  std::thread both(serve_both);
  std::atomic<long> event{0};
  long value = 0;
  say("record and wait", median_of(201, [&] {
        const double begin = now_ns();
        for (int i = 0; i < burst; ++i) {
          ++value;
          submit(i % 2 ? first : second, {kind::record, nullptr, nullptr, &event, value});
          submit(i % 2 ? second : first, {kind::wait, nullptr, nullptr, &event, value});
        }
        finish(first);
        finish(second);
        return (now_ns() - begin) / burst;
      }));
  submit(first, {kind::stop});
  both.join();

  std::array<worker, 4> four;
  say("4 x 4 x 20 ms", median_of(3, [&] {
        const double begin = now_ns();
        for (int k = 0; k < 4; ++k)
          for (worker& w : four)
            w.submit([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
        for (worker& w : four) w.finish();
        return now_ns() - begin;
      }));
}
