#include "engine/shared_event.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace sb::engine {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint32_t pages_per_arena = 4096;
constexpr std::uint64_t arena_bytes = std::uint64_t{page_bytes} * pages_per_arena;
constexpr std::uint64_t places = 128;

}  // namespace

// Shared between processes: only atomics without locks.
struct shared_event::page {
  struct place {
    std::atomic<std::uint64_t> ticket;
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

shared_event::shared_event(std::shared_ptr<arena> in, std::uint32_t place, std::uint32_t generation,
                           bool own)
    : arena_(std::move(in)), place_(place), generation_(generation), own_(own) {}

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
  const std::uint32_t generation = p.generation.fetch_add(1, std::memory_order_release) + 1;
  return std::shared_ptr<shared_event>(new shared_event(a, place, generation, true));
}

std::shared_ptr<shared_event> shared_event::open(const address& of_peer) {
  if (of_peer.page >= pages_per_arena || of_peer.file.bytes != arena_bytes) return nullptr;
  const std::shared_ptr<arena> a = arena_at(of_peer.file);
  if (!a) return nullptr;
  // One that was destroyed is opened all the same, and has no record; ipc.tsv
  // child.event.open.destroyed
  return std::shared_ptr<shared_event>(
      new shared_event(a, of_peer.page, of_peer.generation, false));
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

bool shared_event::done(ticket record) {
  if (record == 0 || destroyed()) return true;
  page::place& r = (*arena_)[place_].of(record);
  return r.ticket.load(std::memory_order_acquire) >= record &&
         r.done.load(std::memory_order_acquire) != 0;
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
