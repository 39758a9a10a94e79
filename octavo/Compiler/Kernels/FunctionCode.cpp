#include "octavo/Compiler/Kernels/FunctionCode.h"

#include "octavo/Compiler/Kernels/Members.h"

#include "llvm/Support/raw_ostream.h"

namespace octavo::compiler {

void FunctionCode::addArgument(mlir::Value value) {
  argumentOf[value] = static_cast<unsigned>(arguments.size());
  arguments.push_back(value);
}

unsigned FunctionCode::addMemory() {
  arguments.emplace_back();
  return static_cast<unsigned>(arguments.size()) - 1;
}

void FunctionCode::begin() {
  llvm::SmallVector<llvm::Type*> types(arguments.size(), b.getPtrTy());
  types.append(2, b.getInt64Ty());
  loops = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                 llvm::Function::InternalLinkage, "loops", module);
  for (unsigned i = 0; i < arguments.size(); ++i)
    loops->getArg(i)->addAttr(llvm::Attribute::NoAlias);
  loops->addFnAttr(llvm::Attribute::NoInline);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", loops));
}

llvm::Value* FunctionCode::firstRow() const {
  return loops->getArg(static_cast<unsigned>(arguments.size()));
}
llvm::Value* FunctionCode::endRow() const {
  return loops->getArg(static_cast<unsigned>(arguments.size()) + 1);
}

KernelCode FunctionCode::finish() {
  b.CreateRetVoid();
  llvm::Type* pointer = b.getPtrTy();
  auto* kernel = llvm::Function::Create(
      llvm::FunctionType::get(b.getVoidTy(), {pointer, b.getInt64Ty(), b.getInt64Ty()}, false),
      llvm::Function::ExternalLinkage, "kernel", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", kernel));
  llvm::SmallVector<llvm::Value*> passed;
  for (unsigned i = 0; i < arguments.size(); ++i)
    passed.push_back(
        b.CreateLoad(pointer, b.CreateInBoundsGEP(pointer, kernel->getArg(0), b.getInt64(i))));
  passed.push_back(kernel->getArg(1));
  passed.push_back(kernel->getArg(2));
  b.CreateCall(loops, passed);
  b.CreateRetVoid();

  KernelCode result;
  llvm::raw_string_ostream out(result.text);
  module.print(out, nullptr);
  result.arguments = std::move(arguments);
  result.reads = std::move(reads);
  return result;
}

llvm::Value* FunctionCode::memory(mlir::Value value) const {
  return loops->getArg(argumentOf.lookup(value));
}

llvm::Value* FunctionCode::load(mlir::Value value, const Index& linear) {
  reads.push_back({value, linear});
  return scalars.load(elementOf(value), memory(value), code(linear));
}

void FunctionCode::store(mlir::Value value, llvm::Value* stored, const Index& linear) {
  scalars.store(elementOf(value), stored, memory(value), code(linear));
}

llvm::Value* FunctionCode::element(mlir::Value value, const Index& linear) {
  return isArgument(value) ? load(value, linear)
                           : scalars.constant(elementOf(value), *splatBits(value));
}

int FunctionCode::define(llvm::Value* value, std::int64_t extent) {
  variables.push_back({value, extent});
  return static_cast<int>(variables.size()) - 1;
}
void FunctionCode::redefine(int name, llvm::Value* value) {
  variables[static_cast<std::size_t>(name)].value = value;
}
llvm::Value* FunctionCode::variable(int name) const {
  return variables[static_cast<std::size_t>(name)].value;
}

int FunctionCode::quotient(const Index& dividend, std::int64_t divisor) {
  return define(b.CreateUDiv(code(dividend), b.getInt64(divisor)),
                dividend.largest() / divisor + 1);
}
int FunctionCode::remainder(const Index& dividend, std::int64_t divisor) {
  return define(b.CreateURem(code(dividend), b.getInt64(divisor)), divisor);
}

llvm::Value* FunctionCode::code(const Index& index) {
  llvm::Value* sum = nullptr;
  const auto add = [&](llvm::Value* term) {
    sum = sum == nullptr ? term : b.CreateNSWAdd(sum, term);
  };
  if (index.constant() != 0)
    add(b.getInt64(index.constant()));
  for (const Index::Digit& digit : index.digits()) {
    const Variable& variable = variables[static_cast<std::size_t>(digit.variable)];
    llvm::Value* value = variable.value;
    if (digit.divisor != 1)
      value = b.CreateUDiv(value, b.getInt64(digit.divisor));
    if (digit.divisor * digit.modulus < variable.extent)
      value = b.CreateURem(value, b.getInt64(digit.modulus));
    add(digit.factor == 1 ? value : b.CreateNSWMul(value, b.getInt64(digit.factor)));
  }
  return sum == nullptr ? b.getInt64(0) : sum;
}

} // namespace octavo::compiler
