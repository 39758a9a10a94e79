#include "octavo/Session/Trials/FormatTrials.h"

#include "octavo/Base/PrintableText.h"
#include "octavo/Program/Values/Comparison.h"
#include "octavo/Program/Values/QuantizedArgument.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Transforms/Quantize/DotFormatsName.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace octavo::session {

using analysis::Choice;
using program::Value;
using transforms::DotRecord;
using transforms::DotRule;

namespace {

/// The name that traces give to every constant without a name.
constexpr std::string_view kConstant = "constant";

/// The name by which a recipe should select a dot: that of its weight, which survives a new export,
/// or else its own.
const std::string& keyOf(const DotRecord& dot) {
  return dot.weight.empty() || dot.weight == kConstant ? dot.name : dot.weight;
}

/// Groups the dots `among` that must share a format: they multiply one weight, or a recipe name of
/// one also selects the other.
std::vector<std::vector<std::size_t>> together(const std::vector<DotRecord>& dots,
                                               const std::vector<std::size_t>& among) {
  llvm::EquivalenceClasses<std::size_t> classes;
  std::map<std::size_t, std::size_t> ofWeight;
  std::map<std::string, std::size_t> ofKey;
  for (std::size_t i : among) {
    classes.insert(i);
    for (std::size_t weight : dots[i].weightRecords)
      classes.unionSets(i, ofWeight.try_emplace(weight, i).first->second);
    classes.unionSets(i, ofKey.try_emplace(keyOf(dots[i]), i).first->second);
  }
  for (std::size_t i : among)
    for (const std::string& name : {dots[i].name, dots[i].weight})
      if (const auto found = ofKey.find(name); found != ofKey.end())
        classes.unionSets(i, found->second);
  std::vector<std::vector<std::size_t>> groups; // in the order of their first members
  std::map<std::size_t, std::size_t> groupOf;
  for (std::size_t i : among) {
    const auto [at, isNew] = groupOf.try_emplace(classes.getLeaderValue(i), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[at->second].push_back(i);
  }
  return groups;
}

std::uint64_t bytesOf(const Value& value) {
  if (value.isTensor())
    return value.tensor().bytes.size();
  return value.scaled().elements.size() + 4 * value.scaled().scales.size();
}

} // namespace

llvm::Expected<std::unique_ptr<FormatTrials>>
FormatTrials::make(std::shared_ptr<mlir::MLIRContext> context, ProgramFile file,
                   TrialOptions options) {
  assert(options.backend != nullptr && !options.candidates.empty());
  std::unique_ptr<FormatTrials> made(new FormatTrials);
  made->context = std::move(context);
  made->program = std::move(file.program);
  made->options = std::move(options);
  auto function = session::findFunction(*made->program, made->options.function);
  if (!function)
    return function.takeError();
  if (llvm::Error error = session::markParameters(*function, made->options.weights))
    return std::move(error);
  made->functionName = function->getName().str();
  made->names = session::resultNames(*function);
  auto taken = session::argumentsOf(*function);
  if (!taken)
    return taken.takeError();
  made->taken = std::move(*taken);
  session::choosePlatform(made->taken, file.container);
  made->weights.resize(made->taken.size());
  if (llvm::Error error = made->findDots())
    return std::move(error);
  return made;
}

llvm::Error FormatTrials::findDots() {
  std::vector<transforms::DotReport> reports;
  for (const transforms::DotFormats& formats : options.candidates) {
    transforms::DotOptions dots = options.dots;
    dots.rules.clear();
    static_cast<transforms::DotFormats&>(dots) = formats;
    const mlir::OwningOpRef<mlir::ModuleOp> copy = program->clone();
    auto report = transforms::quantizeDots(*copy, dots);
    if (!report)
      return report.takeError();
    reports.push_back(std::move(*report));
  }
  const transforms::DotReport& first = reports.front();
  records = first.dots;
  std::vector<std::size_t> among; // dots that all candidates can quantize
  for (std::size_t i = 0; i < records.size(); ++i)
    if (llvm::all_of(reports, [&](const auto& each) { return each.dots[i].isQuantized; }))
      among.push_back(i);
  for (const std::vector<std::size_t>& group : together(records, among)) {
    TrialDot dot;
    std::set<std::string> known;
    std::set<std::size_t> ofDot;
    for (std::size_t i : group) {
      const DotRecord& record = first.dots[i];
      dot.dots.push_back(record);
      ofDot.insert(record.weightRecords.begin(), record.weightRecords.end());
      if (!llvm::json::isUTF8(keyOf(record)))
        return session::failure("the name of a dot is not UTF-8, in which recipes are written: " +
                                base::inQuotes(keyOf(record)));
      if (known.insert(keyOf(record)).second)
        dot.names.push_back(transforms::exactName(keyOf(record)));
    }
    std::int64_t before = 0;
    for (std::size_t weight : ofDot) {
      before += first.weights[weight].bitsBefore;
      dot.weightElements += first.weights[weight].elements;
    }
    dot.weightBits.push_back(before);
    for (const transforms::DotReport& report : reports) {
      std::int64_t after = 0;
      for (std::size_t weight : ofDot)
        after += report.weights[weight].bitsAfter;
      dot.weightBits.push_back(after);
    }
    tunable.push_back(std::move(dot));
  }
  if (!tunable.empty())
    return llvm::Error::success();
  if (records.empty())
    return session::failure("there is nothing to tune; " + reports.front().whyLeft());
  for (const auto& [i, dot] : llvm::enumerate(records))
    for (const transforms::DotReport& report : reports)
      if (!report.dots[i].isQuantized)
        return session::failure(fmt::format(
            "none of the program's {} dots can become narrow; of \"{}\": {}; `octavo quantize "
            "--explain` tells it of each",
            records.size(), dot.name, report.dots[i].reason));
  llvm_unreachable("a dot that all formats suit is in a group");
}

std::string FormatTrials::candidateName(std::size_t candidate) const {
  return candidate == 0 ? "f32" : transforms::nameOf(options.candidates[candidate - 1]);
}

std::int64_t FormatTrials::weightBytes(const Choice& choice) const {
  std::int64_t bits = 0;
  for (const auto& [dot, candidate] : llvm::zip_equal(tunable, choice))
    bits += dot.weightBits[candidate];
  return (bits + 7) / 8;
}

double FormatTrials::bitsPerWeight(const Choice& choice) const {
  double bits = 0, elements = 0;
  for (const auto& [dot, candidate] : llvm::zip_equal(tunable, choice)) {
    bits += static_cast<double>(dot.weightBits[candidate]);
    elements += static_cast<double>(dot.weightElements);
  }
  return elements == 0 ? 0 : bits / elements;
}

std::string FormatTrials::digest(const std::string& more) const {
  llvm::BLAKE3 hash;
  const auto add = [&](const void* bytes, std::size_t size) {
    hash.update(llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(&size), sizeof size));
    hash.update(llvm::ArrayRef(static_cast<const std::uint8_t*>(bytes), size));
  };
  const auto addText = [&](const std::string& text) { add(text.data(), text.size()); };
  addText(session::programText(*program));
  addText(functionName);
  addText(std::string(options.backend->name));
  addText(transforms::recipeText(rules(Choice(tunable.size(), 0), "dots"), {}));
  const transforms::StaticScales* last = nullptr; // candidates share the scales of one calibration
  for (const auto& [i, formats] : llvm::enumerate(options.candidates)) {
    addText(candidateName(i + 1));
    for (const auto* scales : {formats.scales.get(), formats.moved.get()})
      if (scales != nullptr && scales != std::exchange(last, scales))
        addText(analysis::calibrationText(scales->calibration));
  }
  addText(more);
  std::vector<Value> known; // values that several sets share are hashed once
  for (const std::vector<Value>& set : inputs)
    for (std::size_t i = 0; i < set.size(); ++i) {
      const Value& value = set[i];
      if (known.size() > i && known[i].isSameAs(value))
        continue;
      if (value.isTensor()) {
        addText(program::describe(value.tensor().type, value.tensor().shape));
        add(value.tensor().bytes.data(), value.tensor().bytes.size());
      } else {
        const numerics::ScaledTensor& scaled = value.scaled();
        add(scaled.elements.data(), scaled.elements.size());
        add(scaled.scales.data(), scaled.scales.size() * sizeof(std::uint32_t));
        add(&scaled.outer, sizeof scaled.outer);
      }
      if (known.size() < set.size())
        known.push_back(value);
    }
  std::array<std::uint8_t, 16> digest = hash.final<16>();
  return llvm::toHex(digest, true);
}

std::vector<DotRule> FormatTrials::rules(const Choice& choice, const std::string& reason) const {
  std::vector<DotRule> rules;
  for (std::size_t candidate = 0; candidate <= options.candidates.size(); ++candidate) {
    DotRule rule;
    for (const auto& [dot, chosen] : llvm::zip_equal(tunable, choice))
      if (chosen == candidate)
        llvm::append_range(rule.names, dot.names);
    if (rule.names.empty())
      continue;
    rule.where = fmt::format("rules[{}]", rules.size());
    if (candidate == 0)
      rule.keep = reason;
    else
      rule.formats = options.candidates[candidate - 1];
    rules.push_back(std::move(rule));
  }
  return rules;
}

llvm::Expected<std::unique_ptr<CallableProgram>>
FormatTrials::compiled(const Choice& choice) const {
  ProgramFile file;
  file.program = program.get().clone();
  PreparationOptions preparation{.function = functionName, .dots = options.dots};
  preparation.dots->rules = rules(choice, "the choice that is tried");
  return CallableProgram::make(context, std::move(file), *options.backend, preparation);
}

llvm::Expected<Value> FormatTrials::quantized(const program::Argument& argument, std::size_t at,
                                              const Value& value) {
  const auto& type = std::get<program::ScaledArgument>(argument.type);
  for (QuantizedWeight& each : weights[at])
    if (each.type == type && each.from.isSameAs(value)) {
      each.lastUse = ++uses;
      return each.value;
    }
  auto made = program::quantizedFor(argument, value.tensor());
  if (!made)
    return session::failure(
        fmt::format("weight \"{}\" has {} at [{}], which cannot be quantized; leave its dot out: "
                    "--exclude, in Python exclude=",
                    argument.name,
                    std::isnan(made.error().value) ? "NaN" : fmt::format("{}", made.error().value),
                    fmt::join(program::indexOf(argument.shape, made.error().index), ", ")));
  weights[at].push_back({type, value, *made, ++uses});
  forgetOld();
  return std::move(*made);
}

/// Drops quantized weights, oldest first, if they exceed twice the size of the originals. One of
/// each weight is always kept.
void FormatTrials::forgetOld() {
  std::uint64_t wide = 0, narrow = 0;
  for (const auto& ofArgument : weights) {
    if (!ofArgument.empty())
      wide += bytesOf(ofArgument.front().from);
    for (const QuantizedWeight& each : ofArgument)
      narrow += bytesOf(each.value);
  }
  while (narrow > 2 * wide) {
    std::vector<QuantizedWeight>* oldest = nullptr;
    for (auto& ofArgument : weights)
      if (ofArgument.size() > 1 &&
          (oldest == nullptr || ofArgument.front().lastUse < oldest->front().lastUse))
        oldest = &ofArgument;
    if (oldest == nullptr)
      return;
    narrow -= bytesOf(oldest->front().value);
    oldest->erase(oldest->begin());
  }
}

llvm::Expected<FormatTrials::Ready> FormatTrials::readyFor(CallableProgram& program,
                                                           std::size_t set) {
  std::vector<Value> values = inputs[set];
  for (const auto& [i, argument] : llvm::enumerate(program.arguments()))
    if (argument.isScaled() && values[i].isTensor()) {
      auto made = quantized(argument, i, values[i]);
      if (!made)
        return made.takeError();
      values[i] = std::move(*made);
    }
  auto prepared = program.prepare(values);
  if (!prepared)
    return prepared.takeError();
  return Ready{std::move(*prepared), std::move(values)};
}

llvm::Expected<FormatTrials::Outputs> FormatTrials::run(const Choice& choice,
                                                        const program::RunContext& host) {
  auto callable = compiled(choice);
  if (!callable)
    return callable.takeError();
  Outputs outputs;
  for (std::size_t set = 0; set < inputs.size(); ++set) {
    auto ready = readyFor(**callable, set);
    if (!ready)
      return ready.takeError();
    auto results = (*callable)->call(ready->prepared, std::move(ready->values), host, {});
    if (!results)
      return results.takeError();
    outputs.push_back(std::move(*results));
  }
  return outputs;
}

llvm::Expected<std::vector<double>> FormatTrials::seconds(llvm::ArrayRef<Choice> choices,
                                                          std::size_t repeat,
                                                          const program::RunContext& host) {
  std::vector<std::unique_ptr<CallableProgram>> programs;
  for (const Choice& choice : choices) {
    auto callable = compiled(choice);
    if (!callable)
      return callable.takeError();
    programs.push_back(std::move(*callable));
  }
  std::vector<double> total(choices.size());
  for (std::size_t set = 0; set < inputs.size(); ++set) {
    std::vector<Ready> ready;
    for (const auto& program : programs) {
      auto made = readyFor(*program, set);
      if (!made)
        return made.takeError();
      ready.push_back(std::move(*made));
    }
    std::vector<double> least(choices.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i <= repeat; ++i)
      for (std::size_t each = 0; each < programs.size(); ++each) {
        const auto begin = std::chrono::steady_clock::now();
        if (auto results = programs[each]->call(ready[each].prepared, ready[each].values, host, {});
            !results)
          return results.takeError();
        const double took =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (i > 0) // the first run packs the weights
          least[each] = std::min(least[each], took);
      }
    for (std::size_t each = 0; each < total.size(); ++each)
      total[each] += least[each];
  }
  return total;
}

} // namespace octavo::session
