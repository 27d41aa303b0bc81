// NVTX. nvtx3/nvToolsExt.h calls these by `__cuda_` and the name; without a trace they only look at
// a flag.
//
// Domains, registered texts and categories live as long as the process. One mutex for the tables;
// nothing is called under it. The ranges that a thread has open are its own.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nvtx3/nvToolsExtCudaRt.h>
#include <cstdlib>
#include <cwchar>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cudart/context.hpp"
#include "engine/recorder.hpp"

struct nvtxDomainRegistration_st {
  std::string name;
};
struct nvtxStringRegistration_st {
  std::string text;
};

namespace sb::cudart {
namespace {

struct tables {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<nvtxDomainRegistration_st>> domains;
  std::map<std::string, std::unique_ptr<nvtxStringRegistration_st>> texts;
  std::map<std::pair<nvtxDomainHandle_t, std::uint32_t>, std::string> categories;
};
tables& known() {
  static tables& all = *new tables;  // usable until the very end of the process
  return all;
}

// Per domain: a range may be pushed in one while another is open.
std::map<nvtxDomainHandle_t, std::vector<trace::number>>& open_ranges() {
  thread_local std::map<nvtxDomainHandle_t, std::vector<trace::number>> open;
  return open;
}

bool is_recorded() {
  static const bool recorded = [] {
    const char* path = std::getenv("STREAMBED_TRACE");
    return path != nullptr && *path != 0;
  }();
  return recorded && !engine::forked_away();
}

// Runs the body with the recorder; `absent` when nothing is recorded. A program never fails by
// being annotated.
template <class Result, class Body>
Result annotate(Result absent, Body&& body) noexcept {
  if (!is_recorded()) return absent;
  const engine::unwatched quiet;
  try {
    const engine::call_frame own;
    engine::recorder* const out = the_engine().recording();
    return out != nullptr ? body(*out) : absent;
  } catch (...) {
    return absent;
  }
}
template <class Body>
void annotate(Body&& body) noexcept {
  annotate(0, [&](engine::recorder& out) {
    body(out);
    return 0;
  });
}

std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) {
    const auto code = static_cast<std::uint32_t>(*text);
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 63));
    } else {
      if (code < 0x10000) {
        out += static_cast<char>(0xe0 | code >> 12);
      } else {
        out += static_cast<char>(0xf0 | (code >> 18 & 7));
        out += static_cast<char>(0x80 | (code >> 12 & 63));
      }
      out += static_cast<char>(0x80 | (code >> 6 & 63));
      out += static_cast<char>(0x80 | (code & 63));
    }
  }
  return out;
}
std::string narrow(const char* text) { return text != nullptr ? text : ""; }

// What an event says, with the texts that it points at.
struct event_words {
  std::string domain, category, text;
  std::uint32_t colour = 0;
  [[nodiscard]] engine::recorder::annotation_text view() const {
    return {domain, category, text, colour};
  }
};

event_words words_of(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  event_words words;
  if (domain != nullptr) words.domain = domain->name;
  if (event == nullptr) return words;
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      words.text = narrow(event->message.ascii);
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      words.text = narrow(event->message.unicode);
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      if (event->message.registered != nullptr) words.text = event->message.registered->text;
      break;
    default:
      break;
  }
  if (event->colorType == NVTX_COLOR_ARGB) words.colour = event->color;
  if (event->category != 0) {
    const std::lock_guard lock(known().mutex);
    const auto named = known().categories.find({domain, event->category});
    words.category =
        named != known().categories.end() ? named->second : std::to_string(event->category);
  }
  return words;
}

event_words words_of(std::string text) {
  event_words words;
  words.text = std::move(text);
  return words;
}

int push(engine::recorder& out, nvtxDomainHandle_t domain, const event_words& words) {
  auto& open = open_ranges()[domain];
  open.push_back(out.begin_range(words.view()));
  return static_cast<int>(open.size()) - 1;
}

// A range's number in the trace, from 1.
nvtxRangeId_t start(engine::recorder& out, const event_words& words) {
  return nvtxRangeId_t{out.begin_range(words.view())} + 1;
}

template <class Char>
nvtxDomainHandle_t create_domain(const Char* name) {
  return annotate<nvtxDomainHandle_t>(nullptr, [&](engine::recorder&) {
    const std::string text = narrow(name);
    const std::lock_guard lock(known().mutex);
    auto& domain = known().domains[text];
    if (!domain) domain = std::make_unique<nvtxDomainRegistration_st>(text);
    return domain.get();
  });
}

template <class Char>
nvtxStringHandle_t register_text(const Char* what) {
  return annotate<nvtxStringHandle_t>(nullptr, [&](engine::recorder&) {
    const std::string text = narrow(what);
    const std::lock_guard lock(known().mutex);
    auto& found = known().texts[text];
    if (!found) found = std::make_unique<nvtxStringRegistration_st>(text);
    return found.get();
  });
}

template <class Char>
void name_category(nvtxDomainHandle_t domain, std::uint32_t category, const Char* name) {
  annotate([&](engine::recorder&) {
    std::string text = narrow(name);
    const std::lock_guard lock(known().mutex);
    known().categories[{domain, category}] = std::move(text);
  });
}

// Programs give the number that the system has for the thread, or that of pthreads.
template <class Char>
void name_thread(std::uint32_t thread, const Char* name) {
  annotate([&](engine::recorder& out) {
    if (thread == static_cast<std::uint32_t>(::syscall(SYS_gettid)) ||
        thread == static_cast<std::uint32_t>(::pthread_self()))
      out.name_thread(narrow(name));
  });
}

template <class Char>
void name_stream(cudaStream_t stream, const Char* name) {
  annotate([&](engine::recorder&) {
    const result<CUstream_st*> found = resolve_quietly(stream);
    if (found) the_engine().name_stream((*found)->id, narrow(name));
  });
}

}  // namespace

SB_API int __cuda_nvtxRangePushA(const char* message) {
  return annotate(NVTX_NO_PUSH_POP_TRACKING, [&](engine::recorder& out) {
    return push(out, nullptr, words_of(narrow(message)));
  });
}
SB_API int __cuda_nvtxRangePushW(const wchar_t* message) {
  return annotate(NVTX_NO_PUSH_POP_TRACKING, [&](engine::recorder& out) {
    return push(out, nullptr, words_of(narrow(message)));
  });
}
SB_API int __cuda_nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t* event) {
  return annotate(NVTX_NO_PUSH_POP_TRACKING, [&](engine::recorder& out) {
    return push(out, domain, words_of(domain, event));
  });
}
SB_API int __cuda_nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  return annotate(NVTX_NO_PUSH_POP_TRACKING, [&](engine::recorder& out) {
    auto& open = open_ranges()[domain];
    if (open.empty()) return NVTX_NO_PUSH_POP_TRACKING;
    out.end_range(open.back());
    open.pop_back();
    return static_cast<int>(open.size());
  });
}

SB_API nvtxRangeId_t __cuda_nvtxRangeStartA(const char* message) {
  return annotate(nvtxRangeId_t{0},
                  [&](engine::recorder& out) { return start(out, words_of(narrow(message))); });
}
SB_API nvtxRangeId_t __cuda_nvtxRangeStartW(const wchar_t* message) {
  return annotate(nvtxRangeId_t{0},
                  [&](engine::recorder& out) { return start(out, words_of(narrow(message))); });
}
SB_API nvtxRangeId_t __cuda_nvtxDomainRangeStartEx(nvtxDomainHandle_t domain,
                                                   const nvtxEventAttributes_t* event) {
  return annotate(nvtxRangeId_t{0},
                  [&](engine::recorder& out) { return start(out, words_of(domain, event)); });
}
SB_API void __cuda_nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t range) {
  if (range == 0 || range > trace::none) return;
  annotate([&](engine::recorder& out) { out.end_range(static_cast<trace::number>(range - 1)); });
}

SB_API void __cuda_nvtxMarkA(const char* message) {
  annotate([&](engine::recorder& out) { out.mark(words_of(narrow(message)).view()); });
}
SB_API void __cuda_nvtxMarkW(const wchar_t* message) {
  annotate([&](engine::recorder& out) { out.mark(words_of(narrow(message)).view()); });
}
SB_API void __cuda_nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  annotate([&](engine::recorder& out) { out.mark(words_of(domain, event).view()); });
}

SB_API nvtxDomainHandle_t __cuda_nvtxDomainCreateA(const char* name) { return create_domain(name); }
SB_API nvtxDomainHandle_t __cuda_nvtxDomainCreateW(const wchar_t* name) {
  return create_domain(name);
}
SB_API nvtxStringHandle_t __cuda_nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char* text) {
  return register_text(text);
}
SB_API nvtxStringHandle_t __cuda_nvtxDomainRegisterStringW(nvtxDomainHandle_t,
                                                           const wchar_t* text) {
  return register_text(text);
}
SB_API void __cuda_nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, std::uint32_t category,
                                           const char* name) {
  name_category(domain, category, name);
}
SB_API void __cuda_nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, std::uint32_t category,
                                           const wchar_t* name) {
  name_category(domain, category, name);
}
SB_API void __cuda_nvtxNameOsThreadA(std::uint32_t thread, const char* name) {
  name_thread(thread, name);
}
SB_API void __cuda_nvtxNameOsThreadW(std::uint32_t thread, const wchar_t* name) {
  name_thread(thread, name);
}
SB_API void __cuda_nvtxNameCudaStreamA(cudaStream_t stream, const char* name) {
  name_stream(stream, name);
}
SB_API void __cuda_nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t* name) {
  name_stream(stream, name);
}

}  // namespace sb::cudart
