// Kernels on the multiprocessors: which are resident, and whose blocks run next.
//
// - Up to 128 kernels are resident (queues.tsv *.gates.enqueued); among ready ones the higher
// priority
//   becomes resident first, then the one that was ready first.
// - Blocks are granted to the resident kernel of the highest priority, and within a priority to the
// one
//   that became resident first. The next kernel gets blocks when all of the first one's are out and
//   there is room left: that is how two kernels share the device. Nobody overtakes a kernel whose
//   next block does not fit.
// - Room is counted over the whole device, not by multiprocessor; but no kernel gets more blocks
// than
//   its occupancy allows, so that one kernel alone runs in exactly the waves that the device runs.
//   Of blocks that take more than half of a multiprocessor's shared memory or registers there are
//   no more than multiprocessors, whatever their kernels.
// - A cooperative kernel gets all its blocks at once or none.
// - On a device without copy engines a copy or fill runs alone: it starts when nothing runs, and no
//   kernel becomes resident beside it. Of the copy and the kernel whose turn it is, the one that
//   was submitted first goes first.
#include <algorithm>
#include <bit>
#include <cassert>

#include "sched/state.hpp"

namespace sb::sched {

void scheduler::impl::touch(std::uint16_t device) {
  device_state& d = devices[device];
  if (!d.touched) {
    d.touched = true;
    touched.push_back(device);
  }
}

// Every kernel that may become resident does so before blocks are granted: a higher priority has to
// be seen first.
void scheduler::impl::arbitrate(device_state& d) {
  start_copies(d);
  while (start_alone(d) || make_resident(d)) {
  }
  if (!ready.empty()) {
    // Something was behind these kernels in a queue. Look at it, then come back.
    touch(static_cast<std::uint16_t>(&d - devices.data()));
    return;
  }
  while (grant(d)) {
  }
}

// The copy or fill whose turn it is, on a device that does one thing at a time.
bool scheduler::impl::start_alone(device_state& d) {
  if (d.limits.copy_engines != 0 || alone(d).empty() || d.copy_engines[0].busy || d.resident != 0) {
    return false;
  }
  if (d.kernels_mask != 0) {
    const index kernel = d.kernels[static_cast<std::size_t>(std::countr_zero(d.kernels_mask))].head;
    if (commands[kernel].id < commands[alone(d).head].id) {
      return false;
    }
  }
  d.copy_engines[0].busy = true;
  --d.copy_engines[0].waiting;
  start(pop(alone(d)));
  return true;
}

bool scheduler::impl::make_resident(device_state& d) {
  if (d.kernels_mask == 0 || d.resident >= d.limits.resident_kernels) {
    return false;
  }
  const auto level = static_cast<std::size_t>(std::countr_zero(d.kernels_mask));
  if (d.limits.copy_engines == 0 &&
      (d.copy_engines[0].busy ||
       (!alone(d).empty() && commands[alone(d).head].id < commands[d.kernels[level].head].id))) {
    return false;
  }
  const index command = pop(d.kernels[level]);
  if (d.kernels[level].empty()) {
    d.kernels_mask &= ~(1U << level);
  }
  ++d.resident;
  leave_queue(command);
  start(command);

  pending_command& c = commands[command];
  const index i = residents.take();
  residents[i] = {.to_grant = c.blocks,
                  .running = 0,
                  .charge = charge_of(d, c),
                  .command = command,
                  .link = none,
                  .cooperative = c.cooperative};
  c.link = i;
  line& l = d.granting[level];
  if (l.tail == none) {
    l.head = i;
  } else {
    residents[l.tail].link = i;
  }
  l.tail = i;
  d.granting_mask |= 1U << level;
  return true;
}

namespace {

// Without dividing: most kernels are small enough to be granted whole.
bool fits(const device_state& d, const resident_kernel& r, std::uint64_t n) {
  return n <= d.free_blocks && n * r.charge.threads <= d.free_threads &&
         n * r.charge.shared_bytes <= d.free_shared && n * r.charge.registers <= d.free_registers &&
         n * r.charge.wide_shared <= d.free_wide_shared &&
         n * r.charge.wide_registers <= d.free_wide_registers &&
         n + r.running <= r.charge.most_at_once;
}

}  // namespace

// Says no rather than compute exactly: registers are dealt out by the warp and shared memory has
// its overhead.
bool scheduler::impl::has_room(const device_state& d, const kernel_shape& kernel) const {
  if (d.limits.copy_engines == 0 || kernel.cooperative || d.kernels_mask != 0 ||
      d.granting_mask != 0 || d.resident >= d.limits.resident_kernels) {
    return false;
  }
  constexpr std::uint64_t warp = 32, registers_more = 8, shared_more = 2048;
  const std::uint64_t n = kernel.blocks;
  const std::uint64_t threads = (kernel.threads_per_block + warp - 1) / warp * warp;
  return n <= d.free_blocks && n * threads <= d.free_threads &&
         n * threads * (kernel.registers + registers_more) <= d.free_registers &&
         n * (kernel.shared_bytes + shared_more) <= d.free_shared && n <= d.free_wide_shared &&
         n <= d.free_wide_registers;
}

// Grants to the kernel whose turn it is. False when that gives nothing, or leaves it in front.
bool scheduler::impl::grant(device_state& d) {
  if (d.granting_mask == 0) {
    return false;
  }
  const auto level = static_cast<std::size_t>(std::countr_zero(d.granting_mask));
  line& l = d.granting[level];
  resident_kernel& r = residents[l.head];
  const block_charge& charge = r.charge;
  std::uint64_t n = r.to_grant;
  if (!fits(d, r, n)) {
    n = std::min<std::uint64_t>(n, d.free_blocks);
    n = std::min<std::uint64_t>(n, d.free_threads / charge.threads);
    n = std::min<std::uint64_t>(n, d.free_shared / charge.shared_bytes);
    n = std::min<std::uint64_t>(n, d.free_registers / charge.registers);
    n = std::min<std::uint64_t>(n, charge.most_at_once - r.running);
    if (charge.wide_shared != 0) {
      n = std::min<std::uint64_t>(n, d.free_wide_shared);
    }
    if (charge.wide_registers != 0) {
      n = std::min<std::uint64_t>(n, d.free_wide_registers);
    }
  }
  if (r.cooperative && n < std::min<std::uint64_t>(r.to_grant, charge.most_at_once)) {
    n = 0;
  }
  if (n == 0) {
    return false;
  }
  take_blocks(d, r, n);
  emit(action_kind::grant, commands[r.command], n);
  if (r.to_grant != 0) {
    return false;
  }
  l.head = r.link;
  if (l.head == none) {
    l.tail = none;
    d.granting_mask &= ~(1U << level);
  }
  return true;
}

const block_charge& scheduler::impl::charge_of(device_state& d, const pending_command& c) {
  kernel_shape& shape = d.last_shape;
  if (shape.threads_per_block == c.threads_per_block && shape.shared_bytes == c.shared_bytes &&
      shape.registers == c.registers && shape.blocks != 0) {
    return d.last_charge;
  }
  shape = {.blocks = 1,
           .threads_per_block = c.threads_per_block,
           .shared_bytes = c.shared_bytes,
           .registers = c.registers};
  const multiprocessor_limits& m = d.multiprocessor;
  const block_footprint f = footprint_of(m, c.threads_per_block, c.shared_bytes, c.registers);
  // A block that no multiprocessor can hold is refused before it gets here; should one come all the
  // same, it counts as one that fills a multiprocessor.
  d.last_charge = {
      .threads = std::min(f.threads, m.threads),
      .shared_bytes = std::clamp(f.shared_bytes, 1U, m.shared_bytes),
      .registers = std::min(f.registers, m.registers),
      .most_at_once = d.limits.multiprocessors * std::max(1U, blocks_per_multiprocessor(m, f)),
      .wide_shared = f.shared_bytes > m.shared_bytes / 2 ? 1U : 0U,
      .wide_registers = f.registers > m.registers / 2 ? 1U : 0U,
  };
  return d.last_charge;
}

void scheduler::impl::take_blocks(device_state& d, resident_kernel& r, std::uint64_t n) {
  const auto blocks = static_cast<std::uint32_t>(n);
  d.free_blocks -= blocks;
  d.free_threads -= blocks * r.charge.threads;
  d.free_shared -= blocks * r.charge.shared_bytes;
  d.free_registers -= blocks * r.charge.registers;
  d.free_wide_shared -= blocks * r.charge.wide_shared;
  d.free_wide_registers -= blocks * r.charge.wide_registers;
  r.running += n;
  r.to_grant -= n;
}

void scheduler::impl::give_blocks(device_state& d, resident_kernel& r, std::uint64_t n) {
  const auto blocks = static_cast<std::uint32_t>(n);
  d.free_blocks += blocks;
  d.free_threads += blocks * r.charge.threads;
  d.free_shared += blocks * r.charge.shared_bytes;
  d.free_registers += blocks * r.charge.registers;
  d.free_wide_shared += blocks * r.charge.wide_shared;
  d.free_wide_registers += blocks * r.charge.wide_registers;
  r.running -= n;
}

void scheduler::impl::blocks_done(command_id id, std::uint64_t n, std::uint64_t passed,
                                  std::uint64_t took) {
  const index command = ids.find(id.value);
  if (command == none) {
    return;  // abandoned while these blocks ran
  }
  pending_command& c = commands[command];
  if (c.kind != command_kind::kernel || c.at != phase::started) {
    return;
  }
  time.ended(command, took);
  resident_kernel& r = residents[c.link];
  device_state& d = devices[c.device];
  if (const std::uint64_t skipped = std::min(passed, r.to_grant); skipped != 0) {
    r.to_grant -= skipped;
    if (r.to_grant == 0) {
      leave_line(d, c);
    }
    passed -= skipped;
  }
  n += passed;  // granted while they ran
  assert(n <= r.running);
  give_blocks(d, r, std::min(n, r.running));
  touch(c.device);
  if (r.running == 0 && r.to_grant == 0) {
    // What follows it in its stream comes too late for its room: blocks that wait have it before,
    // whatever their priority. A kernel that waits for a place on the device does not.
    while (d.kernels_mask == 0 && grant(d)) {
    }
    leave_device(command, r);
  }
  settle();
}

void scheduler::impl::abandon(command_id id) {
  const index command = ids.find(id.value);
  if (command == none) {
    return;
  }
  pending_command& c = commands[command];
  if (c.kind != command_kind::kernel || c.at != phase::started) {
    return;
  }
  time.ended(command, unmeasured);
  resident_kernel& r = residents[c.link];
  device_state& d = devices[c.device];
  give_blocks(d, r, r.running);
  if (r.to_grant != 0) {
    leave_line(d, c);
  }
  touch(c.device);
  leave_device(command, r);
  settle();
}

scheduler::kernel_blocks scheduler::impl::blocks_of(command_id id) const {
  const index command = ids.find(id.value);
  if (command == none) return {};
  const pending_command& c = commands[command];
  if (c.kind != command_kind::kernel || c.at != phase::started) return {};
  const resident_kernel& r = residents[c.link];
  return {.running = r.running, .waiting = r.to_grant};
}

// Rare: looks for it among the kernels that wait for grants.
void scheduler::impl::leave_line(device_state& d, const pending_command& c) {
  line& l = d.granting[c.level];
  index previous = none;
  for (index i = l.head; i != c.link; i = residents[i].link) {
    previous = i;
  }
  (previous == none ? l.head : residents[previous].link) = residents[c.link].link;
  if (l.tail == c.link) {
    l.tail = previous;
  }
  if (l.head == none) {
    d.granting_mask &= ~(1U << c.level);
  }
}

void scheduler::impl::leave_device(index command, resident_kernel& /*r*/) {
  pending_command& c = commands[command];
  --devices[c.device].resident;
  residents.give_back(c.link);
  finish(command);
}

}  // namespace sb::sched
