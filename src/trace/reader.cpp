#include "trace/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trace/assembler.hpp"
#include "trace/checksum.hpp"

namespace sb::trace {
namespace {

constexpr std::size_t progress_step = std::size_t{1} << 20;

std::string_view name_of(record_kind kind) {
  constexpr std::string_view names[] = {"",           "name",     "place",       "device",
                                        "stream",     "thread",   "stream name", "thread name",
                                        "allocation", "free",     "call begun",  "call",
                                        "submitted",  "finished", "range begun", "range ended",
                                        "mark",       "end"};
  return names[static_cast<std::size_t>(kind)];
}

// The program's last record can be there in part, without its kind. Further on all is 0.
bool is_unwritten(const cursor& rest) {
  if (rest.left() <= record_limit) return true;
  return std::all_of(rest.at() + record_limit, rest.at() + rest.left(),
                     [](byte value) { return value == 0; });
}

// Without the zeros that a writer leaves behind which could not cut the file. (An end record does
// not end with one.)
std::span<const byte> without_zeros(std::span<const byte> file) {
  while (!file.empty() && file.back() == 0) file = file.first(file.size() - 1);
  return file;
}

bool ends_with_word(std::span<const byte> file) {
  return file.size() >= end_record_bytes &&
         std::equal(end_magic.begin(), end_magic.end(), file.end() - end_magic.size());
}

// The end record of a complete file, checked against everything before it.
bool read_end(std::span<const byte> file, trace& result) {
  const std::span<const byte> body = file.first(file.size() - end_record_bytes);
  cursor in(file.data() + body.size(), file.data() + file.size());
  if (in.u8() != static_cast<byte>(record_kind::end)) return false;
  const unsigned how = in.u8(), deterministic = in.u8();
  result.end = in.fixed<std::uint64_t>();
  checksum sum;
  sum.add(body.data(), body.size());
  sum.add(end_word(static_cast<ending>(how), deterministic != 0));
  sum.add(result.end);
  if (in.fixed<std::uint64_t>() != sum.value()) return false;
  if (how > static_cast<unsigned>(ending::hung) || deterministic > 1) return false;
  result.head.end = static_cast<ending>(how);
  result.head.deterministic = deterministic == 1;
  return true;
}

outcome<cursor> read_header(std::span<const byte> file, const std::string& name, header& head) {
  const std::size_t known = std::min(file.size(), file_magic.size());
  if (file.empty()) return failure{name + " is empty: nothing was recorded."};
  if (!std::equal(file.begin(), file.begin() + known, file_magic.begin()))
    return failure{name + " is not a Streambed trace."};
  cursor in(file.data() + known, file.data() + file.size());
  head.version = in.fixed<std::uint32_t>();
  if (in.good() && head.version > format_version) {
    return failure{name + " was written by a newer Streambed: its format is " +
                   std::to_string(head.version) + ", this one reads up to " +
                   std::to_string(format_version) + ". Use the newer streambed command."};
  }
  const unsigned clock = in.u8();
  head.connections = in.u32();
  head.program = in.text(text_limit);
  head.profile = in.text(text_limit);
  if (in.how() == cursor::state::cut_off)
    return failure{name + " stops within its header: nothing was recorded."};
  if (!in.good() || head.version == 0 || clock > static_cast<unsigned>(clock_kind::device))
    return failure{name + " is damaged: its header makes no sense."};
  head.clock = static_cast<clock_kind>(clock);
  return in;
}

}  // namespace

outcome<trace> parse_trace(std::span<const std::uint8_t> file, const std::string& name,
                           const read_progress& progress) {
  assembler parts(file.size());
  outcome<cursor> start = read_header(file, name, parts.result.head);
  if (!start) return failure{start.message()};
  cursor in = *start;
  const bool complete = ends_with_word(without_zeros(file));
  if (complete) {
    file = without_zeros(file);
    if (!read_end(file, parts.result))
      return failure{name + " is damaged: its contents do not match its checksum."};
    in = cursor(in.at(), file.data() + file.size() - end_record_bytes);
  }
  // A file of which the system did not keep all has zeros where the rest of a record was.
  const byte* const written = without_zeros(file).data() + without_zeros(file).size();
  std::size_t reported = 0;
  while (in.left() > 0) {
    const auto offset = static_cast<std::size_t>(in.at() - file.data());
    if (progress && offset >= reported + progress_step) {
      reported = offset;
      progress(offset, file.size());
    }
    const unsigned value = in.u8();
    if (value == 0 && !complete && is_unwritten(in)) break;
    if (value == static_cast<unsigned>(record_kind::end) &&
        in.at() + end_record_bytes - 1 > written)
      break;
    const bool known = value > 0 && value < static_cast<unsigned>(record_kind::end);
    const auto kind = static_cast<record_kind>(known ? value : 0);
    if (known) parts.take(kind, in);
    if (in.how() == cursor::state::cut_off && !complete) break;
    if (!in.good() && !complete && in.at() > written) break;
    if (!known || !in.good()) {
      return failure{name + " is damaged at byte " + std::to_string(offset) + ": " +
                     (known
                          ? "the '" + std::string(name_of(kind)) + "' record there makes no sense."
                          : "there is no record of kind " + std::to_string(value) + ".")};
    }
  }
  parts.finish();
  if (progress) progress(file.size(), file.size());
  return std::move(parts.result);
}

outcome<trace> read_trace(const std::string& path, const read_progress& progress) {
  const auto fails = [&](const char* what) {
    return failure{std::string("cannot ") + what + " " + path + ": " + std::strerror(errno)};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fails("open");
  struct stat what{};
  std::vector<byte> file;
  if (::fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode))
    file.reserve(static_cast<std::size_t>(what.st_size) + 1);
  for (;;) {  // a pipe is a file too
    const std::size_t had = file.size();
    file.resize(std::max(had + progress_step, std::min(file.capacity(), had + 16 * progress_step)));
    const ssize_t got = ::read(descriptor, file.data() + had, file.size() - had);
    if (got < 0 && errno != EINTR) {
      const failure why = fails("read");
      ::close(descriptor);
      return why;
    }
    file.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  ::close(descriptor);
  return parse_trace(file, path, progress);
}

}  // namespace sb::trace
