// Stream-ordered memory: pools that hand out device memory at the call and take it back in the
// order of a stream.
//
// Rules, as recorded on an H200:
//   - A pool grows by chunks of 32 MiB; allocations lie at multiples of 512 bytes, best fit, lowest
//     address first. `used` counts the bytes asked for.
//   - What a stream frees, the same stream gets again at once. Another stream gets it when it is
//   ordered
//     after the free by events or by the legacy stream (follow_events), when the free is complete
//     (opportunistic), or, when the pool cannot grow, by a dependency that its allocation brings
//     along (internal_dependencies). Otherwise the pool grows.
//   - Chunks that are wholly free go back when the host has synchronised with the frees, down to
//   the
//     release threshold.
//
// Thread safety: pool_set serialises everything with one mutex. Lock order: pool_set, then what
// `done` takes, then memory's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/memory.hpp"
#include "engine/pool_file.hpp"
#include "engine/pool_order.hpp"
#include "model/command.hpp"
#include "model/ids.hpp"

namespace sb::engine {

struct pool_attributes {
  bool follow_events = true;
  bool opportunistic = true;
  bool internal_dependencies = true;
  std::uint64_t release_threshold = 0;
};

struct pool_usage {
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
};

// Where the next work of a stream may use a piece of free memory.
class pool_user {
 public:
  virtual bool may_use(const free_mark& mark) = 0;

 protected:
  ~pool_user() = default;
};

// Pools get memory of the device in these.
inline constexpr std::uint64_t pool_chunk_bytes = std::uint64_t{32} << 20;

struct pool_placement {
  void* base = nullptr;
  std::uint64_t chunks = 0;       // that the pool had to ask the device for
  std::vector<command_id> after;  // frees that the stream has to wait for first
};

enum class pool_sharing : std::uint8_t { none, by_file };

// An allocation of a pool that another process can import.
struct exported_piece {
  std::uint64_t inode = 0;  // of the pool's file
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// One pool. Not thread-safe: pool_set guards it.
class memory_pool {
 public:
  memory_pool(memory& memory, device_id device, std::uint64_t max_bytes,
              pool_sharing sharing = pool_sharing::none);
  // The pool of another process, behind its file: hands out nothing of its own.
  memory_pool(memory& memory, const shared_pool_file& file);
  ~memory_pool();
  memory_pool(const memory_pool&) = delete;
  memory_pool& operator=(const memory_pool&) = delete;

  [[nodiscard]] device_id device() const { return device_; }
  [[nodiscard]] bool contains(const void* address) const { return range_.contains(address); }
  [[nodiscard]] bool empty() const { return live_.empty(); }
  [[nodiscard]] bool imported() const { return imported_; }
  // A descriptor of its own for whoever asks; less than 0 for a pool that is not shared.
  [[nodiscard]] int share() const;
  result<exported_piece> export_piece(void* base) const;
  result<void*> import_piece(const exported_piece& piece);
  pool_attributes& attributes() { return attributes_; }
  pool_usage& usage() { return usage_; }

  result<pool_placement> allocate(std::size_t bytes, pool_user& user);
  // The bytes leave `used` at the call, the memory comes back with finish_free. cudaFree leaves
  // `used` as it is, as the hardware does.
  enum class counting : std::uint8_t { at_call, never };
  void begin_free(void* base, counting how);
  void finish_free(void* base, const free_mark& mark);
  // Forgets the frees that the host knows to be complete.
  void settle(const std::function<bool(const free_mark&)>& known);
  [[nodiscard]] bool has_marks() const;
  // Gives chunks back, the highest first, while at least `keep` bytes stay.
  void trim(std::uint64_t keep);

 private:
  struct piece {
    std::uint64_t length;
    std::optional<free_mark> mark;  // none: free for everybody
  };
  using pieces = std::map<std::uint64_t, piece>;  // by offset
  struct live {
    std::uint64_t length;
    std::uint64_t bytes;  // asked for
  };

  std::optional<std::uint64_t> best_run(std::uint64_t length,
                                        const std::function<bool(const piece&)>& usable) const;
  std::optional<std::uint64_t> grow(std::uint64_t length,
                                    const std::function<bool(const piece&)>& usable);
  pool_placement place(std::uint64_t offset, std::uint64_t length, std::size_t bytes,
                       bool wait_for_marks);
  void add_piece(std::uint64_t offset, piece p);
  [[nodiscard]] bool chunk_mapped(std::uint64_t chunk) const;

  memory& memory_;
  const device_id device_;
  const std::uint64_t max_bytes_;  // 0: as much as the device has
  const bool imported_ = false;
  shared_pool_file file_;
  reserved_range range_;
  pool_attributes attributes_;
  pool_usage usage_;
  std::vector<bool> mapped_;  // by chunk
  pieces free_;               // in mapped chunks
  std::unordered_map<std::uint64_t, live> live_;
};

// The pools of the process.
class pool_set {
 public:
  static pool_set& instance();

  // `done` tells whether a command is complete, `idle` whether a device has nothing to do.
  pool_set(memory& memory, std::function<bool(command_id)> done,
           std::function<bool(device_id)> idle);
  ~pool_set();

  memory_pool* default_pool(device_id device);
  memory_pool* current_pool(device_id device);
  status set_current_pool(device_id device, memory_pool* pool);
  memory_pool* create(device_id device, std::uint64_t max_bytes,
                      pool_sharing sharing = pool_sharing::none);
  // Between processes; invalid_value for pools that are not shared, or are none.
  result<int> share(memory_pool* pool) const;
  result<memory_pool*> import(int file);
  result<exported_piece> export_piece(void* base) const;
  result<void*> import_piece(memory_pool* pool, const exported_piece& piece);
  // Live allocations stay; the pool ends with the last of them. A current pool is replaced by the
  // default.
  status destroy(memory_pool* pool);  // invalid_value for a default pool and what is none
  [[nodiscard]] bool alive(const memory_pool* pool) const;
  [[nodiscard]] bool is_default(const memory_pool* pool) const;

  result<pool_placement> allocate(memory_pool* pool, const pool_stream& stream, std::size_t bytes);
  // Two steps around the submission of the command that stands for the free in its stream. The
  // first answers invalid_value for what is not a live pool allocation.
  result<memory_pool*> begin_free(void* base, memory_pool::counting how);
  void finish_free(memory_pool* pool, void* base, const free_mark& mark);

  // What orders streams, as far as pools have to know. Cheap while no free is pending.
  void note_record(const pool_stream& stream, command_id record) {
    if (tracking_.load(std::memory_order_acquire)) record_made(stream, record);
  }
  void note_wait(const pool_stream& stream, command_id record) {
    if (tracking_.load(std::memory_order_acquire)) wait_made(stream, record);
  }
  // The host waited for a stream, for a record or (neither) for everything: memory goes back, so
  // many chunks.
  std::uint64_t synchronized(stream_id stream, command_id record = {}) {
    return tracking_.load(std::memory_order_acquire) ? host_waited(stream, record) : 0;
  }

  status trim(memory_pool* pool, std::uint64_t keep);
  // Reads or changes attributes and usage under the lock.
  status with(memory_pool* pool,
              const std::function<status(pool_attributes&, pool_usage&)>& change);
  void release_all(device_id device);  // cudaDeviceReset

 private:
  void record_made(const pool_stream& stream, command_id record);
  void wait_made(const pool_stream& stream, command_id record);
  std::uint64_t host_waited(stream_id stream, command_id record);
  [[nodiscard]] bool complete(const free_mark& mark) const;
  memory_pool* default_locked(device_id device);
  [[nodiscard]] bool alive_locked(const memory_pool* pool) const;
  void drop_if_over(memory_pool* pool);

  // Constant after construction.
  memory& memory_;
  const std::function<bool(command_id)> done_;
  const std::function<bool(device_id)> idle_;

  std::atomic<bool> tracking_{false};  // some free may be pending

  mutable std::mutex mutex_;  // guards the rest
  std::vector<std::unique_ptr<memory_pool>> pools_;
  std::vector<std::unique_ptr<memory_pool>> destroyed_;       // with live allocations
  std::map<std::uint32_t, memory_pool*> defaults_, current_;  // by device
  pool_order order_;
};

}  // namespace sb::engine
