#include "model/shared_device.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sb {

namespace {

// What is asked for beyond this is more than there is; not a rounding.
constexpr double all = 1 + 1e-9;
// Nobody stands still: work that gets nothing would end never, and nothing is that slow.
constexpr double least_speed = 1e-3;

}  // namespace

shared_device::shared_device(std::uint32_t multiprocessors, double older_first)
    : multiprocessors_(std::max(1U, multiprocessors)),
      older_first_(std::clamp(older_first, 0.0, 1.0)),
      threads_(multiprocessors_, 0),
      load_(multiprocessors_, 0) {}

shared_device::owner& shared_device::owner_of(const void* who) {
  const auto found =
      std::find_if(owners_.begin(), owners_.end(), [&](const owner& o) { return o.who == who; });
  return found != owners_.end() ? *found : owners_.emplace_back(owner{.who = who});
}

shared_device::piece_id shared_device::add(const piece& p) {
  if (free_.empty()) {
    free_.push_back(static_cast<piece_id>(pieces_.size()));
    pieces_.emplace_back();
  }
  const piece_id id = free_.back();
  free_.pop_back();
  owner& o = owner_of(p.owner);
  state& s = pieces_[id];
  s.next = std::exchange(o.first, id);
  s.what = p;
  s.left = p.alone;
  s.since = p.from;
  s.speed = 1;
  s.placed = false;
  changed_ = true;
  return id;
}

void shared_device::add_blocks(piece_id id, std::uint64_t blocks) {
  pieces_[id].what.blocks += blocks;
}

std::uint64_t shared_device::stretch(piece_id id, std::uint64_t now, double times) {
  state& s = pieces_[id];
  progress(s, now);
  s.left *= times;
  s.what.demand.arithmetic /= times;
  s.what.demand.memory /= times;
  changed_ = true;
  return std::max(now, s.since) + static_cast<std::uint64_t>(std::ceil(s.left / s.speed - 1e-6));
}

void shared_device::remove(piece_id id) {
  state& s = pieces_[id];
  if (s.placed)
    for (const std::uint32_t m : s.more) threads_[m] -= s.what.threads;
  s.more.clear();
  const auto o = std::find_if(owners_.begin(), owners_.end(),
                              [&](const owner& each) { return each.who == s.what.owner; });
  piece_id* link = &o->first;
  while (*link != id) link = &pieces_[*link].next;
  *link = s.next;
  if (o->first == none) owners_.erase(o);
  free_.push_back(id);
  changed_ = true;
}

void shared_device::progress(state& s, std::uint64_t now) const {
  if (now <= s.since) return;
  s.left = std::max(0.0, s.left - s.speed * static_cast<double>(now - s.since));
  s.since = now;
}

// Blocks go where the fewest threads are.
void shared_device::place(state& s) {
  s.placed = true;
  s.each = s.what.blocks / multiprocessors_;
  const std::uint64_t more = s.what.blocks % multiprocessors_;
  if (more == 0) return;
  std::vector<std::uint32_t> order(multiprocessors_);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  const auto fewer = [&](std::uint32_t a, std::uint32_t b) {
    return threads_[a] != threads_[b] ? threads_[a] < threads_[b] : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(more);
  std::nth_element(order.begin(), end - 1, order.end(), fewer);
  s.more.assign(order.begin(), end);
  s.has_more.assign(multiprocessors_, false);
  for (const std::uint32_t m : s.more) {
    threads_[m] += s.what.threads;
    s.has_more[m] = true;
  }
}

const std::vector<shared_device::moved>& shared_device::update(std::uint64_t now) {
  changed_ = false;
  next_begin_ = never;
  moved_.clear();
  for (owner& o : owners_) o.speed = 1;
  if (owners_.size() > 1) {
    for (const owner& o : owners_) {
      for (piece_id id = o.first; id != none; id = pieces_[id].next) {
        state& s = pieces_[id];
        if (s.what.from > now)
          next_begin_ = std::min(next_begin_, s.what.from);
        else if (!s.placed)
          place(s);
      }
    }
    share_pipes(now);
    share_memory(now);
  }
  for (const owner& o : owners_) {
    for (piece_id id = o.first; id != none; id = pieces_[id].next) {
      state& s = pieces_[id];
      if (s.speed == o.speed) continue;
      progress(s, now);
      s.speed = std::max(o.speed, least_speed);
      const double left = std::ceil(s.left / s.speed - 1e-6);
      moved_.push_back({id, std::max(now, s.since) + static_cast<std::uint64_t>(left)});
    }
  }
  return moved_;
}

// --- who gets what

// Among the owners, who want `wants` of 1 that there is.
void shared_device::divide(double by_age) {
  double sum = 0;
  for (const owner& o : owners_) sum += o.wants;
  if (sum <= all) {
    for (owner& o : owners_) o.gets = o.wants;
    return;
  }
  // To all alike, but to nobody more than it wants: the level up to which everybody gets.
  double left = 1 - by_age;
  std::vector<double> wishes;
  for (const owner& o : owners_)
    if (o.wants > 0) wishes.push_back(o.wants);
  std::sort(wishes.begin(), wishes.end());
  double level = 0;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const double others = static_cast<double>(wishes.size() - i);
    level = left / others;
    if (wishes[i] >= level) break;
    left -= wishes[i];
  }
  double rest = 1;
  for (owner& o : owners_) {
    o.gets = std::min(o.wants, level);
    rest -= o.gets;
  }
  for (owner& o : owners_) {
    const double more = std::clamp(rest, 0.0, o.wants - o.gets);
    o.gets += more;
    rest -= more;
  }
}

void shared_device::share_pipes(std::uint64_t now) {
  double everywhere = 0;
  bool alike = true;
  std::fill(load_.begin(), load_.end(), 0.0);
  for (const owner& o : owners_) {
    for (piece_id id = o.first; id != none; id = pieces_[id].next) {
      const state& s = pieces_[id];
      if (s.what.from > now) continue;
      everywhere += s.what.demand.arithmetic * static_cast<double>(s.each);
      for (const std::uint32_t m : s.more) load_[m] += s.what.demand.arithmetic;
      alike = alike && s.more.empty();
    }
  }
  if (alike) {
    if (everywhere > all) share_multiprocessor(0, now);
    return;
  }
  for (std::size_t m = 0; m < load_.size(); ++m)
    if (everywhere + load_[m] > all) share_multiprocessor(m, now);
}

void shared_device::share_multiprocessor(std::size_t at, std::uint64_t now) {
  for (owner& o : owners_) {
    o.wants = 0;
    for (piece_id id = o.first; id != none; id = pieces_[id].next) {
      const state& s = pieces_[id];
      if (s.what.from > now || s.what.blocks == 0) continue;
      const bool more = !s.more.empty() && s.has_more[at];
      o.wants += s.what.demand.arithmetic * static_cast<double>(s.each + (more ? 1 : 0));
    }
    o.wants = std::min(o.wants, 1.0);
  }
  divide(older_first_);
  for (owner& o : owners_)
    if (o.wants > 0) o.speed = std::min(o.speed, o.gets / o.wants);
}

void shared_device::share_memory(std::uint64_t now) {
  for (owner& o : owners_) {
    o.wants = 0;
    for (piece_id id = o.first; id != none; id = pieces_[id].next) {
      const state& s = pieces_[id];
      if (s.what.from > now) continue;
      const double blocks = s.what.blocks == 0 ? 1 : static_cast<double>(s.what.blocks);
      o.wants += s.what.demand.memory * blocks;
    }
    o.wants = std::min(o.wants, 1.0) * o.speed;
  }
  divide(0);
  for (owner& o : owners_)
    if (o.wants > o.gets) o.speed *= o.gets / o.wants;
}

}  // namespace sb
