// The program's threads, for the library: those that it makes for the program, and their numbers.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstdint>

#include "interpose/hooks.hpp"

namespace sb::interpose {

// Between turns: a thread that begins at `ns`, that nobody joins and that takes no signals.
void start_detached_thread(const streambed_clock_hooks& h, std::uint64_t ns,
                           const pthread_attr_t* attributes, void* (*run)(void*), void* argument);

// The system's number of a thread of the program that has begun; 0: it is none.
pid_t system_number(pthread_t thread);

}  // namespace sb::interpose
