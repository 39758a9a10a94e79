// The fields of a compiled program in the order in which they lie in a file. One function of each
// step is both its writer and its reader: `fields` is given a ProgramFields that writes the fields
// or gives them values, and holds them to what a program must be. What comes from a file is not
// trusted: no number is used before it is in its range, no slot before what is read or written
// there fits it.
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

/// Part of an array: `count` places that lie `stride` apart, in elements.
struct Extent {
  BatchExtent count, stride;
};

/// Bytes of a run: so many, from a number of items on; of fewer none.
struct Bytes {
  BatchExtent count;
  std::int64_t from = 0;

  Bytes() = default;
  Bytes(std::uint64_t fixed) : count(static_cast<std::int64_t>(fixed)) {}
  Bytes(BatchExtent count, std::int64_t from) : count(count), from(from) {}
};

class ProgramFields {
public:
  enum class Access : bool { Read, Write };
  static constexpr std::int64_t kMost = std::int64_t{1} << 48; ///< of what has no other bound

  explicit ProgramFields(Program& program) : of(program) {}
  virtual ~ProgramFields() = default;
  ProgramFields(const ProgramFields&) = delete;
  ProgramFields& operator=(const ProgramFields&) = delete;

  /// Whether the fields are given values.
  virtual bool isReading() const = 0;
  /// What is wrong; the first is kept. All that is read from then on is the least that it can be.
  virtual void fail(std::string why) {
    if (!problem)
      problem = std::move(why);
  }
  const std::optional<std::string>& failed() const { return problem; }

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
  /// Calls `field(item)` for each item, of which there are at most `most`.
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

  /// Of what there is some, or none.
  void number(BatchExtent& value);
  /// A stride or an offset, either way.
  void stride(BatchExtent& value) { itemNumber(value); }
  virtual void batch(MatrixBatch& batch);
  /// A number for those who look into a program, which no run depends on.
  virtual void estimate(double& value) { real(value); }
  /// Whether the program comes from the compiler itself: all of its values may be bound later.
  virtual bool isTrusted() const { return false; }

  void shape(std::vector<std::int64_t>& extents);
  void shape(std::vector<BatchExtent>& extents);
  void scaled(ScaledShape& shape);
  /// A float format of the table; null is no format.
  void format(const format::ElementFormat*& format);
  void elementType(std::optional<numerics::ElementType>& type);
  void scaledType(numerics::ScaledType& type);
  void options(numerics::QuantizeOptions& options);
  /// Of this machine: the formats and the depth decide all else.
  void plan(OpenPlan& plan);

  /// A slot that has memory for so many bytes.
  void slot(Slot& slot, Bytes bytes, Access access) {
    number(slot);
    require(slot, bytes, access);
  }
  /// The two parts of it.
  void number(Slot& slot);
  void require(Slot slot, Bytes bytes, Access access);
  /// Whether the slot has memory for one range of a chain at a time.
  bool isRange(Slot slot) const;
  /// Its bytes for each row of the chain whose links come.
  BatchExtent bytesInEach(Slot slot);
  /// How many of a link's rows each row of the chain is: as many in each.
  std::int64_t rowsInEach(const BatchExtent& rows);
  /// Requires of a range's slot that a link's rows fill it, one after the other.
  void requireInEach(Slot slot, const BatchExtent& rows, BatchExtent bytesOfRow, Access access);
  const BatchExtent& rowsOfChain() const { return chainRows; }
  /// The same, whatever memory it has: that of kernels, whose code knows it.
  void slotOfKernel(Slot& slot, Access access);
  /// What a step reads and writes; `require` and its like say it of their slots (StepAccesses.h).
  virtual void uses(Slot /*slot*/, Access /*access*/) {}
  virtual void usesValue(int /*number*/, Access /*access*/) {}
  /// Between these stand the fields of one step, and of the steps that it runs.
  virtual void beginStep(const Step& /*step*/) {}
  virtual void endStep() {}
  void place(Place& place, Access access);
  /// Two slots whose memory changes places.
  void swapped(Slot a, Slot b);
  /// Of Frame::values, Frame::rights and Worker::packed.
  void value(int& number);
  /// Of one product alone, which finds there what it has made.
  void right(int& number);
  void packed(int& number);
  /// Notes, or requires, what left operands are packed for: so many, of so many rows each. A number
  /// is always packed for the same, and what needs it comes after it in its sequence, or in one
  /// within, and in the same chain.
  void packs(int number, const OpenPlan& plan, BatchExtent count, BatchExtent rows);
  void needsPacked(int number, const OpenPlan& plan, BatchExtent count, BatchExtent rows);
  /// Notes the scaled tensor that a step makes among the values: in one place, always of one type.
  void makes(int value, const ScaledShape& shape);
  /// What is noted of a value that is read: null for others than scaled tensors.
  const ScaledShape* made(int value);
  /// Requires it.
  const ScaledShape* made(int value, const ScaledShape& shape);
  /// What lies at `from` among the values takes the place of another.
  void becomes(int value, int from);
  void kernel(const KernelFunction*& function, std::int64_t* number = nullptr);
  /// Notes a function that the steps after it may call.
  void function(const FunctionStep& step);
  /// One that was noted.
  void callee(const FunctionStep*& step);
  void steps(Sequence& sequence);

  /// The chain whose links come next; then none. Its slots have memory for one range each.
  void beginChain(const BatchExtent& rows);
  virtual void slotsOfChain(std::vector<ChainStep::RangeSlot>& slots, BatchExtent& bytesOfRow);
  void endChain();
  /// The slot that the kernel that comes next makes rows of; then none.
  void beginPrologue(Slot rows) { rowsSlot = rows.number; }
  void endPrologue() { rowsSlot = -1; }

  /// Whether the slot's value is the same in every run, and its products are packed beforehand.
  bool isConstant(Slot slot) const;
  /// Whether a scaled tensor is bound to the place among the values.
  bool isBound(int value) const;
  /// A frame in which what is constant is bound, for those who pack it to be written; null where
  /// fields are read.
  virtual Frame* frame() { return nullptr; }
  /// Calls `give` with the program when all of it has been read, to give packed forms to constants.
  void atEnd(std::function<void(Program&)> give) { gifts.push_back(std::move(give)); }
  /// Lets go of the forms of a constant that stands in a file, if they can be made again.
  virtual void isWritten(Slot /*constant*/) {}
  /// Bytes that lie by themselves, aligned to 64, at least so many: written, or lent by the file.
  virtual void section(kernels::PackedBytes& bytes, std::size_t least) = 0;
  void matrix(std::shared_ptr<const kernels::PackedMatrix>& matrix, kernels::PlainType type,
              std::int64_t depth, std::int64_t columns);
  void operand(std::shared_ptr<const kernels::PackedOperand>& operand,
               const kernels::ProductPlan& plan, std::int64_t rows);
  /// The bytes of a right side that is packed.
  std::uint64_t bytesOfMatrix(kernels::PlainType type, std::int64_t depth, std::int64_t columns);

  /// The product, or nothing beyond kMost: a size that nothing has.
  std::uint64_t bytes(std::initializer_list<std::int64_t> factors);
  /// The same of what depends on items, of which one factor may be.
  Bytes bytes(std::initializer_list<BatchExtent> factors);
  Bytes times(const Bytes& count, std::int64_t width);
  /// Numbers of a run, within kMost.
  BatchExtent plus(const BatchExtent& a, const BatchExtent& b);
  BatchExtent times(const BatchExtent& a, const BatchExtent& b);
  /// Whether one is at most the other for all numbers of items from `from` on.
  bool isAtMost(const BatchExtent& a, const BatchExtent& b, std::int64_t from = 0) const;
  /// Bytes of an array of elements of `width` bytes from the memory's beginning to its last
  /// element; what lies before the beginning is an error.
  Bytes reach(BatchExtent offset, std::span<const Extent> extents, std::int64_t width);
  /// Of one that has elements, to its first.
  BatchExtent beginOf(BatchExtent offset, std::span<const Extent> extents, std::int64_t width);
  /// Notes something that a run has as many of for each item, which its items must not make more
  /// than kMost.
  void ofItem(std::int64_t count) { largestOfItem = std::max(largestOfItem, std::abs(count)); }
  /// The same of each pair of items.
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
  virtual void word(std::uint64_t& bits) = 0;
  virtual void characters(std::string& text, std::size_t count) = 0;
  virtual void itemNumber(BatchExtent& value);
  /// Items that there can still be.
  virtual std::int64_t mostItems() const = 0;
  /// A constant that somebody reads as it is.
  virtual void use(std::size_t constant) = 0;
  /// The same of a value.
  virtual void useValue(int number) = 0;
  /// Of whatever is open, as long as all of it can be counted.
  std::int64_t mostItemsOfRun() const;

private:
  BatchExtent within(const std::optional<BatchExtent>& number);

  /// Holds the formats of a scaled tensor to one another.
  void checkScaled(const format::ElementFormat* element, const format::ElementFormat* scale,
                   bool hasOuterScale);
  static constexpr int kNoChain = -1, kNotPacked = -2;
  /// Null where something is wrong.
  const SlotUse* useOf(Slot slot) const;
  bool isWritable(const SlotUse& use) const;

  Program& of;
  std::optional<std::string> problem;
  int depth = 0; ///< of sequences within sequences
  std::int64_t largestOfItem = 1, largestOfPair = 0;
  std::int64_t ofPlans = kMostItems; ///< of which there are plans of all products
  std::set<int> chainSlots;
  BatchExtent chainRows;
  int chain = kNoChain, chains = 0; ///< the number of the one that is read, and of all
  int rowsSlot = -1;                ///< of the prologue that is read
  struct Packed {
    OpenPlan plan;
    BatchExtent count, rows;
    int chain; ///< in which it is packed now
  };
  static bool isFor(const Packed& packed, const OpenPlan& plan, BatchExtent count,
                    BatchExtent rows);
  std::map<int, Packed> lefts;
  /// What the sequences that are read have packed, and the chain in which it was before.
  std::vector<std::pair<Packed*, int>> packedNow;
  std::set<int> rights;
  struct Callable {
    const FunctionStep* step;
    int depth; ///< of it and of what it calls
  };
  std::vector<Callable> functions;
  std::map<const FunctionStep*, std::int64_t> callable; ///< their numbers
  int depthOfCalls = 0;                                 ///< that were read since the last function
  std::map<int, ScaledShape> scaledValues;
  std::set<int> unscaled; ///< values that are no scaled tensors
  std::vector<std::function<void(Program&)>> gifts;
};

} // namespace octavo::program
