#include "compiler/pass/usual_blocks.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/block_width.hpp"
#include "compiler/pass/entry_builder.hpp"
#include "compiler/pass/interleaving.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/shared_memory.hpp"
#include "compiler/pass/thread_marks.hpp"
#include "compiler/pass/warp_function.hpp"
#include "compiler/pass/whole_rows.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral usual_mark = "sb-usual-block";
constexpr StringLiteral other_mark = "sb-other-blocks";
constexpr StringLiteral shared_mark = "sb-shared";
constexpr StringLiteral need_suffix = ".needs";  // a function that stands for how much it is
constexpr std::size_t largest_body = 300;        // instructions
constexpr std::size_t largest_function = 800;
constexpr std::size_t largest_of_warps = 1800;
// Where nothing says more: what launches have, the most frequent first. Halves of 1024 threads read
// their memory in an order that is slower than the version for any blocks (5.0 and 3.7 ms).
constexpr std::uint32_t widths_of_launches[] = {256, 512, 128};
// Each takes 0.06 to 0.09 s. More kernels are mostly one template for many widths.
constexpr std::size_t most_guesses = 6, most_guessed_kernels = 24;
constexpr std::uint64_t least_side = 8;
constexpr std::uint64_t most_border = 16;  // of both sides
constexpr std::uint64_t most_shared_bytes = 8u << 10;

bool is_instrumented(const Function& function) {
  return any_of(std::initializer_list<Attribute::AttrKind>{Attribute::SanitizeAddress,
                                                           Attribute::SanitizeThread,
                                                           Attribute::SanitizeMemory,
                                                           Attribute::SanitizeHWAddress},
                [&](Attribute::AttrKind kind) { return function.hasFnAttribute(kind); });
}

// Rows and columns of an array that has a place for each thread, perhaps with a column more against
// conflicts of banks, or with a border: at the sides, or all around.
usual_block tile_of(Type* type) {
  auto* rows = dyn_cast<ArrayType>(type);
  auto* row = rows ? dyn_cast<ArrayType>(rows->getElementType()) : nullptr;
  if (!row || isa<ArrayType>(row->getElementType())) {
    return {};
  }
  std::uint64_t height = rows->getNumElements(), width = row->getNumElements() & ~std::uint64_t{1};
  if (std::uint64_t border = width - bit_floor(width); border <= most_border) {
    width -= border;
    height -= height > border && !isPowerOf2_64(height) ? border : 0;
  }
  bool fits = isPowerOf2_64(width) && isPowerOf2_64(height) && width >= least_side &&
              height >= least_side && width * height <= most_width;
  return fits ? usual_block{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)}
              : usual_block{};
}

bool is_row_index(const Value* value, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  auto* call = dyn_cast<CallBase>(value);
  if (call && call->getCalledFunction()) {
    return call->getCalledFunction()->getName() == "__sb_tid_y";
  }
  auto* inst = dyn_cast<Instruction>(value);
  return inst && depth < deepest && (isa<CastInst>(inst) || isa<BinaryOperator>(inst)) &&
         any_of(
             inst->operands(),
             [&](const Use& operand) { return is_row_index(operand, depth + 1); });
}

// `for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][...]`: a thread has several rows of the
// tile, and the block so many. 0 if the phi is no such variable.
std::uint32_t rows_between(const PHINode& phi) {
  const APInt* step = nullptr;
  bool counts = any_of(phi.incoming_values(), [&](const Use& next) {
    return match(next.get(), m_c_Add(m_Specific(&phi), m_APInt(step))) ||
           match(next.get(), m_DisjointOr(m_Specific(&phi), m_APInt(step)));
  });
  bool adds =
      counts && any_of(phi.users(), [&](const User* user) {
        auto* sum = dyn_cast<BinaryOperator>(user);
        return sum && !is_contained(phi.incoming_values(), sum) &&
               any_of(sum->operands(), [](const Use& operand) { return is_row_index(operand); });
      });
  return adds && step->isPowerOf2() && step->uge(least_side) && step->ule(most_width)
             ? static_cast<std::uint32_t>(step->getZExtValue())
             : 0;
}

usual_block larger(usual_block one, usual_block other) {
  return one.width * one.rows >= other.width * other.rows ? one : other;
}

// Of shared memory, static and dynamic: no more than that is kept.
std::uint64_t shared_bytes(const kernel& kernel) {
  return kernel.usual.dynamic ? most_shared_bytes : kernel.static_shared_bytes;
}

Function* need_of(const Function& usual) {
  return usual.getParent()->getFunction((usual.getName() + need_suffix).str());
}

// Stands for a number that need_shared_bytes knows.
Value* promise_need(IRBuilder<>& builder, Function& usual) {
  auto* type = FunctionType::get(builder.getInt32Ty(), false);
  auto* need = Function::Create(type, GlobalValue::ExternalLinkage, usual.getName() + need_suffix,
                                *usual.getParent());
  need->setDoesNotAccessMemory();
  for (auto kind : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoFree,
                    Attribute::NoSync, Attribute::Speculatable}) {
    need->addFnAttr(kind);
  }
  return builder.CreateCall(need);
}

// What the block function knows of its block, where it was loaded.
struct block_fields {
  SmallVector<LoadInst*, 4> sizes[3];
  SmallVector<LoadInst*, 4> shared;
};

std::optional<std::uint64_t> offset_from(const LoadInst& load, const Value* object) {
  const DataLayout& layout = load.getModule()->getDataLayout();
  APInt offset(64, 0);
  const Value* base =
      load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  return base == object ? std::optional(offset.getZExtValue()) : std::nullopt;
}

block_fields fields_of(Function& function) {
  block_fields found;
  SmallVector<LoadInst*, 2> blocks;
  for (Instruction& inst : instructions(function)) {
    auto* load = dyn_cast<LoadInst>(&inst);
    if (load && load->getType()->isPointerTy() &&
        offset_from(*load, function.getArg(1)) == offsetof(abi::thread_context, block)) {
      blocks.push_back(load);
    }
  }
  for (Instruction& inst : instructions(function)) {
    auto* load = dyn_cast<LoadInst>(&inst);
    for (LoadInst* block : blocks) {
      auto offset = load ? offset_from(*load, block) : std::nullopt;
      for (unsigned axis = 0; offset && axis < 3; ++axis) {
        if (*offset == offsetof(abi::block_context, block_dim) + 4 * axis) {
          found.sizes[axis].push_back(load);
        }
      }
      if (offset == offsetof(abi::block_context, shared)) {
        found.shared.push_back(load);
      }
    }
  }
  return found;
}

// The pointer is used to load and store, and for nothing that could make it known elsewhere.
bool stays_here(const Value& pointer) {
  return all_of(pointer.uses(), [](const Use& use) {
    auto* user = cast<Instruction>(use.getUser());
    if (isa<GetElementPtrInst>(user)) {
      return stays_here(*user);
    }
    auto* load = dyn_cast<LoadInst>(user);
    auto* store = dyn_cast<StoreInst>(user);
    return (load && load->isSimple()) ||
           (store && store->isSimple() && use.getOperandNo() == store->getPointerOperandIndex());
  });
}

// Made of something in memory other than what threads keep for themselves.
bool is_read(const Value* value, unsigned depth = 0) {
  constexpr unsigned deepest = 6;
  auto* inst = dyn_cast<Instruction>(value);
  if (auto* load = dyn_cast<LoadInst>(value)) {
    return !load->hasMetadata(LLVMContext::MD_invariant_load) &&
           !isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand()));
  }
  return inst && depth < deepest && (isa<CastInst>(inst) || isa<BinaryOperator>(inst)) &&
         any_of(inst->operands(), [&](const Use& operand) { return is_read(operand, depth + 1); });
}

// `count[in[i]]`: a place that no version knows before it runs, and so nothing that it could keep
// as a value.
bool has_unknown_places(const Value& pointer) {
  return any_of(pointer.users(), [](const User* user) {
    auto* address = dyn_cast<GetElementPtrInst>(user);
    return address &&
           (any_of(address->indices(), [](const Use& index) { return is_read(index); }) ||
            has_unknown_places(*address));
  });
}

Value* address_of(Instruction& inst) {
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
    return exchange->getPointerOperand();
  }
  auto* update = dyn_cast<AtomicRMWInst>(&inst);
  return update ? update->getPointerOperand() : getLoadStorePointerOperand(&inst);
}

// Nothing but what names it reaches shared memory: LLVM need not ask before each loop. What it was
// told of regions' parameters within loops keeps it from believing that.
void tell_apart(Function& usual, const Argument& shared) {
  LLVMContext& context = usual.getContext();
  MDBuilder metadata(context);
  MDNode* domain = metadata.createAnonymousAliasScopeDomain("streambed");
  MDNode* scope = MDNode::get(context, metadata.createAnonymousAliasScope(domain, "shared"));
  for (Instruction& inst : make_early_inc_range(instructions(usual))) {
    if (isa<NoAliasScopeDeclInst>(inst)) {
      inst.eraseFromParent();
    } else if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(inst)) {
      bool is_shared = getUnderlyingObject(address_of(inst), 0) == &shared;
      inst.setMetadata(LLVMContext::MD_alias_scope, is_shared ? scope : nullptr);
      inst.setMetadata(LLVMContext::MD_noalias, is_shared ? nullptr : scope);
    }
  }
}

// LLVM would take apart what guard_splitting.hpp divides.
void keep_thread_loops(Function& usual, bool has_rows) {
  LLVMContext& context = usual.getContext();
  MDNode* told[] = {
      MDNode::get(context, MDString::get(context, "llvm.loop.unroll.disable")),
      MDNode::get(context, MDString::get(context, row_loop_mark)),
  };
  for (BasicBlock& block : usual) {
    Instruction* end = block.getTerminator();
    MDNode* id = end->getMetadata(LLVMContext::MD_loop);
    if (id && ends_block_loop(*end)) {
      end->setMetadata(
          LLVMContext::MD_loop,
          makePostTransformationMetadata(context, id, {}, has_rows ? ArrayRef(told) : told[0]));
    }
  }
}

// Whole warps are all that a block has; without the code for others.
void forget_last_warps(Function& usual) {
  for (BasicBlock& block : usual) {
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (branch && asks_for_whole_warp(*branch)) {
      branch->getSuccessor(1)->removePredecessor(&block);
      BranchInst::Create(branch->getSuccessor(0), branch);
      branch->eraseFromParent();
    }
  }
  removeUnreachableBlocks(usual);
}

Function* make_version(const kernel& kernel, Function& whole) {
  LLVMContext& context = whole.getContext();
  auto* pointer = PointerType::getUnqual(context);
  auto* type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer, pointer}, false);
  std::string name = kernel.symbol + "." + std::to_string(kernel.usual.width);
  if (kernel.usual.rows > 1) {
    name.append("x").append(std::to_string(kernel.usual.rows));
  }
  auto* usual = Function::Create(type, GlobalValue::InternalLinkage, name, whole.getParent());
  ValueToValueMapTy map;
  map[whole.getArg(0)] = usual->getArg(0);
  map[whole.getArg(1)] = usual->getArg(1);
  SmallVector<ReturnInst*, 4> returns;
  CloneFunctionInto(usual, &whole, map, CloneFunctionChangeType::LocalChangesOnly, returns);
  usual->setLinkage(GlobalValue::InternalLinkage);
  usual->addFnAttr(Attribute::NoInline);
  // Rows are no rounds that could be written out, but loops of them are vectors without a rest.
  if (kernel.usual.rows == 1) {
    usual->addFnAttr(usual_mark, std::to_string(shared_bytes(kernel)));
  }
  // Whether anything else reaches it was looked at.
  Argument& shared = *usual->getArg(2);
  shared.setName("shared");
  shared.addAttr(Attribute::get(context, shared_mark));
  shared.addAttr(Attribute::NoAlias);
  shared.addAttr(Attribute::getWithAlignment(context, Align(128)));
  shared.addAttr(Attribute::getWithDereferenceableBytes(context, kernel.static_shared_bytes));

  block_fields fields = fields_of(*usual);
  auto* word = Type::getInt32Ty(context);
  for (unsigned axis = 0; axis < 3; ++axis) {
    for (LoadInst* size : fields.sizes[axis]) {
      size->replaceAllUsesWith(ConstantInt::get(word, kernel.usual.size(axis)));
    }
  }
  for (LoadInst* load : fields.shared) {
    load->replaceAllUsesWith(&shared);
  }
  if (kernel.usual.rows == 1) {
    forget_last_warps(*usual);
  }
  keep_thread_loops(*usual, kernel.usual.rows > 1);
  if (kernel.usual.rows == 1) {
    ask_each_block(*usual, whole);
  }
  tell_apart(*usual, shared);
  return usual;
}

}  // namespace

usual_block find_usual_block(const kernel& kernel) {
  const Function& body = *kernel.body;
  if (body.hasOptSize() || is_instrumented(body) || body.getInstructionCount() > largest_body) {
    return {};
  }
  bool meets = false, has_rows = false, dynamic = false, has_arrays = false;
  usual_block tile;
  std::uint32_t rows = 0;  // if threads have several of the tile's each
  for (const Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallBase>(&inst);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == "__sb_tid_z") {
      return {};
    }
    if (auto* phi = dyn_cast<PHINode>(&inst); phi && phi->getType()->isIntegerTy()) {
      rows = std::max(rows, rows_between(*phi));
    }
    has_rows |= callee && callee->getName() == "__sb_tid_y";
    meets |= call && called_slot(*call) == slot::barrier;
    for (const Value* operand : inst.operands()) {
      auto* variable = dyn_cast<GlobalVariable>(operand->stripInBoundsConstantOffsets());
      if (variable && is_shared(*variable)) {
        dynamic |= is_dynamic(*variable);
        has_arrays |= variable->getValueType()->isArrayTy();
        tile = larger(tile, tile_of(variable->getValueType()));
      }
    }
  }
  if (has_rows) {
    tile.rows = rows != 0 && rows < tile.rows ? rows : tile.rows;
    return meets && tile.width * tile.rows <= kernel.max_threads ? tile : usual_block{};
  }
  std::uint64_t width = is_width(kernel.max_threads) && kernel.max_threads != most_width
                            ? kernel.max_threads
                            : width_by_shared_memory(*kernel.body);
  bool guessed = width == 0 && (dynamic || (has_arrays && has_warp_meetings(body)));
  if (guessed) {
    width = widths_of_launches[0];
  }
  bool fits = meets && width <= kernel.max_threads;
  return {fits ? static_cast<std::uint32_t>(width) : 0, 1, dynamic, guessed};
}

unsigned guesses_for(ArrayRef<kernel> kernels) {
  auto guessed = static_cast<std::size_t>(count_if(kernels, [](const kernel& one) {
    usual_block usual = find_usual_block(one);
    return usual.guessed && usual.width != 0;
  }));
  if (guessed == 0 || guessed > most_guessed_kernels) {
    return 0;
  }
  return static_cast<unsigned>(
      std::clamp<std::size_t>(most_guesses / guessed, 1, std::size(widths_of_launches)));
}

namespace {

bool may_have_version(const kernel& kernel) {
  Function& whole = *kernel.body;
  if (kernel.usual.width == 0 || kernel.mode != abi::kernel_mode::loop ||
      shared_bytes(kernel) == 0 || shared_bytes(kernel) > most_shared_bytes ||
      kernel.stores_thread_index ||
      (kernel.needs == 0 && whole.getInstructionCount() > largest_function)) {
    return false;
  }
  // Tiles are more than what is kept of them.
  bool knows_places = kernel.usual.rows == 1;
  return all_of(fields_of(whole).shared, [&](LoadInst* load) {
    return stays_here(*load) && !(knows_places && has_unknown_places(*load));
  });
}

struct version {
  usual_block blocks;
  Function* function;
};

SmallVector<version, 4> make_versions(kernel& kernel) {
  SmallVector<usual_block, 4> shapes = {kernel.usual};
  if (kernel.usual.guessed) {
    shapes.clear();
    for (std::uint32_t width : ArrayRef(widths_of_launches).take_front(kernel.guesses)) {
      shapes.push_back(kernel.usual);
      shapes.back().width = width;
    }
  }
  SmallVector<version, 4> made;
  for (const usual_block& shape : shapes) {
    kernel.usual = shape;
    Function* usual =
        shape.width <= kernel.max_threads ? make_version(kernel, *kernel.body) : nullptr;
    // Without the code for warps that have fewer lanes.
    if (usual && kernel.needs != 0 && usual->getInstructionCount() > largest_of_warps) {
      usual->eraseFromParent();
    } else if (usual) {
      made.push_back({shape, usual});
    }
  }
  return made;
}

// Whether the launch has such blocks, and gives them what the version needs.
Value* fits(IRBuilder<>& builder, const kernel& kernel, const version& one, Value* block) {
  Value* all = nullptr;
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value* size = load_field(builder, builder.getInt32Ty(), block,
                             offsetof(abi::block_context, block_dim) + 4 * axis, "sb.ntid", true);
    Value* same = builder.CreateICmpEQ(size, builder.getInt32(one.blocks.size(axis)));
    all = all ? builder.CreateAnd(all, same) : same;
  }
  if (!one.blocks.dynamic) {
    return all;
  }
  Value* dynamic =
      load_field(builder, builder.getInt32Ty(), block,
                 offsetof(abi::block_context, dynamic_shared_bytes), "sb.dynamic_bytes", true);
  auto fixed = static_cast<std::uint32_t>(alignTo(kernel.static_shared_bytes, dynamic_alignment));
  Value* given = builder.CreateNUWAdd(dynamic, builder.getInt32(fixed));
  return builder.CreateAnd(all, builder.CreateICmpUGE(given, promise_need(builder, *one.function)));
}

}  // namespace

void add_usual_version(kernel& kernel) {
  Function& whole = *kernel.body;
  auto versions = may_have_version(kernel) ? make_versions(kernel) : SmallVector<version, 4>();
  if (versions.empty()) {
    return;
  }
  Function* choice = create_entry(kernel);
  std::string name = whole.getName().str();
  whole.setName(kernel.symbol + ".any");
  choice->setName(name);
  whole.addFnAttr(Attribute::NoInline);
  // A version for one width may be dropped again, and then this one is for all blocks.
  if (kernel.usual.rows > 1) {
    whole.addFnAttr(other_mark);
  }
  LLVMContext& context = choice->getContext();
  IRBuilder<> builder(BasicBlock::Create(context, "entry", choice));
  builder.SetCurrentDebugLocation(attach_debug_info(*choice, kernel));
  Value* block = load_field(builder, builder.getPtrTy(), choice->getArg(1),
                            offsetof(abi::thread_context, block), "sb.block", true);
  Value* shared = load_field(builder, builder.getPtrTy(), block,
                             offsetof(abi::block_context, shared), "sb.shared", true);
  for (const version& one : versions) {
    auto* here = BasicBlock::Create(context, "usual", choice);
    auto* other = BasicBlock::Create(context, "any", choice);
    builder.CreateCondBr(fits(builder, kernel, one, block), here, other);
    builder.SetInsertPoint(here);
    builder.CreateCall(one.function, {choice->getArg(0), choice->getArg(1), shared});
    builder.CreateRetVoid();
    builder.SetInsertPoint(other);
  }
  builder.CreateCall(&whole, {choice->getArg(0), choice->getArg(1)});
  builder.CreateRetVoid();
  kernel.body = choice;
}

Argument* shared_memory_of(Function& usual) {
  for (Argument& argument : usual.args()) {
    if (usual.getAttributes().hasParamAttr(argument.getArgNo(), shared_mark)) {
      return &argument;
    }
  }
  return nullptr;
}

bool has_usual_version(const Function& whole) { return whole.hasFnAttribute(other_mark); }

bool is_usual_version(const Function& function) { return function.hasFnAttribute(usual_mark); }

std::uint64_t shared_bytes_of(const Function& usual) {
  std::uint64_t bytes = 0;
  usual.getFnAttribute(usual_mark).getValueAsString().getAsInteger(10, bytes);
  return bytes;
}

void need_shared_bytes(Function& usual, std::uint64_t bytes) {
  if (Function* need = need_of(usual)) {
    for (User* user : make_early_inc_range(need->users())) {
      auto* call = cast<CallInst>(user);
      call->replaceAllUsesWith(ConstantInt::get(call->getType(), bytes));
      call->eraseFromParent();
    }
    need->eraseFromParent();
  }
}

void drop_usual_version(Function& usual) {
  need_shared_bytes(usual, 0);
  for (User* user : make_early_inc_range(usual.users())) {
    BasicBlock* here = cast<CallInst>(user)->getParent();
    BasicBlock* before = here->getSinglePredecessor();
    auto* choice = before ? dyn_cast<BranchInst>(before->getTerminator()) : nullptr;
    if (choice && choice->isConditional() && choice->getSuccessor(0) != choice->getSuccessor(1)) {
      BranchInst::Create(choice->getSuccessor(choice->getSuccessor(0) == here ? 1 : 0), before);
      choice->eraseFromParent();
      DeleteDeadBlock(here);
    }
  }
  if (usual.use_empty()) {
    usual.eraseFromParent();
  }
}

}  // namespace sb::pass
