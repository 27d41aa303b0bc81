#include "engine/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/memory_imports.hpp"

namespace sb::engine {

namespace {

constexpr std::uint32_t max_devices = 64;
// CUDA: pinned memory begins with a page; memory.tsv pinned.align
constexpr std::size_t pinned_alignment = 4096;

// ThreadSanitizer maps several bytes of its own for every byte reserved.
#if defined(__SANITIZE_THREAD__)
#define SB_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SB_THREAD_SANITIZER 1
#endif
#endif
#ifdef SB_THREAD_SANITIZER
constexpr std::size_t reserve_bytes = std::size_t{32} << 30;
#else
constexpr std::size_t reserve_bytes = std::size_t{512} << 30;
#endif

std::uint64_t host_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// Whether all pages of the range are mapped at all: msync looks, and changes nothing.
bool is_mapped(const void* base, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = address_of(base) / page * page;
  return ::msync(reinterpret_cast<void*>(first), address_of(base) + bytes - first, MS_ASYNC) == 0;
}

// The room for snapshots of pageable sources on one device.
struct staging_room {
  static constexpr std::size_t slot_bytes = std::size_t{1} << 20;
  static constexpr std::uint64_t slots = 2;
  static constexpr std::size_t inline_limit = std::size_t{64} << 10;
  // Four segments of 1 MiB, in which a copy lies in one piece with the command in front of it:
  // 60 copies of 64 KiB, not 63; 950 of 4 KiB, not 1000.
  static constexpr std::uint64_t inline_room = std::uint64_t{4} << 20;
  static constexpr std::uint64_t segment_bytes = std::uint64_t{1} << 20;
  static constexpr std::uint64_t command_bytes = 128;

  static std::uint64_t inline_share(std::size_t bytes) {
    const std::uint64_t in_segment = segment_bytes / (bytes + command_bytes);
    return segment_bytes / in_segment;
  }

  std::atomic<std::uint64_t> slots_used{0};
  std::atomic<std::uint64_t> inline_used{0};

  static bool take(std::atomic<std::uint64_t>& used, std::uint64_t amount, std::uint64_t room) {
    std::uint64_t now = used.load(std::memory_order_relaxed);
    do {
      if (now + amount > room) return false;
    } while (!used.compare_exchange_weak(now, now + amount, std::memory_order_acq_rel));
    return true;
  }
};

}  // namespace

static allocation_observer* observer = nullptr;

void observe_allocations(allocation_observer* who) { observer = who; }

struct memory::impl {
  // Held by whoever changes the index. Whoever kept an answer sees that it may have changed.
  struct change {
    explicit change(impl& of) : lock(of.index_mutex) {
      of.changes.fetch_add(1, std::memory_order_release);
    }
    const std::unique_lock<std::shared_mutex> lock;
  };

  struct device_memory {
    device_memory(memory_capacity c, heap_check check)
        : capacity(c), heap({c.total_bytes - c.used_at_start_bytes, reserve_bytes, check}) {}
    const memory_capacity capacity;
    memory_heap heap;
  };

  explicit impl(memory_settings s)
      : settings(std::move(s)),
        pinned({host_bytes(), reserve_bytes, settings.check, pinned_alignment}),
        managed({reserve_bytes, reserve_bytes, settings.check}),
        staging(std::make_shared<std::array<staging_room, max_devices>>()) {}

  device_memory& device(device_id id) {
    const std::uint32_t i = id.value < max_devices ? id.value : 0;
    device_memory* found = devices[i].load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    const memory_capacity capacity = settings.capacity(id);
    const std::lock_guard lock(devices_mutex);
    found = devices[i].load(std::memory_order_acquire);
    if (found == nullptr) {
      owned.push_back(std::make_unique<device_memory>(capacity, settings.check));
      found = owned.back().get();
      devices[i].store(found, std::memory_order_release);
    }
    return *found;
  }

  void insert(allocation a) {
    if (observer != nullptr) a.traced = observer->allocated(a);
    const change lock(*this);
    index.insert_or_assign(address_of(a.base), a);
  }

  // Takes the allocation with this exact base from the index when its kind is one of these.
  std::optional<allocation> take(void* base, std::initializer_list<memory_kind> kinds) {
    const change lock(*this);
    const auto found = index.find(address_of(base));
    if (found == index.end()) return std::nullopt;
    if (std::find(kinds.begin(), kinds.end(), found->second.kind) == kinds.end()) {
      return std::nullopt;
    }
    const allocation gone = found->second;
    index.erase(found);
    if (observer != nullptr) observer->freed(gone);
    return gone;
  }

  result<void*> allocate(memory_heap& heap, memory_kind kind, device_id device, std::size_t bytes,
                         std::uint32_t flags) {
    auto base = heap.allocate(bytes);
    if (base.ok()) insert({kind, *base, bytes, device, flags});
    return base;
  }

  void give_back(const allocation& a) {
    switch (a.kind) {
      case memory_kind::device:
      case memory_kind::graph:
        device(a.device).heap.release(a.base);
        break;
      case memory_kind::pinned:
        pinned.release(a.base);
        break;
      case memory_kind::managed:
        managed.release(a.base);  // not the heap's for a variable: ignored
        break;
      case memory_kind::imported:
        imports.forget(a.base);
        break;
      case memory_kind::pool:
      case memory_kind::registered:
      case memory_kind::image:
        break;
    }
  }

  const memory_settings settings;

  // Own synchronisation.
  memory_heap pinned;
  memory_heap managed;
  memory_imports imports;
  std::array<std::atomic<device_memory*>, max_devices> devices{};
  // Shared with the buffers handed out, which may outlive us at the end of the process.
  std::shared_ptr<std::array<staging_room, max_devices>> staging;

  std::mutex devices_mutex;  // guards `owned`
  std::vector<std::unique_ptr<device_memory>> owned;

  std::atomic<std::uint64_t> changes{0};  // of the index
  mutable std::shared_mutex index_mutex;  // guards the rest
  std::vector<const reserved_range*> pool_ranges;
  std::map<std::uintptr_t, allocation> index;  // by base; ranges do not overlap
};

memory& memory::instance() {
  // Never destroyed: static destructors of the program may still free.
  static memory* const the_memory = [] {
    memory_settings settings;
    settings.capacity = [](device_id device) {
      const device_profile& profile = engine::instance().profile(device);
      return memory_capacity{profile.global_bytes, profile.used_at_start_bytes};
    };
    const char* check = std::getenv("STREAMBED_MEMCHECK");
    if (check != nullptr && std::string_view(check) == "1") {
      settings.check = heap_check::guard_pages;
    }
    return new memory(std::move(settings));
  }();
  return *the_memory;
}

memory::memory(memory_settings settings) : impl_(std::make_unique<impl>(std::move(settings))) {}
memory::~memory() = default;

result<void*> memory::allocate_device(device_id device, std::size_t bytes) {
  return impl_->allocate(impl_->device(device).heap, memory_kind::device, device, bytes, 0);
}

result<void*> memory::allocate_graph(device_id device, std::size_t bytes) {
  return impl_->allocate(impl_->device(device).heap, memory_kind::graph, device, bytes, 0);
}

void memory::free_graph(void* base) {
  if (const auto gone = impl_->take(base, {memory_kind::graph})) impl_->give_back(*gone);
}

status memory::free_device(void* base) {
  // __managed__ variables lie outside the heap: nobody frees them.
  const auto gone = impl_->managed.range().contains(base)
                        ? impl_->take(base, {memory_kind::managed})
                        : impl_->take(base, {memory_kind::device});
  if (!gone) return status::invalid_value;
  impl_->give_back(*gone);
  return status::success;
}

std::optional<allocation> memory::detach_device(void* base) {
  return impl_->take(base, {memory_kind::device});
}

void memory::release_detached(const allocation& detached) { impl_->give_back(detached); }

result<void*> memory::allocate_pinned(device_id device, std::size_t bytes, std::uint32_t flags) {
  return impl_->allocate(impl_->pinned, memory_kind::pinned, device, bytes, flags);
}

status memory::free_pinned(void* base) {
  const auto gone = impl_->take(base, {memory_kind::pinned});
  if (!gone) return status::invalid_value;
  impl_->give_back(*gone);
  return status::success;
}

result<void*> memory::allocate_managed(device_id device, std::size_t bytes, std::uint32_t flags) {
  return impl_->allocate(impl_->managed, memory_kind::managed, device, bytes, flags);
}

status memory::register_host(device_id device, void* base, std::size_t bytes, std::uint32_t flags) {
  const std::uintptr_t begin = address_of(base);
  if (begin + bytes < begin) return status::invalid_value;
  const impl::change lock(*impl_);
  // What lies at or after the range's end cannot overlap; of the others only the last one can reach
  // into it, and every one that begins inside does.
  auto next = impl_->index.lower_bound(begin + bytes);
  bool registered = false;
  while (next != impl_->index.begin()) {
    --next;
    const allocation& other = next->second;
    if (next->first + other.bytes <= begin) break;
    if (other.kind != memory_kind::registered) return status::invalid_value;
    registered = true;
  }
  if (registered) return status::host_memory_already_registered;
  if (!is_mapped(base, bytes)) return status::invalid_value;
  allocation a{memory_kind::registered, base, bytes, device, flags};
  if (observer != nullptr) a.traced = observer->allocated(a);
  impl_->index.emplace(begin, a);
  return status::success;
}

status memory::unregister_host(void* base) {
  if (impl_->take(base, {memory_kind::registered})) return status::success;
  // h200: known memory that is not the start of a registered range is another mistake than memory
  // nobody registered.
  if (base == nullptr || find(base)) return status::invalid_value;
  return status::host_memory_not_registered;
}

void memory::add_image_variable(device_id device, void* base, std::size_t bytes, memory_kind kind) {
  impl_->insert({kind, base, bytes, device, 0});
}

void memory::remove_image_variables(device_id device) {
  const impl::change lock(*impl_);
  std::erase_if(impl_->index, [&](const auto& entry) {
    const allocation& a = entry.second;
    if (a.device != device) return false;
    return a.kind == memory_kind::image ||
           (a.kind == memory_kind::managed && !impl_->managed.range().contains(a.base));
  });
}

result<exported_memory> memory::export_device(const void* address) {
  const auto known = find(address);
  if (!known || known->kind != memory_kind::device) return status::invalid_value;
  const auto place = impl_->device(known->device).heap.share(known->base);
  if (!place) return place.error();
  return exported_memory{place->file, place->offset, known->bytes, known->device};
}

result<void*> memory::open_import(const exported_memory& from) {
  const auto opened = impl_->imports.open(from.file, from.offset, from.bytes);
  if (!opened) return opened.error();
  impl_->insert({memory_kind::imported, *opened, from.bytes, from.device, 0});
  return *opened;
}

memory::import_use memory::drop_import(void* base) {
  switch (impl_->imports.drop(base)) {
    case 0:
      return impl_->take(base, {memory_kind::imported}) ? import_use::none : import_use::unknown;
    case memory_imports::not_one:
      return import_use::unknown;
    default:
      return import_use::more;
  }
}

void memory::unmap_import(void* base) { impl_->imports.unmap(base); }

bool memory::charge(device_id device, std::uint64_t bytes) {
  return impl_->device(device).heap.charge(bytes);
}

void memory::discharge(device_id device, std::uint64_t bytes) {
  impl_->device(device).heap.discharge(bytes);
}

void memory::keep_range(const reserved_range& range) {
  const impl::change lock(*impl_);
  impl_->pool_ranges.push_back(&range);
}

void memory::forget_range(const reserved_range& range) {
  const impl::change lock(*impl_);
  std::erase(impl_->pool_ranges, &range);
}

void memory::add_pool_allocation(device_id device, void* base, std::size_t bytes) {
  impl_->insert({memory_kind::pool, base, bytes, device, 0});
}

std::optional<allocation> memory::remove_pool_allocation(void* base) {
  return impl_->take(base, {memory_kind::pool});
}

bool memory::in_kept_range(const void* address) const {
  if (impl_->pinned.range().contains(address) || impl_->managed.range().contains(address))
    return true;
  const bool of_device =
      std::any_of(impl_->devices.begin(), impl_->devices.end(), [&](const auto& device) {
        const auto* made = device.load(std::memory_order_acquire);
        return made != nullptr && made->heap.range().contains(address);
      });
  if (of_device) return true;
  const std::shared_lock lock(impl_->index_mutex);
  return std::any_of(impl_->pool_ranges.begin(), impl_->pool_ranges.end(),
                     [&](const reserved_range* range) { return range->contains(address); });
}

std::optional<allocation> memory::find(const void* address) const {
  const std::uintptr_t at = address_of(address);
  const std::shared_lock lock(impl_->index_mutex);
  auto next = impl_->index.upper_bound(at);
  if (next == impl_->index.begin()) return std::nullopt;
  const allocation& candidate = std::prev(next)->second;
  if (at - address_of(candidate.base) >= candidate.bytes) return std::nullopt;
  return candidate;
}

std::uint64_t memory::changes() const { return impl_->changes.load(std::memory_order_acquire); }

memory_info memory::info(device_id device) {
  auto& of = impl_->device(device);
  const std::uint64_t taken = of.capacity.used_at_start_bytes + of.heap.used();
  const std::uint64_t total = of.capacity.total_bytes;
  return {total > taken ? total - taken : 0, total};
}

heap_check memory::check() const { return impl_->settings.check; }

void memory::release_all(device_id device) {
  std::vector<allocation> gone;
  {
    const impl::change lock(*impl_);
    std::erase_if(impl_->index, [&](const auto& entry) {
      const allocation& a = entry.second;
      if (a.device != device || a.kind == memory_kind::image) return false;
      gone.push_back(a);
      return true;
    });
  }
  for (const allocation& a : gone) impl_->give_back(a);
}

std::shared_ptr<char> memory::try_stage(device_id device, std::size_t bytes) {
  const std::shared_ptr<std::array<staging_room, max_devices>> rooms = impl_->staging;
  staging_room& room = (*rooms)[device.value % max_devices];
  const bool with_command = bytes <= staging_room::inline_limit;
  auto& used = with_command ? room.inline_used : room.slots_used;
  const std::uint64_t amount =
      with_command ? staging_room::inline_share(bytes)
                   : (bytes + staging_room::slot_bytes - 1) / staging_room::slot_bytes;
  const std::uint64_t size = with_command ? staging_room::inline_room : staging_room::slots;
  if (!staging_room::take(used, amount, size)) return nullptr;
  char* buffer = static_cast<char*>(std::malloc(bytes == 0 ? 1 : bytes));
  if (buffer == nullptr) {
    used.fetch_sub(amount, std::memory_order_acq_rel);
    return nullptr;
  }
  return {buffer, [rooms, &used, amount](char* gone) {
            std::free(gone);
            used.fetch_sub(amount, std::memory_order_acq_rel);
          }};
}

std::shared_ptr<void> memory::try_stage(device_id device, const void* source, std::size_t bytes) {
  std::shared_ptr<char> buffer = try_stage(device, bytes);
  if (buffer) std::memcpy(buffer.get(), source, bytes);
  return buffer;
}

}  // namespace sb::engine
