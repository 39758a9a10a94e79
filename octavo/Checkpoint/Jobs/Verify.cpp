#include "octavo/Checkpoint/Jobs/Verify.h"

#include "octavo/Checkpoint/Jobs/ActivationsPromise.h"
#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/Jobs/QuantizationPromise.h"
#include "octavo/Checkpoint/WeightList.h"

#include "octavo/Kernels/Widen.h"
#include "octavo/Numerics/Fnuz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace octavo::checkpoint {

namespace {

namespace fs = std::filesystem;

/// In the order of the report.
enum Kind : std::size_t {
  Complete,
  Nothing,
  Shapes,
  Bytes,
  Rounded,
  Equal,
  Quantized,
  Scales,
  Inputs,
  Index,
  Configuration,
  Files,
  Finished,
  Kinds
};

std::vector<Promise> emptyPromises(ExpectedRounding rounding) {
  std::vector<Promise> promises(Kinds);
  const auto set = [&](Kind kind, const char* name, const char* statement) {
    promises[kind].name = name;
    promises[kind].statement = statement;
  };
  set(Complete, "weights-complete",
      "every weight of the source is in the output, and every scale of caches, unless that is "
      "plain, and of activations that it says are static");
  set(Nothing, "nothing-extra",
      "the output has no weight that the source does not have, and, unless that is plain, no "
      "scale of activations and caches");
  set(Shapes, "shapes", "every weight has the source's logical shape");
  set(Bytes, "plain-identical",
      "tensors that are plain in both, of one dtype, are equal byte for byte");
  set(Rounded, "dequantized-exactly",
      "plain values are the source's values, rounded once, to nearest, to their dtype");
  set(Equal, "values-equal",
      "weights that are quantized in both have equal values, or keep the next promise");
  set(Quantized, "quantized-within-format",
      rounding == ExpectedRounding::Nearest
          ? "each quantized value lies within half a step of its element format under its scale, "
            "or at its end, and no block's scale is larger than a rule gives"
          : "each quantized value lies within a step of its element format under its scale, or at "
            "its end, and no block's scale is larger than a rule gives");
  set(Scales, "scales-kept", "scales of caches and activations have the source's values");
  set(Inputs, "activations-kept",
      "layers that are quantized in both have their inputs quantized as in the source, or as near "
      "to it as the output's layout can say");
  set(Index, "index-consistent", "the index lists every tensor in its shard, and their total size");
  set(Configuration, "configuration-consistent",
      "the configuration names the layout that the tensors have, and reading it finds no error");
  set(Files, "other-files-identical", "the other files of the source are there, byte for byte");
  set(Finished, "job-finished", "nothing is left of an interrupted job");
  return promises;
}

/// Reports of many threads.
class Record {
public:
  explicit Record(std::vector<Promise>& promises) : promises(promises) {}
  void add(Kind kind, std::string broken = {}) {
    const std::lock_guard lock(mutex);
    ++promises[kind].checked;
    if (!broken.empty())
      promises[kind].broken.push_back(std::move(broken));
  }

private:
  std::vector<Promise>& promises;
  std::mutex mutex;
};

/// Whether one is the other in FNUZ spelling, or in OCP's.
bool areTwins(const Layer& a, const Layer& b) {
  const format::ElementFormat* twin = numerics::fnuzTwin(*a.type.element);
  return twin && *twin == *b.type.element;
}

/// f32 rounded to a wide type and back.
void roundTo(kernels::WideType type, std::vector<float>& values, std::vector<std::byte>& scratch) {
  scratch.resize(values.size() * kernels::wideBytes(type));
  kernels::narrow(type, values.data(), scratch.data(), values.size());
  kernels::widen(type, scratch.data(), values.data(), values.size());
}

/// The first value of `output` that is not that of `source`, rounded to `type`; empty if none.
std::string firstDifference(const ValueRows& output, const ValueRows& source,
                            std::optional<kernels::WideType> type) {
  Scratch scratch;
  std::vector<float> x, y;
  std::vector<std::byte> narrowed;
  for (const Piece& piece : piecesOf(output, source.step())) {
    const auto n = static_cast<std::size_t>((piece.end - piece.begin) * output.columns());
    x.resize(n);
    y.resize(n);
    const auto done = source.read(piece, x.data(), scratch).and_then([&] {
      return output.read(piece, y.data(), scratch);
    });
    if (!done)
      return done.error().message();
    if (type)
      roundTo(*type, x, narrowed);
    for (std::size_t i = 0; i < n; ++i)
      if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])))
        return fmt::format("row {}, column {}: {} where the source gives {}",
                           piece.begin + static_cast<std::int64_t>(i) / output.columns(),
                           static_cast<std::int64_t>(i) % output.columns(), y[i], x[i]);
  }
  return {};
}

/// What is wrong with a scale of the output; that of a layer's input doubles and halves with the
/// layer's own.
std::string brokenScale(const NamedWeight& out, const NamedWeight& in, const WeightRows& rows,
                        const WeightRows& sourceRows) {
  const bool areOfTwins = out.inputOf && in.inputOf && areTwins(*out.inputOf, *in.inputOf);
  const bool isInverted = out.scale->meaning != in.scale->meaning;
  if (!areOfTwins && !isInverted)
    return firstDifference(rows.rows(), sourceRows.rows(),
                           wideType(*out.scale->tensor.entry->dtype));
  const auto read = multipliers(*out.scale), readSource = multipliers(*in.scale);
  if (!read || !readSource)
    return (read ? readSource : read).error().message();
  const std::vector<float>&found = *read, &source = *readSource;
  if (found.size() != source.size())
    return fmt::format("{} numbers where the source has {}", found.size(), source.size());
  const bool isFnuz =
      out.inputOf && out.inputOf->type.element->specials == format::Specials::UnsignedZero;
  const float factor = !areOfTwins ? 1.0f : isFnuz ? 2.0f : 0.5f;
  // An inverse is rounded when it is stored and when it is inverted again.
  const float slack = isInverted ? 0x1p-23f : 0.0f;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float expected = source[i] * factor;
    if (found[i] != expected && !(std::fabs(found[i] - expected) <= slack * std::fabs(expected)))
      return fmt::format("number {}: {} where the source gives {}{}", i, found[i], source[i],
                         !areOfTwins ? ""
                         : isFnuz    ? ", doubled"
                                     : ", halved");
  }
  return {};
}

void checkValues(const NamedWeight& out, const NamedWeight& in, ExpectedRounding rounding,
                 Record& record) {
  const auto axes = [](const NamedWeight& weight, const NamedWeight& other) {
    return weight.plain && other.layer ? other.layer->plainAxes : PlainAxes::Same;
  };
  const auto a = WeightRows::open(out, axes(out, in));
  const auto b = WeightRows::open(in, axes(in, out));
  const auto where = [&](std::string text) { return text.empty() ? text : out.name + ": " + text; };
  if (!a || !b) {
    record.add(out.layer ? Quantized : Rounded, where((a ? b.error() : a.error()).message()));
    return;
  }
  if (!std::ranges::equal(a->rows().shape(), b->rows().shape())) {
    record.add(Shapes,
               fmt::format("{}: [{}] where the source has [{}]", out.name,
                           fmt::join(a->rows().shape(), ", "), fmt::join(b->rows().shape(), ", ")));
    return;
  }
  record.add(Shapes);
  if (out.scale) {
    record.add(Scales, where(brokenScale(out, in, *a, *b)));
  } else if (out.plain) {
    record.add(Rounded,
               where(firstDifference(a->rows(), b->rows(), wideType(*out.plain->entry->dtype))));
  } else if (in.layer && firstDifference(a->rows(), b->rows(), std::nullopt).empty()) {
    record.add(Equal);
  } else {
    const auto reader = LayerReader::open(*out.layer);
    record.add(Quantized, where(reader ? brokenQuantization(*reader, b->rows(), rounding)
                                       : reader.error().message()));
  }
}

std::string brokenBytes(const NamedWeight& out, const NamedWeight& in) {
  const auto identical = areIdentical(out, in);
  if (!identical)
    return identical.error().message();
  return *identical ? "" : out.name + " has other bytes, or another dtype or shape";
}

void checkWeight(const NamedWeight* out, const NamedWeight* in, ExpectedRounding rounding,
                 Record& record) {
  if (!out) {
    record.add(Complete, in->name + " is not in the output");
    return;
  }
  if (!in) {
    record.add(Nothing, out->name + " is not in the source");
    return;
  }
  record.add(Complete);
  record.add(Nothing);
  const bool areOfOneDtype =
      out->plain && in->plain && out->plain->entry->dtype == in->plain->entry->dtype;
  if (areOfOneDtype || (out->plain && in->plain && !wideType(*in->plain->entry->dtype)))
    record.add(Bytes, brokenBytes(*out, *in));
  else
    checkValues(*out, *in, rounding, record);
}

bool haveEqualBytes(const fs::path& a, const fs::path& b) {
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  std::vector<char> x(1 << 20), y(1 << 20);
  while (first && second) {
    first.read(x.data(), std::ssize(x));
    second.read(y.data(), std::ssize(y));
    if (first.gcount() != second.gcount() ||
        std::memcmp(x.data(), y.data(), static_cast<std::size_t>(first.gcount())) != 0)
      return false;
  }
  return first.eof() && second.eof();
}

void checkFolder(const Folder& output, const Folder& source, const WeightList& weights,
                 const Findings& findings, Record& record) {
  std::uint64_t bytes = 0;
  for (const StoredTensor& tensor : output.tensors())
    bytes += tensor.size();
  // Opening the folder has held the index against the shards; only the sum is left.
  const Json& metadata = output.indexMetadata();
  if (output.shardNames().size() > 1 && output.indexName().empty())
    record.add(Index, "several shards and no index");
  else if (metadata.is_object() && metadata.contains("total_size") &&
           metadata["total_size"].is_number() && metadata["total_size"] != bytes)
    record.add(Index, fmt::format("metadata.total_size is {}, the tensors have {} bytes",
                                  metadata["total_size"].dump(), bytes));
  else
    record.add(Index);

  const bool isQuantized = !weights.inventory().layers.empty();
  if (isQuantized && !output.isSingleFile() && output.quantizationConfig().is_null() &&
      output.quantConfig().is_null())
    record.add(Configuration, "the tensors are quantized and no configuration says so");
  else
    record.add(Configuration);
  for (const Finding& finding : findings)
    if (finding.severity == Severity::Error)
      record.add(Configuration,
                 fmt::format("{}{}{}: {}", finding.rule, finding.tensor.empty() ? "" : ": ",
                             finding.tensor, finding.what));

  if (!source.isSingleFile() && !output.isSingleFile())
    for (const std::string& name : source.otherFiles())
      record.add(Files, haveEqualBytes(output.path() / name, source.path() / name)
                            ? ""
                            : name + " is not there, or differs");
  std::error_code ignored;
  record.add(Finished, fs::exists(output.path() / kJobFile, ignored)
                           ? fmt::format("{} is there: run the same command again", kJobFile)
                           : "");
}

} // namespace

bool VerifyReport::isKept() const { return std::ranges::all_of(promises, &Promise::isKept); }

/// Whether an input scale of the source would say nothing in the output, whose configuration has
/// this layer's activations quantized with scales found at run time, or wide.
static bool isWithoutUse(const NamedWeight& weight, const WeightList& out) {
  const NamedWeight* layer = weight.inputOf ? out.find(plainName(*weight.inputOf)) : nullptr;
  return layer && layer->layer && layer->layer->activations.kind != Activations::Kind::Static;
}

VerifyReport verify(const Folder& output, const Folder& source, ExpectedRounding rounding,
                    const kernels::Execution& execution,
                    const std::function<void(std::uint64_t)>& progress) {
  Findings ofOutput, ofSource;
  const WeightList out(output, ofOutput), in(source, ofSource);
  VerifyReport report = {std::string(in.layout().name()), std::string(out.layout().name()),
                         emptyPromises(rounding)};
  Record record(report.promises);
  checkFolder(output, source, out, ofOutput, record);
  ActivationsCheck inputs = checkActivations(out, output, in, source);
  report.promises[Inputs].checked = inputs.checked;
  report.promises[Inputs].broken = std::move(inputs.broken);

  // Without quantized weights there is no place for scales of activations and caches: a calibration
  // adds them to what was quantized, and dequantizing drops them.
  const bool isPlain = out.inventory().layers.empty(), wasPlain = in.inventory().layers.empty();
  std::vector<std::pair<const NamedWeight*, const NamedWeight*>> pairs;
  for (const NamedWeight& weight : out.weights())
    if (const NamedWeight* same = in.find(weight.name); same || !(weight.scale && wasPlain))
      pairs.emplace_back(&weight, same);
  for (const NamedWeight& weight : in.weights())
    if (!out.find(weight.name) && !(weight.scale && isPlain) && !isWithoutUse(weight, out))
      pairs.emplace_back(nullptr, &weight);
  kernels::forRanges(pairs.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      checkWeight(pairs[i].first, pairs[i].second, rounding, record);
      if (progress && pairs[i].first)
        progress(bytesOf(*pairs[i].first));
    }
  });
  for (Promise& promise : report.promises)
    std::ranges::sort(promise.broken); // threads come in any order
  return report;
}

} // namespace octavo::checkpoint
