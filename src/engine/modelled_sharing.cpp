// The part of modelled.hpp that has work on the device share it (model/shared_device.hpp).
#include <algorithm>
#include <utility>

#include "engine/modelled.hpp"
#include "model/block_rules.hpp"

namespace sb::engine {

namespace {

// Blocks that waited before their work ask for nothing meanwhile.
void add_needs(node& n, const shared_device::piece& p, std::uint64_t count) {
  const auto blocks = static_cast<double>(count);
  const std::uint64_t waited = p.from - std::min(p.from, n.run.model_ns);
  auto& sums = n.times.needs;
  sums.blocks += blocks;
  sums.alone += blocks * (p.alone + static_cast<double>(waited));
  sums.arithmetic += blocks * p.alone * p.demand.arithmetic;
  sums.memory += blocks * p.alone * p.demand.memory;
}

}  // namespace

// Blocks whose waits are over at `ns` end when their work is done. `together` of the kernel came at
// once; those that are there from before count as well.
void modelled::share_blocks(node& n, const block_work& work, std::uint64_t ns, std::uint64_t count,
                            std::uint64_t together) {
  together = std::max(together, n.times.blocks_granted - n.times.blocks_over);
  sharing& s = shares_[n.device.value];
  if (last_piece_.n == &n && last_piece_.work == &work && last_piece_.ns == ns &&
      last_piece_.together == together) {
    s.device.add_blocks(last_piece_.id, count);
    if (n.times.work != nullptr && n.times.work->uneven())
      s.uneven.add_blocks(last_piece_.id, count);
    add_needs(n, s.device.at(last_piece_.id), count);
    return;
  }
  const bool first = n.times.blocks_over == 0;
  const auto multiprocessors = static_cast<std::uint32_t>(e_.at(n.device).profile.multiprocessors);
  const block_wave wave = wave_of(timing_, work, together, multiprocessors, first);
  const std::uint64_t alone = rounded_ns(wave.ns);
  const shared_device::piece_id id = s.device.add({.owner = &n,
                                                   .blocks = count,
                                                   .threads = n.as.kernel.threads_per_block,
                                                   .demand = wave.demand,
                                                   .from = ns,
                                                   .alone = static_cast<double>(alone)});
  // What they do may not be known from all samples yet.
  if (n.times.work == nullptr || !n.times.work->counts())
    last_piece_ = {&n, &work, ns, together, id};
  if (n.times.work != nullptr && n.times.work->uneven())
    s.uneven.add(id, &n, work, count, together, first);
  shares_changed_ = true;
  add_needs(n, s.device.at(id), count);
  post_end(n, id, ns + alone);
}

// No block comes any more: those that are left have the multiprocessors to themselves.
void modelled::hurry_last_ones(node& n) {
  if (n.times.work == nullptr || !n.times.work->uneven()) return;
  const std::uint64_t left = n.times.blocks_granted - n.times.blocks_over;
  std::uint64_t& told = n.times.last_ones;
  if (told != 0 && left > told - told / 16) return;
  told = left;
  sharing& s = shares_[n.device.value];
  for (const uneven_blocks::faster& f : s.uneven.last_ones(&n, timing_))
    post_end(n, f.id, s.device.stretch(f.id, now_, f.times));
}

// A copy inside of the device, or a fill, that moves so many bytes from `ns` on.
void modelled::share_memory(node& n, std::uint64_t ns, double alone, double bytes) {
  const std::uint64_t length = rounded_ns(alone);
  const double demand = alone > 0 ? bytes / timing_.memory_bytes_per_ns / alone : 0;
  n.times.piece = shares_[n.device.value].device.add({.owner = &n,
                                                      .demand = {.memory = demand},
                                                      .from = ns,
                                                      .alone = static_cast<double>(length)});
  shares_changed_ = true;
  post_end(n, n.times.piece, ns + length);
}

void modelled::post_end(node& n, shared_device::piece_id id, std::uint64_t ns) {
  sharing& s = shares_[n.device.value];
  if (s.ends.size() <= id) {
    s.ends.resize(id + 1);
    s.nodes.resize(id + 1);
  }
  s.ends[id] = order_;
  s.nodes[id] = &n;
  if (n.as.kind == command_kind::kernel)
    post({.what = event::kind::blocks, .ns = ns, .n = &n, .device = n.device.value, .piece = id});
  else
    post_operation(n, ns);
}

bool modelled::outdated(const event& e) const {
  switch (e.what) {
    case event::kind::operation:
      return e.n->times.end_event != e.order;
    case event::kind::blocks:
      return shares_[e.device].ends[e.piece] != e.order;
    case event::kind::share:
      return shares_[e.device].look_ns != e.ns;
    case event::kind::look:
      return look_ns_ != e.ns;
    case event::kind::wake:
      return e.waiting->alarm_ns != e.ns;
    case event::kind::meeting:
    case event::kind::section:
      break;
  }
  return false;
}

// Whether blocks of a kernel which has others that wait end in so short a time that it does not
// matter to them.
bool modelled::is_nearly_over(const event& e, device_id device) const {
  if (e.what != event::kind::blocks || outdated(e) || e.n->device != device) return false;
  const shared_device::piece& p = shares_[device.value].device.at(e.piece);
  return e.n->times.blocks_granted != e.n->run.blocks &&
         ends_in_a_moment(p.from, e.ns, now_, rounded_ns(timing_.kernel_gap_ns));
}

std::uint64_t modelled::end_piece(const event& e) {
  const bool kernel = e.what == event::kind::blocks;
  const auto id = kernel ? e.piece : std::exchange(e.n->times.piece, command_times::no_piece);
  if (id == command_times::no_piece) return 0;
  sharing& s = shares_[e.n->device.value];
  const std::uint64_t blocks = s.device.at(id).blocks;
  s.device.remove(id);
  s.uneven.remove(id);
  s.ends[id] = host_clocks::never;
  shares_changed_ = true;
  last_piece_ = {};
  return blocks;
}

// After everything that happens at this moment.
void modelled::update_shares() {
  shares_changed_ = false;
  last_piece_ = {};
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    sharing& s = shares_[i];
    if (!s.device.changed()) continue;
    for (const shared_device::moved& m : s.device.update(now_))
      post_end(*s.nodes[m.id], m.id, m.end);
    const std::uint64_t next = s.device.next_begin();
    if (next == s.look_ns) continue;
    s.look_ns = next;
    if (next != host_clocks::never)
      post({.what = event::kind::share, .ns = next, .device = static_cast<std::uint32_t>(i)});
  }
}

}  // namespace sb::engine
