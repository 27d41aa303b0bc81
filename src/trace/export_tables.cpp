#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "trace/export.hpp"
#include "trace/utf8.hpp"
#include "trace/words.hpp"

namespace sb::trace {
namespace {

// 1234567.8 as 1,234,567.8
std::string grouped(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  const std::string_view digits = text;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string out;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && at < point && (point - at) % 3 == 0) out += ',';
    out += digits[at];
  }
  return out;
}

struct sample {
  double value = 0;
  std::uint64_t times = 1;  // questions that are one call
};

struct samples {
  std::vector<sample> values;

  void add(double value, std::uint64_t times = 1) { values.push_back({value, times}); }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const sample& s : values) sum += s.value * static_cast<double>(s.times);
    return sum;
  }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const sample& s : values) sum += s.times;
    return sum;
  }
};
using groups = std::map<std::string, samples>;

constexpr std::size_t longest_name = 200;  // columns

class table {
 public:
  table(std::string_view title, std::vector<std::string> columns)
      : title_(title), columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  // Numbers to the right, names to the left, headings in the middle.
  void write(const export_sink& out) const {
    std::vector<std::size_t> widths;
    for (const std::string& column : columns_) widths.push_back(column.size());
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    std::string text = "\n ** ";
    text += title_;
    text += ":\n\n";
    const auto column = [&](std::size_t i, std::size_t before, std::string_view what) {
      text += i ? "  " : " ";
      text.append(before, ' ');
      text += what;
      text.append(widths[i] - before - columns(what), ' ');
    };
    for (std::size_t i = 0; i < columns_.size(); ++i)
      column(i, (widths[i] - columns_[i].size()) / 2, columns_[i]);
    text += '\n';
    for (std::size_t i = 0; i < columns_.size(); ++i) column(i, 0, std::string(widths[i], '-'));
    text += '\n';
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool is_name = i + 1 == row.size();
        column(i, is_name ? 0 : widths[i] - columns(row[i]), row[i]);
      }
      text += '\n';
    }
    out(text);
  }

 private:
  std::string title_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Of samples in their order: the one at a place.
double value_at(const std::vector<sample>& sorted, std::uint64_t place) {
  for (const sample& s : sorted) {
    if (place < s.times) return s.value;
    place -= s.times;
  }
  return sorted.back().value;
}

// Average, median, least, greatest, standard deviation.
std::vector<std::string> statistics(const samples& of, int decimals, int average_decimals) {
  std::vector<sample> sorted = of.values;
  std::sort(sorted.begin(), sorted.end(),
            [](const sample& a, const sample& b) { return a.value < b.value; });
  const std::uint64_t count = of.count();
  const double average = of.total() / static_cast<double>(count);
  const double median = (value_at(sorted, (count - 1) / 2) + value_at(sorted, count / 2)) / 2;
  double squares = 0;
  for (const sample& s : sorted)
    squares += (s.value - average) * (s.value - average) * static_cast<double>(s.times);
  const double deviation = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
  return {grouped(average, average_decimals), grouped(median, average_decimals),
          grouped(sorted.front().value, decimals), grouped(sorted.back().value, decimals),
          grouped(deviation, average_decimals)};
}

std::vector<std::pair<std::string, samples>> by_total(const groups& all) {
  std::vector<std::pair<std::string, samples>> order(all.begin(), all.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(-a.second.total(), a.first) < std::pair(-b.second.total(), b.first);
  });
  return order;
}

void write_times(std::string_view title, const std::string& count, const std::string& name,
                 const groups& all, const export_sink& out) {
  if (all.empty()) return;
  std::vector<std::string> columns = {"Time (%)", "Total Time (ns)", count,      "Avg (ns)",
                                      "Med (ns)", "Min (ns)",        "Max (ns)", "StdDev (ns)"};
  columns.push_back(name);
  table out_table(title, std::move(columns));
  double whole = 0;
  for (const auto& [key, of] : all) whole += of.total();
  for (const auto& [key, of] : by_total(all)) {
    std::vector<std::string> row = {grouped(whole > 0 ? 100 * of.total() / whole : 0, 1),
                                    grouped(of.total(), 0),
                                    grouped(static_cast<double>(of.count()), 0)};
    for (std::string& text : statistics(of, 0, 1)) row.push_back(std::move(text));
    row.push_back(shortened(visible(key), longest_name));
    out_table.add(std::move(row));
  }
  out_table.write(out);
}

void write_sizes(std::string_view title, const groups& all, const export_sink& out) {
  if (all.empty()) return;
  table out_table(title, {"Total (MB)", "Count", "Avg (MB)", "Med (MB)", "Min (MB)", "Max (MB)",
                          "StdDev (MB)", "Operation"});
  for (const auto& [key, of] : by_total(all)) {
    std::vector<std::string> row = {grouped(of.total(), 3),
                                    grouped(static_cast<double>(of.count()), 0)};
    for (std::string& text : statistics(of, 3, 3)) row.push_back(std::move(text));
    row.push_back(shortened(visible(key), longest_name));
    out_table.add(std::move(row));
  }
  out_table.write(out);
}

std::string memory_operation(const operation& op) {
  if (op.kind == operation_kind::fill) return "[CUDA memset]";
  switch (op.direction) {
    case copy_direction::host_to_device:
      return "[CUDA memcpy Host-to-Device]";
    case copy_direction::device_to_host:
      return "[CUDA memcpy Device-to-Host]";
    case copy_direction::device_to_device:
      return "[CUDA memcpy Device-to-Device]";
    case copy_direction::peer:
      return "[CUDA memcpy Peer-to-Peer]";
    case copy_direction::host_to_host:
      break;
  }
  return "[CUDA memcpy Host-to-Host]";
}

}  // namespace

void export_tables(const trace& what, const export_sink& out) {
  groups ranges, calls, kernels, times, sizes, queues;
  for (const annotation& one : what.annotations) {
    if (one.what != annotation::shape::range || one.end == never) continue;
    ranges[one.domain + ":" + one.text].add(static_cast<double>(one.end - one.begin));
  }
  for (const call& one : what.calls) {
    if (one.name.empty() || !one.returned) continue;
    calls[one.name].add(static_cast<double>(one.end - one.begin) / one.times, one.times);
  }
  for (const operation& op : what.operations) {
    if (op.started == never || op.ended == never) continue;
    const auto time = static_cast<double>(op.ended - op.started);
    if (op.queue.kind != queue_class::none) {
      const std::string device =
          what.devices.size() > 1 ? "device " + std::to_string(op.device) + " " : "";
      queues[device + word(op.queue)].add(time);
    }
    if (op.kind == operation_kind::kernel) kernels[label(what, op)].add(time);
    if (op.kind != operation_kind::copy && op.kind != operation_kind::fill) continue;
    times[memory_operation(op)].add(time);
    sizes[memory_operation(op)].add(static_cast<double>(op.bytes) / 1e6);
  }
  write_times("NVTX Range Summary (nvtx_sum)", "Instances", "Range", ranges, out);
  write_times("CUDA API Summary (cuda_api_sum)", "Num Calls", "Name", calls, out);
  write_times("CUDA GPU Kernel Summary (cuda_gpu_kern_sum)", "Instances", "Name", kernels, out);
  write_times("CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum)", "Count", "Operation",
              times, out);
  write_sizes("CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum)", sizes, out);
  write_times("Hardware Queue Summary (hw_queue_sum)", "Operations", "Queue", queues, out);
}

}  // namespace sb::trace
