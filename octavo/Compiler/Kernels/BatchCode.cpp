#include "octavo/Compiler/Kernels/BatchCode.h"

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

namespace octavo::compiler {

std::optional<BatchExtent> itemNumber(llvm::ArrayRef<std::int64_t> values, ItemCounts items) {
  if (llvm::all_equal(values))
    return BatchExtent{values.front()};
  const auto slope = [&](std::size_t i) -> std::optional<std::int64_t> {
    const std::int64_t rise = values[i + 1] - values[i], distance = items[i + 1] - items[i];
    return rise % distance == 0 ? std::optional(rise / distance) : std::nullopt;
  };
  const auto first = slope(0), second = items.size() > 2 ? slope(1) : first;
  if (!first || !second)
    return std::nullopt;
  std::int64_t square = 0;
  if (*first != *second) {
    const std::int64_t distance = items[2] - items[0];
    if ((*second - *first) % distance != 0)
      return std::nullopt;
    square = (*second - *first) / distance;
  }
  const std::int64_t factor = *first - square * (items[0] + items[1]);
  const BatchExtent number{values[0] - (factor + square * items[0]) * items[0], factor, square};
  // With two batch sizes a and b, n^2 looks like (a + b) n - a b: so large a constant is rejected.
  if (std::abs(number.fixed) >= items[0] * items[1] / 2)
    return std::nullopt;
  return number;
}

std::optional<std::int64_t> whereLess(llvm::ArrayRef<std::vector<Comparison>> compared,
                                      ItemCounts items) {
  std::int64_t fewest = 0;
  const std::size_t count = compared.front().size();
  if (llvm::any_of(compared, [&](const auto& each) { return each.size() != count; }))
    return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    llvm::SmallVector<std::int64_t, 3> firsts, seconds;
    for (const std::vector<Comparison>& each : compared) {
      firsts.push_back(each[i].first);
      seconds.push_back(each[i].second);
    }
    if (llvm::all_equal(firsts) && llvm::all_equal(seconds))
      continue;
    const auto less = itemNumber(firsts, items), more = itemNumber(seconds, items);
    const auto next = less ? sum(*less, 1) : std::nullopt;
    const auto between = more && next ? difference(*more, *next) : std::nullopt;
    const auto from = between ? program::whereNotNegative(*between) : std::nullopt;
    if (!from)
      return std::nullopt;
    fewest = std::max(fewest, *from);
  }
  return fewest;
}

namespace {

/// An integer in the code that depends on the batch size.
struct OpenUse {
  llvm::Use* use;
  BatchExtent number;
};

/// The largest buffer for a row on the stack.
constexpr std::int64_t kMostStackBytes = 256 * 1024;

/// Whether code may compute the operand: a switch needs constants.
bool canBeComputed(const llvm::Use& use) {
  auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (llvm::isa<llvm::SwitchInst>(user))
    return false;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
  return call == nullptr ||
         (call->isArgOperand(&use) &&
          !call->paramHasAttr(call->getArgOperandNo(&use), llvm::Attribute::ImmArg));
}

/// Whether the operand is a divisor, or the bound of a loop, which runs at least once.
bool mustBePositive(const llvm::Use& use) {
  const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(user))
    return binary->isIntDivRem() && use.getOperandNo() == 1;
  return llvm::isa<llvm::ICmpInst>(user) && llvm::any_of(user->users(), [](const auto* each) {
           return llvm::isa<llvm::BranchInst>(each);
         });
}

llvm::Value* multiple(llvm::IRBuilder<>& b, llvm::Value* count, std::int64_t factor) {
  return factor == 1 ? count : b.CreateNSWMul(count, b.getInt64(factor));
}

/// A kernel's module, in which integers that depend on the batch size become code.
class ItemKernel {
public:
  ItemKernel(const std::string& text, llvm::LLVMContext& context) {
    llvm::SMDiagnostic wrong;
    module = llvm::parseAssemblyString(text, wrong, context);
  }
  llvm::Function* loops() const { return module->getFunction("loops"); }

  /// Adds the batch size as an argument of the function `loops`, computes the numbers from it, and
  /// returns the text.
  std::string with(llvm::ArrayRef<OpenUse> uses) {
    llvm::Function* items = takeItems();
    llvm::IRBuilder<> b(&*items->getEntryBlock().getFirstNonPHIOrDbg());
    llvm::Value* const count = items->getArg(static_cast<unsigned>(items->arg_size()) - 1);
    std::map<std::pair<BatchExtent, llvm::Type*>, llvm::Value*> computed;
    for (const auto& [use, number] : uses) {
      llvm::Type* const type = use->get()->getType();
      llvm::Value*& value = computed[{number, type}];
      if (value == nullptr) {
        value = number.square != 0 ? multiple(b, count, number.square) : nullptr;
        if (value != nullptr && number.factor != 0)
          value = b.CreateNSWAdd(value, b.getInt64(number.factor));
        value = value != nullptr ? b.CreateNSWMul(value, count) : multiple(b, count, number.factor);
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
    const auto memory = static_cast<unsigned>(types.size()) - 2; // first, last row follow
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

std::optional<KernelOfItems> kernelOfItems(llvm::ArrayRef<std::string> texts, ItemCounts items) {
  llvm::LLVMContext context;
  std::vector<ItemKernel> kernels;
  for (const std::string& text : texts)
    kernels.emplace_back(text, context);
  std::vector<std::vector<OpenUse>> uses(texts.size());
  std::int64_t fewest = 0, most = program::kMostItems;
  std::vector<llvm::inst_iterator> others;
  for (const ItemKernel& each : llvm::drop_begin(kernels))
    others.push_back(llvm::inst_begin(each.loops()));
  for (llvm::Instruction& op : llvm::instructions(kernels.front().loops())) {
    llvm::SmallVector<llvm::Instruction*, 3> all{&op};
    for (auto [other, kernel] : llvm::zip(others, llvm::drop_begin(kernels))) {
      if (other == llvm::inst_end(kernel.loops()) || op.getNumOperands() != other->getNumOperands())
        return std::nullopt;
      all.push_back(&*other++);
    }
    for (unsigned i = 0; i < op.getNumOperands(); ++i) {
      llvm::SmallVector<std::int64_t, 3> values;
      for (llvm::Instruction* each : all)
        if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(each->getOperand(i)))
          values.push_back(integer->getSExtValue());
      if (values.size() != all.size() || llvm::all_equal(values))
        continue;
      const llvm::Use& use = op.getOperandUse(i);
      const std::optional<BatchExtent> number =
          use->getType()->isIntegerTy(64) && canBeComputed(use) ? itemNumber(values, items)
                                                                : std::nullopt;
      const auto least = number ? sum(*number, mustBePositive(use) ? -1 : 0) : std::nullopt;
      const auto from = least && mustBePositive(use) ? program::whereNotNegative(*least)
                                                     : std::optional<std::int64_t>(0);
      if (!least || !from)
        return std::nullopt;
      fewest = std::max(fewest, *from);
      if (const auto* row = llvm::dyn_cast<llvm::AllocaInst>(&op)) {
        const auto bytes = static_cast<std::int64_t>(
            row->getDataLayout().getTypeAllocSize(row->getAllocatedType()).getFixedValue());
        const auto tooMany = sum(*number, -kMostStackBytes / bytes - 1);
        most = std::min(most, (tooMany ? program::whereNotNegative(*tooMany) : std::nullopt)
                                      .value_or(program::kMostItems + 1) -
                                  1);
      }
      for (auto [each, ofKernel] : llvm::zip(all, uses))
        ofKernel.push_back({&each->getOperandUse(i), *number});
    }
  }
  if (uses.front().empty())
    return std::nullopt;
  std::string text = kernels.front().with(uses.front());
  for (auto [kernel, ofKernel] : llvm::drop_begin(llvm::zip(kernels, uses)))
    if (text != kernel.with(ofKernel))
      return std::nullopt;
  return KernelOfItems{std::move(text), fewest, most};
}

} // namespace octavo::compiler
