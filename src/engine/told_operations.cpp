#include "engine/told_operations.hpp"

#include <bit>
#include <cstring>

namespace sb::engine {

operation_signs::operation_signs(const submission& n, std::uint64_t changes, trace::number back) {
  if (n.as.order != command_order::in_stream) return;
  add(static_cast<std::uint32_t>(n.what.index()) |
          static_cast<std::uint32_t>(static_cast<std::uint8_t>(n.as.priority)) << 8,
      n.as.stream.value);
  add(changes);
  if (const auto* k = std::get_if<kernel_operation>(&n.what))
    add_kernel(*k);
  else if (const auto* c = std::get_if<copy_operation>(&n.what))
    add_copy(*c);
  else if (const auto* f = std::get_if<fill_operation>(&n.what))
    add_fill(*f);
  else if (const auto* e = std::get_if<record_operation>(&n.what))
    add_event(e->event.get());
  else if (std::holds_alternative<wait_operation>(n.what) && back != trace::none)
    add(back);
  else
    full_ = true;
  if (full_) count_ = 0;
  // Addresses and streams differ in few bits, and these may be high ones by now.
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i < count_; ++i)
    place_ ^= std::rotl(words_[i], static_cast<int>(i * 9 % 64));
  place_ = (place_ ^ place_ >> 32) * spread >> 32;
}

void operation_signs::add_kernel(const kernel_operation& k) {
  const abi::kernel_info& info = *k.kernel;
  add(k.kernel);
  add(k.grid.x, k.grid.y);
  add(k.grid.z, k.block.x);
  add(k.block.y, k.block.z);
  add(k.dynamic_shared_bytes, k.cooperative ? 1 : 0);
  for (std::uint32_t i = 0; i < info.param_count; ++i) {
    const abi::param& p = info.params[i];
    if ((p.flags & abi::param_is_pointer) == 0 || p.size != sizeof(void*)) continue;
    const void* address = nullptr;
    std::memcpy(&address, k.params.data() + p.offset, sizeof address);
    add(address);
  }
}

void operation_signs::add_copy(const copy_operation& c) {
  add(c.destination);
  add(c.staging ? c.snapshot_of : c.source);
  add(c.width);
  add(static_cast<std::uint32_t>(c.direction) | (c.pageable ? 256u : 0u), c.peer.value);
  if (c.height == 1 && c.depth == 1) return;
  for (const std::size_t size : {c.height, c.depth, c.destination_pitch, c.source_pitch,
                                 c.destination_slice, c.source_slice})
    add(size);
}

void operation_signs::add_fill(const fill_operation& f) {
  add(f.destination);
  for (const std::size_t size :
       {std::size_t{f.element_size}, f.width, f.height, f.depth, f.pitch, f.slice})
    add(size);
}

// One that has no number yet was in no operation that was told of.
void operation_signs::add_event(const event_state* e) {
  const std::uint32_t number =
      e == nullptr ? event_state::no_number : e->traced_as.load(std::memory_order_relaxed);
  add(number);
  full_ = full_ || number == event_state::no_number;
}

trace::number told_operations::find(const operation_signs& what) const {
  if (what.empty()) return trace::none;
  const auto& both = entries_[what.place() % places];
  const trace::number found = find(what, both[0]);
  return found != trace::none ? found : find(what, both[1]);
}

trace::number told_operations::find(const operation_signs& what, const entry& e) {
  constexpr auto relaxed = std::memory_order_relaxed;
  const std::uint32_t before = e.version.load(std::memory_order_acquire);
  if (e.count.load(relaxed) != what.size()) return trace::none;
  // Mostly all are the same: no word waits for what is known of those before it.
  std::uint64_t different = before % 2;
  for (std::size_t i = 0; i < what.size(); ++i) different |= e.words[i].load(relaxed) ^ what[i];
  const trace::number found = e.operation.load(relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return different == 0 && e.version.load(relaxed) == before ? found : trace::none;
}

void told_operations::keep(const operation_signs& what, trace::number operation) {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (what.empty()) return;
  // Of two that share a place and take turns, one is in the other's entry sooner or later: then
  // both stay. Which one does not follow the program's own rhythm.
  constexpr std::uint64_t factor = 6364136223846793005, step = 1442695040888963407;
  turn_ = turn_ * factor + step;
  entry& e = entries_[what.place() % places][turn_ >> 63];
  const std::uint32_t before = e.version.load(relaxed);
  e.version.store(before + 1, relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < what.size(); ++i) e.words[i].store(what[i], relaxed);
  e.count.store(what.size(), relaxed);
  e.operation.store(operation, relaxed);
  e.version.store(before + 2, std::memory_order_release);
}

}  // namespace sb::engine
