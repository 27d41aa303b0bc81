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

// A program that asks until something is over may do so a million times in a second: equal
// questions with the answer "not ready" are one call.
bool recorder::asked_again(recorded_thread& thread, trace::call_record told) {
  constexpr int not_ready = static_cast<int>(status::not_ready);
  constexpr std::uint32_t most = 0xfffffffe;
  asked_question& last = thread.asked;
  recorded_call& call = thread.call;
  if (call.name == last.name) {
    if (told.status == not_ready && told.place == last.place &&
        told.blocked_on == last.blocked_on && last.times < most) {
      told.begin = last.begin;
      told.times = last.times + 1;
      if (out_->returned_again(thread.lane, call.number, told)) {
        ++last.times;
        return true;
      }
    }
    call.number = out_->begin_call();
  }
  last = {};
  if (told.status == not_ready && !modelled_)
    last = {call.name, call.number, told.place, told.blocked_on, told.begin, 1};
  return false;
}

}  // namespace sb::engine
