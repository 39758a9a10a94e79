#include "octavo/Compiler/Codegen/Compiled.h"

#include "octavo/Compiler/Codegen/Codegen.h"
#include "octavo/Compiler/Codegen/CompiledFolder.h"
#include "octavo/Compiler/Codegen/ProgramCache.h"
#include "octavo/Compiler/Codegen/Simplify.h"
#include "octavo/Compiler/Plan/OpenBatch.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Program/Steps/Explain.h"
#include "octavo/Program/Steps/ProgramRunner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <malloc.h>
#include <span>

namespace octavo::compiler {

namespace {

using program::RunContext;
using program::Value;

class CompiledProgram : public program::Executable, public program::Savable {
public:
  /// `source` is the given program. `interpreted` is the module with the operations that the
  /// interpreter evaluates; null if the steps were read from the cache.
  CompiledProgram(mlir::OwningOpRef<mlir::ModuleOp> source,
                  mlir::OwningOpRef<mlir::ModuleOp> interpreted, Lowered lowered,
                  std::unique_ptr<MachineCode> code)
      : source(std::move(source)), interpreted(std::move(interpreted)),
        runner(std::move(lowered.program)), kernels(std::move(lowered.kernels)),
        code(std::move(code)) {}

  std::int64_t processes() const override { return 1; }
  tl::expected<std::vector<Value>, std::string>
  run(std::vector<Value> arguments, const RunContext& host, program::ResultMemory memory) override {
    return runner.run(std::move(arguments), host, memory);
  }
  program::Outcome runInto(std::span<Value> arguments, const RunContext& host,
                           program::ResultMemory memory) override {
    return runner.runInto(arguments, host, memory);
  }
  bool takesUnread(std::size_t argument) const override { return runner.takesUnread(argument); }
  program::Outcome bind(std::size_t argument, const Value& value) const override {
    return runner.bind(argument, value);
  }
  program::Explanation explain() const override { return program::explain(runner.program()); }
  tl::expected<std::vector<Stage>, std::string> stages() const override;
  program::Outcome save(const std::filesystem::path& folder, const program::Signature& signature,
                        std::span<const std::optional<Value>> bound) override {
    return outcomeOf(writeFolder(folder, runner.release(), kernels, signature, bound));
  }

private:
  mlir::OwningOpRef<mlir::ModuleOp> source, interpreted;
  program::ProgramRunner runner;
  std::vector<std::string> kernels; ///< their texts
  std::unique_ptr<MachineCode> code;
};

tl::expected<std::vector<program::Executable::Stage>, std::string> CompiledProgram::stages() const {
  std::vector<Stage> list(2);
  list[0].file = "1-after-passes.mlir";
  llvm::raw_string_ostream out(list[0].text);
  // Simplifies again: lowering changes its module, and steps from the cache have none.
  const mlir::OwningOpRef<mlir::ModuleOp> simplified = source.get().clone();
  if (llvm::Error error = simplify(*simplified))
    return tl::unexpected(llvm::toString(std::move(error)));
  simplified.get()->print(out);
  out << "\n";
  list[1] = {"2-steps.txt", program::stepsText(runner.program())};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string& text = kernels[i];
    auto listing = (*codeGenerator())->list(text); // it has made the code
    if (!listing)
      return tl::unexpected(std::move(listing.error()));
    const std::string name = llvm::formatv("3-kernels/{0,0+3}", i).str();
    list.push_back({name + ".ll", text});
    list.push_back({name + "-optimized.ll", std::move(listing->optimized)});
    list.push_back({name + ".s", std::move(listing->assembly)});
  }
  return list;
}

/// A program that another backend runs as a whole.
class InterpretedExecutable : public program::Executable {
public:
  InterpretedExecutable(std::unique_ptr<program::Executable> runs, std::string reason)
      : runs(std::move(runs)), reason(std::move(reason)) {}

  std::int64_t processes() const override { return runs->processes(); }
  tl::expected<std::vector<Value>, std::string>
  run(std::vector<Value> arguments, const RunContext& host, program::ResultMemory memory) override {
    return runs->run(std::move(arguments), host, memory);
  }
  program::Explanation explain() const override { return {.interpretedWhole = reason}; }

private:
  std::unique_ptr<program::Executable> runs;
  std::string reason;
};

/// Whether the number of bytes of the tensor fits in 64 bits.
bool isAddressable(mlir::RankedTensorType type) {
  std::int64_t bytes = 16; // the widest element, complex<f64>
  return llvm::none_of(type.getShape(), [&](std::int64_t extent) {
    return extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes);
  });
}

/// Why the operation prevents its whole program from being compiled; empty for most.
std::string whyInterpreted(mlir::Operation* op) {
  const llvm::StringRef dialect = op->getName().getDialectNamespace();
  // MLIR's folders for these dialects crash on input that they do not expect.
  if (dialect == "tensor" || dialect == "shape")
    return "programs that compute with MLIR's own tensors and shapes are not compiled";
  // Infeed takes its values in the order of the whole run.
  if (llvm::isa<stablehlo::InfeedOp, stablehlo::SendOp, stablehlo::RecvOp>(op))
    return "what passes between a run and its host is not compiled";
  llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op))
    llvm::append_range(types, function.getArgumentTypes());
  for (mlir::Type type : types) {
    // Constants of !quant types do not fold as MLIR requires, which makes different constants
    // equal.
    if (llvm::isa<mlir::quant::QuantizedType>(mlir::getElementTypeOrSelf(type)))
      return "programs with elements of !quant types are not compiled";
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape())
      return "programs with unknown extents are not compiled";
    if (tensor && !isAddressable(tensor))
      return "a tensor is larger than memory can be";
  }
  return "";
}

/// The reason and location of the first such operation of a program.
std::string whyInterpreted(mlir::ModuleOp program) {
  std::string reason;
  program->walk([&](mlir::Operation* op) {
    const std::string why = whyInterpreted(op);
    if (why.empty())
      return mlir::WalkResult::advance();
    reason = locationText(op->getLoc()) + ": '" + op->getName().getStringRef().str() + "': " + why;
    return mlir::WalkResult::interrupt();
  });
  return reason;
}

/// The code of a program's kernels. Null if it has none: the generator is not loaded then.
llvm::Expected<std::unique_ptr<MachineCode>> compiledKernels(Lowered& lowered) {
  if (lowered.kernels.empty())
    return nullptr;
  const auto generator = codeGenerator();
  if (!generator)
    return llvm::createStringError(generator.error());
  auto code = (*generator)->compile(lowered.kernels);
  if (!code)
    return llvm::createStringError(code.error());
  llvm::copy((*code)->functions(), lowered.program.functions.begin());
  // Returns what LLVM has freed, on all threads, and its code to the system before weights take
  // memory.
  malloc_trim(0);
  letGoOfGenerator();
  return std::move(*code);
}

llvm::Expected<std::unique_ptr<program::Executable>>
executableOf(mlir::ModuleOp source, llvm::StringRef name,
             mlir::OwningOpRef<mlir::ModuleOp> interpreted, Lowered lowered) {
  auto function = source.lookupSymbol<mlir::func::FuncOp>(name);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    lowered.program.argumentNames.push_back(ir::argumentName(function, i));
  auto code = compiledKernels(lowered);
  if (!code)
    return code.takeError();
  return std::make_unique<CompiledProgram>(source.clone(), std::move(interpreted),
                                           std::move(lowered), std::move(*code));
}

} // namespace

llvm::Expected<CompiledForItems> compileForItems(llvm::ArrayRef<ProgramOfItems> programs,
                                                 std::int64_t fewest, llvm::StringRef name,
                                                 Evaluate evaluate) {
  llvm::SmallVector<mlir::ModuleOp, 3> sources;
  for (const ProgramOfItems& each : programs) {
    if (const std::string reason = whyInterpreted(each.program); !reason.empty())
      return llvm::createStringError(reason);
    sources.push_back(each.program);
  }
  const KeptProgram kept(sources, name, fewest);
  const auto made = [&](mlir::OwningOpRef<mlir::ModuleOp> interpreted,
                        Lowered lowered) -> llvm::Expected<CompiledForItems> {
    const program::ItemRange items = lowered.program.items;
    auto executable =
        executableOf(sources.front(), name, std::move(interpreted), std::move(lowered));
    if (!executable)
      return executable.takeError();
    return CompiledForItems{std::move(*executable), items};
  };
  if (auto found = kept.find())
    return made(nullptr, std::move(*found));
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<LoweredItems> lowered(programs.size());
  for (const auto& [each, ofProgram] : llvm::zip(programs, lowered)) {
    modules.push_back(mlir::ModuleOp(each.program).clone());
    mlir::ModuleOp module = *modules.back();
    Comparisons compared;
    if (llvm::Error error = simplify(module))
      return std::move(error);
    auto program = compiler::lower(module.lookupSymbol<mlir::func::FuncOp>(name), evaluate);
    if (!program)
      return program.takeError();
    ofProgram = {std::move(*program), each.items, compared.take()};
  }
  if (const auto why = compiler::openItems(lowered, fewest))
    return llvm::createStringError(*why);
  kept.keep(lowered.front().lowered);
  return made(std::move(modules.front()), std::move(lowered.front().lowered));
}

llvm::Expected<std::unique_ptr<program::Executable>>
compileProgram(mlir::ModuleOp source, llvm::StringRef name, Evaluate evaluate, Prepare* fallback,
               Guarding guarding) {
  auto reference = fallback(source, name);
  if (!reference)
    return reference;
  const auto handOver = [&](const llvm::Twine& reason) {
    return std::make_unique<InterpretedExecutable>(std::move(*reference), reason.str());
  };
  if (const std::int64_t processes = (*reference)->processes(); processes != 1)
    return handOver("it is run by " + llvm::Twine(processes) + " processes");
  if (const std::string reason = whyInterpreted(source); !reason.empty())
    return handOver(reason);
  std::optional<KeptProgram> kept;
  if (guarding == Guarding::None) {
    kept.emplace(source, name);
    if (auto found = kept->find())
      return executableOf(source, name, nullptr, std::move(*found));
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = source.clone();
  if (llvm::Error error = simplify(*module))
    return handOver(llvm::toString(std::move(error)));
  auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
  if (!function || function.isExternal())
    return handOver("there is no such function");
  llvm::Expected<Lowered> program = compiler::lower(function, evaluate, guarding);
  if (!program)
    return handOver(llvm::toString(program.takeError()));
  if (kept)
    kept->keep(*program);
  return executableOf(source, name, std::move(module), std::move(*program));
}

} // namespace octavo::compiler
