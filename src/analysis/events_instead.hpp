// What it takes to order by events what a change no longer has the host, or the default stream, put
// one after another.
#pragma once

#include "analysis/program.hpp"

namespace sb::analysis {

// `changed` has the order that the data needs (keep_data_order) and fewer waits than `as_it_is`.
// Where its streams and its own events do not keep an order of two streams, an event does: a record
// and a wait. Their calls are added. Nothing is where several threads call.
void add_events_instead(const trace::trace& t, const program& as_it_is, program& changed);

}  // namespace sb::analysis
