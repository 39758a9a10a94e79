// The fields of a compiled program, in the order in which a file holds them. The `fields` function
// of each step is both its writer and its reader: it gets a ProgramFields that writes the fields or
// sets them, and checks them. Files are not trusted: a number is used only after its range is
// checked, a slot only after its size is.
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Program/Steps/Chain.h"
#include "octavo/Program/Steps/Products/MatrixBatch.h"
#include "octavo/Program/Steps/Products/OpenPlan.h"
#include "octavo/Program/Steps/Products/ScaledShape.h"
#include "octavo/Program/Steps/Program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octavo::program {

class FunctionStep;

/// One axis of an array: `count` elements that are `stride` elements apart.
struct Extent {
  BatchExtent count, stride;
};

/// A byte count that holds from batch size `from` on; for smaller batches it is 0.
struct Bytes {
  BatchExtent count;
  std::int64_t from = 0;

  Bytes() = default;
  Bytes(std::uint64_t fixed) : count(static_cast<std::int64_t>(fixed)) {}
  Bytes(BatchExtent count, std::int64_t from) : count(count), from(from) {}
};

/// Writes, reads or only visits the fields of a program, and checks each field.
class ProgramFields {
public:
  enum class Access : bool { Read, Write };
  static constexpr std::int64_t kMost = std::int64_t{1} << 48; ///< if nothing else is a bound

  explicit ProgramFields(Program& program) : of(program) {}
  virtual ~ProgramFields() = default;
  ProgramFields(const ProgramFields&) = delete;
  ProgramFields& operator=(const ProgramFields&) = delete;

  /// Whether the fields are read from a file.
  virtual bool isReading() const = 0;
  /// Records an error; only the first is kept. From then on each number that is read is the value
  /// nearest to 0 in its range.
  virtual void fail(std::string why) {
    if (!problem)
      problem = std::move(why);
  }
  const std::optional<std::string>& failed() const { return problem; }

  /// A number in [least, most]; fails if it is outside.
  void number(std::int64_t& value, std::int64_t least = 0, std::int64_t most = kMost);
  void number(int& value, int least, int most);
  void number(std::size_t& value);
  void truth(bool& value);
  void real(float& value);
  void real(double& value);
  void text(std::string& value);
  template <typename Enum> void choice(Enum& value, Enum last) {
    auto number = static_cast<std::int64_t>(value);
    this->number(number, 0, static_cast<std::int64_t>(last));
    value = static_cast<Enum>(number);
  }
  /// A list of at most `most` elements: its length, then `field(element)` for each.
  template <typename Item, typename Field>
  void list(std::vector<Item>& items, std::int64_t most, const Field& field) {
    auto count = static_cast<std::int64_t>(items.size());
    number(count, 0, std::min(most, mostItems()));
    if (isReading())
      items.clear();
    for (std::int64_t i = 0; i < count && !problem; ++i) {
      if (isReading())
        items.emplace_back();
      field(items[static_cast<std::size_t>(i)]);
    }
  }
  template <typename Item, typename Field>
  void maybe(std::optional<Item>& item, const Field& field) {
    bool isThere = item.has_value();
    truth(isThere);
    if (isReading())
      item = isThere ? std::optional<Item>(Item{}) : std::nullopt;
    if (isThere)
      field(*item);
  }

  /// A count: never negative for the program's batch sizes.
  void number(BatchExtent& value);
  /// A stride or an offset, which may be negative.
  void stride(BatchExtent& value) { itemNumber(value); }
  virtual void batch(MatrixBatch& batch);
  /// A number for explanations; no run depends on it.
  virtual void estimate(double& value) { real(value); }
  /// Whether the program comes from the compiler itself. Checks of packed and bound operands are
  /// then left out, since its values may be bound later.
  virtual bool isTrusted() const { return false; }

  void shape(std::vector<std::int64_t>& extents);
  void shape(std::vector<BatchExtent>& extents);
  void scaled(ScaledShape& shape);
  /// A float format of the table, or null for none.
  void format(const format::ElementFormat*& format);
  void elementType(std::optional<numerics::ElementType>& type);
  void scaledType(numerics::ScaledType& type);
  void options(numerics::QuantizeOptions& options);
  /// The plan of a product. A file holds its formats and depth; the rest follows for this machine.
  void plan(OpenPlan& plan);

  /// A slot that must have at least `bytes` bytes and allow the access.
  void slot(Slot& slot, Bytes bytes, Access access) {
    number(slot);
    require(slot, bytes, access);
  }
  /// The two halves of slot(): the index, and the check.
  void number(Slot& slot);
  void require(Slot slot, Bytes bytes, Access access);
  /// Whether the slot is a range slot of a chain.
  bool isRange(Slot slot) const;
  /// The slot's bytes per row of the current chain. Fails if the slot is not one of that chain's.
  BatchExtent bytesInEach(Slot slot);
  /// How many of a link's `rows` correspond to one row of the current chain. Fails unless the
  /// number is a constant.
  std::int64_t rowsInEach(const BatchExtent& rows);
  /// Requires that a link's rows, of `bytesOfRow` bytes each, fill the range slot without gaps.
  void requireInEach(Slot slot, const BatchExtent& rows, BatchExtent bytesOfRow, Access access);
  const BatchExtent& rowsOfChain() const { return chainRows; }
  /// A slot of a kernel. Its size is not checked: the kernel's code fixes what it accesses.
  void slotOfKernel(Slot& slot, Access access);
  /// Called for each slot or value that a step accesses; `require` and its like call it
  /// (StepAccesses.h).
  virtual void uses(Slot /*slot*/, Access /*access*/) {}
  virtual void usesValue(int /*number*/, Access /*access*/) {}
  /// Bracket the fields of one step, including the steps that it runs.
  virtual void beginStep(const Step& /*step*/) {}
  virtual void endStep() {}
  /// A place, with its slot's size checked.
  void place(Place& place, Access access);
  /// Two slots whose memory is swapped after each loop iteration.
  void swapped(Slot a, Slot b);
  /// An index of Frame::values.
  void value(int& number);
  /// An index of Frame::rights. Each belongs to a single product.
  void right(int& number);
  /// An index of Worker::packed.
  void packed(int& number);
  /// `packs` records that a step packs left operand `number`: `count` matrices of `rows` rows for
  /// `plan`. `needsPacked` requires the same record. One number is always packed alike. Its use
  /// must follow in the same sequence or a nested one, and in the same chain.
  void packs(int number, const OpenPlan& plan, BatchExtent count, BatchExtent rows);
  void needsPacked(int number, const OpenPlan& plan, BatchExtent count, BatchExtent rows);
  /// Records that a step makes a scaled tensor as Frame::values[value]. Each value has one type
  /// only.
  void makes(int value, const ScaledShape& shape);
  /// The record of a value that is read; null if it is not a scaled tensor.
  const ScaledShape* made(int value);
  /// The same. Fails if the value is not a scaled tensor of this shape.
  const ScaledShape* made(int value, const ScaledShape& shape);
  /// Records that value `from` replaces value `value`.
  void becomes(int value, int from);
  /// A kernel of the program, by its index, which is also stored in `number`.
  void kernel(const KernelFunction*& function, std::int64_t* number = nullptr);
  /// Records a function that later steps may call.
  void function(const FunctionStep& step);
  /// The callee: one of the recorded functions.
  void callee(const FunctionStep*& step);
  /// The steps of a sequence: their types, operations and fields.
  void steps(Sequence& sequence);

  /// Brackets the links of a chain. Its range slots are used between these calls only.
  void beginChain(const BatchExtent& rows);
  virtual void slotsOfChain(std::vector<ChainStep::RangeSlot>& slots, BatchExtent& bytesOfRow);
  void endChain();
  /// Brackets a prologue: its kernel makes rows of this slot.
  void beginPrologue(Slot rows) { rowsSlot = rows.number; }
  void endPrologue() { rowsSlot = -1; }

  /// Whether the slot holds a constant, whose products are packed ahead of the run.
  bool isConstant(Slot slot) const;
  /// Whether a kernel of the program may write over a donated argument.
  bool hasKernelDonations() const;
  /// Whether a scaled tensor is bound to Frame::values[value].
  bool isBound(int value) const;
  /// A frame in which constants and bound values are set, to pack them for writing. Null while
  /// reading.
  virtual Frame* frame() { return nullptr; }
  /// Calls `give` after the whole program has been read, to attach packed forms to its constants.
  void atEnd(std::function<void(Program&)> give) { gifts.push_back(std::move(give)); }
  /// Called when the packed form of a constant has been written. A writer may then drop the
  /// constant's forms if they can be made again.
  virtual void isWritten(Slot /*constant*/) {}
  /// A section: bytes outside the fields, aligned to 64. Written as exactly `least` bytes; when
  /// read, `bytes` refers to the file's memory.
  virtual void section(kernels::PackedBytes& bytes, std::size_t least) = 0;
  /// A packed right operand of a plain product, as a section.
  void matrix(std::shared_ptr<const kernels::PackedMatrix>& matrix, kernels::PlainType type,
              std::int64_t depth, std::int64_t columns);
  /// A packed right operand of a scaled product with `rows` rows, as sections.
  void operand(std::shared_ptr<const kernels::PackedOperand>& operand,
               const kernels::ProductPlan& plan, std::int64_t rows);
  /// Bytes of a packed right operand.
  std::uint64_t bytesOfMatrix(kernels::PlainType type, std::int64_t depth, std::int64_t columns);

  /// The product of the factors. Fails, and returns 0, beyond kMost.
  std::uint64_t bytes(std::initializer_list<std::int64_t> factors);
  /// The same for factors that depend on the batch size. The product has degree 2 at most.
  Bytes bytes(std::initializer_list<BatchExtent> factors);
  Bytes times(const Bytes& count, std::int64_t width);
  /// Sum and product of extents. Fails, and returns 0, if a coefficient is beyond kMost.
  BatchExtent plus(const BatchExtent& a, const BatchExtent& b);
  BatchExtent times(const BatchExtent& a, const BatchExtent& b);
  /// Whether a <= b for all batch sizes of the program that are at least `from`.
  bool isAtMost(const BatchExtent& a, const BatchExtent& b, std::int64_t from = 0) const;
  /// Bytes from the beginning of the memory to the end of the array's last element, elements being
  /// `width` bytes. Fails if the array begins before the memory.
  Bytes reach(BatchExtent offset, std::span<const Extent> extents, std::int64_t width);
  /// Bytes from the beginning of the memory to the first element of a nonempty array.
  BatchExtent beginOf(BatchExtent offset, std::span<const Extent> extents, std::int64_t width);
  /// Records a coefficient of the batch size. The largest batch size is limited so that no such
  /// number exceeds kMost.
  void ofItem(std::int64_t count) { largestOfItem = std::max(largestOfItem, std::abs(count)); }
  /// The same for a coefficient of the squared batch size.
  void ofPair(std::int64_t count) { largestOfPair = std::max(largestOfPair, std::abs(count)); }

protected:
  Program& program() { return of; }
  void giveForms() {
    for (const std::function<void(Program&)>& give : gifts)
      give(of);
  }
  static bool isAligned(const BatchExtent& bytes) {
    constexpr auto kAlignment = static_cast<std::int64_t>(kSlotAlignment);
    return bytes.fixed % kAlignment == 0 && bytes.factor % kAlignment == 0 &&
           bytes.square % kAlignment == 0;
  }
  /// The primitive fields: 64 bits, and the characters of a text.
  virtual void word(std::uint64_t& bits) = 0;
  virtual void characters(std::string& text, std::size_t count) = 0;
  virtual void itemNumber(BatchExtent& value);
  /// Upper bound of list elements that the rest of the file can hold.
  virtual std::int64_t mostItems() const = 0;
  /// Records that a step reads the constant's own bytes, not only a packed form.
  virtual void use(std::size_t constant) = 0;
  /// The same for a bound value.
  virtual void useValue(int number) = 0;
  /// The largest batch size for which all recorded numbers stay within kMost and all products have
  /// plans.
  std::int64_t mostItemsOfRun() const;

private:
  BatchExtent within(const std::optional<BatchExtent>& number);

  /// Checks that element and scale formats go together.
  void checkScaled(const format::ElementFormat* element, const format::ElementFormat* scale,
                   bool hasOuterScale);
  static constexpr int kNoChain = -1, kNotPacked = -2;
  /// Null after an error.
  const SlotUse* useOf(Slot slot) const;
  bool isWritable(const SlotUse& use) const;

  Program& of;
  std::optional<std::string> problem;
  int depth = 0; ///< nesting depth of sequences
  std::int64_t largestOfItem = 1, largestOfPair = 0;
  std::int64_t ofPlans = kMostItems; ///< largest batch size for which every product has a plan
  std::set<int> chainSlots;
  BatchExtent chainRows;
  int chain = kNoChain, chains = 0; ///< number of the current chain, and count of all chains
  int rowsSlot = -1;                ///< slot of the current prologue
  struct Packed {
    OpenPlan plan;
    BatchExtent count, rows;
    int chain; ///< chain in which it is packed now
  };
  static bool isFor(const Packed& packed, const OpenPlan& plan, BatchExtent count,
                    BatchExtent rows);
  std::map<int, Packed> lefts;
  /// Operands packed in the open sequences, each with its previous chain.
  std::vector<std::pair<Packed*, int>> packedNow;
  std::set<int> rights;
  struct Callable {
    const FunctionStep* step;
    int depth; ///< call depth, including callees
  };
  std::vector<Callable> functions;
  std::map<const FunctionStep*, std::int64_t> callable; ///< indices in `functions`
  int depthOfCalls = 0; ///< depth of the deepest callee since the last function
  std::map<int, ScaledShape> scaledValues;
  std::set<int> unscaled; ///< values that are not scaled tensors
  std::vector<std::function<void(Program&)>> gifts;
};

} // namespace octavo::program
