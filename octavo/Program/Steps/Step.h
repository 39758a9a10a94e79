// What a compiled program does when it runs: steps, one after the other, on memory whose place was
// decided when it was compiled.
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

/// A place for the elements of a tensor, by its number in Frame::memory.
struct Slot {
  int number = -1;
};

struct Frame;

/// What a thread computes on: the slots, and what it packs for products.
struct Worker {
  std::vector<std::byte*> memory;                          ///< of each slot
  std::vector<std::vector<kernels::PackedOperand>> packed; ///< matrices of each left side
  kernels::PackedBytes own;                                ///< memory of the thread's
  std::vector<std::byte*> passed;                          ///< to a kernel

  template <typename T = std::byte> T* at(Slot slot) const {
    return reinterpret_cast<T*>(memory[static_cast<std::size_t>(slot.number)]);
  }
  /// So many matrices of a left side, with the memory of what was packed there before.
  std::span<kernels::PackedOperand> lefts(int number, std::int64_t count) {
    std::vector<kernels::PackedOperand>& all = packed[static_cast<std::size_t>(number)];
    if (all.size() < static_cast<std::size_t>(count))
      all.resize(static_cast<std::size_t>(count));
    return std::span(all).first(static_cast<std::size_t>(count));
  }
  /// Memory of the thread's for so many bytes, aligned to 64, that stays until it asks for more.
  std::byte* room(std::size_t bytes) {
    if (own.size() < bytes)
      own = kernels::PackedBytes(bytes, kernels::PackedBytes::Fill::None);
    return own.data();
  }
};

/// The right operand of a scaled product, packed in a run, in the memory of those before.
struct OwnOperand {
  kernels::PackedOperand packed{};
  kernels::PackedBytes spare; ///< (kernels::decodedAhead)
};

/// The right operand of a product in one run: a form that the operand's value keeps, or what the
/// run packed itself. Only values own forms, so that a run which has ended holds none.
struct RightOperand {
  PackedForms::Key key;                   ///< of the form; its memory is used again
  std::shared_ptr<const void> form;       ///< null: the run packed `own` or `ownScaled`
  std::vector<kernels::PackedMatrix> own; ///< one matrix, or one for each group of a convolution
  OwnOperand ownScaled;
  std::vector<kernels::BatchOffsets> batch; ///< if it depends on the items of the run
};

/// What one run of a program works on.
struct Frame {
  Frame(std::size_t slots, std::size_t values, std::size_t rights, std::size_t packed)
      : whole{.memory = std::vector<std::byte*>(slots), .packed = {}, .own = {}, .passed = {}},
        values(values), made(values), owners(slots), rights(rights) {
    whole.packed.resize(packed);
  }

  Worker whole;              ///< of steps that are not cut into ranges
  std::vector<Value> values; ///< what does not lie in slots: tokens, tuples, scaled tensors
  /// Scaled tensors that steps have made, by the numbers of their values, which are tokens.
  std::vector<numerics::ScaledTensor> made;
  /// Of each slot: the argument or constant that lies there and comes again, null for others.
  std::vector<const Value*> owners;
  std::vector<RightOperand> rights; ///< of products
  Pool<Worker> workers;             ///< of threads, with their memory
  /// How many of what the program leaves open, which is the first axis of what it is given.
  std::int64_t items = 1;
  /// Results lie over the arguments that are donated to them, for all kernels that know how.
  bool isInPlace = false;
  const RunContext* host = nullptr;
  std::vector<bool> isGuarded; ///< slots with a guard behind them (Guards.h); for tests

  template <typename T = std::byte> T* at(Slot slot) const { return whole.at<T>(slot); }
  RightOperand& right(int number) { return rights[static_cast<std::size_t>(number)]; }
  const RightOperand& right(int number) const { return rights[static_cast<std::size_t>(number)]; }
};

inline std::int64_t BatchExtent::of(const Frame& frame) const { return of(frame.items); }

/// Where a kernel finds how many items the run has (KernelFunction.h); it only reads it.
inline std::byte* itemsForKernel(const Frame& frame) {
  return reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(&frame.items));
}

class Sequence;

/// A value that is bound to an argument: its slot, or its place among the values.
struct Binding {
  int slot = -1, place = -1;
  const Value& value;
};

/// What a step does, for whoever looks into a program.
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
  /// The operations of a kernel; of a product or packing, what is multiplied; of what the
  /// interpreter evaluates, why.
  std::string detail = {};
  std::int64_t operations = 1; ///< of the program, that it computes
  std::int64_t kernel = -1;    ///< the number of its code, which several kernels may have
  double bytes = 0;            ///< of a run, of one item: read and written, each once
  double arithmetic = 0;       ///< of a run: multiplications and additions of products
  Multiplied multiplied = Multiplied::F32; ///< there
  /// Of what is packed again in each run only if it is not the same: the slot, or place among the
  /// values, and the bytes that it takes.
  struct Weight {
    int slot = -1, value = -1;
    double bytes;
  };
  std::optional<Weight> weight = {};
};

/// `kernel`, `product`, ...
std::string_view name(StepFacts::Kind kind);

class ProgramFields;

/// Which step stands in a file. The numbers are the format's: new ones come last.
enum class StepType : std::uint8_t {
  Interpreted, ///< has no form in a file, like guarded steps
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

class Step {
public:
  /// `op` is what it computes, or the last of several operations.
  explicit Step(OperationTextPtr op) : computed(std::move(op)) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  virtual Outcome run(Frame& frame) const = 0;
  /// Makes what runs would make once of a value that comes again, in the slot or at the place among
  /// the values. The error is that of reading it.
  virtual Outcome bind(const Binding& /*binding*/) const { return {}; }
  virtual StepFacts facts() const = 0;
  /// The sequences that it runs.
  virtual std::vector<const Sequence*> nested() const { return {}; }

  virtual StepType type() const = 0;
  /// Writes its fields, or gives them values (ProgramFields.h).
  virtual void fields(ProgramFields& fields) = 0;

  const OperationTextPtr& operation() const { return computed; }

private:
  OperationTextPtr computed;
};

/// An error that names the step's operation and where it stands, as the interpreter's do.
Outcome failure(const Step& step, const std::string& message);
/// The error of a run that was interrupted before the step, or within it.
Outcome interruption(const Step& step);

class Sequence {
public:
  void add(std::unique_ptr<Step> step) { steps.push_back(std::move(step)); }
  void addFirst(std::unique_ptr<Step> step) { steps.insert(steps.begin(), std::move(step)); }
  Outcome run(Frame& frame) const;
  /// Of each step, and of those that it runs.
  Outcome bind(const Binding& binding) const;
  const std::vector<std::unique_ptr<Step>>& all() const { return steps; }

private:
  std::vector<std::unique_ptr<Step>> steps;
};

} // namespace octavo::program
