// Steps: a compiled program runs them in order, on memory whose layout was fixed at compile time.
#pragma once

#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Numerics/ElementType.h"
#include "octavo/Program/Steps/BatchExtent.h"
#include "octavo/Program/Steps/Pool.h"
#include "octavo/Program/Values/Explanation.h"
#include "octavo/Program/Values/OperationText.h"
#include "octavo/Program/Values/Outcome.h"
#include "octavo/Program/Values/RunContext.h"
#include "octavo/Program/Values/Value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo::program {

/// The memory of a tensor's elements, by its index in Worker::memory.
struct Slot {
  int number = -1;
};

struct Frame;

/// The state of one thread: where the slots lie, and what the thread packs for products.
struct Worker {
  std::vector<std::byte*> memory;                          ///< address of each slot
  std::vector<std::vector<kernels::PackedOperand>> packed; ///< packed left operands
  kernels::PackedBytes own;                                ///< the thread's scratch memory
  std::vector<std::byte*> passed;                          ///< the argument list of a kernel call

  template <typename T = std::byte> T* at(Slot slot) const {
    return reinterpret_cast<T*>(memory[static_cast<std::size_t>(slot.number)]);
  }
  /// `count` matrices of left operand `number`. They keep the memory of what was packed there
  /// before.
  std::span<kernels::PackedOperand> lefts(int number, std::int64_t count) {
    std::vector<kernels::PackedOperand>& all = packed[static_cast<std::size_t>(number)];
    if (all.size() < static_cast<std::size_t>(count))
      all.resize(static_cast<std::size_t>(count));
    return std::span(all).first(static_cast<std::size_t>(count));
  }
  /// At least `bytes` bytes of scratch memory, aligned to 64. The next call that asks for more
  /// invalidates it.
  std::byte* room(std::size_t bytes) {
    if (own.size() < bytes)
      own = kernels::PackedBytes(bytes, kernels::PackedBytes::Fill::None);
    return own.data();
  }
};

/// The right operand of a scaled product, packed in this run. It reuses the memory of earlier runs.
struct OwnOperand {
  kernels::PackedOperand packed{};
  /// Memory of the codes while the operand is decoded (kernels::decodedAhead).
  kernels::PackedBytes spare;
};

/// The right operand of a product in one run: a form that the operand's value keeps, or an operand
/// that the run packed itself. Only values own forms: the pointer is dropped at the end of a run.
struct RightOperand {
  PackedForms::Key key; ///< of the form; kept to reuse its memory
  /// Null: the run packed `own` or `ownScaled`, or reads the operand in place.
  std::shared_ptr<const void> form;
  std::vector<kernels::PackedMatrix> own; ///< one matrix per product or group
  OwnOperand ownScaled;
  std::vector<kernels::BatchOffsets> batch; ///< if the offsets depend on the batch size
};

/// The state of one run of a program.
struct Frame {
  Frame(std::size_t slots, std::size_t values, std::size_t rights, std::size_t packed)
      : whole{.memory = std::vector<std::byte*>(slots), .packed = {}, .own = {}, .passed = {}},
        values(values), made(values), owners(slots), rights(rights) {
    whole.packed.resize(packed);
  }

  Worker whole;              ///< for steps that are not cut into ranges
  std::vector<Value> values; ///< values without a slot: tokens, tuples, scaled tensors
  /// made[i] is a scaled tensor that a step has made as values[i], which is then a token.
  std::vector<numerics::ScaledTensor> made;
  /// Per slot: the argument or constant that lies there and keeps packed forms over runs; null for
  /// others.
  std::vector<const Value*> owners;
  std::vector<RightOperand> rights; ///< right operands of products
  Pool<Worker> workers;             ///< state of idle threads
  /// The batch size of the run.
  std::int64_t items = 1;
  /// Whether results lie over their donated arguments, for all kernels that have in-place code.
  bool isInPlace = false;
  const RunContext* host = nullptr;
  std::vector<bool> isGuarded; ///< whether the slot has a guard behind it (Guards.h); for tests

  template <typename T = std::byte> T* at(Slot slot) const { return whole.at<T>(slot); }
  RightOperand& right(int number) { return rights[static_cast<std::size_t>(number)]; }
  const RightOperand& right(int number) const { return rights[static_cast<std::size_t>(number)]; }
};

inline std::int64_t BatchExtent::of(const Frame& frame) const { return of(frame.items); }

/// The address of the batch size, which kernels only read (KernelFunction.h).
inline std::byte* itemsForKernel(const Frame& frame) {
  return reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(&frame.items));
}

class Sequence;

/// A value bound to an argument: its slot, or its index among the values.
struct Binding {
  int slot = -1, place = -1;
  const Value& value;
};

/// What a step does, for explanations and listings.
struct StepFacts {
  enum class Kind : std::uint8_t {
    Kernel,
    Product,
    Pack,
    Quantize,
    Dequantize,
    Chain,
    Update,
    Sort,
    RandomBits,
    Cholesky,
    TriangularSolve,
    Fourier,
    Running,
    Copy,
    Loop,
    Branch,
    Interpreted,
    Function,
    Call
  };
  Kind kind;
  /// A kernel's operations; the operand formats of a product or packing; why the interpreter
  /// evaluates an operation.
  std::string detail = {};
  std::int64_t operations = 1; ///< source operations that the step computes
  std::int64_t kernel = -1;    ///< index of its code, which several steps may share; -1: none
  double bytes = 0;            ///< read and written in a run of batch size 1, each byte once
  double arithmetic = 0; ///< multiplications and additions of products, in a run of batch size 1
  Multiplied multiplied = Multiplied::F32; ///< the type in which a product multiplies
  /// An operand that is packed only when its value changes: its slot, or its index among the
  /// values, and the bytes of the packed form.
  struct Weight {
    int slot = -1, value = -1;
    double bytes;
  };
  std::optional<Weight> weight = {};
};

/// `kernel`, `product`, ...
std::string_view name(StepFacts::Kind kind);

class ProgramFields;

/// The kind of a step in a program file. The numbers are part of the format: append new kinds.
enum class StepType : std::uint8_t {
  Interpreted, ///< cannot be written to a file; nor can guarded steps
  Kernel,
  MatrixProduct,
  Pack,
  ScaledProduct,
  Convolution,
  Chain,
  Update,
  Sort,
  RandomBits,
  Copy,
  While,
  Branch,
  Quantize,
  FromParts,
  PackStored,
  PackParts,
  Dequantize,
  Unpack,
  ComplexProduct,
  Cholesky,
  TriangularSolve,
  Fourier,
  Running,
  Function,
  Call,
};

/// One entry of a compiled program. Concurrent runs share it: `run` writes to the frame only.
class Step {
public:
  /// `op` is the operation that the step computes, or the last one if it computes several.
  explicit Step(OperationTextPtr op) : computed(std::move(op)) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Runs the step. The error names the operation and its location.
  virtual Outcome run(Frame& frame) const = 0;
  /// Makes the packed form of an argument's value now, which else the first run makes. Does nothing
  /// if the step does not pack this argument. The error is that of reading the value.
  virtual Outcome bind(const Binding& /*binding*/) const { return {}; }
  virtual StepFacts facts() const = 0;
  /// The sequences that the step runs.
  virtual std::vector<const Sequence*> nested() const { return {}; }

  virtual StepType type() const = 0;
  /// Writes the step's fields to a file, or reads them (ProgramFields.h).
  virtual void fields(ProgramFields& fields) = 0;

  const OperationTextPtr& operation() const { return computed; }

private:
  OperationTextPtr computed;
};

/// An error that names the step's operation and location, in the interpreter's format.
Outcome failure(const Step& step, const std::string& message);
/// The error of a run that was interrupted before or within the step.
Outcome interruption(const Step& step);

/// Steps that run in order.
class Sequence {
public:
  void add(std::unique_ptr<Step> step) { steps.push_back(std::move(step)); }
  void addFirst(std::unique_ptr<Step> step) { steps.insert(steps.begin(), std::move(step)); }
  /// Runs all steps. Stops at the first error, or between steps if the run is interrupted.
  Outcome run(Frame& frame) const;
  /// Calls bind on all steps, including nested ones.
  Outcome bind(const Binding& binding) const;
  const std::vector<std::unique_ptr<Step>>& all() const { return steps; }

private:
  std::vector<std::unique_ptr<Step>> steps;
};

} // namespace octavo::program
