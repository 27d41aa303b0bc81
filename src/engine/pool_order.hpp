// Which frees a stream is ordered after: events, and the legacy stream's rules. Knows only what was
// told while frees were pending, and may forget: not knowing costs reuse, never correctness. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "model/command.hpp"
#include "model/ids.hpp"

namespace sb::engine {

struct pool_stream {
  stream_id id;
  stream_kind kind = stream_kind::blocking;
  device_id device;
};

// A free in its stream; complete when the command is. Without a command: a free in no stream
// (cudaFree of pool memory does not wait on hardware), complete when the device of the stream is
// seen idle.
struct free_mark {
  pool_stream stream;
  command_id command;
};

class pool_order {
 public:
  void record(const pool_stream& stream, command_id record) {
    if (records_.size() >= limit) records_.erase(records_.begin());
    known& k = records_[record.value];
    const auto own = streams_.find(stream.id);
    if (own != streams_.end()) k = own->second;
    k[stream.id] = record.value;
  }

  void wait(const pool_stream& stream, command_id record) {
    const auto found = records_.find(record.value);
    if (found == records_.end()) return;
    known& mine = streams_[stream.id];
    for (const auto& [other, command] : found->second) {
      auto& seen = mine[other];
      if (seen < command) seen = command;
    }
  }

  // Whether everything that `stream` does from now on comes after the free.
  [[nodiscard]] bool after(const pool_stream& stream, const free_mark& mark) const {
    if (!mark.command.valid()) return false;
    if (stream.id == mark.stream.id) return true;
    if (stream.device == mark.stream.device && legacy_order(stream.kind, mark.stream.kind)) {
      return true;
    }
    const auto own = streams_.find(stream.id);
    if (own == streams_.end()) return false;
    const auto seen = own->second.find(mark.stream.id);
    return seen != own->second.end() && seen->second > mark.command.value;
  }

  void forget() {
    records_.clear();
    streams_.clear();
  }

 private:
  static constexpr std::size_t limit = 4096;
  // The newest command of each stream that is known to come before.
  using known = std::unordered_map<stream_id, std::uint64_t>;

  // CUDA: legacy work waits for earlier work of blocking streams, and they for it.
  static bool legacy_order(stream_kind a, stream_kind b) {
    return (a == stream_kind::legacy && b == stream_kind::blocking) ||
           (a == stream_kind::blocking && b == stream_kind::legacy);
  }

  std::map<std::uint64_t, known> records_;  // by command
  std::unordered_map<stream_id, known> streams_;
};

}  // namespace sb::engine
