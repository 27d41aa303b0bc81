#include "diagnostics.hpp"

#include <cctype>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text.hpp"

namespace sb::nvcc {
namespace {

// Without colours, which come and go around the words.
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      while (i < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]))) ++i;
      continue;
    }
    out += line[i];
  }
  return out;
}

bool is_count(const std::string& line) {
  return !line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) &&
         line.find(" generated") != std::string::npos &&
         (line.find(" warning") != std::string::npos || line.find(" error") != std::string::npos);
}

bool is_include_stack(const std::string& line) {
  return starts_with(line, "In file included from ") || starts_with(line, "In module ");
}

// A line that begins a message. Notes belong to the message before them.
bool is_head(const std::string& line) {
  for (const char* kind : {": error: ", ": warning: ", ": fatal error: ", ": remark: "})
    if (const std::size_t at = line.find(kind); at != std::string::npos)
      return line.find_first_of(" \t") > 0 && line[0] != ' ' && line.find(" | ") > at;
  return false;
}

std::vector<std::string> messages_of(const std::string& text) {
  std::vector<std::string> messages;
  bool stack = false;  // the lines before belong to the head that follows
  for (const std::string& line : split(text, '\n')) {
    const std::string words = plain(line);
    if (is_count(words)) continue;
    if (line.empty() && messages.empty()) continue;
    const bool begins_stack = is_include_stack(words) && !stack;
    const bool begins = begins_stack || (is_head(words) && !stack);
    if (begins || messages.empty()) messages.emplace_back();
    messages.back() += line + '\n';
    if (is_include_stack(words))
      stack = true;
    else if (is_head(words) || words.find(": note: ") != std::string::npos)
      stack = false;
  }
  for (std::string& message : messages)
    while (message.size() > 1 && message[message.size() - 1] == '\n' &&
           message[message.size() - 2] == '\n')
      message.pop_back();
  return messages;
}

bool is_error(const std::string& line) {
  return is_head(line) && (line.find(": error: ") != std::string::npos ||
                           line.find(": fatal error: ") != std::string::npos);
}

// What clang says when device code calls a function of the host, in nvcc's words. The notes are
// about every other function of that name: only those that say the same are kept.
constexpr std::string_view host_call = "call to __host__ function from ";

// `'name'` behind one of the ways in which clang begins.
std::string_view called_name(std::string_view head) {
  for (const std::string_view before :
       {"no matching function for call to '", "no matching member function for call to '",
        "no matching function for call to object of type '",
        "no matching constructor for initialization of '",
        "no viable overloaded operator[] for type '", "reference to __host__ function '"})
    if (const std::size_t at = head.find(before); at != std::string_view::npos) {
      head.remove_prefix(at + before.size());
      return head.substr(0, head.find('\''));
    }
  return {};
}

// Which functions those are that `text` has from `at` on.
std::string_view space_at(std::string_view text, std::size_t at) {
  for (const std::string_view each : {"__global__", "__device__", "__host__ __device__"})
    if (text.substr(at, each.size()) == each) return each;
  return {};
}

std::string in_nvccs_words(const std::string& message) {
  std::string head, kept;
  std::string_view from;  // the kind of function that calls
  bool keep = true;
  for (const std::string& line : split(message, '\n')) {
    if (line.empty()) continue;
    const std::string words = plain(line);
    const bool note = words.find(": note: ") != std::string::npos;
    const std::size_t call = words.find(host_call);
    if (is_error(words)) head = line;
    if (note) keep = call != std::string::npos || words.find(": candidate ") == std::string::npos;
    if (note && call != std::string::npos && from.empty())
      from = space_at(words, call + host_call.size());
    if (keep) kept += line + '\n';
  }
  const std::string words = plain(head);
  const std::string_view name = called_name(words);
  if (words.find("reference to __host__ function '") != std::string::npos && from.empty())
    from = space_at(words, words.rfind("' in ") + std::string_view("' in ").size());
  if (name.empty() || from.empty()) return message;
  const std::size_t said = words.find(": error: ");
  const std::string text = words.substr(said + std::string_view(": error: ").size());
  const std::size_t in_head = head.find(text), in_kept = kept.find(head);
  if (said == std::string::npos || in_head == std::string::npos || in_kept == std::string::npos)
    return message;
  return kept.replace(in_kept + in_head, text.size(),
                      "calling a __host__ function(\"" + std::string(name) + "\") from a " +
                          std::string(from) + " function is not allowed");
}

// What is not there, as clang finds that out, and what clang cannot know about it.
struct absence {
  std::string_view said;
  std::string_view reason;
};
constexpr std::string_view no_clusters =
    "thread-block clusters are not supported: blocks do not reach each other's shared memory. "
    "__cluster_dims__ and launches with clusters are taken, for kernels that do not ask for theirs";
constexpr std::string_view no_templates =
    "the libraries CUB and Thrust are not included; write the kernel (sums, scans and searches by "
    "__shfl_*_sync, __reduce_*_sync and cooperative_groups/reduce.h, scan.h)";
constexpr std::string_view no_rendezvous =
    "not included; cuda/barrier, cuda/atomic and cooperative_groups.h are";
constexpr std::string_view no_tensor_copies =
    "copies of tensors by the device's own engine (TMA) and the driver API that describes them are "
    "not supported; load with cuda/pipeline or by each thread";
constexpr absence absences[] = {
    {"'mma.h' file not found",
     "tensor-core fragments (nvcuda::wmma) are not supported; compute the product with the "
     "arithmetic of float, half or double"},
    {"no template named 'texture'",
     "texture references are gone since CUDA 12; use a texture object (cudaCreateTextureObject) "
     "and give it to the kernel"},
    {"named 'cluster_group' in namespace 'cooperative_groups'", no_clusters},
    {"named 'this_cluster' in namespace 'cooperative_groups'", no_clusters},
    {"undeclared identifier '__cluster", no_clusters},
    {"inline PTX instruction 'barrier.cluster", no_clusters},
    {"inline PTX instruction 'mapa", no_clusters},
    {"inline PTX instruction 'cp.async.bulk", no_tensor_copies},
    {"inline PTX register '%cluster", no_clusters},
    {"inline PTX register '%ncluster", no_clusters},
    {"inline PTX register '%is_explicit_cluster", no_clusters},
    {"'curand",
     "cuRAND is not included; compute random numbers in the kernel (a counter and a few "
     "multiplications), or fill an array on the host"},
    {"'cub/", no_templates},
    {"'thrust/", no_templates},
    {"'cuda/latch' file not found", no_rendezvous},
    {"'cuda/semaphore' file not found", no_rendezvous},
    {"'CUtensorMap", no_tensor_copies},
    {"'cuTensorMap", no_tensor_copies},
    {"'cuda/ptx' file not found",
     "the functions of cuda::ptx are not included; inline PTX is taken, as far as it is known"}};

std::string with_reason(const std::string& message) {
  std::string out;
  for (const std::string& line : split(message, '\n')) {
    if (line.empty()) continue;
    out += line;
    const std::string words = plain(line);
    for (const absence& one : absences)
      if (is_error(words) && words.find(one.said) != std::string::npos)
        out.append(": ").append(one.reason);
    out += '\n';
  }
  return out;
}

// `   12 | # include "missing.h"`, the source line that a message shows.
bool shows_directive(const std::string& line) {
  const std::size_t bar = line.find_first_not_of(" 0123456789");
  if (bar == std::string::npos || bar == 0 || line[bar] != '|') return false;
  const std::size_t first = line.find_first_not_of(" \t", bar + 1);
  return first != std::string::npos && line[first] == '#';
}

bool only_calls_of_the_host(const std::string& errors) {
  bool any = false;
  for (const std::string& message : messages_of(errors)) {
    if (message.find("error: ") == std::string::npos) continue;
    any = true;
    if (in_nvccs_words(message) == message) return false;
  }
  return any;
}

}  // namespace

std::string limits_exceeded(const std::string& errors, const std::string& tool) {
  std::string out;
  bool exceeded = false;
  for (const std::string& each : split(errors, '\n')) {
    const std::string line = plain(each);
    constexpr std::string_view before = "error: ";
    const bool entry = starts_with(line, "error: Entry function '");
    const bool file = starts_with(line, "error: File uses too much global constant data");
    if (entry || file) {
      // ptxas counts the constants of a file, also of one that nvlink gets.
      out += (file ? "ptxas" : tool) + " error   : " + line.substr(before.size()) + '\n';
      exceeded = true;
    } else if (!each.empty() && !is_count(line)) {
      out += each + '\n';
    }
  }
  return exceeded ? out : std::string();
}

int exit_status(const std::string& errors) {
  bool shown = true;  // the source line of the last error
  for (const std::string& each : split(errors, '\n')) {
    const std::string line = plain(each);
    if (is_error(line)) {
      shown = false;
    } else if (!shown && line.find(" | ") != std::string::npos) {
      if (shows_directive(line)) return 1;
      shown = true;
    }
  }
  return only_calls_of_the_host(errors) ? 1 : 2;
}

std::string merge_diagnostics(const std::string& device, const std::string& host) {
  std::string out;
  std::unordered_set<std::string> said;
  for (const std::string* text : {&device, &host}) {
    if (text->empty()) continue;
    for (const std::string& message : messages_of(*text))
      if (message != "\n" && said.insert(plain(message)).second)
        out += with_reason(in_nvccs_words(message));
  }
  return out;
}

}  // namespace sb::nvcc
