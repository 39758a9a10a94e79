#include "octavo/Pipelines/Compiled.h"

#include "octavo/Conversion/Steps/Explain.h"
#include "octavo/Conversion/Steps/Items.h"
#include "octavo/Conversion/Steps/Nodes.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Pipelines/Codegen.h"
#include "octavo/Pipelines/CompiledFolder.h"
#include "octavo/Pipelines/ProgramCache.h"
#include "octavo/Steps/ProgramRunner.h"
#include "octavo/Transforms/Legalizations/LegalizeBatchNorm.h"
#include "octavo/Transforms/LegalizeCHLO/LegalizeCHLO.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/ScaleArithmetic.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <malloc.h>
#include <span>

namespace octavo::pipelines {

namespace {

using execution::Host;
using execution::Value;

llvm::Error simplify(mlir::ModuleOp module);

class CompiledProgram : public execution::Executable, public execution::Savable {
public:
  /// `isSimplified`: the module is what was lowered, not what that is made of.
  CompiledProgram(mlir::OwningOpRef<mlir::ModuleOp> module, bool isSimplified,
                  conversion::Lowered lowered, std::unique_ptr<MachineCode> code)
      : module(std::move(module)), isSimplified(isSimplified), runner(std::move(lowered.program)),
        kernels(std::move(lowered.kernels)), code(std::move(code)) {}

  std::int64_t processes() const override { return 1; }
  llvm::Expected<std::vector<Value>> run(std::vector<Value> arguments, const Host& host,
                                         execution::ResultMemory memory) override {
    auto results = runner.run(std::move(arguments), host, memory);
    if (!results)
      return llvm::createStringError(results.error());
    return std::move(*results);
  }
  llvm::Error runInto(std::span<Value> arguments, const Host& host,
                      execution::ResultMemory memory) override {
    return errorOf(runner.runInto(arguments, host, memory));
  }
  bool takesUnread(std::size_t argument) const override { return runner.takesUnread(argument); }
  llvm::Error bind(std::size_t argument, const Value& value) const override {
    return errorOf(runner.bind(argument, value));
  }
  execution::Explanation explain() const override { return conversion::explain(runner.program()); }
  llvm::Expected<std::vector<Stage>> stages() const override;
  llvm::Error save(const std::filesystem::path& folder, const execution::Signature& signature,
                   std::span<const std::optional<Value>> bound) override {
    return writeFolder(folder, runner.release(), kernels, signature, bound);
  }

private:
  static llvm::Error errorOf(const steps::Outcome& outcome) {
    return outcome ? llvm::Error::success() : llvm::createStringError(outcome.error());
  }

  mlir::OwningOpRef<mlir::ModuleOp> module; ///< what is interpreted refers to it
  bool isSimplified;
  steps::ProgramRunner runner;
  std::vector<std::string> kernels; ///< their texts
  std::unique_ptr<MachineCode> code;
};

llvm::Expected<std::vector<execution::Executable::Stage>> CompiledProgram::stages() const {
  std::vector<Stage> list(2);
  list[0].file = "1-after-passes.mlir";
  llvm::raw_string_ostream out(list[0].text);
  if (isSimplified) {
    module.get()->print(out);
  } else {
    const mlir::OwningOpRef<mlir::ModuleOp> simplified = module.get().clone();
    if (llvm::Error error = simplify(*simplified))
      return std::move(error);
    simplified.get()->print(out);
  }
  out << "\n";
  list[1] = {"2-steps.txt", conversion::stepsText(runner.program())};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string& text = kernels[i];
    auto listing = (*codeGenerator())->list(text); // it has made the code
    if (!listing)
      return llvm::createStringError(listing.error());
    const std::string name = llvm::formatv("3-kernels/{0,0+3}", i).str();
    list.push_back({name + ".ll", text});
    list.push_back({name + "-optimized.ll", std::move(listing->optimized)});
    list.push_back({name + ".s", std::move(listing->assembly)});
  }
  return list;
}

/// A program that another backend runs as a whole.
class HandedOver : public execution::Executable {
public:
  HandedOver(std::unique_ptr<execution::Executable> runs, std::string reason)
      : runs(std::move(runs)), reason(std::move(reason)) {}

  std::int64_t processes() const override { return runs->processes(); }
  llvm::Expected<std::vector<Value>> run(std::vector<Value> arguments, const Host& host,
                                         execution::ResultMemory memory) override {
    return runs->run(std::move(arguments), host, memory);
  }
  execution::Explanation explain() const override { return {.interpretedWhole = reason}; }

private:
  std::unique_ptr<execution::Executable> runs;
  std::string reason;
};

bool isFloatToF32(mlir::Type type) {
  auto element = llvm::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
  return element && element.getWidth() <= 32;
}

mlir::Value convertedTo(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                        mlir::Type element) {
  auto given = mlir::cast<mlir::RankedTensorType>(value.getType());
  return given.getElementType() == element
             ? value
             : stablehlo::ConvertOp::create(builder, location, given.clone(element), value);
}

/// Has an operation give f32, which is rounded once to the type that it gave.
void roundAfter(mlir::OpBuilder& builder, mlir::Operation* op) {
  mlir::Value result = op->getResult(0);
  auto type = mlir::cast<mlir::RankedTensorType>(result.getType());
  result.setType(type.clone(builder.getF32Type()));
  builder.setInsertionPointAfter(op);
  auto rounded = stablehlo::ConvertOp::create(builder, op->getLoc(), type, result);
  result.replaceAllUsesExcept(rounded.getResult(), rounded);
}

/// Dots and convolutions of floats narrower than f32 as those of f32: what they are by rules I12
/// and I21, operands converted exactly and the result rounded once. Those of bf16, and of narrow
/// floats, which bf16 holds, are of bf16.
void widenProducts(mlir::ModuleOp module) {
  module->walk([&](mlir::Operation* op) {
    auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op);
    if (dot ? dot.getAlgorithm().has_value() : !llvm::isa<stablehlo::ConvolutionOp>(op))
      return;
    mlir::OpBuilder builder(op);
    const auto isWide = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
    const mlir::Type type = op->getResult(0).getType();
    llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
    types.push_back(type);
    if (!llvm::all_of(types, isFloatToF32) || llvm::all_of(types, isWide))
      return;
    const auto fitsBf16 = [](mlir::Type each) {
      const format::ElementFormat* format = elementFormat(mlir::getElementTypeOrSelf(each));
      return format != nullptr && format->hasZero() &&
             (format->isNarrow() || format->name == "bf16");
    };
    const mlir::Type multiplied = llvm::all_of(op->getOperandTypes(), fitsBf16)
                                      ? mlir::Type(builder.getBF16Type())
                                      : mlir::Type(builder.getF32Type());
    for (mlir::OpOperand& operand : op->getOpOperands())
      operand.set(convertedTo(builder, op->getLoc(), operand.get(), multiplied));
    if (!isWide(type))
      roundAfter(builder, op);
  });
}

/// Quantizations and products of scaled tensors as those of f32, which the kernels have: their
/// values are converted exactly and the result is rounded once (rule I13).
void widenScaled(mlir::ModuleOp module) {
  module->walk([](mlir::Operation* op) {
    mlir::OpBuilder builder(op);
    if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op)) {
      const mlir::Type input = mlir::getElementTypeOrSelf(quantize.getOperand().getType());
      if (isFloatToF32(input) && !input.isF32())
        conversion::widenInput(quantize);
    }
    if (auto dot = llvm::dyn_cast<ir::DotGeneralOp>(op)) {
      for (mlir::OpOperand& side : op->getOpOperands())
        if (isFloatToF32(side.get().getType()))
          side.set(convertedTo(builder, op->getLoc(), side.get(), builder.getF32Type()));
      if (const mlir::Type type = dot.getResult().getType();
          isFloatToF32(type) && !mlir::getElementTypeOrSelf(type).isF32())
        roundAfter(builder, op);
    }
  });
}

/// What makes a scaled tensor of parts that each run computes anew; null where there is nothing.
ir::PackOp packedAnew(mlir::Value scaled) {
  auto pack = scaled.getDefiningOp<ir::PackOp>();
  const bool isMadeAnew =
      pack && llvm::any_of(pack->getOperands(), [](mlir::Value part) {
        mlir::Operation* maker = conversion::inMemory(part).getDefiningOp();
        return maker != nullptr && !maker->hasTrait<mlir::OpTrait::ConstantLike>();
      });
  return isMadeAnew ? pack : ir::PackOp();
}

mlir::Value dequantized(mlir::OpBuilder& builder, mlir::Location location, ir::PackOp pack) {
  return transforms::emitDequantize(builder, location,
                                    {pack.getElements(), pack.getScales(), pack.getOuter()},
                                    mlir::cast<ir::ScaledType>(pack.getResult().getType()));
}

/// Has kernels compute the values of scaled tensors whose parts each run computes, as a cache's:
/// those that are dequantized, and those that f32 is multiplied by in batches, which would be
/// packed in each run, or for which products have no form (rule I13).
void dequantizeParts(mlir::ModuleOp module) {
  module->walk([](ir::DequantizeOp op) {
    if (ir::PackOp pack = packedAnew(op.getOperand())) {
      mlir::OpBuilder builder(op);
      op.replaceAllUsesWith(dequantized(builder, op.getLoc(), pack));
      op.erase();
    }
  });
  module->walk([](ir::DotGeneralOp dot) {
    const auto isF32 = [](mlir::Value side) {
      return mlir::getElementTypeOrSelf(side.getType()).isF32();
    };
    const bool isLeft = isF32(dot.getRhs());
    if (isLeft == isF32(dot.getLhs()))
      return;
    ir::PackOp pack = packedAnew(isLeft ? dot.getLhs() : dot.getRhs());
    const bool isBatch = !dot.getDotDimensionNumbers().getLhsBatchingDimensions().empty();
    if (!pack || (!isBatch && conversion::scaledProduct(dot)))
      return;
    mlir::OpBuilder builder(dot);
    const mlir::Value values = dequantized(builder, dot.getLoc(), pack);
    dot.replaceAllUsesWith(
        transforms::emitDot(builder, dot.getLoc(), isLeft ? values : dot.getLhs(),
                            isLeft ? dot.getRhs() : values, dot.getDotDimensionNumbers(),
                            mlir::cast<mlir::RankedTensorType>(dot.getResult().getType())));
    dot.erase();
  });
}

/// Whether the bytes of the tensor can be counted.
bool isAddressable(mlir::RankedTensorType type) {
  std::int64_t bytes = 16; // the widest element, complex<f64>
  return llvm::none_of(type.getShape(), [&](std::int64_t extent) {
    return extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes);
  });
}

/// Why the operation keeps its whole program from being compiled; empty for most.
std::string whyInterpreted(mlir::Operation* op) {
  const llvm::StringRef dialect = op->getName().getDialectNamespace();
  // MLIR's folders of these crash on what they do not expect.
  if (dialect == "tensor" || dialect == "shape")
    return "programs that compute with MLIR's own tensors and shapes are not compiled";
  // What is fed is taken in the order of the whole run.
  if (llvm::isa<stablehlo::InfeedOp, stablehlo::SendOp, stablehlo::RecvOp>(op))
    return "what passes between a run and its host is not compiled";
  llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op))
    llvm::append_range(types, function.getArgumentTypes());
  for (mlir::Type type : types) {
    // Constants of them do not fold as MLIR wants constants to, which makes equal what is not.
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

/// The same of all operations of a program, with the place of the first.
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

/// Has operations of CHLO, and conversions, become those that there is code for where the result
/// keeps its bits. The formulas of the special functions are farther from the exact value than C2
/// allows.
void legalizeExactly(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> exact;
  module->walk([&](mlir::Operation* op) {
    if (llvm::isa<chlo::NextAfterOp, chlo::TopKOp, ir::ConvertOp>(op))
      exact.push_back(op);
  });
  const Diagnostics unheard(*module.getContext());
  for (mlir::Operation* op : exact) {
    auto convert = llvm::dyn_cast<ir::ConvertOp>(op);
    if (!convert) {
      static_cast<void>(transforms::legalizeCHLO(op));
      continue;
    }
    mlir::OpBuilder builder(op);
    const mlir::FailureOr<mlir::Value> value = transforms::emitConvert(builder, convert);
    if (mlir::failed(value))
      continue; // the interpreter has it
    convert.replaceAllUsesWith(*value);
    op->erase();
  }
}

/// Has barriers, which only keep passes from what is around them, hand on what they are given.
void handOn(mlir::ModuleOp module) {
  module->walk([](stablehlo::OptimizationBarrierOp barrier) {
    barrier->replaceAllUsesWith(barrier->getOperands());
    barrier->erase();
  });
}

/// Makes a program what Conversion takes: one function, its calls inlined, what is constant folded.
llvm::Error simplify(mlir::ModuleOp module) {
  mlir::PassManager legalize(module.getContext()), simplify(module.getContext());
  legalize.addPass(transforms::createLegalizeComposites());
  legalize.addPass(transforms::createLegalizeArith());
  legalize.addPass(transforms::createInlineFusedDots());
  simplify.addPass(mlir::createInlinerPass({}, [](mlir::OpPassManager&) {}));
  // Numbers that exporters convert and broadcast would be kernels of their own.
  simplify.addPass(transforms::createFoldConstants({.maxElements = 1}));
  simplify.addPass(mlir::createCanonicalizerPass());
  simplify.addPass(mlir::createCSEPass());
  const Diagnostics diagnostics(*module.getContext());
  if (mlir::failed(legalize.run(module)))
    return llvm::createStringError(diagnostics.found());
  legalizeExactly(module);
  transforms::legalizeBatchNorm(module);
  if (mlir::failed(simplify.run(module)))
    return llvm::createStringError(diagnostics.found());
  handOn(module);
  widenScaled(module);
  dequantizeParts(module);
  widenProducts(module);
  return llvm::Error::success();
}

/// The code of a program's kernels, null where it has none: the generator is not loaded then.
llvm::Expected<std::unique_ptr<MachineCode>> compiledKernels(conversion::Lowered& lowered) {
  if (lowered.kernels.empty())
    return nullptr;
  const auto generator = codeGenerator();
  if (!generator)
    return llvm::createStringError(generator.error());
  auto code = (*generator)->compile(lowered.kernels);
  if (!code)
    return llvm::createStringError(code.error());
  llvm::copy((*code)->functions(), lowered.program.functions.begin());
  // What LLVM has freed, on all threads, is the system's again before weights take memory, and so
  // is its code.
  malloc_trim(0);
  letGoOfGenerator();
  return std::move(*code);
}

llvm::Expected<std::unique_ptr<execution::Executable>>
executableOf(mlir::OwningOpRef<mlir::ModuleOp> module, bool isSimplified,
             conversion::Lowered lowered) {
  auto code = compiledKernels(lowered);
  if (!code)
    return code.takeError();
  return std::make_unique<CompiledProgram>(std::move(module), isSimplified, std::move(lowered),
                                           std::move(*code));
}

} // namespace

llvm::Expected<std::unique_ptr<execution::Executable>>
compileForItems(ProgramOfItems one, ProgramOfItems other, llvm::StringRef name,
                conversion::Evaluate evaluate) {
  std::array sources = {one, other};
  for (ProgramOfItems& source : sources)
    if (const std::string reason = whyInterpreted(source.program); !reason.empty())
      return llvm::createStringError(reason);
  const KeptProgram kept({one.program, other.program}, name);
  if (auto found = kept.find())
    return executableOf(one.program.clone(), false, std::move(*found));
  mlir::OwningOpRef<mlir::ModuleOp> modules[2];
  conversion::LoweredItems lowered[2];
  for (auto [source, module, made] : llvm::zip(sources, modules, lowered)) {
    module = source.program.clone();
    if (llvm::Error error = simplify(*module))
      return std::move(error);
    auto program = conversion::lower(module->lookupSymbol<mlir::func::FuncOp>(name), evaluate);
    if (!program)
      return program.takeError();
    made = {std::move(*program), source.items};
  }
  if (const auto why = conversion::openItems(lowered[0], lowered[1]))
    return llvm::createStringError(*why);
  kept.keep(lowered[0].lowered);
  return executableOf(std::move(modules[0]), true, std::move(lowered[0].lowered));
}

llvm::Expected<std::unique_ptr<execution::Executable>>
compileProgram(mlir::ModuleOp source, llvm::StringRef name, conversion::Evaluate evaluate,
               const execution::Backend& fallback, conversion::Guarding guarding) {
  auto reference = fallback.prepare(source, name);
  if (!reference)
    return reference;
  const auto handOver = [&](const llvm::Twine& reason) {
    return std::make_unique<HandedOver>(std::move(*reference), reason.str());
  };
  if (const std::int64_t processes = (*reference)->processes(); processes != 1)
    return handOver("it is run by " + llvm::Twine(processes) + " processes");
  if (const std::string reason = whyInterpreted(source); !reason.empty())
    return handOver(reason);
  mlir::OwningOpRef<mlir::ModuleOp> module = source.clone();
  std::optional<KeptProgram> kept;
  if (guarding == conversion::Guarding::None) {
    kept.emplace(source, name);
    if (auto found = kept->find())
      return executableOf(std::move(module), false, std::move(*found));
  }
  if (llvm::Error error = simplify(*module))
    return handOver(llvm::toString(std::move(error)));
  auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
  if (!function || function.isExternal())
    return handOver("there is no such function");
  llvm::Expected<conversion::Lowered> program = conversion::lower(function, evaluate, guarding);
  if (!program)
    return handOver(llvm::toString(program.takeError()));
  if (kept)
    kept->keep(*program);
  return executableOf(std::move(module), true, std::move(*program));
}

} // namespace octavo::pipelines
