// The critical path in words.
#include <fmt/format.h>

#include "analysis/critical_path.hpp"

namespace sb::analysis {

namespace {

std::string_view subject(path_work work) {
  switch (work) {
    case path_work::kernel:
      return "kernels ran";
    case path_work::copy_host_to_device:
      return "copies host to device ran";
    case path_work::copy_device_to_host:
      return "copies device to host ran";
    case path_work::copy_peer:
      return "copies between devices ran";
    case path_work::copy_other:
      return "copies within the device or the host ran";
    case path_work::fill:
      return "memsets ran";
    case path_work::host_function:
      return "host functions ran";
    case path_work::other_operation:
      return "other operations ran";
    case path_work::start:
      return "operations were being started by the device";
    case path_work::host_call:
      return "the host was inside calls of the runtime";
    case path_work::host_code:
      return "the host ran the program's own code";
  }
  return "";
}

std::string_view reason(path_link link) {
  switch (link) {
    case path_link::stream_order:
      return "the next operation of the same stream waited for them";
    case path_link::event:
      return "another stream waited for them by an event";
    case path_link::legacy_barrier:
      return "the rules of the default stream made another stream wait for them";
    case path_link::graph_edge:
      return "the next node of their graph waited for them";
    case path_link::same_graph:
      return "another launch of the same executable graph waited for them";
    case path_link::queue_head:
      return "what waited for them was in front of another stream in a hardware queue";
    case path_link::engine_busy:
      return "the next one needed the same engine";
    case path_link::device_full:
      return "the next kernel found no room on the multiprocessors";
    case path_link::takes_turns:
      return "the next one had to wait: this device does not overlap copies with kernels";
    case path_link::allocation:
      return "an allocation waited for the memory they used";
    case path_link::loading:
      return "a kernel was loaded at its first use, behind them";
    case path_link::host_waits:
      return "a call of the host waited for them";
    case path_link::thread_waits:
      return "a thread of the host waited for what they did";
    case path_link::host_issue:
      return "only then did the host issue the next operation";
    case path_link::other_thread:
      return "another thread waited for this one";
    case path_link::end_of_run:
    case path_link::thread:
    case path_link::starts:
      break;
  }
  return "";
}

}  // namespace

std::string text_of(path_work work, path_link link) {
  const std::string_view why = reason(link);
  return why.empty() ? std::string(subject(work)) : fmt::format("{}; {}", subject(work), why);
}

std::string_view key_of(path_work work) {
  switch (work) {
    case path_work::kernel:
      return "kernel";
    case path_work::copy_host_to_device:
      return "copy_host_to_device";
    case path_work::copy_device_to_host:
      return "copy_device_to_host";
    case path_work::copy_peer:
      return "copy_peer";
    case path_work::copy_other:
      return "copy_other";
    case path_work::fill:
      return "fill";
    case path_work::host_function:
      return "host_function";
    case path_work::other_operation:
      return "other_operation";
    case path_work::start:
      return "start";
    case path_work::host_call:
      return "host_call";
    case path_work::host_code:
      return "host_code";
  }
  return "";
}

std::string_view key_of(path_link link) {
  switch (link) {
    case path_link::end_of_run:
      return "end_of_run";
    case path_link::stream_order:
      return "stream_order";
    case path_link::event:
      return "event";
    case path_link::legacy_barrier:
      return "legacy_barrier";
    case path_link::graph_edge:
      return "graph_edge";
    case path_link::same_graph:
      return "same_graph";
    case path_link::queue_head:
      return "queue_head";
    case path_link::engine_busy:
      return "engine_busy";
    case path_link::device_full:
      return "device_full";
    case path_link::takes_turns:
      return "takes_turns";
    case path_link::allocation:
      return "allocation";
    case path_link::loading:
      return "loading";
    case path_link::host_waits:
      return "host_waits";
    case path_link::thread_waits:
      return "thread_waits";
    case path_link::host_issue:
      return "host_issue";
    case path_link::thread:
      return "thread";
    case path_link::starts:
      return "starts";
    case path_link::other_thread:
      return "other_thread";
  }
  return "";
}

}  // namespace sb::analysis
