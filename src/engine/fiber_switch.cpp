// The context switch. A switched-out fiber has its callee-saved registers and its floating-point
// control state on its stack; both sides of a switch use the same frame, so one description of it
// (the .cfi lines) holds before and after the stack pointer changes.
//
//   void sb_fiber_switch(void** save, void* load);   save: where the old stack pointer goes
//   void sb_fiber_entry();                           first frame of a fiber: calls main(argument)
//
// Reading the control state is cheap and writing it is not, so it is written only when it differs.

#if defined(__aarch64__)

asm(R"(
    .text
    .align 4
    .globl sb_fiber_switch
    .hidden sb_fiber_switch
    .type sb_fiber_switch, %function
sb_fiber_switch:
    .cfi_startproc
    hint #34
    sub sp, sp, #176
    .cfi_def_cfa_offset 176
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    .cfi_offset x19, -176
    .cfi_offset x20, -168
    .cfi_offset x21, -160
    .cfi_offset x22, -152
    .cfi_offset x23, -144
    .cfi_offset x24, -136
    .cfi_offset x25, -128
    .cfi_offset x26, -120
    .cfi_offset x27, -112
    .cfi_offset x28, -104
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mrs x10, fpcr
    str x10, [sp, #160]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldr x9, [sp, #160]
    cmp x9, x10
    b.eq 1f
    msr fpcr, x9
1:
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    add sp, sp, #176
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size sb_fiber_switch, .-sb_fiber_switch

    .align 4
    .globl sb_fiber_entry
    .hidden sb_fiber_entry
    .type sb_fiber_entry, %function
sb_fiber_entry:
    .cfi_startproc
    .cfi_undefined x30
    hint #36
    mov x0, x20
    blr x19
    brk #0
    .cfi_endproc
    .size sb_fiber_entry, .-sb_fiber_entry
)");

#elif defined(__x86_64__)

asm(R"(
    .text
    .p2align 4
    .globl sb_fiber_switch
    .hidden sb_fiber_switch
    .type sb_fiber_switch, @function
sb_fiber_switch:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    pushq %rbx
    .cfi_def_cfa_offset 24
    .cfi_offset %rbx, -24
    pushq %r12
    .cfi_def_cfa_offset 32
    .cfi_offset %r12, -32
    pushq %r13
    .cfi_def_cfa_offset 40
    .cfi_offset %r13, -40
    pushq %r14
    .cfi_def_cfa_offset 48
    .cfi_offset %r14, -48
    pushq %r15
    .cfi_def_cfa_offset 56
    .cfi_offset %r15, -56
    subq $8, %rsp
    .cfi_def_cfa_offset 64
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movl (%rsp), %eax
    movzwl 4(%rsp), %ecx
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    cmpl (%rsp), %eax
    je 1f
    ldmxcsr (%rsp)
1:
    cmpw 4(%rsp), %cx
    je 2f
    fldcw 4(%rsp)
2:
    addq $8, %rsp
    .cfi_def_cfa_offset 56
    popq %r15
    .cfi_def_cfa_offset 48
    popq %r14
    .cfi_def_cfa_offset 40
    popq %r13
    .cfi_def_cfa_offset 32
    popq %r12
    .cfi_def_cfa_offset 24
    popq %rbx
    .cfi_def_cfa_offset 16
    popq %rbp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size sb_fiber_switch, .-sb_fiber_switch

    .p2align 4
    .globl sb_fiber_entry
    .hidden sb_fiber_entry
    .type sb_fiber_entry, @function
sb_fiber_entry:
    .cfi_startproc
    .cfi_undefined %rip
    movq %r12, %rdi
    callq *%rbx
    ud2
    .cfi_endproc
    .size sb_fiber_entry, .-sb_fiber_entry
)");

#else
#error "fibers are written for aarch64 and x86-64: add the context switch of this processor here"
#endif
