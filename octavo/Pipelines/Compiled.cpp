#include "octavo/Pipelines/Compiled.h"

#include "octavo/Conversion/Steps/Explain.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Execution/SharedMemory.h"
#include "octavo/Pipelines/Codegen.h"
#include "octavo/Transforms/Legalizations/LegalizeBatchNorm.h"
#include "octavo/Transforms/LegalizeCHLO/LegalizeCHLO.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <span>

namespace octavo::pipelines {

namespace {

using conversion::SlotUse;
using execution::Host;
using execution::Tensor;
using execution::Value;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

Memory allocate(std::size_t bytes) {
  const std::size_t alignment = conversion::kSlotAlignment;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  return Memory(static_cast<std::byte*>(std::aligned_alloc(alignment, std::max(size, alignment))));
}

class CompiledProgram : public execution::Executable {
public:
  CompiledProgram(mlir::OwningOpRef<mlir::ModuleOp> module, conversion::Program program,
                  std::unique_ptr<MachineCode> code)
      : module(std::move(module)), program(std::move(program)), code(std::move(code)) {}

  std::int64_t processes() const override { return 1; }
  llvm::Expected<std::vector<Value>> run(std::vector<Value> arguments, const Host& host,
                                         execution::ResultMemory memory) override;
  llvm::Error runInto(std::span<Value> arguments, const Host& host,
                      execution::ResultMemory memory) override;
  bool takesUnread(std::size_t argument) const override {
    const steps::Place& place = program.arguments[argument];
    if (!place.memory)
      return false;
    const SlotUse& use = program.slots[static_cast<std::size_t>(place.number)];
    return use.kind == SlotUse::Kind::Argument && use.uses == use.packs;
  }
  llvm::Error bind(std::size_t argument, const Value& value) const override;
  execution::Explanation explain() const override { return conversion::explain(program); }
  llvm::Expected<std::vector<Stage>> stages() const override;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< what is interpreted refers to it
  conversion::Program program;
  std::unique_ptr<MachineCode> code;
  struct Workspace {
    Workspace(Memory memory, const conversion::Program& program)
        : arena(std::move(memory)),
          frame(program.slots.size(), static_cast<std::size_t>(program.valueCount),
                static_cast<std::size_t>(program.rightCount),
                static_cast<std::size_t>(program.packedCount)),
          results(program.results.size()) {}
    Memory arena;
    steps::Frame frame;
    std::vector<std::byte*> results; ///< where they lie
  };
  steps::Idle<Workspace> idle; ///< of runs that have ended, for the next ones

  llvm::Expected<std::unique_ptr<Workspace>> workspace();
  /// Whether a run is right where the memory of a result is an argument's.
  bool canOverwrite(std::size_t argument, std::size_t result) const;
  llvm::Error takeArguments(steps::Frame& frame, std::span<Value> arguments, const Host& host,
                            execution::ResultMemory memory) const;
  template <typename IsGiven> void beginInPlace(steps::Frame& frame, const IsGiven& isGiven) const;
  std::vector<Tensor> ownResults(steps::Frame& frame, std::span<Value> arguments) const;
  void placeIn(Workspace& work, std::span<const Value> arguments,
               execution::ResultMemory memory) const;
  void placeDonated(Workspace& work, std::span<Value> arguments) const;
  llvm::Error execute(Workspace& work, std::span<Value> arguments) const;
  void end(std::unique_ptr<Workspace> work);
};

/// Memory that a run works on, of an earlier one where there is any.
llvm::Expected<std::unique_ptr<CompiledProgram::Workspace>> CompiledProgram::workspace() {
  if (std::unique_ptr<Workspace> old = idle.take())
    return old;
  Memory arena = allocate(program.arenaBytes);
  if (!arena)
    return llvm::createStringError("there is not enough memory for the " +
                                   llvm::Twine(program.arenaBytes) +
                                   " bytes that the program works on");
  return std::make_unique<Workspace>(std::move(arena), program);
}

bool CompiledProgram::canOverwrite(std::size_t argument, std::size_t result) const {
  const steps::Place &from = program.arguments[argument], &to = program.results[result];
  if (!from.memory || !to.memory)
    return false;
  const SlotUse& read = program.slots[static_cast<std::size_t>(from.number)];
  const SlotUse& written = program.slots[static_cast<std::size_t>(to.number)];
  if (from.number == to.number)
    return true;
  const auto isDonated = [&](const conversion::Program::Donation& each) {
    return each.argument == argument && each.result == result;
  };
  if (std::ranges::any_of(program.donations, isDonated))
    return true;
  // What lies in the memory of a result from the beginning on is an argument that is donated to it.
  const bool isTaken = std::ranges::any_of(program.donations, [&](const auto& each) {
    return each.isByKernel && each.result == result;
  });
  return written.kind == SlotUse::Kind::Result && read.last < written.first && !isTaken;
}

/// Whether the value is this run's alone, which may write to it.
static bool isOwn(const Value& value) {
  return value.isTensor() && !value.isShared() && !value.tensor().bytes.isLent();
}

/// A kernel has code for all of its arguments that may be given away, or none of them.
template <typename IsGiven>
void CompiledProgram::beginInPlace(steps::Frame& frame, const IsGiven& isGiven) const {
  frame.isInPlace = std::ranges::any_of(
      program.donations, [&](const auto& each) { return each.isByKernel && isGiven(each); });
}

/// Results with memory of an argument that was given away for them, or else new memory. Throws
/// std::bad_alloc.
std::vector<Tensor> CompiledProgram::ownResults(steps::Frame& frame,
                                                std::span<Value> arguments) const {
  std::vector<Tensor> results(program.results.size(), Tensor{format::element("f32"), {}, {}});
  beginInPlace(frame, [&](const auto& each) { return isOwn(arguments[each.argument]); });
  for (const conversion::Program::Donation& each : program.donations)
    if (isOwn(arguments[each.argument]) || (each.isByKernel && frame.isInPlace))
      results[each.result] = arguments[each.argument].takeTensor();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& place = program.results[i].memory;
    if (!place || results[i].bytes.data() != nullptr)
      continue;
    const SlotUse& slot = program.slots[static_cast<std::size_t>(program.results[i].number)];
    results[i] = slot.kind == SlotUse::Kind::Donated
                     ? arguments[static_cast<std::size_t>(slot.index)].takeTensor()
                     : Tensor{place->type, place->shape,
                              numerics::Bytes::unset(steps::bytesOf(program.results[i]))};
  }
  return results;
}

/// Results in the caller's memory.
void CompiledProgram::placeIn(Workspace& work, std::span<const Value> arguments,
                              execution::ResultMemory memory) const {
  for (std::size_t i = 0; i < work.results.size(); ++i)
    work.results[i] = memory[i].data();
  beginInPlace(work.frame, [&](const auto& each) {
    const Value& argument = arguments[each.argument];
    return argument.isTensor() && argument.tensor().bytes.data() == work.results[each.result];
  });
}

/// Has arguments lie where results do that are written over them.
void CompiledProgram::placeDonated(Workspace& work, std::span<Value> arguments) const {
  const auto copy = [&](std::size_t argument, std::size_t result) {
    const numerics::Bytes& given = arguments[argument].tensor().bytes;
    if (given.data() != work.results[result])
      std::ranges::copy(given, work.results[result]);
    arguments[argument] = Value();
  };
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    if (!program.results[i].memory)
      continue;
    const SlotUse& slot = program.slots[static_cast<std::size_t>(program.results[i].number)];
    if (const auto argument = static_cast<std::size_t>(slot.index);
        slot.kind == SlotUse::Kind::Donated && arguments[argument].isTensor())
      copy(argument, i);
  }
  for (const conversion::Program::Donation& each : program.donations) {
    if (each.isByKernel && work.frame.isInPlace && arguments[each.argument].isTensor())
      copy(each.argument, each.result);
    if (!arguments[each.argument].isTensor()) // it was taken, or is there now
      work.frame.whole.memory[static_cast<std::size_t>(program.arguments[each.argument].number)] =
          work.results[each.result];
  }
}

llvm::Error CompiledProgram::bind(std::size_t argument, const Value& value) const {
  const steps::Place& place = program.arguments[argument];
  const auto bound =
      program.steps.bind(place.memory ? steps::Binding{.slot = place.number, .value = value}
                                      : steps::Binding{.place = place.number, .value = value});
  return bound ? llvm::Error::success() : llvm::createStringError(llvm::Twine(bound.error()));
}

/// Checks the arguments, keeps them apart from results, and takes those that do not lie in slots.
llvm::Error CompiledProgram::takeArguments(steps::Frame& frame, std::span<Value> arguments,
                                           const Host& host, execution::ResultMemory memory) const {
  if (arguments.size() != program.arguments.size())
    return llvm::createStringError("the function takes " + llvm::Twine(program.arguments.size()) +
                                   " arguments; " + llvm::Twine(arguments.size()) + " were given");
  frame.host = &host;
  try {
    execution::keepApart(arguments, memory, [this](std::size_t argument, std::size_t result) {
      return canOverwrite(argument, result);
    });
  } catch (const std::bad_alloc&) {
    return llvm::createStringError(
        "there is not enough memory for a copy of an argument that a result is written over");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const steps::Place& place = program.arguments[i];
    if (!place.memory) {
      frame.values[static_cast<std::size_t>(place.number)] = std::move(arguments[i]);
      continue;
    }
    if (arguments[i].isUnread() && takesUnread(i) &&
        arguments[i].unread().shape == place.memory->shape &&
        arguments[i].unread().type == place.memory->type)
      continue;
    if (!arguments[i].isTensor() || arguments[i].tensor().shape != place.memory->shape ||
        arguments[i].tensor().type != place.memory->type)
      return llvm::createStringError("argument " + llvm::Twine(i) + " does not fit its type");
  }
  return llvm::Error::success();
}

/// Runs the steps on arguments that were taken and results that have their places.
llvm::Error CompiledProgram::execute(Workspace& work, std::span<Value> arguments) const {
  steps::Frame& frame = work.frame;
  placeDonated(work, arguments);
  for (std::size_t i = 0; i < program.slots.size(); ++i) {
    const SlotUse& slot = program.slots[i];
    const auto index = static_cast<std::size_t>(slot.index);
    switch (slot.kind) {
    case SlotUse::Kind::Arena:
      frame.whole.memory[i] = work.arena.get() + slot.offset;
      break;
    case SlotUse::Kind::Range: // its chain gives it memory
      break;
    case SlotUse::Kind::Argument:      // read only
      if (arguments[index].isTensor()) // else it is packed, or lies where a result does
        frame.whole.memory[i] = const_cast<std::byte*>(arguments[index].tensor().bytes.data());
      frame.owners[i] =
          arguments[index].isUnread() || arguments[index].isShared() ? &arguments[index] : nullptr;
      break;
    case SlotUse::Kind::Donated:
      frame.whole.memory[i] = work.results[static_cast<std::size_t>(slot.result)];
      break;
    case SlotUse::Kind::Constant:
      frame.whole.memory[i] =
          const_cast<std::byte*>(program.constants[index].tensor().bytes.data());
      frame.owners[i] = &program.constants[index];
      break;
    case SlotUse::Kind::Result:
      frame.whole.memory[i] = work.results[index];
      break;
    }
  }
  if (program.guards)
    program.guards->begin(frame);
  if (steps::Outcome outcome = program.steps.run(frame); !outcome)
    return llvm::createStringError(outcome.error());
  return llvm::Error::success();
}

/// Values of the run are nobody's any more; its memory is the next one's.
void CompiledProgram::end(std::unique_ptr<Workspace> work) {
  std::ranges::fill(work->frame.values, Value());
  idle.giveBack(std::move(work));
}

llvm::Expected<std::vector<Value>> CompiledProgram::run(std::vector<Value> arguments,
                                                        const Host& host,
                                                        execution::ResultMemory memory) {
  auto work = workspace();
  if (!work)
    return work.takeError();
  steps::Frame& frame = (*work)->frame;
  if (llvm::Error error = takeArguments(frame, arguments, host, memory))
    return std::move(error);
  std::vector<Tensor> results;
  if (memory.empty()) {
    try {
      results = ownResults(frame, arguments);
    } catch (const std::bad_alloc&) {
      return llvm::createStringError("there is not enough memory for the results");
    }
  } else {
    placeIn(**work, arguments, memory);
    for (std::size_t i = 0; i < program.results.size(); ++i)
      if (const auto& place = program.results[i].memory)
        results.push_back(
            {place->type, place->shape, numerics::Bytes::lent(memory[i], /*lender=*/nullptr)});
      else
        results.push_back(Tensor{format::element("f32"), {}, {}});
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    (*work)->results[i] = results[i].bytes.data();
  if (llvm::Error error = execute(**work, arguments))
    return std::move(error);
  std::vector<Value> values;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const steps::Place& place = program.results[i];
    values.push_back(place.memory ? Value(std::move(results[i]))
                                  : frame.values[static_cast<std::size_t>(place.number)]);
  }
  end(std::move(*work));
  return values;
}

llvm::Error CompiledProgram::runInto(std::span<Value> arguments, const Host& host,
                                     execution::ResultMemory memory) {
  auto work = workspace();
  if (!work)
    return work.takeError();
  if (llvm::Error error = takeArguments((*work)->frame, arguments, host, memory))
    return error;
  placeIn(**work, arguments, memory);
  if (llvm::Error error = execute(**work, arguments))
    return error;
  end(std::move(*work));
  return llvm::Error::success();
}

llvm::Expected<std::vector<execution::Executable::Stage>> CompiledProgram::stages() const {
  std::vector<Stage> list(2);
  list[0].file = "1-after-passes.mlir";
  llvm::raw_string_ostream out(list[0].text);
  module.get()->print(out);
  out << "\n";
  list[1] = {"2-steps.txt", conversion::stepsText(program)};
  for (std::size_t i = 0; i < program.kernels.texts.size(); ++i) {
    const std::string& text = program.kernels.texts[i];
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

/// Dots and convolutions of floats narrower than f32 as those of f32: what they are by rules I12
/// and I21, operands converted exactly and the result rounded once. Those of bf16, and of narrow
/// floats, which bf16 holds, are of bf16.
void widenProducts(mlir::ModuleOp module) {
  module->walk([&](mlir::Operation* op) {
    auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op);
    if (dot ? dot.getAlgorithm().has_value() : !llvm::isa<stablehlo::ConvolutionOp>(op))
      return;
    mlir::OpBuilder builder(op);
    const auto f32 = [&](mlir::Type type) {
      return mlir::cast<mlir::RankedTensorType>(type).clone(builder.getF32Type());
    };
    const auto isWide = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
    const mlir::Type type = op->getResult(0).getType();
    llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
    types.push_back(type);
    const auto isFloatToF32 = [](mlir::Type each) {
      auto element = llvm::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(each));
      return element && element.getWidth() <= 32;
    };
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
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      auto given = mlir::cast<mlir::RankedTensorType>(operand.get().getType());
      if (given.getElementType() != multiplied)
        operand.set(stablehlo::ConvertOp::create(builder, op->getLoc(), given.clone(multiplied),
                                                 operand.get()));
    }
    if (isWide(type))
      return;
    mlir::Value result = op->getResult(0);
    result.setType(f32(type));
    builder.setInsertionPointAfter(op);
    auto rounded = stablehlo::ConvertOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(rounded.getResult(), rounded);
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

/// Has operations of CHLO become those that there is code for where the result keeps its bits. The
/// formulas of the special functions are farther from the exact value than C2 allows.
void legalizeExactly(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> exact;
  module->walk([&](mlir::Operation* op) {
    if (llvm::isa<chlo::NextAfterOp, chlo::TopKOp>(op))
      exact.push_back(op);
  });
  const Diagnostics unheard(*module.getContext());
  for (mlir::Operation* op : exact)
    static_cast<void>(transforms::legalizeCHLO(op));
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
  widenProducts(module);
  return llvm::Error::success();
}

/// The code of a program's kernels, null where it has none: the generator is not loaded then.
llvm::Expected<std::unique_ptr<MachineCode>> compiledKernels(conversion::KernelTable& kernels) {
  if (kernels.texts.empty())
    return nullptr;
  const auto generator = codeGenerator();
  if (!generator)
    return llvm::createStringError(generator.error());
  auto code = (*generator)->compile(kernels.texts);
  if (!code)
    return llvm::createStringError(code.error());
  llvm::copy((*code)->functions(), kernels.functions.begin());
  // What LLVM has freed, on all threads, is the system's again before weights take memory.
  malloc_trim(0);
  return std::move(*code);
}

} // namespace

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
  if (llvm::Error error = simplify(*module))
    return handOver(llvm::toString(std::move(error)));
  auto function = module->lookupSymbol<mlir::func::FuncOp>(name);
  if (!function || function.isExternal())
    return handOver("there is no such function");
  llvm::Expected<conversion::Program> program = conversion::lower(function, evaluate, guarding);
  if (!program)
    return handOver(llvm::toString(program.takeError()));
  llvm::Expected<std::unique_ptr<MachineCode>> code = compiledKernels(program->kernels);
  if (!code)
    return code.takeError();
  return std::make_unique<CompiledProgram>(std::move(module), std::move(*program),
                                           std::move(*code));
}

} // namespace octavo::pipelines
