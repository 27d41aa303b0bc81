// The order that the data of a program needs: read from the byte ranges of its operations.
#include <algorithm>
#include <map>

#include "analysis/changes.hpp"

namespace sb::analysis {

namespace {

struct touch {
  number operation = none;
  number stream = none;
  trace::byte_range range;  // the part that it is taken for
  bool whole = false;       // it was not exact
};

bool one_writes(const trace::byte_range& a, const trace::byte_range& b) {
  return a.how != trace::access::read || b.how != trace::access::read;
}

}  // namespace

// A kernel's range is the whole allocation and not exact: it may touch any of it.
bool meet(const trace::byte_range& a, const trace::byte_range& b) {
  if (!one_writes(a, b)) return false;
  if (!a.exact || !b.exact) return true;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

namespace {

bool meet_likely(const trace::byte_range& a, const trace::byte_range& b) {
  if (!one_writes(a, b)) return false;
  // A range that is not exact begins where the pointer points; how far the kernel goes from there
  // is not known.
  if (!a.exact && !b.exact) return a.offset == b.offset;
  if (!a.exact) return b.offset <= a.offset && a.offset < b.offset + b.bytes;
  if (!b.exact) return a.offset <= b.offset && b.offset < a.offset + a.bytes;
  return meet(a, b);
}

bool is_work(const trace::operation& o) { return o.engine != trace::engine_kind::none; }

// What may touch anything comes behind all work before it, and all work after it comes behind it.
// What is in front of one is in front of the next one too, by way of that.
class barriers {
 public:
  explicit barriers(std::size_t streams) : last_(streams, none) {}

  void add(const trace::trace& t, number operation, std::vector<number>& after) {
    const trace::operation& o = t.operations[operation];
    if (!is_work(o) || o.stream >= last_.size()) return;
    if (barrier_ != none && t.operations[barrier_].stream != o.stream) after.push_back(barrier_);
    if (!touches_anything(o)) {
      if (last_[o.stream] == none) streams_.push_back(o.stream);
      last_[o.stream] = operation;
      return;
    }
    for (const number s : streams_) {
      if (s != o.stream) after.push_back(last_[s]);
      last_[s] = none;
    }
    streams_.clear();
    barrier_ = operation;
  }

 private:
  number barrier_ = none;        // the last one
  std::vector<number> last_;     // by stream: its last work since then
  std::vector<number> streams_;  // that have any
};

bool may_write_all(const trace::byte_range& r) { return !r.exact && r.how != trace::access::read; }

constexpr std::size_t remembered = 128;  // of an allocation: its last touches

// What an operation touches, and of stream-ordered memory what its coming and going does: it is
// there behind the one, and until the other. Memory that was given back may be what the next
// allocation gets, of which the trace says nothing: those keep their order (no allocation's).
class touched_ranges {
 public:
  explicit touched_ranges(const trace::trace& t) : t_(t) {
    for (number a = 0; a < t.allocations.size(); ++a) {
      const trace::allocation& one = t.allocations[a];
      if (one.allocated_by != none) by_call_[one.allocated_by].push_back(a);
      if (one.freed_by != none) by_call_[one.freed_by].push_back(a);
    }
  }
  const std::vector<trace::byte_range>& of(const trace::operation& o) {
    if (o.kind != trace::operation_kind::allocate && o.kind != trace::operation_kind::free)
      return o.ranges;
    ranges_.assign(1, {none, 0, 1, trace::access::write, true});
    if (const auto found = by_call_.find(o.call); found != by_call_.end())
      for (const number a : found->second)
        ranges_.push_back({a, 0, t_.allocations[a].bytes, trace::access::write, true});
    return ranges_;
  }

 private:
  const trace::trace& t_;
  std::map<number, std::vector<number>> by_call_;
  std::vector<trace::byte_range> ranges_;
};

}  // namespace

bool share_data(const trace::operation& a, const trace::operation& b, data_view view) {
  if (touches_anything(a) || touches_anything(b)) return is_work(a) && is_work(b);
  for (const trace::byte_range& x : a.ranges) {
    for (const trace::byte_range& y : b.ranges) {
      if (x.allocation == y.allocation &&
          (view == data_view::careful ? meet(x, y) : meet_likely(x, y))) {
        return true;
      }
    }
  }
  return false;
}

assumes_parts keep_data_order(const trace::trace& t, program& p, const allocation_parts& parts) {
  bool assumed = false;
  std::vector<std::vector<touch>> touches(t.allocations.size() + 1);  // the last: no allocation
  std::vector<number> streams;
  std::vector<const touch*> apart;  // of each stream, the last whose part is another one
  barriers all(t.streams.size());
  touched_ranges touched(t);
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    all.add(t, i, p.tasks[i].after);
    const std::vector<trace::byte_range>& ranges = touched.of(o);
    for (std::size_t at = 0; at < ranges.size(); ++at) {
      if (is_anything(ranges[at])) continue;
      const trace::byte_range r = &ranges == &o.ranges ? parts.range(o, at) : ranges[at];
      const bool whole = !ranges[at].exact;
      std::vector<touch>& earlier =
          touches[std::min<std::size_t>(r.allocation, t.allocations.size())];
      // Of each stream, the last one that meets this: the ones before it are behind it already.
      streams.assign(1, o.stream);
      apart.clear();
      const std::size_t oldest = earlier.size() > remembered ? earlier.size() - remembered : 0;
      for (std::size_t k = earlier.size(); k-- > oldest;) {
        const touch* before = &earlier[k];
        const bool seen =
            std::find(streams.begin(), streams.end(), before->stream) != streams.end();
        if (!seen && meet(before->range, r)) {
          streams.push_back(before->stream);
          p.tasks[i].after.push_back(before->operation);
          if (may_write_all(before->range)) break;  // it is behind all that is in front of it
        } else if (!seen && (whole || before->whole) && one_writes(before->range, r) &&
                   std::none_of(apart.begin(), apart.end(),
                                [&](const touch* one) { return one->stream == before->stream; })) {
          apart.push_back(before);
        }
      }
      // Where not all can be looked at, what is not known to be apart is not taken for it.
      for (const touch* before : apart) {
        const bool seen =
            std::find(streams.begin(), streams.end(), before->stream) != streams.end();
        if (oldest > 0 && !seen) p.tasks[i].after.push_back(before->operation);
        assumed |= oldest == 0;
      }
      // Many are dropped at once: one at a time, all others would be moved each time.
      if (earlier.size() >= 16 * remembered)
        earlier.erase(earlier.begin(), earlier.end() - remembered);
      earlier.push_back({i, o.stream, r, whole});
    }
  }
  return assumed ? assumes_parts::yes : assumes_parts::no;
}

}  // namespace sb::analysis
