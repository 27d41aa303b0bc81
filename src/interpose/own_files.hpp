// Files that only the program itself makes ready: timers, counters (eventfd), signals (signalfd),
// and sets of them (epoll).
#pragma once

#include <cstddef>

namespace sb::interpose {

bool is_own_file(int file);
bool is_nonblocking(int file);
// What was read from a file of signals: the overruns of timers are counted in modelled time.
void note_read_signals(int file, void* read, std::size_t bytes);

}  // namespace sb::interpose
