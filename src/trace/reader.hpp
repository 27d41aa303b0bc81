// Reads traces back.
//
// A file that stops early (the program was killed, the copy is incomplete) is read up to there; its
// `ending` is then unknown, and a call or operation that was open is still open. Everything else
// that is wrong (no file, another kind of file, a newer format, damaged) is a message and no trace.
//
// What the reader answers is sound: every number points at something that is there, or is `none`,
// and every text is UTF-8.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/outcome.hpp"
#include "trace/trace.hpp"

namespace sb::trace {

// Called now and then with the bytes that are read, of how many.
using read_progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

outcome<trace> read_trace(const std::string& path, const read_progress& progress = {});

// The same for a file that is in memory; `name` is for messages.
outcome<trace> parse_trace(std::span<const std::uint8_t> file, const std::string& name,
                           const read_progress& progress = {});

}  // namespace sb::trace
