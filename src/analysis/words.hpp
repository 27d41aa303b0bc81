// The words in which explanations speak of operations, times and places.
#pragma once

#include <string>
#include <string_view>

#include "analysis/overlap.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

// "12.3 µs", with three digits that matter; "0" for nothing.
[[nodiscard]] std::string text_of_time(trace::nanoseconds t);
[[nodiscard]] std::string text_of_bytes(std::uint64_t bytes);  // "64 MiB"

// "kernel scale", "copy of 4 MiB host to device", with the stream: "… on stream 3".
[[nodiscard]] std::string name_of(const trace::trace& t, trace::number operation);
[[nodiscard]] std::string name_with_stream(const trace::trace& t, trace::number operation);
[[nodiscard]] std::string stream_name(const trace::trace& t, trace::number stream);
// "copy.cu:31"; empty when it is not known.
[[nodiscard]] std::string text_of_place(const trace::trace& t, trace::number place);
[[nodiscard]] std::string text_of_place_without_folders(const trace::trace& t, trace::number place);
// " (copy.cu:31)", without folders, for behind its name; empty when it is not known.
[[nodiscard]] std::string place_in_brackets(const trace::trace& t, trace::number operation);
[[nodiscard]] trace::number place_of(const trace::trace& t, trace::number operation);

[[nodiscard]] std::string_view text_of(trace::engine_kind engine);
// By what it did: copies between devices are an engine's that copies within its device, too.
[[nodiscard]] std::string_view text_of(const engine_use& use);
// "hardware queue 3", "copy queue 0 to the host"; "its hardware queue" when it is not known.
[[nodiscard]] std::string text_of(hardware_queue queue);
[[nodiscard]] std::string_view key_of(trace::engine_kind engine);  // of JSON
[[nodiscard]] std::string_view key_of(trace::wait_cause cause);

}  // namespace sb::analysis
