#include "compiler/pass/gathered_atomics.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <bit>
#include <optional>
#include <string>

#include "compiler/pass/address_spaces.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Of the table. It is short first, for few threads, and long when so many entries were taken.
constexpr unsigned entries = 2048, few_entries = 64;
constexpr unsigned most_of_few = 128;
constexpr unsigned ranges = 4;
// The table is given up when so many more entries were taken from places that came once than from
// others.
constexpr unsigned most_in_vain = 64;
// Calls that do without it from then on.
constexpr unsigned rests = 31;
constexpr std::size_t most_additions = 8;
constexpr std::size_t most_accesses = 16;
constexpr unsigned table_align = 16;
constexpr unsigned entry_bytes = 2 * sizeof(std::uint64_t);
constexpr unsigned short_shift = 64 - std::bit_width(few_entries - 1);
constexpr unsigned long_shift = 64 - std::bit_width(entries - 1);

// struct { struct { u64 least, span; } range[ranges]; u64 off, vain, taken, shift;
//          struct { u64 place, sum; } entry[1 << (64 - shift)]; }
// An entry has the complement of its place, so that none has zero. The places in it that belong to
// one parameter or variable lie between `least` and `least + span`.
enum field : unsigned { field_range, field_off, field_vain, field_taken, field_shift, field_entry };
enum pair_field : unsigned { entry_place = 0, entry_sum = 1, range_least = 0, range_span = 1 };

class table_type {
 public:
  explicit table_type(LLVMContext& context)
      : number_(Type::getInt64Ty(context)),
        pair_(StructType::get(number_, number_)),
        type_(StructType::get(ArrayType::get(pair_, ranges), number_, number_, number_, number_,
                              ArrayType::get(pair_, entries))) {}

  StructType* get() const { return type_; }
  Value* field_of(IRBuilder<>& builder, Value* table, field which) const {
    return builder.CreateStructGEP(type_, table, which);
  }
  Value* entry(IRBuilder<>& builder, Value* table, Value* index, pair_field which) const {
    return builder.CreateInBoundsGEP(
        type_, table,
        {builder.getInt32(0), builder.getInt32(field_entry), index, builder.getInt32(which)});
  }
  Value* range(IRBuilder<>& builder, Value* table, unsigned index) const {
    return builder.CreateInBoundsGEP(
        type_, table,
        {builder.getInt32(0), builder.getInt32(field_range), builder.getInt64(index)});
  }
  Value* of_range(IRBuilder<>& builder, Value* range, pair_field which) const {
    return builder.CreateStructGEP(pair_, range, which);
  }
  // The upper bits of a product with the golden ratio: neighbours have different entries, and so
  // have most places of arrays that begin alike.
  static Value* index_of(IRBuilder<>& builder, Value* place, unsigned bits, Value* shift) {
    Value* number = builder.CreateLShr(place, Log2_32(bits / 8));
    return builder.CreateLShr(builder.CreateMul(number, builder.getInt64(0x9e3779b97f4a7c15)),
                              shift);
  }

 private:
  Type* number_;
  StructType* pair_;
  StructType* type_;
};

class helpers {
 public:
  helpers(Function& body, unsigned bits)
      : module_(*body.getParent()), like_(body), type_(body.getContext()), bits_(bits) {}

  // Adds what is in the table to memory and empties it for good.
  Function* close() {
    Function* function = create("sb.gathered.close", 1);
    if (!function->empty()) {
      return function;
    }
    IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "in", function));
    Value* table = function->getArg(0);
    builder.CreateCall(empty(), table);
    builder.CreateStore(builder.getInt64(1), type_.field_of(builder, table, field_off));
    for (unsigned i = 0; i < ranges; ++i) {
      Value* span_at = type_.of_range(builder, type_.range(builder, table, i), range_span);
      builder.CreateStore(builder.getInt64(0), span_at);
    }
    builder.CreateRetVoid();
    return function;
  }

  Function* empty() {
    Function* function = create("sb.gathered.empty", 1);
    if (!function->empty()) {
      return function;
    }
    LLVMContext& context = module_.getContext();
    Value* table = function->getArg(0);
    auto block = [&](const char* name) { return BasicBlock::Create(context, name, function); };
    BasicBlock *before = block("in"), *loop = block("entry"), *add = block("add"),
               *next = block("next"), *done = block("out");
    IRBuilder<> builder(before);
    Value* shift =
        builder.CreateLoad(builder.getInt64Ty(), type_.field_of(builder, table, field_shift));
    Value* count =
        builder.CreateShl(builder.getInt64(1), builder.CreateSub(builder.getInt64(64), shift));
    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    auto* index = builder.CreatePHI(builder.getInt64Ty(), 2);
    index->addIncoming(builder.getInt64(0), before);
    Value* sum_at = type_.entry(builder, table, index, entry_sum);
    Value* sum = builder.CreateLoad(builder.getInt64Ty(), sum_at);
    builder.CreateStore(builder.getInt64(0), sum_at);
    Value* place_at = type_.entry(builder, table, index, entry_place);
    Value* place = builder.CreateNot(builder.CreateLoad(builder.getInt64Ty(), place_at));
    builder.CreateStore(builder.getInt64(0), place_at);
    builder.CreateCondBr(builder.CreateIsNotNull(sum), add, next);
    builder.SetInsertPoint(add);
    add_to(builder, place, sum);
    builder.CreateBr(next);
    builder.SetInsertPoint(next);
    Value* following = builder.CreateAdd(index, builder.getInt64(1));
    index->addIncoming(following, next);
    builder.CreateCondBr(builder.CreateICmpULT(following, count), loop, done);
    builder.SetInsertPoint(done);
    builder.CreateRetVoid();
    return function;
  }

  Function* lengthen() {
    Function* function = create("sb.gathered.lengthen", 1);
    if (!function->empty()) {
      return function;
    }
    IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "in", function));
    Value* table = function->getArg(0);
    builder.CreateCall(empty(), table);
    Value* begin = type_.entry(builder, table, builder.getInt64(0), entry_place);
    builder.CreateMemSet(begin, builder.getInt8(0), std::uint64_t{entries} * entry_bytes,
                         Align(alignof(std::uint64_t)));
    builder.CreateStore(builder.getInt64(0), type_.field_of(builder, table, field_vain));
    builder.CreateStore(builder.getInt64(long_shift), type_.field_of(builder, table, field_shift));
    builder.CreateRetVoid();
    return function;
  }

  // Gives an entry to another place, of that range. Most entries are worth it, or there is an end.
  Function* take_entry() {
    Function* function = create("sb.gathered.take", 3);
    if (!function->empty()) {
      return function;
    }
    LLVMContext& context = module_.getContext();
    Value* table = function->getArg(0);
    Value* range = function->getArg(1);
    Value* place = function->getArg(2);
    auto block = [&](const char* name) { return BasicBlock::Create(context, name, function); };
    BasicBlock *in = block("in"), *useful = block("useful"), *in_vain = block("vain"),
               *stays = block("stays"), *longer = block("longer"), *take = block("take"),
               *give_up = block("end"), *out = block("out");
    IRBuilder<> builder(in);
    Type* number = builder.getInt64Ty();
    Value* none = builder.getInt64(0);
    Value* shift = builder.CreateLoad(number, type_.field_of(builder, table, field_shift));
    Value* index = table_type::index_of(builder, place, bits_, shift);
    Value* sum_at = type_.entry(builder, table, index, entry_sum);
    Value* place_at = type_.entry(builder, table, index, entry_place);
    Value* vain_at = type_.field_of(builder, table, field_vain);
    Value* sum = builder.CreateLoad(number, sum_at);
    Value* before = builder.CreateLoad(number, place_at);
    Value* vain = builder.CreateLoad(number, vain_at);
    Value* taken_at = type_.field_of(builder, table, field_taken);
    Value* taken = builder.CreateAdd(builder.CreateLoad(number, taken_at), builder.getInt64(1));
    builder.CreateStore(taken, taken_at);
    Value* is_short = builder.CreateICmpEQ(shift, builder.getInt64(short_shift));
    Value* too_short =
        builder.CreateAnd(is_short, builder.CreateICmpUGT(taken, builder.getInt64(most_of_few)));
    builder.CreateCondBr(too_short, longer, stays);
    builder.SetInsertPoint(longer);
    builder.CreateCall(lengthen(), table);
    builder.CreateBr(out);
    builder.SetInsertPoint(stays);
    builder.CreateCondBr(builder.CreateIsNotNull(sum), useful, in_vain);

    builder.SetInsertPoint(useful);
    add_to(builder, builder.CreateNot(before), sum);
    builder.CreateStore(none, sum_at);
    builder.CreateStore(
        builder.CreateBinaryIntrinsic(Intrinsic::usub_sat, vain, builder.getInt64(1)), vain_at);
    builder.CreateBr(take);

    builder.SetInsertPoint(in_vain);
    Value* more = builder.CreateZExt(builder.CreateIsNotNull(before), number);
    Value* now = builder.CreateAdd(vain, more);
    builder.CreateStore(now, vain_at);
    Value* too_many = builder.CreateAnd(builder.CreateNot(is_short),
                                        builder.CreateICmpUGT(now, builder.getInt64(most_in_vain)));
    builder.CreateCondBr(too_many, give_up, take);

    builder.SetInsertPoint(take);
    builder.CreateStore(builder.CreateNot(place), place_at);
    Value* least_at = type_.of_range(builder, range, range_least);
    Value* span_at = type_.of_range(builder, range, range_span);
    Value* least = builder.CreateLoad(number, least_at);
    Value* span = builder.CreateLoad(number, span_at);
    Value* end = builder.CreateAdd(place, builder.getInt64(bits_ / 8));
    Value* is_first = builder.CreateIsNull(span);
    Value* begin = builder.CreateBinaryIntrinsic(Intrinsic::umin, least, place);
    begin = builder.CreateSelect(is_first, place, begin);
    Value* behind =
        builder.CreateBinaryIntrinsic(Intrinsic::umax, builder.CreateAdd(least, span), end);
    behind = builder.CreateSelect(is_first, end, behind);
    builder.CreateStore(begin, least_at);
    builder.CreateStore(builder.CreateSub(behind, begin), span_at);
    builder.CreateBr(out);

    builder.SetInsertPoint(give_up);
    builder.CreateCall(close(), table);
    builder.CreateBr(out);
    builder.SetInsertPoint(out);
    builder.CreateRetVoid();
    return function;
  }

 private:
  Function* create(const char* name, unsigned arguments) {
    std::string full = std::string(name) + "." + std::to_string(bits_);
    if (Function* there = module_.getFunction(full)) {
      return there;
    }
    LLVMContext& context = module_.getContext();
    auto* pointer = PointerType::getUnqual(context);
    SmallVector<Type*, 3> types = {pointer, pointer, Type::getInt64Ty(context)};
    types.resize(arguments);
    auto* function = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false),
                                      GlobalValue::InternalLinkage, full, module_);
    // For the processor that the body is for.
    function->setAttributes(
        AttributeList::get(context, like_.getAttributes().getFnAttrs(), {}, {}));
    function->removeFnAttr(Attribute::AlwaysInline);
    function->removeFnAttr(Attribute::Memory);
    function->addFnAttr(Attribute::NoInline);
    return function;
  }

  void add_to(IRBuilder<>& builder, Value* place, Value* sum) {
    builder.CreateAtomicRMW(AtomicRMWInst::Add, builder.CreateIntToPtr(place, builder.getPtrTy()),
                            builder.CreateTrunc(sum, builder.getIntNTy(bits_)), Align(bits_ / 8),
                            AtomicOrdering::Monotonic);
  }

  Module& module_;
  Function& like_;
  table_type type_;
  unsigned bits_;
};

// What the engine hands to the function, and what lies in there: nobody else's memory.
bool is_of_context(const Value* pointer, const Function& body) {
  const Value* object = getUnderlyingObject(pointer, 0);
  if (auto* load = dyn_cast<LoadInst>(object)) {
    return load->hasMetadata(LLVMContext::MD_invariant_load) &&
           is_of_context(load->getPointerOperand(), body);
  }
  return object == body.getArg(1);
}

bool is_own(const Value* pointer, const Function& body) {
  const Value* object = getUnderlyingObject(pointer, 0);
  return isa<AllocaInst>(object) || object == body.getArg(0) || is_of_context(pointer, body);
}

// Device memory: what a parameter points to, or a variable.
bool is_device_memory(const Value* pointer, const Function& body) {
  const Value* object = getUnderlyingObject(pointer, 0);
  if (auto* load = dyn_cast<LoadInst>(object)) {
    return getUnderlyingObject(load->getPointerOperand(), 0) == body.getArg(0);
  }
  auto* variable = dyn_cast<GlobalVariable>(object);
  return variable && !is_shared(*variable);
}

struct findings {
  SmallVector<AtomicRMWInst*, 8> additions;
  SmallVector<Instruction*, 16> accesses;
};

bool is_addition(const AtomicRMWInst& update, const Function& body) {
  return (update.getOperation() == AtomicRMWInst::Add ||
          update.getOperation() == AtomicRMWInst::Sub) &&
         (update.getType()->isIntegerTy(32) || update.getType()->isIntegerTy(64)) &&
         update.use_empty() && !update.isVolatile() &&
         update.getOrdering() == AtomicOrdering::Monotonic &&
         is_device_memory(update.getPointerOperand(), body);
}

// Nothing if the function does what forbids it.
std::optional<findings> look_through(Function& body) {
  findings found;
  for (Instruction& inst : instructions(body)) {
    if (!inst.mayReadOrWriteMemory() || inst.isDebugOrPseudoInst()) {
      continue;
    }
    if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
      if (!is_addition(*update, body)) {
        return std::nullopt;
      }
      found.additions.push_back(update);
      continue;
    }
    if (auto* call = dyn_cast<CallBase>(&inst)) {
      auto* told = dyn_cast<IntrinsicInst>(call);
      if (!(told && told->isAssumeLikeIntrinsic()) && !call->onlyAccessesInaccessibleMemory()) {
        return std::nullopt;
      }
      continue;
    }
    if (!isa<LoadInst, StoreInst>(inst) || inst.isVolatile() || inst.isAtomic()) {
      return std::nullopt;
    }
    bool reads_constant = isa<LoadInst>(inst) && inst.hasMetadata(LLVMContext::MD_invariant_load);
    if (!reads_constant && !is_own(getLoadStorePointerOperand(&inst), body)) {
      found.accesses.push_back(&inst);
    }
  }
  unsigned bits =
      found.additions.empty() ? 0 : found.additions.front()->getType()->getIntegerBitWidth();
  bool alike = all_of(found.additions,
                      [&](AtomicRMWInst* one) { return one->getType()->isIntegerTy(bits); });
  if (!alike || found.additions.empty() || found.additions.size() > most_additions ||
      found.accesses.size() > most_accesses) {
    return std::nullopt;
  }
  return found;
}

// The parameter, by its place, or the variable that an address is computed from; null for others.
const void* origin_of(const Value* pointer, const DataLayout& layout) {
  const Value* object = getUnderlyingObject(pointer, 0);
  if (auto* load = dyn_cast<LoadInst>(object)) {
    std::int64_t offset = 0;
    auto* from = GetPointerBaseWithConstantOffset(load->getPointerOperand(), offset, layout);
    auto* parameters = dyn_cast<Argument>(from);
    return parameters ? reinterpret_cast<const void*>(offset + 1) : nullptr;
  }
  return dyn_cast<GlobalVariable>(object);
}

// Loops without additions become vectors, if nothing is to be looked after in them. And what is
// read where it is added to would empty the table at once.
bool is_worth_it(const findings& found, Function& body) {
  const DataLayout& layout = body.getDataLayout();
  DominatorTree dominators(body);
  LoopInfo loops(dominators);
  SmallPtrSet<const Loop*, 4> adding;
  SmallSetVector<const void*, ranges> added_to;
  for (AtomicRMWInst* one : found.additions) {
    Loop* loop = loops.getLoopFor(one->getParent());
    if (!loop) {
      return false;
    }
    for (; loop; loop = loop->getParentLoop()) {
      adding.insert(loop);
    }
    added_to.insert(origin_of(one->getPointerOperand(), layout));
  }
  return added_to.size() <= ranges && all_of(found.accesses, [&](Instruction* one) {
           return adding.contains(loops.getLoopFor(one->getParent())) &&
                  !added_to.contains(origin_of(getLoadStorePointerOperand(one), layout));
         });
}

class gatherer {
 public:
  gatherer(Function& body, unsigned bits)
      : body_(body), type_(body.getContext()), helpers_(body, bits), bits_(bits) {
    unlikely_ = MDBuilder(body.getContext()).createBranchWeights(1, 2000);
    IRBuilder<> builder(&*body.getEntryBlock().getFirstInsertionPt());
    table_ = builder.CreateAlloca(type_.get(), nullptr, "sums");
    table_->setAlignment(Align(table_align));
    resting_ = take_rest(builder);
    std::uint64_t bytes = body.getDataLayout().getTypeAllocSize(type_.get());
    builder.CreateMemSet(table_, builder.getInt8(0),
                         bytes - std::uint64_t{entries - few_entries} * entry_bytes,
                         Align(table_align));
    builder.CreateStore(builder.getInt64(short_shift),
                        type_.field_of(builder, table_, field_shift));
    builder.CreateStore(builder.CreateZExt(resting_, builder.getInt64Ty()),
                        type_.field_of(builder, table_, field_off));
  }

  // An addition: to the entry if that is its place's, else to memory.
  void gather(AtomicRMWInst& update) {
    IRBuilder<> builder(&update);
    Value* off =
        builder.CreateLoad(builder.getInt64Ty(), type_.field_of(builder, table_, field_off));
    Instruction* at_once = nullptr;
    Instruction* perhaps = nullptr;
    SplitBlockAndInsertIfThenElse(builder.CreateIsNotNull(off), update.getIterator(), &at_once,
                                  &perhaps);
    update.clone()->insertBefore(at_once);
    update.moveBefore(perhaps);
    builder.SetInsertPoint(&update);
    Value* place = builder.CreatePtrToInt(update.getPointerOperand(), builder.getInt64Ty());
    Value* shift =
        builder.CreateLoad(builder.getInt64Ty(), type_.field_of(builder, table_, field_shift));
    Value* index = table_type::index_of(builder, place, bits_, shift);
    Value* there =
        builder.CreateLoad(builder.getInt64Ty(), type_.entry(builder, table_, index, entry_place));
    const void* origin = origin_of(update.getPointerOperand(), body_.getDataLayout());
    origins_.insert(origin);
    auto which = static_cast<unsigned>(find(origins_, origin) - origins_.begin());
    Instruction* here = nullptr;
    Instruction* elsewhere = nullptr;
    SplitBlockAndInsertIfThenElse(builder.CreateICmpEQ(there, builder.CreateNot(place)),
                                  update.getIterator(), &here, &elsewhere);
    builder.SetInsertPoint(here);
    Value* sum_at = type_.entry(builder, table_, index, entry_sum);
    Value* sum = builder.CreateLoad(builder.getInt64Ty(), sum_at);
    Value* more = builder.CreateZExt(update.getValOperand(), builder.getInt64Ty());
    bool adds = update.getOperation() == AtomicRMWInst::Add;
    builder.CreateStore(adds ? builder.CreateAdd(sum, more) : builder.CreateSub(sum, more), sum_at);
    update.moveBefore(elsewhere);
    builder.SetInsertPoint(&update);
    builder.CreateCall(helpers_.take_entry(), {table_, type_.range(builder, table_, which), place})
        ->setDebugLoc(update.getDebugLoc());
  }

  // Another access: behind what is in the table, if it may be to the same place.
  void look_after(Instruction& access) {
    IRBuilder<> builder(&access);
    Value* pointer = getLoadStorePointerOperand(&access);
    const DataLayout& layout = body_.getDataLayout();
    std::uint64_t bytes = layout.getTypeStoreSize(getLoadStoreType(&access));
    Value* last = builder.CreateAdd(builder.CreatePtrToInt(pointer, builder.getInt64Ty()),
                                    builder.getInt64(bytes - 1));
    Value* near = builder.getFalse();
    for (unsigned i = 0; i < origins_.size(); ++i) {
      Value* range = type_.range(builder, table_, i);
      auto part = [&](pair_field which) {
        return builder.CreateLoad(builder.getInt64Ty(), type_.of_range(builder, range, which));
      };
      Value* inside =
          builder.CreateICmpULT(builder.CreateSub(last, part(range_least)),
                                builder.CreateAdd(part(range_span), builder.getInt64(bytes - 1)));
      near = builder.CreateOr(near, inside);
    }
    Instruction* then = SplitBlockAndInsertIfThen(near, access.getIterator(), false, unlikely_);
    builder.SetInsertPoint(then);
    builder.CreateCall(helpers_.close(), table_)->setDebugLoc(access.getDebugLoc());
  }

  void finish() {
    SmallVector<ReturnInst*, 2> ends;
    for (BasicBlock& block : body_) {
      if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) {
        ends.push_back(end);
      }
    }
    for (ReturnInst* end : ends) {
      IRBuilder<> builder(end);
      Value* off =
          builder.CreateLoad(builder.getInt64Ty(), type_.field_of(builder, table_, field_off));
      Value* given_up =
          builder.CreateAnd(builder.CreateIsNotNull(off), builder.CreateNot(resting_));
      builder.CreateCall(helpers_.close(), table_)->setDebugLoc(end->getDebugLoc());
      Instruction* then = SplitBlockAndInsertIfThen(given_up, end->getIterator(), false, unlikely_);
      store_rest(then, builder.getInt32(rests));
    }
  }

 private:
  // Whether it was given up not long ago. Which of two workers knows that is all the same.
  Value* take_rest(IRBuilder<>& builder) {
    auto* number = builder.getInt32Ty();
    rest_ = new GlobalVariable(*body_.getParent(), number, false, GlobalValue::InternalLinkage,
                               builder.getInt32(0), "sb.gathered.rest");
    auto* left = builder.CreateAlignedLoad(number, rest_, Align(4));
    left->setAtomic(AtomicOrdering::Monotonic);
    store_rest(&*builder.GetInsertPoint(),
               builder.CreateBinaryIntrinsic(Intrinsic::usub_sat, left, builder.getInt32(1)));
    return builder.CreateIsNotNull(left);
  }

  void store_rest(Instruction* before, Value* left) {
    IRBuilder<> builder(before);
    builder.CreateAlignedStore(left, rest_, Align(4))->setAtomic(AtomicOrdering::Monotonic);
  }

  Function& body_;
  table_type type_;
  helpers helpers_;
  unsigned bits_;
  AllocaInst* table_;
  Value* resting_;
  GlobalVariable* rest_ = nullptr;
  MDNode* unlikely_;
  SmallSetVector<const void*, ranges> origins_;
};

}  // namespace

void gather_atomics(Function& body) {
  auto found = look_through(body);
  if (!found || !is_worth_it(*found, body)) {
    return;
  }
  gatherer gathers(body, found->additions.front()->getType()->getIntegerBitWidth());
  for (AtomicRMWInst* update : found->additions) {
    gathers.gather(*update);
  }
  for (Instruction* access : found->accesses) {
    gathers.look_after(*access);
  }
  gathers.finish();
}

}  // namespace sb::pass
