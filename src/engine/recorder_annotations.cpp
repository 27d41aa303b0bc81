// What the program says about itself, and what is known of its threads, in the trace.
#include "engine/recorder.hpp"

namespace sb::engine {

trace::annotation_record recorder::annotation(const annotation_text& what) {
  const auto name = [&](std::string_view text) {
    return text.empty() ? trace::none : out_->name(text);
  };
  return {.thread = thread(),
          .domain = name(what.domain),
          .category = name(what.category),
          .text = name(what.text),
          .colour = what.colour,
          .at = since(clock_())};
}

trace::number recorder::begin_range(const annotation_text& what) {
  return out_->begin_range(annotation(what));
}

void recorder::end_range(trace::number range) { out_->end_range(range, since(clock_())); }

void recorder::mark(const annotation_text& what) { out_->mark(annotation(what)); }

void recorder::adopt(recorded_thread& thread) {
  if (thread.recorder != 0) {
    thread.number = thread.maker = trace::none;
    thread.places = {};
    thread.asked = {};
  }
  thread.recorder = self_;
}

void recorder::know(recorded_thread& thread) {
  if (thread.recorder != self_) adopt(thread);
  thread.number = out_->thread();
  if (thread.maker == trace::none) return;
  const trace::nanoseconds made = since(thread.made_ns);
  out_->thread_waited({.thread = thread.number, .other = thread.maker, .begin = made, .end = made});
}

void recorder::thread_waited(trace::thread_wait how, std::uint64_t begin_ns, std::uint64_t end_ns) {
  how.thread = thread();
  how.begin = since(begin_ns);
  how.end = since(end_ns);
  out_->thread_waited(how);
}

void recorder::name_thread(std::string_view name) { out_->name_thread(thread(), name); }

void recorder::name_stream(stream_id stream, std::string_view name) {
  if (stream.value < streams_.size() && streams_[stream.value].number != trace::none)
    out_->name_stream(streams_[stream.value].number, name);
}

}  // namespace sb::engine
