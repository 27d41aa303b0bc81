// What tests of the writer begin with.
#pragma once

#include <memory>
#include <string>

#include "files.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace sb::trace::testing {

// A writer with a device and a stream, and what it wrote.
class WrittenTraces : public TraceFiles {
 protected:
  std::unique_ptr<writer> opened(const std::string& name,
                                 call_order calls = call_order::as_returned) {
    header head;
    head.program = "program";
    auto out = writer::open(path(name), head, existing_file::refuse, calls);
    EXPECT_TRUE(out) << out.message();
    (*out)->device({"device", 132, 2048, 32, 0, 0, 0, 128, 3});
    (*out)->stream({0, stream_kind::legacy, false, 0, none, ""});
    return std::move(*out);
  }
  trace read(const std::string& name) {
    outcome<trace> found = read_trace(path(name));
    EXPECT_TRUE(found) << found.message();
    return found ? std::move(*found) : trace{};
  }
};

inline submitted_record kernel(number name, nanoseconds at) {
  submitted_record op;
  op.kind = operation_kind::kernel;
  op.engine = engine_kind::multiprocessors;
  op.device = op.stream = 0;
  op.name = name;
  op.called = op.queued = at;
  return op;
}

}  // namespace sb::trace::testing
