#include <algorithm>
#include <utility>

#include "engine/engine.hpp"
#include "engine/pool.hpp"

namespace sb::engine {

namespace {

// The stream that asks, and what it is ordered after.
class asking_stream final : public pool_user {
 public:
  asking_stream(const pool_stream& stream, const pool_attributes& attributes,
                const pool_order& order, std::function<bool(const free_mark&)> complete)
      : stream_(stream), attributes_(attributes), order_(order), complete_(std::move(complete)) {}

  bool may_use(const free_mark& mark) override {
    if (mark.command.valid() && mark.stream.id == stream_.id) return true;
    if (attributes_.follow_events && order_.after(stream_, mark)) return true;
    return attributes_.opportunistic && complete_(mark);
  }

 private:
  const pool_stream& stream_;
  const pool_attributes& attributes_;
  const pool_order& order_;
  const std::function<bool(const free_mark&)> complete_;
};

template <class Pools>
auto find_pool(Pools& pools, const memory_pool* pool) {
  return std::find_if(pools.begin(), pools.end(), [&](const auto& p) { return p.get() == pool; });
}

}  // namespace

pool_set& pool_set::instance() {
  // Never destroyed: static destructors of the program may still free.
  static auto* const the_pools = new pool_set(
      memory::instance(), [](command_id command) { return engine::instance().done(command); },
      [](device_id device) { return engine::instance().idle(device); });
  return *the_pools;
}

pool_set::pool_set(memory& memory, std::function<bool(command_id)> done,
                   std::function<bool(device_id)> idle)
    : memory_(memory), done_(std::move(done)), idle_(std::move(idle)) {}
pool_set::~pool_set() = default;

bool pool_set::complete(const free_mark& mark) const {
  return mark.command.valid() ? done_(mark.command) : idle_(mark.stream.device);
}

memory_pool* pool_set::default_locked(device_id device) {
  memory_pool*& pool = defaults_[device.value];
  if (pool == nullptr) {
    pools_.push_back(std::make_unique<memory_pool>(memory_, device, 0));
    pool = pools_.back().get();
  }
  return pool;
}

memory_pool* pool_set::default_pool(device_id device) {
  const std::lock_guard lock(mutex_);
  return default_locked(device);
}

memory_pool* pool_set::current_pool(device_id device) {
  const std::lock_guard lock(mutex_);
  memory_pool* current = current_[device.value];
  return current != nullptr ? current : default_locked(device);
}

status pool_set::set_current_pool(device_id device, memory_pool* pool) {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool) || pool->device() != device || pool->imported()) {
    return status::invalid_value;
  }
  current_[device.value] = pool;
  return status::success;
}

memory_pool* pool_set::create(device_id device, std::uint64_t max_bytes, pool_sharing sharing) {
  auto pool = std::make_unique<memory_pool>(memory_, device, max_bytes, sharing);
  const std::lock_guard lock(mutex_);
  pools_.push_back(std::move(pool));
  return pools_.back().get();
}

result<int> pool_set::share(memory_pool* pool) const {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool)) return status::invalid_value;
  const int file = pool->share();
  if (file < 0) return status::invalid_value;
  return file;
}

result<memory_pool*> pool_set::import(int descriptor) {
  const shared_pool_file file(descriptor);
  if (!file.valid()) return status::invalid_value;
  auto pool = std::make_unique<memory_pool>(memory_, file);
  const std::lock_guard lock(mutex_);
  pools_.push_back(std::move(pool));
  return pools_.back().get();
}

result<exported_piece> pool_set::export_piece(void* base) const {
  const std::lock_guard lock(mutex_);
  for (const auto& pool : pools_) {
    if (pool->contains(base)) return pool->export_piece(base);
  }
  return status::invalid_value;
}

result<void*> pool_set::import_piece(memory_pool* pool, const exported_piece& piece) {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool)) return status::invalid_value;
  return pool->import_piece(piece);
}

status pool_set::destroy(memory_pool* pool) {
  const std::lock_guard lock(mutex_);
  const auto found = find_pool(pools_, pool);
  if (found == pools_.end()) return status::invalid_value;
  if (defaults_[pool->device().value] == pool) return status::invalid_value;
  if (current_[pool->device().value] == pool) current_[pool->device().value] = nullptr;
  destroyed_.push_back(std::move(*found));
  pools_.erase(found);
  drop_if_over(pool);
  return status::success;
}

// A destroyed pool ends with its last allocation; work in flight may still use what was freed last,
// so the frees have to be complete as well.
void pool_set::drop_if_over(memory_pool* pool) {
  const auto found = find_pool(destroyed_, pool);
  if (found == destroyed_.end() || !pool->empty()) return;
  pool->settle([&](const free_mark& mark) { return complete(mark); });
  if (!pool->has_marks()) destroyed_.erase(found);
}

bool pool_set::alive_locked(const memory_pool* pool) const {
  return find_pool(pools_, pool) != pools_.end();
}

bool pool_set::alive(const memory_pool* pool) const {
  const std::lock_guard lock(mutex_);
  return alive_locked(pool);
}

bool pool_set::is_default(const memory_pool* pool) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(defaults_.begin(), defaults_.end(),
                     [&](const auto& entry) { return entry.second == pool; });
}

result<pool_placement> pool_set::allocate(memory_pool* pool, const pool_stream& stream,
                                          std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool)) return status::invalid_value;
  asking_stream asks(stream, pool->attributes(), order_,
                     [&](const free_mark& mark) { return complete(mark); });
  const std::uint64_t before = pool->usage().reserved;
  auto place = pool->allocate(bytes, asks);
  if (place) place->chunks = (pool->usage().reserved - before) / pool_chunk_bytes;
  return place;
}

result<memory_pool*> pool_set::begin_free(void* base, memory_pool::counting how) {
  const std::lock_guard lock(mutex_);
  if (!memory_.remove_pool_allocation(base)) return status::invalid_value;
  for (auto* list : {&pools_, &destroyed_}) {
    for (const auto& pool : *list) {
      if (!pool->contains(base)) continue;
      pool->begin_free(base, how);
      // From here on records count: they may come before finish_free.
      tracking_.store(true, std::memory_order_release);
      return pool.get();
    }
  }
  return status::invalid_value;
}

void pool_set::finish_free(memory_pool* pool, void* base, const free_mark& mark) {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool) && find_pool(destroyed_, pool) == destroyed_.end()) return;
  pool->finish_free(base, mark);
  tracking_.store(true, std::memory_order_release);
  if (!mark.command.valid()) {
    pool->settle([&](const free_mark& m) { return !m.command.valid() && complete(m); });
    pool->trim(pool->attributes().release_threshold);
  }
  drop_if_over(pool);
}

void pool_set::record_made(const pool_stream& stream, command_id record) {
  const std::lock_guard lock(mutex_);
  order_.record(stream, record);
}

void pool_set::wait_made(const pool_stream& stream, command_id record) {
  const std::lock_guard lock(mutex_);
  order_.wait(stream, record);
}

std::uint64_t pool_set::host_waited(stream_id stream, command_id record) {
  const std::lock_guard lock(mutex_);
  const auto known = [&](const free_mark& mark) {
    if (mark.command.valid()) {
      if (stream.valid() && mark.stream.id != stream) return false;
      if (record.valid() && mark.command > record) return false;
    }
    return complete(mark);
  };
  bool pending = false;
  std::uint64_t returned = 0;
  for (const auto& pool : pools_) {
    pool->settle(known);
    const std::uint64_t before = pool->usage().reserved;
    pool->trim(pool->attributes().release_threshold);
    returned += (before - pool->usage().reserved) / pool_chunk_bytes;
    pending = pending || pool->has_marks();
  }
  for (std::size_t i = destroyed_.size(); i-- > 0;) drop_if_over(destroyed_[i].get());
  pending = pending || !destroyed_.empty();
  if (!pending) {
    order_.forget();
    tracking_.store(false, std::memory_order_release);
  }
  return returned;
}

status pool_set::trim(memory_pool* pool, std::uint64_t keep) {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool)) return status::invalid_value;
  pool->settle([&](const free_mark& mark) { return complete(mark); });
  pool->trim(keep);
  return status::success;
}

status pool_set::with(memory_pool* pool,
                      const std::function<status(pool_attributes&, pool_usage&)>& change) {
  const std::lock_guard lock(mutex_);
  if (!alive_locked(pool)) return status::invalid_value;
  return change(pool->attributes(), pool->usage());
}

void pool_set::release_all(device_id device) {
  const std::lock_guard lock(mutex_);
  for (auto* list : {&pools_, &destroyed_}) {
    std::erase_if(*list, [&](const auto& pool) { return pool->device() == device; });
  }
  defaults_.erase(device.value);
  current_.erase(device.value);
}

}  // namespace sb::engine
