// Words for what a trace has numbers for, as the exports write them.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace sb::trace {

[[nodiscard]] std::string_view word(operation_kind kind);
[[nodiscard]] std::string_view word(engine_kind kind);
[[nodiscard]] std::string_view word(wait_cause cause);
[[nodiscard]] std::string_view word(copy_direction direction);
[[nodiscard]] std::string_view word(memory_kind kind);
// compute 3, host_to_device 0; empty: none
[[nodiscard]] std::string word(hardware_queue queue);

// cudaErrorIllegalAddress (700); the number alone where an operation cannot fail with it.
[[nodiscard]] std::string error_name(std::int32_t status);

// Whether the operation uses every byte of a range: not of one that a kernel's pointer points to,
// nor of rows that a copy or memset has with gaps between them, whose range is from the first byte
// to the last.
[[nodiscard]] bool uses_all(const operation& op, const byte_range& r);

// access:allocation:offset:bytes of each range that an operation uses, with spaces between them; ~
// behind one that is used somewhere inside.
[[nodiscard]] std::string range_words(const operation& op);

// What to call an operation: the kernel's name, "copy host to device", …
[[nodiscard]] std::string label(const trace& what, const operation& op);
[[nodiscard]] std::string stream_label(const trace& what, number stream);
[[nodiscard]] std::string thread_label(const trace& what, number thread);
[[nodiscard]] std::string place_label(const trace& what, number place);  // file:line, or empty

}  // namespace sb::trace
