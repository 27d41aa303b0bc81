// The part of recorder.hpp that tells what a call asks for, and how often.
#include "engine/recorder.hpp"

namespace sb::engine {

// What the present call looks at, whether it has to wait for it or not.
void recorder::asks_for(stream_id stream) {
  if (stream.value >= streams_.size()) return;
  const stream_notes& s = streams_[stream.value];
  trace::number asked = s.done;
  if (s.last_number != trace::none && (asked == trace::none || s.last_number > asked))
    asked = s.last_number;
  if (asked != trace::none) present().blocked_on = asked;
}

void recorder::asks_for(command_id command) {
  if (const node* found = commands_.find(command.value))
    present().blocked_on = found->recorded.number;
}

// A program that asks until something is over may do so a million times in a second, about one
// thing or about several in turn: questions that were answered in the same way before are one call
// with the last that was told and was in vain.
bool recorder::asked_again(recorded_thread& thread, const trace::call_record& now) {
  constexpr int not_ready = static_cast<int>(status::not_ready);
  constexpr std::uint32_t most_times = 0xfffffffe;
  asked_questions& asked = thread.asked;
  recorded_call& call = thread.call;
  const asked_questions::question one{call.name, now.place, now.blocked_on, now.status};
  const bool known = asked.has(one);
  if (known && asked.call != trace::none && asked.told.times < most_times) {
    trace::call_record more = asked.told;
    more.end = now.end;
    ++more.times;
    if (out_->returned_again(thread.lane, asked.call, more)) {
      asked.told = more;
      return true;
    }
  }
  if (call.number == asked.call) call.number = out_->begin_call();
  if (modelled_) return false;
  if (!known) {
    if (asked.count == asked_questions::most) asked.count = 0;
    asked.known[asked.count++] = one;
  }
  asked.call = now.status == not_ready ? call.number : trace::none;
  asked.told = now;
  return false;
}

}  // namespace sb::engine
