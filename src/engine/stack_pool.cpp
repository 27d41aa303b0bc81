#include "engine/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace sb::engine {

namespace {

// A guard made by mprotect splits a mapping in two, and a process may have 65530 of them; a guard
// made by madvise (Linux 6.13) does not. Without the latter, stacks beyond this budget go
// unguarded.
constexpr int mprotect_budget = 20000;
constexpr int madvise_guard_install = 102;

std::atomic<int> mprotect_left{mprotect_budget};
std::atomic<bool> have_madvise_guard{true};

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void guard(char* page) {
  if (have_madvise_guard.load(std::memory_order_relaxed)) {
    if (madvise(page, page_bytes(), madvise_guard_install) == 0) return;
    have_madvise_guard.store(false, std::memory_order_relaxed);
  }
  if (mprotect_left.fetch_sub(1, std::memory_order_relaxed) > 0)
    mprotect(page, page_bytes(), PROT_NONE);
}

}  // namespace

// Every worker may be inside a block of 1024 threads, with another one's stacks on their way back.
// Of modelled devices all resident threads may be there at once. Few use more than two pages.
stack_pool::limits stack_pool::machine_limits() {
  constexpr std::size_t share = 16, pages_each = 2;
  static const limits found = [] {
    const auto always =
        std::max<std::size_t>(8192, std::size_t{2048} * std::thread::hardware_concurrency());
    const long pages = sysconf(_SC_PHYS_PAGES);
    const std::size_t fit = pages > 0 ? static_cast<std::size_t>(pages) / share / pages_each : 0;
    return limits{always, std::max(always, fit)};
  }();
  return found;
}

stack_pool::stack_pool(std::size_t stack_bytes, limits warm)
    : stack_bytes_(stack_bytes), warm_(warm), keep_(warm.always) {}

namespace {

std::size_t stacks_per_slab(std::size_t stack_bytes) {
  return stack_bytes >= large_stack_bytes ? 4 : (16 << 20) / stack_bytes;
}

}  // namespace

stack_pool::~stack_pool() {
  for (fiber* f = idle_; f != nullptr; f = f->next) forget_frames(*f);
  for (void* slab : slabs_) munmap(slab, stacks_per_slab(stack_bytes_) * stack_bytes_);
  for (fiber* headers : headers_) delete[] headers;
}

bool stack_pool::grow() {
  const std::size_t count = stacks_per_slab(stack_bytes_);
  void* slab = mmap(nullptr, count * stack_bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED) return false;
  // One touched page of a stack must not become two megabytes.
  madvise(slab, count * stack_bytes_, MADV_NOHUGEPAGE);
  auto* headers = new fiber[count];
  for (std::size_t i = count; i-- > 0;) {
    char* lowest = static_cast<char*>(slab) + i * stack_bytes_;
    guard(lowest);
    headers[i].stack = lowest + page_bytes();
    headers[i].stack_bytes = stack_bytes_ - page_bytes();
    headers[i].next = idle_;
    idle_ = &headers[i];
  }
  slabs_.push_back(slab);
  headers_.push_back(headers);
  return true;
}

fiber* stack_pool::take(std::size_t count) {
  std::lock_guard lock(mutex_);
  fiber* list = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (idle_ == nullptr && !grow()) break;
    fiber* f = idle_;
    idle_ = f->next;
    if (f->touched) --idle_touched_;
    f->next = list;
    list = f;
    ++in_use_;
    ++handed_out_;
  }
  constexpr std::size_t times = 4;
  most_in_use_ = std::max(most_in_use_, in_use_);
  if (handed_out_ >= times * std::max(keep_, most_in_use_)) end_of_period();
  return list;
}

// Those that are used first stay.
void stack_pool::end_of_period() {
  keep_ = std::max(warm_.always, most_in_use_);
  handed_out_ = 0;
  most_in_use_ = in_use_;
  const std::size_t kept = keep_ > in_use_ ? keep_ - in_use_ : 0;
  std::size_t touched = 0;
  for (fiber* f = idle_; f != nullptr && idle_touched_ > kept; f = f->next) {
    if (!f->touched || ++touched <= kept) continue;
    cool(*f);
    --idle_touched_;
  }
}

void stack_pool::cool(fiber& f) {
  madvise(f.stack, f.stack_bytes, MADV_DONTNEED);
  f.touched = false;
  ++cooled_;
}

std::uint64_t stack_pool::cooled() {
  std::lock_guard lock(mutex_);
  return cooled_;
}

void stack_pool::give(fiber* list) {
  std::lock_guard lock(mutex_);
  while (list != nullptr) {
    fiber* f = list;
    list = f->next;
    --in_use_;
    if (f->touched && idle_touched_ >= warm_.most) cool(*f);
    if (f->touched) ++idle_touched_;
    f->next = idle_;
    idle_ = f;
  }
}

}  // namespace sb::engine
