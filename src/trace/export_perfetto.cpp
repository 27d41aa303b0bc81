#include <string>
#include <unordered_map>

#include "trace/export.hpp"
#include "trace/proto.hpp"
#include "trace/rows.hpp"
#include "trace/words.hpp"

namespace sb::trace {
namespace {

// The numbers of the fields that are used here.
namespace packet {
constexpr unsigned in_trace = 1, timestamp = 8, sequence = 10, track_event = 11, interned = 12,
                   sequence_flags = 13, track_descriptor = 60;
constexpr unsigned state_cleared = 1, needs_state = 2;
}  // namespace packet
namespace descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, parent = 5, child_ordering = 11, rank = 12;
constexpr unsigned process_id = 1, process_name = 6, explicit_order = 3;
}  // namespace descriptor
namespace event {
constexpr unsigned category_iids = 3, annotations = 4, type = 9, name_iid = 10, track = 11,
                   flows = 47, ending_flows = 48;
constexpr unsigned begin = 1, end = 2, instant = 3;
}  // namespace event
namespace annotation_field {
constexpr unsigned name_iid = 1, number = 3, text = 6;
}

constexpr unsigned our_sequence = 1;

// Texts that are written once and then named by a number.
class interned_texts {
 public:
  explicit interned_texts(unsigned field) : field_(field) {}
  std::uint64_t find(const std::string& text, proto_message& news) {
    const auto [entry, is_new] = numbers_.try_emplace(text, numbers_.size() + 1);
    if (is_new) {
      proto_message one;
      one.number(1, entry->second);
      one.text(2, text);
      news.message(field_, one);
    }
    return entry->second;
  }

 private:
  unsigned field_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

// Arrows: from the slice that was waited for to the one that waited, and from a call to its work.
class arrows {
 public:
  explicit arrows(const trace& what) : from_operation_(what.operations.size()) {
    std::uint64_t next = 1;
    for (const operation& op : what.operations) {
      first_.push_back(next);
      for (const edge& wait : op.waits) {
        if (wait.from != none) from_operation_[wait.from].push_back(next);
        ++next;
      }
    }
    calls_ = next;
  }
  void add(const trace& what, const slice& one, proto_message& out) const {
    if (one.what == slice::source::call) return out.fixed(event::flows, calls_ + one.which);
    for (const std::uint64_t arrow : from_operation_[one.which]) out.fixed(event::flows, arrow);
    const operation& op = what.operations[one.which];
    std::uint64_t arrow = first_[one.which];
    for (const edge& wait : op.waits) {
      if (wait.from != none) out.fixed(event::ending_flows, arrow);
      ++arrow;
    }
    // A call may issue several operations, so the flow does not end here.
    if (op.call != none) out.fixed(event::flows, calls_ + op.call);
  }

 private:
  std::vector<std::vector<std::uint64_t>> from_operation_;
  std::vector<std::uint64_t> first_;
  std::uint64_t calls_ = 0;
};

class perfetto_file {
 public:
  perfetto_file(const trace& what, const export_sink& out)
      : what_(what), out_(out), arrows_(what) {}

  void write() {
    std::uint64_t rank = 0;
    for (const lane_group& group : rows_of(what_)) {
      const std::uint64_t parent = ++tracks_;
      describe_group(group, parent, rank++);
      std::uint64_t inner = 0;
      for (const lane& one : group.lanes) {
        const std::uint64_t track = ++tracks_;
        describe_lane(one, track, parent, inner++);
        std::vector<nanoseconds> open;  // ends, the outermost first
        for (const slice& part : one.slices) {
          end_slices(track, open, part.begin);
          if (begin_slice(part, track, one.what)) open.push_back(part.end);
        }
        end_slices(track, open, never);
      }
    }
    add_pending();
  }

 private:
  void describe_group(const lane_group& group, std::uint64_t uuid, std::uint64_t rank) {
    proto_message process, track, out;
    process.number(descriptor::process_id, rank + 1);
    process.text(descriptor::process_name, group.name);
    track.number(descriptor::uuid, uuid);
    track.message(descriptor::process, process);
    track.number(descriptor::child_ordering, descriptor::explicit_order);
    track.number(descriptor::rank, rank);
    out.message(packet::track_descriptor, track);
    finish(out);
  }

  void describe_lane(const lane& one, std::uint64_t uuid, std::uint64_t parent,
                     std::uint64_t rank) {
    proto_message track, out;
    track.number(descriptor::uuid, uuid);
    track.text(descriptor::name, one.name);
    track.number(descriptor::parent, parent);
    track.number(descriptor::rank, rank);
    out.message(packet::track_descriptor, track);
    finish(out);
  }

  // Perfetto pairs begins and ends of a track as they stand in the file when their times are equal.
  // Answers whether an end has to follow.
  bool begin_slice(const slice& one, std::uint64_t track, lane::sort where) {
    const bool is_mark = one.what == slice::source::annotation &&
                         what_.annotations[one.which].what == annotation::shape::mark;
    proto_message news, begun;
    begun.number(event::type, is_mark ? event::instant : event::begin);
    begun.number(event::track, track);
    begun.number(event::category_iids,
                 categories_.find(std::string(category_of(what_, one)), news));
    begun.number(event::name_iid, names_.find(label_of(what_, one), news));
    // An operation has its details in the row of its stream.
    if (where != lane::sort::engine) {
      add_details(details_of(what_, one), begun, news);
      if (one.what != slice::source::annotation) arrows_.add(what_, one, begun);
    }
    put(one.begin, begun, news);
    return !is_mark;
  }

  // Those that end before `until` or then.
  void end_slices(std::uint64_t track, std::vector<nanoseconds>& open, nanoseconds until) {
    for (; !open.empty() && open.back() <= until; open.pop_back()) {
      proto_message ended;
      ended.number(event::type, event::end);
      ended.number(event::track, track);
      put(open.back(), ended, {});
    }
  }

  void add_details(const std::vector<detail>& list, proto_message& out, proto_message& news) {
    for (const detail& part : list) {
      proto_message one;
      one.number(annotation_field::name_iid, keys_.find(std::string(part.key), news));
      if (part.is_text)
        one.text(annotation_field::text, part.text);
      else
        one.number(annotation_field::number, part.value);
      out.message(event::annotations, one);
    }
  }

  // What never started: a mark in a row of its own, where it came into its stream.
  void add_pending() {
    std::uint64_t track = 0;
    for (number i = 0; i < what_.operations.size(); ++i) {
      const operation& op = what_.operations[i];
      if (op.started != never || op.queued == never) continue;
      if (track == 0) {
        track = ++tracks_;
        proto_message row, out;
        row.number(descriptor::uuid, track);
        row.text(descriptor::name, "never started");
        out.message(packet::track_descriptor, row);
        finish(out);
      }
      proto_message news, mark;
      mark.number(event::type, event::instant);
      mark.number(event::track, track);
      mark.number(event::name_iid, names_.find(label(what_, op), news));
      add_details(details_of(what_, {slice::source::operation, i, op.queued, op.queued}), mark,
                  news);
      put(op.queued, mark, news);
    }
  }

  void put(nanoseconds at, const proto_message& what, const proto_message& news) {
    proto_message out;
    out.number(packet::timestamp, at);
    if (!news.empty()) out.message(packet::interned, news);
    out.message(packet::track_event, what);
    finish(out);
  }

  void finish(proto_message& out) {
    out.number(packet::sequence, our_sequence);
    out.number(packet::sequence_flags, first_ ? packet::state_cleared : packet::needs_state);
    first_ = false;
    proto_message whole;
    whole.message(packet::in_trace, out);
    out_(whole.bytes());
  }

  const trace& what_;
  const export_sink& out_;
  arrows arrows_;
  interned_texts categories_{1}, names_{2}, keys_{3};
  std::uint64_t tracks_ = 0;
  bool first_ = true;
};

}  // namespace

void export_perfetto(const trace& what, const export_sink& out) {
  perfetto_file(what, out).write();
}

}  // namespace sb::trace
