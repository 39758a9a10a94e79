#include "octavo/Program/Steps/File/ProgramFile.h"

#include "octavo/Program/Steps/File/ProgramFields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

namespace octavo::program {

namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 24;

/// The fields of a whole program, for the writer and the reader.
class WholeProgram : public ProgramFields {
public:
  using ProgramFields::ProgramFields;

  void whole() {
    Program& all = program();
    number(all.operations);
    number(all.items.least, 0, kMostItems);
    number(all.items.most, all.items.least, kMostItems);
    number(all.arenaBytes);
    if (!isAligned(all.arenaBytes))
      fail("memory that does not end where slots may begin");
    // Each of these occurs at least once in the rest of the file, which bounds their counts.
    const auto most = static_cast<int>(std::min(kMostValues, mostItems()));
    for (int* count : {&all.valueCount, &all.packedCount, &all.rightCount})
      number(*count, 0, most);
    auto kernels = static_cast<std::int64_t>(all.functions.size());
    number(kernels, 0, mostItems());
    if (isReading())
      all.functions.resize(static_cast<std::size_t>(kernels), nullptr);
    list(all.slots, kMostValues, [&](SlotUse& slot) { slotUse(slot); });
    if (failed())
      return;
    constants();
    values();
    list(all.arguments, kMostValues, [&](Place& argument) {
      place(argument, Access::Read);
      if (!argument.memory)
        scaledArgument(argument.number);
    });
    list(all.results, kMostValues, [&](Place& result) {
      place(result, Access::Read);
      if (!result.memory)
        fail("a result is no tensor");
    });
    if (failed())
      return;
    const auto isOpen = [](const Place& place) {
      return place.memory && place.memory->openAxis() >= 0;
    };
    if ((all.items.least != 1 || all.items.most != 1) &&
        std::ranges::none_of(all.arguments, isOpen))
      fail("a program of any number of items, none of which are given to it");
    for (std::size_t i = 0; i < all.slots.size(); ++i)
      checkSlot(static_cast<int>(i));
    for (std::size_t i = 0; i < all.results.size() && !failed(); ++i)
      checkResult(static_cast<int>(i));
    list(all.donations, kMostValues,
         [&](Program::Donation& donation) { this->donation(donation); });
    steps(all.steps);
    if (failed())
      return;
    for (std::size_t i = 0; i < used.size() && !failed(); ++i)
      if (used[i])
        constant(i);
    for (BoundValue& value : all.values)
      if (usedValues.contains(value.number) && !failed())
        boundValue(value);
    all.items.most = std::min(all.items.most, mostItemsOfRun());
    if (isReading() && !failed()) {
      for (std::size_t i = 0; i < used.size(); ++i)
        if (!used[i])
          all.constants[i] = packedAlone(types[i]);
      giveForms();
    }
  }

protected:
  /// The section of a constant.
  virtual void constant(std::size_t number) = 0;
  /// The sections of a bound value.
  virtual void boundValue(BoundValue& value) = 0;
  void use(std::size_t constant) override { used[constant] = true; }
  void useValue(int number) override { usedValues.insert(number); }

  struct ConstantType {
    std::optional<numerics::ElementType> type;
    std::vector<std::int64_t> shape;
  };
  std::vector<ConstantType> types;

private:
  /// A constant that only products read. Only its packed forms exist.
  static Value packedAlone(const ConstantType& constant) {
    return Value(UnreadTensor{
        *constant.type, constant.shape,
        [](std::uint64_t, std::span<std::byte>) -> tl::expected<void, std::string> {
          return tl::make_unexpected("a constant of a loaded program is not as products read it");
        }});
  }

  std::vector<bool> used; ///< per constant: whether a step reads its own bytes
  std::set<int> usedValues;

  void values() {
    list(program().values, kMostValues, [&](BoundValue& bound) {
      numerics::ScaledTensor tensor{};
      if (!isReading()) {
        tensor.shape = bound.value.scaled().shape;
        tensor.type = bound.value.scaled().type;
      }
      value(bound.number);
      scaledTensor(bound.number, tensor.type, tensor.shape);
      if (isReading() && !failed())
        bound.value = Value(std::move(tensor));
    });
  }

  void scaledArgument(int number) {
    std::vector<ScaledInput>& all = program().scaledArguments;
    if (isReading())
      all.push_back({.number = number, .type = {}, .shape = {}});
    const auto found = std::ranges::find(all, number, &ScaledInput::number);
    if (found == all.end())
      return fail("an argument that is not bound is neither a tensor nor a scaled one");
    scaledTensor(number, found->type, found->shape);
  }

  /// The type of a scaled tensor among the values.
  void scaledTensor(int number, numerics::ScaledType& type, std::vector<std::int64_t>& extents) {
    shape(extents);
    scaledType(type);
    if (type.block.size() != extents.size())
      fail("a scaled type of other axes than its tensor's");
    if (!failed())
      makes(number, {extents, type});
  }

  void constants() {
    Program& all = program();
    if (!isReading())
      for (const Value& value : all.constants)
        types.push_back(value.isUnread() ? ConstantType{value.unread().type, value.unread().shape}
                                         : ConstantType{value.tensor().type, value.tensor().shape});
    list(types, kMostValues, [&](ConstantType& constant) {
      elementType(constant.type);
      shape(constant.shape);
      if (constant.type)
        bytes({constant.type->bytes(), numerics::elementCount(constant.shape)});
    });
    used.resize(types.size());
    if (isReading())
      all.constants.resize(types.size());
    for (const SlotUse& slot : all.slots)
      if (slot.kind == SlotUse::Kind::Constant &&
          static_cast<std::size_t>(slot.index) >= types.size())
        fail("a slot of a constant that does not exist");
  }

  void slotUse(SlotUse& slot) {
    choice(slot.kind, SlotUse::Kind::Rows);
    itemNumber(slot.bytes);
    number(slot.index, 0, kMostValues);
    number(slot.result, 0, kMostValues);
    number(slot.offset);
    for (int* each : {&slot.first, &slot.last, &slot.uses})
      number(*each, 0, std::numeric_limits<int>::max());
    number(slot.packs, 0, slot.uses);
    if (slot.bytes.isOpen() && slot.kind == SlotUse::Kind::Constant)
      fail("a slot of items where there are none");
    if (slot.kind == SlotUse::Kind::Arena &&
        (!isAtMost(plus(slot.offset, slot.bytes), program().arenaBytes) || !isAligned(slot.offset)))
      fail("a slot beyond the memory of its program");
  }

  void donation(Program::Donation& donation) {
    const Program& all = program();
    number(donation.argument);
    number(donation.result);
    truth(donation.isByKernel);
    if (failed())
      return;
    const bool isThere = donation.argument < all.arguments.size() &&
                         all.arguments[donation.argument].memory &&
                         donation.result < all.results.size();
    if (!isThere ||
        bytesOf(all.arguments[donation.argument]) != bytesOf(all.results[donation.result]))
      fail("an argument that is donated to another result than it fits");
  }

  /// Checks that the memory of a slot is as large as the slot in every run.
  void checkSlot(int number) {
    const Program& all = program();
    const SlotUse& slot = all.slots[static_cast<std::size_t>(number)];
    const auto has = [&](const std::vector<Place>& places, int index) {
      return static_cast<std::size_t>(index) < places.size() &&
             places[static_cast<std::size_t>(index)].memory &&
             isAtMost(slot.bytes, bytesOf(places[static_cast<std::size_t>(index)]));
    };
    bool fits = true;
    switch (slot.kind) {
    case SlotUse::Kind::Argument:
      fits = has(all.arguments, slot.index);
      break;
    case SlotUse::Kind::Donated:
      fits = has(all.arguments, slot.index) && has(all.results, slot.result) &&
             all.results[static_cast<std::size_t>(slot.result)].number == number;
      break;
    case SlotUse::Kind::Result:
      fits = has(all.results, slot.index);
      break;
    case SlotUse::Kind::Constant: {
      const ConstantType& constant = types[static_cast<std::size_t>(slot.index)];
      const std::uint64_t size =
          bytes({constant.type->bytes(), numerics::elementCount(constant.shape)});
      fits = slot.bytes.fixed <= static_cast<std::int64_t>(size);
      break;
    }
    case SlotUse::Kind::Arena:
    case SlotUse::Kind::Range:
    case SlotUse::Kind::Rows:
      break;
    }
    if (!fits)
      return fail(fmt::format("slot {} is larger than what lies there", number));
    // An argument has one slot. A donated argument shares that of its result.
    if ((slot.kind == SlotUse::Kind::Argument || slot.kind == SlotUse::Kind::Donated) &&
        all.arguments[static_cast<std::size_t>(slot.index)].number != number)
      fail(fmt::format("slot {} is of an argument that lies in another", number));
  }

  void checkResult(int number) {
    const Program& all = program();
    const Place& result = all.results[static_cast<std::size_t>(number)];
    const SlotUse& slot = all.slots[static_cast<std::size_t>(result.number)];
    const bool isOwn = slot.kind == SlotUse::Kind::Result && slot.index == number;
    bool isDonated = slot.kind == SlotUse::Kind::Donated && slot.result == number;
    if (isDonated) {
      const Place& argument = all.arguments[static_cast<std::size_t>(slot.index)];
      isDonated = bytesOf(argument) == bytesOf(result);
    }
    if (!isOwn && !isDonated)
      fail(fmt::format("result {} is written by nothing", number));
  }
};

class Writer final : public WholeProgram {
public:
  Writer(Program& program, const SectionSink& sink)
      : WholeProgram(program), sink(sink),
        bound(program.slots.size(), static_cast<std::size_t>(program.valueCount),
              static_cast<std::size_t>(program.rightCount),
              static_cast<std::size_t>(program.packedCount)) {
    for (std::size_t i = 0; i < program.slots.size(); ++i) {
      const SlotUse& slot = program.slots[i];
      if (slot.kind != SlotUse::Kind::Constant)
        continue;
      const Value& value = program.constants[static_cast<std::size_t>(slot.index)];
      if (value.isTensor()) // else the packing reads it
        bound.whole.memory[i] = const_cast<std::byte*>(value.tensor().bytes.data());
      bound.owners[i] = &value;
    }
    for (const BoundValue& each : program.values)
      bound.values[static_cast<std::size_t>(each.number)] = each.value;
    bound.host = &host;
  }

  bool isReading() const override { return false; }
  Frame* frame() override { return &bound; }
  void isWritten(Slot slot) override {
    const SlotUse& use = program().slots[static_cast<std::size_t>(slot.number)];
    Value& constant = program().constants[static_cast<std::size_t>(use.index)];
    if (constant.isUnread())
      constant = Value(UnreadTensor(constant.unread()));
  }
  void section(kernels::PackedBytes& bytes, std::size_t least) override {
    if (bytes.size() != least)
      return fail(
          fmt::format("a packed weight of {} bytes where {} were expected", bytes.size(), least));
    put({bytes.data(), bytes.size()});
  }

  std::vector<std::byte> written;

private:
  void put(std::span<const std::byte> bytes) {
    auto offset = static_cast<std::int64_t>(end);
    auto size = static_cast<std::int64_t>(bytes.size());
    number(offset);
    number(size);
    // Kernels may read ahead beyond the end of a section.
    const std::size_t whole = bytes.size() / kSectionAlignment * kSectionAlignment;
    std::vector<std::byte> rest(2 * kSectionAlignment);
    std::ranges::copy(bytes.subspan(whole), rest.begin());
    for (const std::span<const std::byte> part :
         {bytes.first(whole), std::span<const std::byte>(rest)}) {
      if (failed())
        return;
      if (auto taken = sink(part); !taken)
        fail(taken.error());
      end += part.size();
    }
  }
  void constant(std::size_t number) override {
    const Value& value = program().constants[number];
    if (!value.isUnread())
      return put(std::span<const std::byte>(value.tensor().bytes));
    std::vector<std::byte> bytes(value.unread().bytes());
    if (auto done = value.unread().read(0, bytes); !done)
      return fail(done.error());
    put(bytes);
  }
  void boundValue(BoundValue& bound) override {
    const numerics::ScaledTensor& tensor = bound.value.scaled();
    put(std::as_bytes(std::span(tensor.elements)));
    put(std::as_bytes(std::span(tensor.scales)));
    float outer = tensor.outer;
    real(outer);
  }
  void word(std::uint64_t& bits) override {
    const auto* from = reinterpret_cast<const std::byte*>(&bits);
    written.insert(written.end(), from, from + sizeof bits);
  }
  void characters(std::string& text, std::size_t count) override {
    const auto* from = reinterpret_cast<const std::byte*>(text.data());
    written.insert(written.end(), from, from + count);
  }
  std::int64_t mostItems() const override { return kMost; }

  const SectionSink& sink;
  std::size_t end = 0;
  RunContext host;
  Frame bound;
};

class Reader final : public WholeProgram {
public:
  Reader(Program& program, std::span<const std::byte> bytes, std::span<const std::byte> sections,
         const std::shared_ptr<const void>& lender)
      : WholeProgram(program), rest(bytes), sections(sections), lender(lender) {}

  bool isReading() const override { return true; }
  bool isAtEnd() const { return rest.empty(); }
  void section(kernels::PackedBytes& bytes, std::size_t least) override {
    bytes = kernels::PackedBytes::lent(lent(least), lender);
  }

private:
  std::span<const std::byte> lent(std::size_t size) {
    std::int64_t offset = 0;
    auto given = static_cast<std::int64_t>(size);
    number(offset);
    number(given, given, given);
    if (!failed() &&
        (offset % kSectionAlignment != 0 ||
         static_cast<std::size_t>(offset) + size + kSectionAlignment > sections.size()))
      fail(fmt::format("{} bytes at {} of weights that have {}", size, offset, sections.size()));
    return failed() ? std::span<const std::byte>()
                    : sections.subspan(static_cast<std::size_t>(offset), size);
  }
  void constant(std::size_t number) override {
    const ConstantType& type = types[number];
    const std::span<const std::byte> bytes =
        lent(this->bytes({type.type->bytes(), numerics::elementCount(type.shape)}));
    program().constants[number] = Value(Tensor{
        *type.type, type.shape,
        numerics::Bytes::lent({const_cast<std::byte*>(bytes.data()), bytes.size()}, lender)});
  }
  void boundValue(BoundValue& bound) override {
    numerics::ScaledTensor tensor = bound.value.scaled();
    const auto fill = [&](auto& codes, const std::vector<std::int64_t>& extents) {
      const auto given = lent(bytes({numerics::elementCount(extents), sizeof(codes[0])}));
      codes.resize(given.size() / sizeof(codes[0]));
      std::ranges::copy(given, reinterpret_cast<std::byte*>(codes.data()));
    };
    fill(tensor.elements, tensor.shape);
    fill(tensor.scales, format::scaleShape(tensor.shape, tensor.type.block));
    real(tensor.outer);
    bound.value = Value(std::move(tensor));
  }
  void word(std::uint64_t& bits) override {
    bits = 0;
    if (failed())
      return;
    if (rest.size() < sizeof bits)
      return fail("the end of the file");
    std::memcpy(&bits, rest.data(), sizeof bits);
    rest = rest.subspan(sizeof bits);
  }
  void characters(std::string& text, std::size_t count) override {
    text.clear();
    if (failed())
      return;
    if (rest.size() < count)
      return fail("the end of the file");
    text.assign(reinterpret_cast<const char*>(rest.data()), count);
    rest = rest.subspan(count);
  }
  std::int64_t mostItems() const override { return static_cast<std::int64_t>(rest.size()); }

  std::span<const std::byte> rest, sections;
  const std::shared_ptr<const void>& lender;
};

} // namespace

tl::expected<std::vector<std::byte>, std::string> writeProgram(Program& program,
                                                               const SectionSink& sink) {
  Writer writer(program, sink);
  writer.whole();
  if (writer.failed())
    return tl::make_unexpected(*writer.failed());
  return std::move(writer.written);
}

tl::expected<Program, std::string> readProgram(std::span<const std::byte> bytes,
                                               std::span<const std::byte> sections,
                                               const std::shared_ptr<const void>& lender) {
  Program program;
  Reader reader(program, bytes, sections, lender);
  reader.whole();
  if (!reader.failed() && !reader.isAtEnd())
    reader.fail("more than a program");
  if (reader.failed())
    return tl::make_unexpected(*reader.failed());
  return program;
}

} // namespace octavo::program
