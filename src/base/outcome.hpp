// A value, or a sentence for the user that says why there is none and what to do.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace sb {

struct failure {
  std::string message;
};

template <class T>
class [[nodiscard]] outcome {
 public:
  outcome(T value) : value_(std::move(value)) {}      // NOLINT
  outcome(failure why) : failure_(std::move(why)) {}  // NOLINT
  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const std::string& message() const { return failure_.message; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  failure failure_;
};

}  // namespace sb
