#include "engine/shared_event.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "engine/clock.hpp"

namespace sb::engine {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint32_t pages_per_arena = 4096;
constexpr std::uint64_t arena_bytes = std::uint64_t{page_bytes} * pages_per_arena;
constexpr std::uint64_t places = 128;
constexpr std::int64_t look_every_ns = 20'000'000;

// When a process began, in the system's ticks: with its number, its name for ever. 0 when it is
// gone; one that only waits for its parent is gone too.
std::uint64_t began(std::int32_t process) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char text[512] = {};
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = 0;
  // The name in parentheses may hold anything; the state is the field after it.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] == 0) return 0;
  char state = 0;
  unsigned long long start = 0;
  const int read = std::sscanf(
      at + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
      &state, &start);
  return read == 2 && state != 'Z' && state != 'X' ? start : 0;
}

std::uint64_t own_beginning() {
  static const std::uint64_t mine = began(::getpid());
  return mine;
}

}  // namespace

// Shared between processes: only atomics without locks.
struct shared_event::page {
  struct place {
    std::atomic<std::uint64_t> ticket;
    std::atomic<std::uint64_t> began;  // of the process that recorded
    std::atomic<std::int32_t> process;
    std::atomic<std::uint32_t> done;  // others sleep on it
  };
  std::atomic<std::uint32_t> generation;  // even: free
  std::atomic<std::uint64_t> issued;
  std::atomic<std::uint64_t> newest;  // of those whose place is filled in
  place records[places];

  place& of(ticket t) { return records[t % places]; }
};

struct shared_event::arena {
  int file = -1;  // of our own; others are closed once mapped
  file_address at;
  char* mapping = nullptr;
  std::mutex mutex;  // guards the rest
  std::uint32_t used = 0;
  std::vector<std::uint32_t> free;

  ~arena() {
    if (mapping != nullptr) ::munmap(mapping, arena_bytes);
    if (file >= 0) ::close(file);
  }
  page& operator[](std::uint32_t i) {
    return *reinterpret_cast<page*>(mapping + std::size_t{i} * page_bytes);
  }
  bool map(int descriptor) {
    void* m = ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (m == MAP_FAILED) return false;
    mapping = static_cast<char*>(m);
    return true;
  }
};

namespace {

using arena = shared_event::arena;

// Arenas are kept for the life of the process.
struct arena_book {
  std::mutex mutex;
  std::shared_ptr<arena> own;
  std::map<std::uint64_t, std::shared_ptr<arena>> opened;  // by inode
};
arena_book& arenas() {
  static auto* b = new arena_book;
  return *b;
}

std::shared_ptr<arena> own_arena() {
  arena_book& b = arenas();
  const std::lock_guard lock(b.mutex);
  // A forked child has the parent's: those events are the parent's.
  if (b.own && b.own->at.process == ::getpid()) return b.own;
  auto made = std::make_shared<arena>();
  made->file = make_file(arena_bytes);
  if (made->file < 0 || !made->map(made->file)) return nullptr;
  made->at = address_of_file(made->file, arena_bytes);
  b.own = made;
  return made;
}

std::shared_ptr<arena> arena_at(const file_address& at) {
  arena_book& b = arenas();
  const std::lock_guard lock(b.mutex);
  if (const auto found = b.opened.find(at.inode); found != b.opened.end()) return found->second;
  const int file = open_file(at);
  if (file < 0) return nullptr;
  auto made = std::make_shared<arena>();
  const bool mapped = made->map(file);
  ::close(file);
  if (!mapped) return nullptr;
  made->at = at;
  b.opened.emplace(at.inode, made);
  return made;
}

}  // namespace

shared_event::shared_event(std::shared_ptr<arena> in, std::uint32_t place, bool own)
    : arena_(std::move(in)),
      place_(place),
      generation_((*arena_)[place].generation.load(std::memory_order_acquire)),
      own_(own) {}

bool shared_event::destroyed() const {
  return (*arena_)[place_].generation.load(std::memory_order_acquire) != generation_;
}

std::shared_ptr<shared_event> shared_event::create() {
  static_assert(sizeof(page) <= page_bytes);
  const std::shared_ptr<arena> a = own_arena();
  if (!a) return nullptr;
  std::uint32_t place = 0;
  {
    const std::lock_guard lock(a->mutex);
    if (!a->free.empty()) {
      place = a->free.back();
      a->free.pop_back();
    } else if (a->used < pages_per_arena) {
      place = a->used++;
    } else {
      return nullptr;
    }
  }
  page& p = (*a)[place];
  p.issued.store(0, std::memory_order_relaxed);
  p.newest.store(0, std::memory_order_relaxed);
  for (page::place& r : p.records) r.ticket.store(0, std::memory_order_relaxed);
  p.generation.fetch_add(1, std::memory_order_release);
  return std::shared_ptr<shared_event>(new shared_event(a, place, true));
}

std::shared_ptr<shared_event> shared_event::open(const address& of_peer) {
  if (of_peer.page >= pages_per_arena || of_peer.file.bytes != arena_bytes) return nullptr;
  const std::shared_ptr<arena> a = arena_at(of_peer.file);
  if (!a) return nullptr;
  if ((*a)[of_peer.page].generation.load(std::memory_order_acquire) != of_peer.generation) {
    return nullptr;
  }
  return std::shared_ptr<shared_event>(new shared_event(a, of_peer.page, false));
}

std::optional<shared_event::address> shared_event::where() const {
  if (!own_) return std::nullopt;
  return address{arena_->at, place_, generation_};
}

shared_event::~shared_event() {
  if (!own_) return;
  (*arena_)[place_].generation.fetch_add(1, std::memory_order_release);
  const std::lock_guard lock(arena_->mutex);
  arena_->free.push_back(place_);
}

shared_event::ticket shared_event::begin() {
  if (destroyed()) return 0;
  page& p = (*arena_)[place_];
  const ticket mine = p.issued.fetch_add(1, std::memory_order_acq_rel) + 1;
  page::place& r = p.of(mine);
  r.done.store(0, std::memory_order_relaxed);
  r.process.store(::getpid(), std::memory_order_relaxed);
  r.began.store(own_beginning(), std::memory_order_relaxed);
  r.ticket.store(mine, std::memory_order_release);
  ticket seen = p.newest.load(std::memory_order_relaxed);
  while (seen < mine && !p.newest.compare_exchange_weak(seen, mine, std::memory_order_acq_rel)) {
  }
  return mine;
}

void shared_event::complete(ticket record) {
  page::place& r = (*arena_)[place_].of(record);
  if (r.ticket.load(std::memory_order_acquire) != record) return;  // a newer one has the place
  r.done.store(1, std::memory_order_release);
  ::syscall(SYS_futex, &r.done, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0);
}

shared_event::ticket shared_event::newest() const {
  if (destroyed()) return 0;
  return (*arena_)[place_].newest.load(std::memory_order_acquire);
}

bool shared_event::recorder_is_gone(ticket record) {
  const auto now = static_cast<std::int64_t>(steady_ns());
  std::int64_t last = looked_ns_.load(std::memory_order_relaxed);
  if (now - last < look_every_ns) return false;
  looked_ns_.store(now, std::memory_order_relaxed);
  page::place& r = (*arena_)[place_].of(record);
  const std::int32_t process = r.process.load(std::memory_order_relaxed);
  const std::uint64_t began_then = r.began.load(std::memory_order_relaxed);
  if (r.ticket.load(std::memory_order_acquire) < record) return false;
  return began(process) != began_then;
}

bool shared_event::done(ticket record) {
  if (record == 0 || destroyed()) return true;
  page::place& r = (*arena_)[place_].of(record);
  if (r.ticket.load(std::memory_order_acquire) >= record &&
      r.done.load(std::memory_order_acquire) != 0) {
    return true;
  }
  if (!recorder_is_gone(record)) return false;
  complete(r.ticket.load(std::memory_order_acquire));  // for everybody who waits
  return true;
}

bool shared_event::wait(ticket record, std::chrono::microseconds most) {
  if (done(record)) return true;
  page::place& r = (*arena_)[place_].of(record);
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(most.count() / 1'000'000);
  limit.tv_nsec = static_cast<long>(most.count() % 1'000'000) * 1000;
  ::syscall(SYS_futex, &r.done, FUTEX_WAIT, 0, &limit, nullptr, 0);
  return done(record);
}

}  // namespace sb::engine
