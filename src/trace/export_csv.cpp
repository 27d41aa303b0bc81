#include <string>

#include "trace/export.hpp"
#include "trace/words.hpp"

namespace sb::trace {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"') out += '"';
    out += letter;
  }
  return out += '"';
}

std::string field(number value) { return value == none ? "" : std::to_string(value); }
std::string time(nanoseconds value) { return value == never ? "" : std::to_string(value); }

std::string shape(const std::uint32_t (&size)[3]) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

// cause:operation:until of each, with spaces between them
std::string waits(const operation& op) {
  std::string text;
  for (const edge& wait : op.waits) {
    if (!text.empty()) text += ' ';
    text += std::string(word(wait.cause)) + ":" + field(wait.from) + ":" + time(wait.until);
  }
  return text;
}

}  // namespace

void export_csv(const trace& what, const export_sink& out) {
  out("operation,kind,name,device,stream,engine,queue,priority,call,line,called,queued,ready,"
      "started,ended,bytes,direction,host memory,grid,block,shared bytes,registers,graph,event,"
      "waits for record,waits,error,ranges\n");
  for (number i = 0; i < what.operations.size(); ++i) {
    const operation& op = what.operations[i];
    const bool is_kernel = op.kind == operation_kind::kernel;
    const bool is_copy = op.kind == operation_kind::copy;
    std::string line;
    const auto add = [&](const std::string& text) { (line += text) += ','; };
    add(std::to_string(i));
    add(std::string(word(op.kind)));
    add(field(label(what, op)));
    add(field(op.device));
    add(field(op.stream));
    add(std::string(word(op.engine)));
    add(word(op.queue));
    add(std::to_string(op.priority));
    add(field(op.call));
    add(op.call == none ? "" : field(place_label(what, what.calls[op.call].place)));
    for (const nanoseconds at : {op.called, op.queued, op.ready, op.started, op.ended})
      add(time(at));
    add(op.bytes ? std::to_string(op.bytes) : "");
    add(is_copy ? std::string(word(op.direction)) : "");
    add(is_copy && op.host_memory != memory_kind::device ? std::string(word(op.host_memory)) : "");
    add(is_kernel ? shape(op.grid) : "");
    add(is_kernel ? shape(op.block) : "");
    add(is_kernel ? std::to_string(op.shared_bytes) : "");
    add(is_kernel ? std::to_string(op.registers) : "");
    add(field(op.graph));
    add(field(op.event));
    add(field(op.record));
    add(waits(op));
    add(op.status != 0 ? std::to_string(op.status) : "");
    line += range_words(op) + "\n";
    out(line);
  }
}

}  // namespace sb::trace
