// Texts and places of the program that have a number already. Asking for a known one allocates
// nothing.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/trace.hpp"

namespace sb::trace {

class name_table {
 public:
  struct answer {
    number which;
    bool is_new;
  };
  answer find(std::string_view text) {
    if (const auto known = numbers_.find(text); known != numbers_.end())
      return {known->second, false};
    const auto next = static_cast<number>(numbers_.size());
    numbers_.emplace(std::string(text), next);
    return {next, true};
  }

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, number, hash, std::equal_to<>> numbers_;
};

class place_table {
 public:
  // By the address of the file's name, which is a constant of the program: the same text may have
  // several.
  [[nodiscard]] number find(const char* file, std::uint32_t line) const {
    const auto known = by_address_.find({reinterpret_cast<std::uintptr_t>(file), line});
    return known == by_address_.end() ? none : known->second;
  }
  name_table::answer add(const char* file, number name, std::uint32_t line) {
    const auto next = static_cast<number>(by_name_.size());
    const auto [entry, is_new] = by_name_.try_emplace({name, line}, next);
    by_address_.emplace(key{reinterpret_cast<std::uintptr_t>(file), line}, entry->second);
    return {entry->second, is_new};
  }

 private:
  struct key {
    std::uintptr_t file;
    std::uint32_t line;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& which) const {
      return (which.file ^ (std::size_t{which.line} << 32)) * 0x9e3779b97f4a7c15u >> 16;
    }
  };
  std::unordered_map<key, number, hash> by_address_, by_name_;
};

}  // namespace sb::trace
