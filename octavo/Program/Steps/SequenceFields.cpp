// Fields of sequences of steps, and of the kernels and functions that steps call (ProgramFields.h).
#include "octavo/Program/Steps/Call.h"
#include "octavo/Program/Steps/Chain.h"
#include "octavo/Program/Steps/Control.h"
#include "octavo/Program/Steps/File/ProgramFields.h"
#include "octavo/Program/Steps/Fourier.h"
#include "octavo/Program/Steps/Kernel.h"
#include "octavo/Program/Steps/LinearAlgebra.h"
#include "octavo/Program/Steps/Products/ComplexProduct.h"
#include "octavo/Program/Steps/Products/Convolution.h"
#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/Products/Quantize.h"
#include "octavo/Program/Steps/RandomBits.h"
#include "octavo/Program/Steps/Running.h"
#include "octavo/Program/Steps/Sort.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace octavo::program {

namespace {

constexpr int kMostDepth = 64;       // nesting depth of sequences
constexpr int kMostCallDepth = 4096; // each level takes a stack frame in a run

/// A step of this type whose fields are not set; null if the type has no form in a file.
std::unique_ptr<Step> emptyStep(StepType type, OperationTextPtr op) {
  switch (type) {
  case StepType::Interpreted:
    return nullptr;
  case StepType::Kernel:
    return std::make_unique<KernelStep>(std::move(op));
  case StepType::MatrixProduct:
    return std::make_unique<MatrixProductStep>(std::move(op));
  case StepType::Pack:
    return std::make_unique<PackStep>(std::move(op));
  case StepType::ScaledProduct:
    return std::make_unique<ScaledProductStep>(std::move(op));
  case StepType::Convolution:
    return std::make_unique<ConvolutionStep>(std::move(op));
  case StepType::Chain:
    return std::make_unique<ChainStep>(std::move(op));
  case StepType::Update:
    return std::make_unique<UpdateStep>(std::move(op));
  case StepType::Sort:
    return std::make_unique<SortStep>(std::move(op));
  case StepType::RandomBits:
    return std::make_unique<RandomBitsStep>(std::move(op));
  case StepType::Copy:
    return std::make_unique<CopyStep>(std::move(op));
  case StepType::While:
    return std::make_unique<WhileStep>(std::move(op));
  case StepType::Branch:
    return std::make_unique<BranchStep>(std::move(op));
  case StepType::Quantize:
    return std::make_unique<QuantizeStep>(std::move(op));
  case StepType::FromParts:
    return std::make_unique<FromPartsStep>(std::move(op));
  case StepType::PackStored:
    return std::make_unique<PackStoredStep>(std::move(op));
  case StepType::PackParts:
    return std::make_unique<PackPartsStep>(std::move(op));
  case StepType::Dequantize:
    return std::make_unique<DequantizeStep>(std::move(op));
  case StepType::Unpack:
    return std::make_unique<UnpackStep>(std::move(op));
  case StepType::ComplexProduct:
    return std::make_unique<ComplexProductStep>(std::move(op));
  case StepType::Cholesky:
    return std::make_unique<CholeskyStep>(std::move(op));
  case StepType::TriangularSolve:
    return std::make_unique<TriangularSolveStep>(std::move(op));
  case StepType::Fourier:
    return std::make_unique<FourierStep>(std::move(op));
  case StepType::Running:
    return std::make_unique<RunningStep>(std::move(op));
  case StepType::Function:
    return std::make_unique<FunctionStep>(std::move(op));
  case StepType::Call:
    return std::make_unique<CallStep>(std::move(op));
  }
  return nullptr;
}

} // namespace

void ProgramFields::kernel(const KernelFunction*& function, std::int64_t* number) {
  std::int64_t index = 0;
  if (!isReading())
    index = std::ranges::find_if(of.functions,
                                 [&](const KernelFunction& each) { return &each == function; }) -
            of.functions.begin();
  const auto count = static_cast<std::int64_t>(of.functions.size());
  if (count == 0)
    fail("a kernel of a program that has none");
  this->number(index, 0, std::max<std::int64_t>(0, count - 1));
  if (number != nullptr)
    *number = index;
  if (isReading() && !problem)
    function = &of.functions[static_cast<std::size_t>(index)];
}

void ProgramFields::function(const FunctionStep& step) {
  if (depth != 1)
    fail("a function within another sequence than the program's");
  if (depthOfCalls == kMostCallDepth)
    fail("functions that call functions, too deep");
  callable.try_emplace(&step, static_cast<std::int64_t>(functions.size()));
  functions.push_back({&step, std::exchange(depthOfCalls, 0) + 1});
}

void ProgramFields::callee(const FunctionStep*& step) {
  std::int64_t index = 0;
  if (const auto found = callable.find(step); found != callable.end())
    index = found->second;
  const auto count = static_cast<std::int64_t>(functions.size());
  if (count == 0)
    fail("a call before any function");
  number(index, 0, std::max<std::int64_t>(0, count - 1));
  if (problem)
    return;
  const Callable& called = functions[static_cast<std::size_t>(index)];
  depthOfCalls = std::max(depthOfCalls, called.depth);
  step = called.step;
}

void ProgramFields::steps(Sequence& sequence) {
  if (depth == kMostDepth)
    return fail("loops within loops, too deep");
  ++depth;
  const std::size_t packedBefore = packedNow.size();
  auto count = static_cast<std::int64_t>(sequence.all().size());
  number(count, 0, mostItems());
  for (std::int64_t i = 0; i < count && !problem; ++i) {
    Step* step = nullptr;
    OperationText op;
    StepType type{};
    if (!isReading()) {
      step = sequence.all()[static_cast<std::size_t>(i)].get();
      op = *step->operation();
      type = step->type();
    }
    choice(type, StepType::Call);
    for (std::string* part : {&op.name, &op.location, &op.source, &op.function, &op.input})
      text(*part);
    if (isReading()) {
      auto made = emptyStep(type, std::make_shared<const OperationText>(std::move(op)));
      if (!made)
        return fail("a step that has no form in a file");
      step = made.get();
      sequence.add(std::move(made));
    }
    beginStep(*step);
    step->fields(*this);
    endStep();
  }
  // The sequence may be a branch that does not run, or run on ranges: what it packed is not packed
  // after it.
  for (; packedNow.size() > packedBefore; packedNow.pop_back())
    packedNow.back().first->chain = packedNow.back().second;
  --depth;
}

} // namespace octavo::program
