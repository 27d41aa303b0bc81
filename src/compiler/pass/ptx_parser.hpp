// The text of inline PTX, taken apart: straight-line code, one instruction per statement.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::pass {

// $0, a register of the text's own, %laneid, 17, 0f3f800000.
struct ptx_operand {
  enum class kind { value, address, vector };
  kind what = kind::value;
  std::string name;                   // value; base of an address
  long long offset = 0;               // of an address
  bool negated = false;               // !p
  std::string second;                 // the predicate of "d|p"
  std::vector<std::string> elements;  // of a vector
};

struct ptx_instruction {
  std::string guard;  // register of @p; empty: always
  bool guard_negated = false;
  std::string opcode;              // ld.global.u32
  std::vector<std::string> parts;  // ld, global, u32
  std::vector<ptx_operand> operands;

  [[nodiscard]] std::string_view name() const { return parts.front(); }
  [[nodiscard]] bool has(std::string_view part) const;
  // The last part, or the one before where an instruction names two types.
  [[nodiscard]] std::string_view type() const { return parts.back(); }
};

struct ptx_program {
  std::vector<ptx_instruction> instructions;
  std::string error;  // not empty: the text could not be read
};

ptx_program parse_ptx(std::string_view text);

}  // namespace sb::pass
