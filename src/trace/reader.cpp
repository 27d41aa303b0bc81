#include "trace/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "trace/assembler.hpp"
#include "trace/block_order.hpp"
#include "trace/checksum.hpp"
#include "trace/pending_calls.hpp"
#include "trace/pending_ends.hpp"
#include "trace/utf8.hpp"

namespace sb::trace {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 20;

std::string_view name_of(record_kind kind) {
  constexpr std::string_view names[] = {"",           "name",        "place",       "device",
                                        "stream",     "thread",      "stream name", "thread name",
                                        "allocation", "free",        "call begun",  "call",
                                        "submitted",  "finished",    "range begun", "range ended",
                                        "mark",       "thread wait", "end",         "repeated",
                                        "stuck",      "ends",        "needs",       "blocks"};
  return names[static_cast<std::size_t>(kind)];
}

using block = std::span<const byte>;

// What is not used of a block is 0. (An end record does not end with that.)
block without_zeros(block what) {
  while (!what.empty() && what.back() == 0) what = what.first(what.size() - 1);
  return what;
}

bool ends_with_word(block last) {
  return last.size() >= end_record_bytes &&
         std::equal(end_magic.begin(), end_magic.end(), last.end() - end_magic.size());
}

bool was_cut(block pending) {
  return pending.size() == block_bytes &&
         std::equal(cut_mark.begin(), cut_mark.end(), pending.end() - cut_mark.size());
}

// The end record of a complete file, checked against everything before it.
bool read_end(const std::vector<block>& blocks, trace& result) {
  checksum sum;
  for (const block& one : blocks) {
    if (&one != &blocks.back()) sum.add(one.data(), one.size());
  }
  const block last = blocks.back();
  const std::size_t body = last.size() - end_record_bytes;
  cursor in(last.data() + body, last.data() + last.size());
  if (in.u8() != static_cast<byte>(record_kind::end)) return false;
  const unsigned how = in.u8(), deterministic = in.u8();
  result.end = in.fixed<std::uint64_t>();
  sum.add(last.data(), body);
  sum.add(end_word(static_cast<ending>(how), deterministic != 0));
  sum.add(result.end);
  if (in.fixed<std::uint64_t>() != sum.value()) return false;
  if (how > static_cast<unsigned>(ending::stopped) || deterministic > 1) return false;
  result.head.end = static_cast<ending>(how);
  result.head.deterministic = deterministic == 1;
  return true;
}

outcome<cursor> read_header(block file, const std::string& name, header& head) {
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
  if (in.good() && head.version < oldest_version) {
    return failure{name + " was written by an older Streambed: its format is " +
                   std::to_string(head.version) + ", this one reads " +
                   std::to_string(oldest_version) + " and later ones. Record the program again."};
  }
  const unsigned clock = in.u8();
  head.connections = in.u32();
  head.host_bytes = in.varint();
  head.program = valid_utf8(in.text(text_limit));
  head.profile = valid_utf8(in.text(text_limit));
  if (in.how() == cursor::state::cut_off)
    return failure{name + " stops within its header: nothing was recorded."};
  if (!in.good() || clock > static_cast<unsigned>(clock_kind::device))
    return failure{name + " is damaged: its header makes no sense."};
  head.clock = static_cast<clock_kind>(clock);
  return in;
}

// Takes in the records of a block. The last one of a file that stops early may hold the remains of
// a record; every other is whole.
outcome<bool> read_block(cursor in, block what, bool may_stop, std::size_t offset,
                         const std::string& name, assembler& parts) {
  const byte* const written = without_zeros(what).data() + without_zeros(what).size();
  while (in.left() > 0) {
    const byte* const begin = in.at();
    const unsigned value = in.u8();
    if (value == 0 && (may_stop || begin >= written)) break;
    const bool is_end = value == static_cast<unsigned>(record_kind::end);
    if (is_end && may_stop && begin + end_record_bytes > written) break;
    const bool known = value > 0 && !is_end && value <= static_cast<unsigned>(record_kind::blocks);
    const auto kind = static_cast<record_kind>(known ? value : 0);
    if (known) parts.take(kind, in);
    // A file of which the system did not keep all has zeros where the rest of a record was.
    if (!in.good() && may_stop && (in.how() == cursor::state::cut_off || in.at() > written)) break;
    if (!known || !in.good()) {
      const std::size_t at = offset + static_cast<std::size_t>(begin - what.data());
      const std::string why =
          is_end  ? "its end record is there, and more follows. Something was added to the file."
          : known ? "the '" + std::string(name_of(kind)) + "' record there makes no sense."
                  : "no record begins with " + std::to_string(value) + ".";
      return failure{name + " is damaged at byte " + std::to_string(at) + ": " + why};
    }
  }
  return true;
}

}  // namespace

outcome<trace> parse_trace(std::span<const std::uint8_t> file, const std::string& name,
                           const read_progress& progress) {
  assembler parts(file.size());
  const outcome<cursor> start = read_header(file, name, parts.result.head);
  if (!start) return failure{start.message()};
  parts.set_version(parts.result.head.version);
  outcome<std::vector<block>> blocks = blocks_of(file, name);
  if (!blocks) return failure{blocks.message()};
  const bool complete = ends_with_word(without_zeros(blocks->back()));
  if (complete) {
    blocks->back() = without_zeros(blocks->back());
    if (!read_end(*blocks, parts.result))
      return failure{name + " is damaged: its contents do not match its checksum."};
    blocks->back() = blocks->back().first(blocks->back().size() - end_record_bytes);
  }
  std::uint64_t done = 0;
  for (const block& one : *blocks) {
    const bool is_first = &one == &blocks->front(), is_last = &one == &blocks->back();
    const byte* const begin = is_first ? start->at() : one.data() + block_header_bytes;
    const outcome<bool> read =
        read_block(cursor(begin, one.data() + one.size()), one, is_last && !complete,
                   static_cast<std::size_t>(one.data() - file.data()), name, parts);
    if (!read) return failure{read.message()};
    done += one.size();
    if (progress) progress(is_last ? file.size() : done, file.size());
  }
  if (!complete) {
    parts.take_pending_ends(ends_of(pending_of(file)));
    for_each_pending(pending_of(file), [&](const pending_call& one) { parts.take_pending(one); });
  }
  parts.finish();
  if (!complete && was_cut(pending_of(file))) parts.result.head.end = ending::cut;
  return std::move(parts.result);
}

namespace {

// From the offset on, to the end of the file or of the buffer. False: an error.
bool read_at(int descriptor, std::span<byte> into, std::size_t offset, std::size_t& got) {
  for (got = 0; got < into.size();) {
    const ssize_t now =
        ::pread(descriptor, into.data() + got, into.size() - got, static_cast<off_t>(offset + got));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return false;
    if (now == 0) break;
    got += static_cast<std::size_t>(now);
  }
  return true;
}

// A program that still runs goes on writing: by the time the end of its file is read, the blocks at
// the beginning may be older than that. They are read again, until all are of one moment; if that
// does not happen soon, what has its place at the end is all there is.
bool read_of_one_moment(int descriptor, std::vector<byte>& file) {
  constexpr std::size_t written_over = 3 * block_bytes;  // block_file.hpp
  constexpr int most_attempts = 20;
  if (file.size() < written_over) return true;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::array<byte, block_header_bytes> now{};
    std::size_t got = 0;
    if (!read_at(descriptor, now, block_bytes, got)) return false;
    const byte* const window = file.data() + block_bytes;
    const bool same = got == now.size() && std::equal(now.begin(), now.end(), window);
    if (same && (attempt == 0 ||
                 window_block(file) + written_over / block_bytes - 1 == file.size() / block_bytes))
      return true;
    struct stat what{};
    if (::fstat(descriptor, &what) != 0) return false;
    const std::size_t begin = file.size() / block_bytes * block_bytes;
    file.resize(std::max(file.size(), static_cast<std::size_t>(what.st_size)));
    if (!read_at(descriptor, std::span(file).subspan(begin), begin, got)) return false;
    file.resize(begin + got);
    if (!read_at(descriptor, {file.data(), written_over}, 0, got)) return false;
  }
  std::fill(file.begin() + block_bytes, file.begin() + written_over, byte{0});
  return true;
}

}  // namespace

namespace {

// Whether more of a file may be of a trace: it begins as one, and its blocks go on from this slot
// to the last that is there as a whole.
bool may_go_on(std::span<const byte> file, std::size_t& slot) {
  const std::size_t known = std::min(file.size(), file_magic.size());
  if (!std::equal(file.begin(), file.begin() + known, file_magic.begin())) return false;
  for (; (slot + 1) * block_bytes <= file.size(); ++slot) {
    if (slot >= first_slot && !is_block_of(file.subspan(slot * block_bytes), slot)) return false;
  }
  return true;
}

// Whether the last slot of a file holds the block that belongs there, so that what is before it
// does, too.
bool ends_with_its_block(int descriptor, std::size_t size) {
  const std::size_t slot = (size - 1) / block_bytes;
  std::array<byte, block_header_bytes> begin{};
  std::size_t got = 0;
  return read_at(descriptor, begin, slot * block_bytes, got) && is_block_of(begin, slot);
}

// Up to the size that a file has now, as a program may write as quickly as this reads. What is
// behind the last block is not read: it may be as long as a disk.
bool read_all(int descriptor, const struct stat& what, std::vector<byte>& file) {
  const bool is_file = S_ISREG(what.st_mode);
  const auto size = static_cast<std::size_t>(is_file ? what.st_size : 0);
  std::size_t slot = 0;
  while (!is_file || file.size() < size) {  // a pipe is a file too
    const std::size_t had = file.size();
    if (had > 0 && file.capacity() < size && ends_with_its_block(descriptor, size))
      file.reserve(size + 1);
    file.resize(std::max(had + read_bytes, std::min(file.capacity(), had + 16 * read_bytes)));
    const ssize_t got = ::read(descriptor, file.data() + had, file.size() - had);
    if (got < 0 && errno != EINTR) return false;
    file.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || !may_go_on(file, slot)) break;
  }
  return !is_file || read_of_one_moment(descriptor, file);
}

}  // namespace

outcome<trace> read_trace(const std::string& path, const read_progress& progress) {
  const auto fails = [&](const char* what) {
    return failure{std::string("cannot ") + what + " " + path + ": " + std::strerror(errno)};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fails("open");
  struct stat what{};
  // Some have no end, as /dev/zero.
  if (::fstat(descriptor, &what) == 0 && (S_ISCHR(what.st_mode) || S_ISBLK(what.st_mode))) {
    ::close(descriptor);
    return failure{path + " is a device, not a file with a Streambed trace."};
  }
  std::vector<byte> file;
  if (!read_all(descriptor, what, file)) {
    const failure why = fails("read");
    ::close(descriptor);
    return why;
  }
  ::close(descriptor);
  return parse_trace(file, path, progress);
}

}  // namespace sb::trace
