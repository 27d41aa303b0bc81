// Which memory an x86-64 instruction accesses, by its bytes; each is what an assembler made of the
// text beside it.
#include "engine/x86_operand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sb::engine::testing {
namespace {

enum { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

struct instruction {
  const char* text;
  std::vector<unsigned char> bytes;
  std::vector<std::uint64_t> accessed;
};

std::uint64_t value_of(unsigned number) {
  return std::uint64_t{0x123400000000} * (number + 1) + 0x1000003 * number;
}

std::vector<std::uint64_t> accessed_by(const instruction& one) {
  x86_registers registers;
  for (unsigned i = 0; i < 16; ++i) registers[i] = value_of(i);
  const x86_accesses found = accesses_of(one.bytes.data(), registers);
  return {found.address, found.address + found.count};
}

TEST(x86_operand, is_the_sum_of_base_index_and_displacement) {
  const instruction all[] = {
      {"mov (%rax),%ecx", {0x8b, 0x08}, {value_of(rax)}},
      {"mov %edx,0x1(%rcx,%rdi,1)", {0x89, 0x54, 0x39, 0x01}, {value_of(rcx) + value_of(rdi) + 1}},
      {"mov 0x10(%r13,%r12,4),%r9",
       {0x4f, 0x8b, 0x4c, 0xa5, 0x10},
       {value_of(r13) + 4 * value_of(r12) + 16}},
      {"movl $0x7,-0x100(%rsp)",
       {0xc7, 0x84, 0x24, 0x00, 0xff, 0xff, 0xff, 0x07, 0x00, 0x00, 0x00},
       {value_of(rsp) - 256}},
      {"movss 0x8(%rbp,%rbx,4),%xmm1",
       {0xf3, 0x0f, 0x10, 0x4c, 0x9d, 0x08},
       {value_of(rbp) + 4 * value_of(rbx) + 8}},
      {"movzbl 0x3(%rsi),%eax", {0x0f, 0xb6, 0x46, 0x03}, {value_of(rsi) + 3}},
      {"call *0x18(%rax)", {0xff, 0x50, 0x18}, {value_of(rax) + 24}},
      {"movabs 0x1000000000001,%eax",
       {0xa1, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00},
       {0x1000000000001}},
  };
  for (const instruction& one : all) EXPECT_EQ(accessed_by(one), one.accessed) << one.text;
}

TEST(x86_operand, of_an_atomic_operation_is_behind_its_prefixes) {
  const instruction all[] = {
      {"lock cmpxchg %rcx,(%r8)", {0xf0, 0x49, 0x0f, 0xb1, 0x08}, {value_of(r8)}},
      {"lock xadd %eax,0x7fffffff(%r15)",
       {0xf0, 0x41, 0x0f, 0xc1, 0x87, 0xff, 0xff, 0xff, 0x7f},
       {value_of(r15) + 0x7fffffff}},
  };
  for (const instruction& one : all) EXPECT_EQ(accessed_by(one), one.accessed) << one.text;
}

TEST(x86_operand, of_a_vector_has_registers_and_scale_in_its_prefix) {
  const instruction all[] = {
      {"vmovups %ymm0,0x20(%rdx,%r10,8)",
       {0xc4, 0xa1, 0x7c, 0x11, 0x44, 0xd2, 0x20},
       {value_of(rdx) + 8 * value_of(r10) + 32}},
      {"vmovups 0x20(%r9),%xmm4", {0xc4, 0xc1, 0x78, 0x10, 0x61, 0x20}, {value_of(r9) + 32}},
      {"vmovups (%rsi),%ymm1", {0xc5, 0xfc, 0x10, 0x0e}, {value_of(rsi)}},
      {"vfmadd231ps (%r11),%ymm1,%ymm2", {0xc4, 0xc2, 0x75, 0xb8, 0x13}, {value_of(r11)}},
      {"vmovups 0x40(%rax),%zmm3",
       {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x58, 0x01},
       {value_of(rax) + 64}},
      {"vmovups %ymm17,0x40(%r12)",
       {0x62, 0xc1, 0x7c, 0x28, 0x11, 0x4c, 0x24, 0x02},
       {value_of(r12) + 64}},
      {"vaddps 0x8(%rcx){1to16},%zmm1,%zmm2",
       {0x62, 0xf1, 0x74, 0x58, 0x58, 0x51, 0x02},
       {value_of(rcx) + 8}},
      {"vmovss 0x4(%rdx),%xmm20", {0x62, 0xe1, 0x7e, 0x08, 0x10, 0x62, 0x01}, {value_of(rdx) + 4}},
  };
  for (const instruction& one : all) EXPECT_EQ(accessed_by(one), one.accessed) << one.text;
}

TEST(x86_operand, of_a_string_instruction_is_where_it_has_come_to) {
  const instruction all[] = {
      {"rep movsb", {0xf3, 0xa4}, {value_of(rsi), value_of(rdi)}},
      {"rep stosq", {0xf3, 0x48, 0xab}, {value_of(rdi)}},
      {"lodsl", {0xad}, {value_of(rsi)}},
  };
  for (const instruction& one : all) EXPECT_EQ(accessed_by(one), one.accessed) << one.text;
}

TEST(x86_operand, is_not_guessed) {
  const instruction all[] = {
      {"mov 0x1234(%rip),%eax", {0x8b, 0x05, 0x34, 0x12, 0x00, 0x00}, {}},
      {"mov %fs:0x28,%rax", {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00}, {}},
      {"vpgatherdd %ymm1,(%rax,%ymm2,4),%ymm3", {0xc4, 0xe2, 0x75, 0x90, 0x1c, 0x90}, {}},
      {"mov %rax,%rcx", {0x48, 0x89, 0xc1}, {}},
      {"vzeroupper", {0xc5, 0xf8, 0x77}, {}},
      {"ret", {0xc3}, {}},
  };
  for (const instruction& one : all) EXPECT_EQ(accessed_by(one), one.accessed) << one.text;
}

}  // namespace
}  // namespace sb::engine::testing
