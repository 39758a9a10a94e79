#include "octavo/Program/Steps/Explain.h"

#include "octavo/Program/Steps/StepAccesses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo::program {

namespace {

class Count {
public:
  explicit Count(const Program& program) : program(program) {}

  Explanation of();

private:
  const Program& program;
  Explanation found;
  std::set<std::pair<int, int>> weights; ///< slot and index among the values
  std::set<const OperationText*> packed;

  void add(const Sequence& sequence, int depth);
  bool comesAgain(const StepFacts::Weight& weight) const;
  void addWeight(const StepFacts::Weight& weight);
  static void addTo(std::vector<Explanation::Counted>& list, std::string what);
};

void Count::addTo(std::vector<Explanation::Counted>& list, std::string what) {
  const auto same = std::ranges::find_if(list, [&](const auto& each) { return each.what == what; });
  if (same == list.end())
    list.push_back({std::move(what), 1});
  else
    ++same->count;
}

/// Whether the weight's packed form is kept over runs: an argument, a constant or a bound value.
/// Anything else is packed in each run.
bool Count::comesAgain(const StepFacts::Weight& weight) const {
  if (weight.slot >= 0) {
    const SlotUse::Kind kind = program.slots[static_cast<std::size_t>(weight.slot)].kind;
    return kind == SlotUse::Kind::Argument || kind == SlotUse::Kind::Constant;
  }
  return std::ranges::any_of(program.arguments,
                             [&](const Place& argument) {
                               return !argument.memory && argument.number == weight.value;
                             }) ||
         std::ranges::any_of(program.values,
                             [&](const BoundValue& bound) { return bound.number == weight.value; });
}

void Count::addWeight(const StepFacts::Weight& weight) {
  if (!comesAgain(weight) || !weights.insert({weight.slot, weight.value}).second)
    return;
  ++found.packedWeights;
  found.packedBytes += static_cast<std::int64_t>(weight.bytes);
}

void Count::add(const Sequence& sequence, int depth) {
  for (const std::unique_ptr<Step>& step : sequence.all()) {
    StepFacts facts = step->facts();
    // Several chains may pack the same operand; its operation counts once.
    if (facts.kind == StepFacts::Kind::Pack && !packed.insert(step->operation().get()).second)
      facts.operations = 0;
    const OperationText& op = *step->operation();
    found.steps.push_back({.id = step.get(),
                           .kind = std::string(name(facts.kind)),
                           .detail = facts.detail,
                           .operation = op.name,
                           .source = op.source,
                           .location = op.location,
                           .depth = depth,
                           .kernel = facts.kernel,
                           .bytes = facts.bytes,
                           .arithmetic = facts.arithmetic,
                           .multiplied = facts.multiplied});
    found.inlined -= facts.operations;
    switch (facts.kind) {
    case StepFacts::Kind::Kernel:
      found.kernels.operations += facts.operations;
      ++found.kernels.steps;
      break;
    case StepFacts::Kind::Product:
      addTo(found.products, std::move(facts.detail));
      break;
    case StepFacts::Kind::Interpreted:
      found.interpreted.push_back({op.name, op.location, std::move(facts.detail)});
      break;
    case StepFacts::Kind::Quantize:
      addTo(found.others, facts.weight && comesAgain(*facts.weight) ? "quantize once" : "quantize");
      break;
    case StepFacts::Kind::Pack:
    case StepFacts::Kind::Dequantize:
    case StepFacts::Kind::Chain:
    case StepFacts::Kind::Update:
    case StepFacts::Kind::Sort:
    case StepFacts::Kind::RandomBits:
    case StepFacts::Kind::Cholesky:
    case StepFacts::Kind::TriangularSolve:
    case StepFacts::Kind::Fourier:
    case StepFacts::Kind::Running:
    case StepFacts::Kind::Copy:
    case StepFacts::Kind::Loop:
    case StepFacts::Kind::Branch:
    case StepFacts::Kind::Function:
    case StepFacts::Kind::Call:
      addTo(found.others, std::string(name(facts.kind)));
      break;
    }
    if (facts.weight)
      addWeight(*facts.weight);
    for (const Sequence* inner : step->nested())
      add(*inner, depth + 1);
  }
}

Explanation Count::of() {
  found.operations = found.inlined = program.operations;
  found.kernels.distinct = static_cast<std::int64_t>(program.functions.size());
  found.arenaBytes = program.arenaBytes.of(1);
  for (const SlotUse& slot : program.slots)
    if (slot.kind == SlotUse::Kind::Constant)
      found.constantBytes += slot.bytes.fixed;
  add(program.steps, 0);
  return std::move(found);
}

} // namespace

Explanation explain(const Program& program) { return Count(program).of(); }

/// `arena at 64, 128 bytes`
static std::string describe(const SlotUse& slot) {
  switch (slot.kind) {
  case SlotUse::Kind::Arena:
    return fmt::format("arena at {}, {} bytes", slot.offset.of(1), slot.bytes.of(1));
  case SlotUse::Kind::Argument:
    return fmt::format("argument {}, {} bytes", slot.index, slot.bytes.of(1));
  case SlotUse::Kind::Donated:
    return fmt::format("argument {} that becomes result {}, {} bytes", slot.index, slot.result,
                       slot.bytes.of(1));
  case SlotUse::Kind::Constant:
    return fmt::format("constant {}, {} bytes", slot.index, slot.bytes.of(1));
  case SlotUse::Kind::Result:
    return fmt::format("result {}, {} bytes", slot.index, slot.bytes.of(1));
  case SlotUse::Kind::Range:
    return fmt::format("in a chain at {}, {} bytes a row", slot.offset.of(1), slot.bytes.of(1));
  case SlotUse::Kind::Rows:
    return fmt::format("made for a product, {} bytes a row", slot.bytes.of(1));
  }
  std::abort();
}

/// `reads slots 0, 2 and value 1`; empty if there are none.
static std::string listed(std::string_view verb, const std::vector<int>& slots,
                          const std::vector<int>& values) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view noun, const std::vector<int>& numbers) {
    if (!numbers.empty())
      parts.push_back(
          fmt::format("{}{} {}", noun, numbers.size() == 1 ? "" : "s", fmt::join(numbers, ", ")));
  };
  add("slot", slots);
  add("value", values);
  return parts.empty() ? "" : fmt::format("{} {}", verb, fmt::join(parts, " and "));
}

/// `reads slot 0; writes slot 1`
static std::string describe(const StepAccesses& accesses) {
  std::vector<std::string> parts;
  for (std::string part : {listed("reads", accesses.reads, accesses.readValues),
                           listed("writes", accesses.writes, accesses.writtenValues)})
    if (!part.empty())
      parts.push_back(std::move(part));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string stepsText(const Program& program) {
  const Explanation explanation = explain(program);
  const auto accesses = program::accessesOf(program);
  std::string text;
  for (const Explanation::Step& step : explanation.steps) {
    const std::string kernel = step.kernel < 0 ? "" : fmt::format(" {:03}", step.kernel);
    text +=
        fmt::format("{:{}}{}{}: {}\n{:{}}  up to {} {}{}{}\n", "", 4 * step.depth, step.kind,
                    kernel, step.detail.empty() ? step.operation : step.detail, "", 4 * step.depth,
                    step.operation, step.location, step.source.empty() ? "" : " ", step.source);
    if (const auto found = accesses.find(static_cast<const Step*>(step.id));
        found != accesses.end())
      if (const std::string uses = describe(found->second); !uses.empty())
        text += fmt::format("{:{}}  {}\n", "", 4 * step.depth, uses);
  }
  text += "\n";
  for (std::size_t i = 0; i < program.slots.size(); ++i)
    text += fmt::format("slot {}: {}\n", i, describe(program.slots[i]));
  return text;
}

} // namespace octavo::program
