#include "octavo/Conversion/Kernels/ItemCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

namespace octavo::conversion {

std::optional<ItemNumber> itemNumber(std::int64_t one, std::int64_t other, const ItemPair& items) {
  if (one == other)
    return ItemNumber{one};
  const std::int64_t distance = items.other - items.one;
  if ((other - one) % distance != 0)
    return std::nullopt;
  const std::int64_t factor = (other - one) / distance;
  const ItemNumber number{one - factor * items.one, factor};
  // Their square would be this number of them: other + one for each, and -one * other.
  if (std::abs(number.fixed) >= items.one * items.other / 2)
    return std::nullopt;
  return number;
}

std::optional<std::int64_t> whereLess(llvm::ArrayRef<Comparison> one,
                                      llvm::ArrayRef<Comparison> other, const ItemPair& items) {
  std::int64_t fewest = 0;
  if (one.size() != other.size())
    return std::nullopt;
  for (const auto& [a, b] : llvm::zip(one, other)) {
    if (a == b)
      continue;
    const auto less = itemNumber(a.first, b.first, items);
    const auto more = itemNumber(a.second, b.second, items);
    const auto next = less ? sum(*less, 1) : std::nullopt;
    const auto between = more && next ? difference(*more, *next) : std::nullopt;
    const auto from = between ? steps::whereNotNegative(*between) : std::nullopt;
    if (!from)
      return std::nullopt;
    fewest = std::max(fewest, *from);
  }
  return fewest;
}

namespace {

/// An integer of code that is another one for another number of items.
struct OpenUse {
  llvm::Use* use;
  ItemNumber number;
};

/// Whether code may compute the operand: the size of what lies on the stack and the cases of a
/// switch are numbers.
bool canBeComputed(const llvm::Use& use) {
  auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (llvm::isa<llvm::AllocaInst, llvm::SwitchInst>(user))
    return false;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
  return call == nullptr ||
         (call->isArgOperand(&use) &&
          !call->paramHasAttr(call->getArgOperandNo(&use), llvm::Attribute::ImmArg));
}

/// Whether the operand is a divisor, or how often a loop goes round, which it does at least once.
bool mustBePositive(const llvm::Use& use) {
  const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(user))
    return binary->isIntDivRem() && use.getOperandNo() == 1;
  return llvm::isa<llvm::ICmpInst>(user) && llvm::any_of(user->users(), [](const auto* each) {
           return llvm::isa<llvm::BranchInst>(each);
         });
}

/// A kernel's module, whose numbers of items become code.
class ItemKernel {
public:
  ItemKernel(const std::string& text, llvm::LLVMContext& context) {
    llvm::SMDiagnostic wrong;
    module = llvm::parseAssemblyString(text, wrong, context);
  }
  llvm::Function* loops() const { return module->getFunction("loops"); }

  /// Has the function of the loops one more argument, how many items there are, and computes the
  /// numbers by it.
  std::string with(llvm::ArrayRef<OpenUse> uses) {
    llvm::Function* items = takeItems();
    llvm::IRBuilder<> b(&*items->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    llvm::Value* const count = items->getArg(static_cast<unsigned>(items->arg_size()) - 1);
    std::map<std::pair<ItemNumber, llvm::Type*>, llvm::Value*> computed;
    for (const auto& [use, number] : uses) {
      llvm::Type* const type = use->get()->getType();
      llvm::Value*& value = computed[{number, type}];
      if (value == nullptr) {
        value = number.factor == 1 ? count : b.CreateNSWMul(count, b.getInt64(number.factor));
        if (number.fixed != 0)
          value = b.CreateNSWAdd(value, b.getInt64(number.fixed));
        value = b.CreateTrunc(value, type);
      }
      use->set(value);
    }
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, nullptr);
    return text;
  }

private:
  llvm::Function* takeItems() {
    llvm::Function* const old = loops();
    llvm::IRBuilder<> b(module->getContext());
    llvm::SmallVector<llvm::Type*> types(old->getFunctionType()->params());
    const auto memory = static_cast<unsigned>(types.size()) - 2; // behind it are first and last row
    types.push_back(b.getInt64Ty());
    auto* const wider = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                               old->getLinkage(), "", *module);
    wider->copyAttributesFrom(old);
    wider->splice(wider->begin(), old);
    for (llvm::Argument& argument : old->args()) {
      llvm::Argument* const next = wider->getArg(argument.getArgNo());
      argument.replaceAllUsesWith(next);
      next->takeName(&argument);
    }
    wider->getArg(memory + 2)->setName("items");
    auto* const call = llvm::cast<llvm::CallInst>(*old->user_begin());
    llvm::Function* const kernel = call->getFunction();
    b.SetInsertPoint(call);
    llvm::SmallVector<llvm::Value*> passed(call->args());
    passed.push_back(
        b.CreateLoad(b.getInt64Ty(),
                     b.CreateLoad(b.getPtrTy(), b.CreateInBoundsGEP(b.getPtrTy(), kernel->getArg(0),
                                                                    b.getInt64(memory)))));
    b.CreateCall(wider, passed);
    call->eraseFromParent();
    wider->takeName(old);
    old->eraseFromParent();
    return wider;
  }

  std::unique_ptr<llvm::Module> module;
};

} // namespace

std::optional<KernelOfItems> kernelOfItems(const std::string& one, const std::string& other,
                                           const ItemPair& items) {
  llvm::LLVMContext context;
  ItemKernel kernel(one, context), twin(other, context);
  std::vector<OpenUse> uses, twins;
  std::int64_t fewest = 0;
  auto second = llvm::inst_begin(twin.loops());
  for (llvm::Instruction& op : llvm::instructions(kernel.loops())) {
    if (second == llvm::inst_end(twin.loops()) || op.getNumOperands() != second->getNumOperands())
      return std::nullopt;
    for (auto [use, its] : llvm::zip(op.operands(), second->operands())) {
      const auto* a = llvm::dyn_cast<llvm::ConstantInt>(use);
      const auto* b = llvm::dyn_cast<llvm::ConstantInt>(its);
      if (a == nullptr || b == nullptr || a == b)
        continue;
      const std::optional<ItemNumber> number =
          a->getBitWidth() == 64 && canBeComputed(use)
              ? itemNumber(a->getSExtValue(), b->getSExtValue(), items)
              : std::nullopt;
      const auto least = number ? sum(*number, mustBePositive(use) ? -1 : 0) : std::nullopt;
      const auto from = least && mustBePositive(use) ? steps::whereNotNegative(*least)
                                                     : std::optional<std::int64_t>(0);
      if (!least || !from)
        return std::nullopt;
      fewest = std::max(fewest, *from);
      uses.push_back({&use, *number});
      twins.push_back({&its, *number});
    }
    ++second;
  }
  if (uses.empty())
    return std::nullopt;
  std::string text = kernel.with(uses);
  if (text != twin.with(twins))
    return std::nullopt;
  return KernelOfItems{std::move(text), fewest};
}

} // namespace octavo::conversion
