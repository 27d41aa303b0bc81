// The part of modelled.hpp that has blocks look again which wait for memory that others write.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "engine/modelled.hpp"

namespace sb::engine {

// Whether one of them got on.
bool modelled::look_at_spinners(std::uint64_t ns) {
  look_ns_ = host_clocks::never;
  changed_ = look_at(std::exchange(spinners_, {}), ns);
  return changed_;
}

// The same, for some that have been taken off the list. They are there again if they did not. Those
// that do go on at `ns`.
bool modelled::look_at(const std::vector<block*>& some, std::uint64_t ns) {
  if (some.empty()) return false;
  bool any = false;
  const std::uint64_t look = look_time(some.size());
  executor_.run([&](worker& w) {
    for (block* b : some) {
      const std::uint64_t before = b->model_ns;
      b->model_ns =
          b->has_sleepers() ? std::max(before, now_) : std::max({before + look, ns, now_});
      const block_outcome outcome = b->resume(w);
      any |= b->got_on();
      if (!b->got_on()) b->model_ns = before;
      place(w, b, outcome);
    }
  });
  return any;
}

// What was written so far is no work of what runs next.
void modelled::look_before_others_write() {
  const bool due = changed_ || look_ns_ != host_clocks::never;
  if (due) look_at_spinners(std::min(look_ns_, now_ + look_time(spinners_.size())));
}

// It ran at once, but its end is when others see what it wrote. Blocks of its own see that before.
void modelled::look_at_writes_of(const kernel_run* ran) {
  changed_ = true;
  const auto is_other = [&](const block* b) { return b->run != ran; };
  std::vector<block*> others;
  std::ranges::copy_if(spinners_, std::back_inserter(others), is_other);
  std::erase_if(spinners_, is_other);
  look_at(others, std::max(written_ns_, now_) + look_time(others.size()));
}

void modelled::post_look() {
  if (!std::exchange(changed_, false) || spinners_.empty() || look_ns_ != host_clocks::never)
    return;
  look_ns_ = std::max(now_, std::exchange(changed_ns_, 0)) + look_time(spinners_.size());
  post({.what = event::kind::look, .ns = look_ns_});
}

std::uint64_t modelled::look_time(std::size_t blocks) const {
  return rounded_ns(std::max(timing_.look_ns, static_cast<double>(blocks) / timing_.looks_per_ns));
}

namespace {

// A kernel that gives up looking after many times is none that hangs.
constexpr std::uint64_t most_looks = 100'000, most_turns = 10'000'000;
std::uint64_t looks_of_each(std::uint64_t threads) {
  return std::clamp<std::uint64_t>(most_turns / std::max<std::uint64_t>(1, threads), 1, most_looks);
}

}  // namespace

// It looks again when it has slept; one that asks for the time may stop looking at some time.
void modelled::note_nap(block& b, block_outcome outcome) {
  const bool spins = outcome == block_outcome::spinning;
  const bool naps = (spins || outcome == block_outcome::sleeping) && b.only_naps();
  if (naps && nappers_.insert(&b).second)
    napping_threads_ += b.run->threads;
  else if (!naps && nappers_.erase(&b) != 0)
    napping_threads_ -= b.run->threads;
  const bool asked_time = std::exchange(b.asked_time, false);
  if (naps && b.woke() && !asked_time) {
    if (naps_in_vain_++ == 0) naps_since_ns_ = now_;
  } else if (!spins || b.woke() || b.got_on()) {
    naps_in_vain_ = 0;
  }
}

// Threads that see something new whenever they look, as a counter that they move themselves, go on
// at one moment. Who is to stop them may sleep until a later one: so their looks take time after
// all, when they were many. Answers whether it goes on later.
bool modelled::looks_for_too_long(block& b) {
  constexpr std::uint32_t most_turns_at_once = 64;
  const std::uint32_t looks = b.held ? 0 : b.looks_of_long_turn();
  b.busy_turns = looks != 0 ? b.busy_turns + 1 : 0;
  if (b.busy_turns <= most_turns_at_once) return false;
  const std::uint64_t end = b.model_ns + look_time(1) * (1 + looks / b.run->threads);
  b.wake_ns = b.has_sleepers() ? std::min(b.wake_ns, end) : end;
  wake_later(b);
  return true;
}

// A timer that begins again and again for nobody keeps no program going.
bool modelled::in_vain() const {
  constexpr std::uint64_t expirations_for_nobody = 1'000'000;
  if (expired_in_vain_ >= expirations_for_nobody) return true;
  const bool looks_are_due = look_ns_ != host_clocks::never;
  if (nappers_.empty() || timer_ns() != host_clocks::never ||
      events_.size() != nappers_.size() + (looks_are_due ? 1 : 0) ||
      naps_in_vain_ / nappers_.size() < looks_of_each(napping_threads_))
    return false;
  // Nor does anybody still sleep who may have seen what he looked for.
  return std::ranges::all_of(
      nappers_, [&](const block* b) { return b->longest_asleep_ns() >= naps_since_ns_; });
}

const kernel_run* modelled::first_in_vain() const {
  if (!spinners_.empty()) return spinners_.front()->run;
  const auto place_of = [](const block* b) {
    return std::pair(static_cast<const node*>(b->run->owner)->id, b->index);
  };
  const auto first = std::ranges::min_element(nappers_, {}, place_of);
  return first != nappers_.end() ? (*first)->run : nullptr;
}

// Some of them look so many times at most: nobody else does anything until they give up, and each
// look takes as long as a load of what the second level of the caches has.
bool modelled::look_until_they_give_up() {
  const auto gives_up = [](const block* b) { return b->info->gives_up != 0; };
  if (std::ranges::none_of(spinners_, gives_up)) return false;
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  const auto blocks = static_cast<double>(spinners_.size());
  const std::uint64_t look =
      rounded_ns(std::max(timing_.l2_load_ns, blocks / timing_.l2_requests_per_ns));
  for (std::uint64_t i = 0; i < most; ++i) {
    now_ += look;
    if (look_at_spinners(now_)) return true;
  }
  return false;
}

// Thousands of threads that spin cannot all be asked often: then the first and the last block of
// each kernel are.
bool modelled::look_for_long() {
  if (look_until_they_give_up()) return true;
  const auto looks = [&](const std::vector<block*>& some) {
    std::uint64_t threads = 0;
    for (const block* b : some) threads += b->run->threads;
    return looks_of_each(threads);
  };
  const std::uint64_t of_all = spinners_.empty() ? 0 : looks(spinners_);
  for (std::uint64_t i = 0; i < of_all; ++i)
    if (look_at_spinners(now_)) return true;
  if (of_all == 0 || of_all == most_looks) return false;

  std::map<const kernel_run*, std::pair<block*, block*>> ends;
  for (block* b : spinners_) {
    auto& [first, last] = ends.try_emplace(b->run, b, b).first->second;
    if (b->index < first->index) first = b;
    if (b->index > last->index) last = b;
  }
  std::vector<block*> few;
  for (block* b : spinners_) {
    const auto& [first, last] = ends.at(b->run);
    if (b == first || b == last) few.push_back(b);
  }
  const std::uint64_t of_few = looks(few);
  for (std::uint64_t i = 0; i < of_few; ++i) {
    std::erase_if(spinners_, [&](block* b) { return std::ranges::find(few, b) != few.end(); });
    if (look_at(few, now_)) return true;
  }
  return false;
}

}  // namespace sb::engine
