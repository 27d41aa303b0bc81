// NVTX for C++: ranges that end with their scope, marks, domains that are types.
//
//   struct my_library { static constexpr char const* name{"my library"}; };
//   void f() {
//     NVTX3_FUNC_RANGE_IN(my_library);
//     nvtx3::scoped_range_in<my_library> step{"step", nvtx3::rgb{127, 255, 0}};
//   }
#ifndef NVTX3_NVTX3_HPP
#define NVTX3_NVTX3_HPP

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "nvToolsExt.h"

namespace nvtx3 {
inline namespace v1 {

class domain {
 public:
  struct global {};

  domain(const domain&) = delete;
  domain& operator=(const domain&) = delete;

  // The one of a type with a static member `name`; of `global`, the one without a name.
  template <class Tag = global>
  static const domain& get() {
    static const domain only{named<Tag>(0)};
    return only;
  }
  operator nvtxDomainHandle_t() const noexcept { return handle_; }

 private:
  explicit domain(const char* name) : handle_(name ? nvtxDomainCreateA(name) : nullptr) {}
  template <class Tag>
  static auto named(int) -> decltype(Tag::name, static_cast<const char*>(nullptr)) {
    return Tag::name;
  }
  template <class Tag>
  static const char* named(long) {
    static_assert(std::is_same<Tag, global>::value, "a domain's type has a member `name`");
    return nullptr;
  }
  nvtxDomainHandle_t handle_;
};

struct rgb {
  using component_type = std::uint8_t;
  constexpr rgb(component_type r, component_type g, component_type b) noexcept
      : red(r), green(g), blue(b) {}
  component_type red, green, blue;
};
struct argb {
  using component_type = std::uint8_t;
  constexpr argb(component_type a, component_type r, component_type g, component_type b) noexcept
      : alpha(a), red(r), green(g), blue(b) {}
  component_type alpha, red, green, blue;
};
class color {
 public:
  using value_type = std::uint32_t;
  explicit constexpr color(value_type value) noexcept : value_(value) {}
  constexpr color(argb c) noexcept
      : value_(value_type{c.alpha} << 24 | value_type{c.red} << 16 | value_type{c.green} << 8 |
               c.blue) {}
  constexpr color(rgb c) noexcept : color(argb(255, c.red, c.green, c.blue)) {}
  constexpr value_type get_value() const noexcept { return value_; }

 private:
  value_type value_;
};

class category {
 public:
  using id_type = std::uint32_t;
  explicit constexpr category(id_type id) noexcept : id_(id) {}
  constexpr id_type get_id() const noexcept { return id_; }

 private:
  id_type id_;
};
template <class Tag = domain::global>
class named_category_in final : public category {
 public:
  named_category_in(id_type id, const char* name) noexcept : category(id) {
    nvtxDomainNameCategoryA(domain::get<Tag>(), id, name);
  }
};
using named_category = named_category_in<domain::global>;

template <class Tag = domain::global>
class registered_string_in {
 public:
  explicit registered_string_in(const char* text) noexcept
      : handle_(nvtxDomainRegisterStringA(domain::get<Tag>(), text)) {}
  explicit registered_string_in(const std::string& text) noexcept
      : registered_string_in(text.c_str()) {}
  nvtxStringHandle_t get_handle() const noexcept { return handle_; }

 private:
  nvtxStringHandle_t handle_;
};
using registered_string = registered_string_in<domain::global>;

// The text is not copied: it has to live until the event is made.
class message {
 public:
  message(const char* text) noexcept : type_(NVTX_MESSAGE_TYPE_ASCII) { value_.ascii = text; }
  message(const std::string& text) noexcept : message(text.c_str()) {}
  message(const wchar_t* text) noexcept : type_(NVTX_MESSAGE_TYPE_UNICODE) {
    value_.unicode = text;
  }
  template <class Tag>
  message(const registered_string_in<Tag>& text) noexcept : type_(NVTX_MESSAGE_TYPE_REGISTERED) {
    value_.registered = text.get_handle();
  }
  nvtxMessageType_t get_type() const noexcept { return type_; }
  nvtxMessageValue_t get_value() const noexcept { return value_; }

 private:
  nvtxMessageType_t type_;
  nvtxMessageValue_t value_{};
};

class payload {
 public:
  explicit payload(std::int64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT64) { bits_.llValue = v; }
  explicit payload(std::uint64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) {
    bits_.ullValue = v;
  }
  explicit payload(std::int32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT32) { bits_.iValue = v; }
  explicit payload(std::uint32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) {
    bits_.uiValue = v;
  }
  explicit payload(float v) noexcept : type_(NVTX_PAYLOAD_TYPE_FLOAT) { bits_.fValue = v; }
  explicit payload(double v) noexcept : type_(NVTX_PAYLOAD_TYPE_DOUBLE) { bits_.dValue = v; }
  nvtxPayloadType_t get_type() const noexcept { return type_; }
  using value_type = decltype(nvtxEventAttributes_t::payload);
  value_type get_value() const noexcept { return bits_; }

 private:
  nvtxPayloadType_t type_;
  value_type bits_{};
};

// Made of any of the above, in any order; of two of a kind the first counts.
class event_attributes {
 public:
  event_attributes() noexcept : raw_{} {
    raw_.version = NVTX_VERSION;
    raw_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  }
  template <class... Rest>
  explicit event_attributes(const category& c, const Rest&... rest) noexcept
      : event_attributes(rest...) {
    raw_.category = c.get_id();
  }
  template <class... Rest>
  explicit event_attributes(const color& c, const Rest&... rest) noexcept
      : event_attributes(rest...) {
    raw_.colorType = NVTX_COLOR_ARGB;
    raw_.color = c.get_value();
  }
  template <class... Rest>
  explicit event_attributes(const rgb& c, const Rest&... rest) noexcept
      : event_attributes(color(c), rest...) {}
  template <class... Rest>
  explicit event_attributes(const argb& c, const Rest&... rest) noexcept
      : event_attributes(color(c), rest...) {}
  template <class... Rest>
  explicit event_attributes(const payload& p, const Rest&... rest) noexcept
      : event_attributes(rest...) {
    raw_.payloadType = p.get_type();
    raw_.payload = p.get_value();
  }
  template <class... Rest>
  explicit event_attributes(const message& m, const Rest&... rest) noexcept
      : event_attributes(rest...) {
    raw_.messageType = m.get_type();
    raw_.message = m.get_value();
  }
  const nvtxEventAttributes_t* get() const noexcept { return &raw_; }

 private:
  nvtxEventAttributes_t raw_;
};

// From here to the end of the scope.
template <class Tag = domain::global>
class scoped_range_in {
 public:
  scoped_range_in() noexcept : scoped_range_in(event_attributes()) {}
  explicit scoped_range_in(const event_attributes& what) noexcept {
    nvtxDomainRangePushEx(domain::get<Tag>(), what.get());
  }
  template <class... Parts, class = typename std::enable_if<(sizeof...(Parts) > 0)>::type>
  explicit scoped_range_in(const Parts&... parts) noexcept
      : scoped_range_in(event_attributes(parts...)) {}
  scoped_range_in(const scoped_range_in&) = delete;
  scoped_range_in& operator=(const scoped_range_in&) = delete;
  ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::get<Tag>()); }
  void* operator new(std::size_t) = delete;
};
using scoped_range = scoped_range_in<domain::global>;

class range_handle {
 public:
  explicit constexpr range_handle(nvtxRangeId_t id = 0) noexcept : id_(id) {}
  constexpr nvtxRangeId_t get_value() const noexcept { return id_; }
  explicit constexpr operator bool() const noexcept { return id_ != 0; }

 private:
  nvtxRangeId_t id_;
};
template <class Tag = domain::global, class... Parts>
range_handle start_range_in(const Parts&... parts) noexcept {
  return range_handle(nvtxDomainRangeStartEx(domain::get<Tag>(), event_attributes(parts...).get()));
}
template <class Tag = domain::global>
void end_range_in(range_handle range) noexcept {
  nvtxDomainRangeEnd(domain::get<Tag>(), range.get_value());
}
template <class... Parts>
range_handle start_range(const Parts&... parts) noexcept {
  return start_range_in<domain::global>(parts...);
}
inline void end_range(range_handle range) noexcept { end_range_in<domain::global>(range); }

// Ends anywhere, also on another thread: it can be moved.
template <class Tag = domain::global>
class unique_range_in {
 public:
  template <class... Parts>
  explicit unique_range_in(const Parts&... parts) noexcept
      : range_(start_range_in<Tag>(parts...)) {}
  unique_range_in(unique_range_in&& other) noexcept : range_(other.range_) {
    other.range_ = range_handle();
  }
  unique_range_in& operator=(unique_range_in&& other) noexcept {
    std::swap(range_, other.range_);
    return *this;
  }
  ~unique_range_in() noexcept {
    if (range_) end_range_in<Tag>(range_);
  }

 private:
  range_handle range_;
};
using unique_range = unique_range_in<domain::global>;

template <class Tag = domain::global, class... Parts>
void mark_in(const Parts&... parts) noexcept {
  nvtxDomainMarkEx(domain::get<Tag>(), event_attributes(parts...).get());
}
template <class... Parts>
void mark(const Parts&... parts) noexcept {
  mark_in<domain::global>(parts...);
}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) \
  ::nvtx3::scoped_range_in<D> const nvtx3_function_range__ { ::nvtx3::message(__func__) }
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_V1_FUNC_RANGE_IN(D) NVTX3_FUNC_RANGE_IN(D)
#define NVTX3_V1_FUNC_RANGE() NVTX3_FUNC_RANGE()

#endif
