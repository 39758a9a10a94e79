#include "octavo/Checkpoint/Jobs/Verify.h"

#include "octavo/Base/NaturalOrder.h"
#include "octavo/Checkpoint/Jobs/ActivationsPromise.h"
#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/PieceSearch.h"
#include "octavo/Numerics/Fnuz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace octavo::checkpoint {

namespace {

namespace fs = std::filesystem;

/// Indices of the promises, in report order.
enum Check : std::size_t {
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

std::vector<Promise> emptyPromises(const VerifyOptions& options) {
  std::vector<Promise> promises(Kinds);
  const auto set = [&](Check kind, const char* name, const char* statement) {
    promises[kind].name = name;
    promises[kind].statement = statement;
  };
  set(Complete, "weights-complete",
      "every weight of the source is in the output, and so is every scale of caches, unless the "
      "output is plain, and of activations that it declares static");
  set(Nothing, "nothing-extra",
      "the output has no weight that the source lacks and, unless the source is plain, no extra "
      "scale of activations or caches");
  set(Shapes, "shapes", "every weight has the source's logical shape");
  set(Bytes, "plain-identical",
      "tensors that are plain in both, with the same dtype, are equal byte for byte");
  set(Rounded, "dequantized-exactly",
      "plain values are the source's values, rounded once, to nearest, to their dtype");
  set(Equal, "values-equal",
      options.through
          ? "weights that are quantized in both have equal values, or keep the next promise, since "
            "they were quantized from plain weights"
          : "weights that are quantized in both have equal values; those whose format is another, "
            "which does not have the source's values exactly, keep the next promise instead");
  set(Quantized, "quantized-within-format",
      options.rounding == ExpectedRounding::Nearest
          ? "each quantized value is within half a step of its element format under its scale, or "
            "at the format's end, and no block's scale is larger than any rule gives"
          : "each quantized value is within a step of its element format under its scale, or at "
            "the format's end, and no block's scale is larger than any rule gives");
  set(Scales, "scales-kept", "scales of caches and activations have the source's values");
  set(Inputs, "activations-kept",
      "layers that are quantized in both have their inputs quantized as in the source, or as close "
      "to it as the output's layout can express");
  set(Index, "index-consistent", "the index lists every tensor in its shard, and their total size");
  set(Configuration, "configuration-consistent",
      "the configuration names the layout that the tensors have, and reading it finds no error");
  set(Files, "other-files-identical", "the other files of the source are there, byte for byte");
  set(Finished, "job-finished", "nothing is left of an interrupted job");
  return promises;
}

/// Records results of checks in the promises.
class Record {
public:
  explicit Record(std::vector<Promise>& promises) : promises(promises) {}
  void add(Check kind, std::string broken = {}) {
    ++promises[kind].checked;
    if (!broken.empty())
      promises[kind].broken.push_back(std::move(broken));
  }

private:
  std::vector<Promise>& promises;
};

/// Whether the element format of one is the FNUZ twin of the other's.
bool areTwins(const Layer& a, const Layer& b) {
  const format::ElementFormat* twin = numerics::fnuzTwin(*a.type.element);
  return twin && *twin == *b.type.element;
}

/// Whether a conversion would have kept the source's values exactly: the same element format, the
/// same blocks or parts of them, and scales in a format that holds the source's. Only other layers
/// may have been requantized.
bool hasFormatOf(const Layer& out, const Layer& in) {
  if (*out.type.element != *in.type.element || out.type.hasOuterScale != in.type.hasOuterScale ||
      out.shape != in.shape)
    return false;
  if (*out.type.scale == *in.type.scale && out.type.block == in.type.block)
    return true;
  if (out.type.hasOuterScale || *out.type.scale != format::element("f32"))
    return false;
  for (std::size_t axis = 0; axis < out.shape.size(); ++axis)
    if (const std::int64_t whole = in.type.block[axis], part = out.type.block[axis];
        whole < in.shape[axis] && whole % part != 0)
      return false;
  return true;
}

/// The difference up to which two values count as the same.
struct Slack {
  float relative = 0;     ///< relative, for inverses that were rounded
  bool zeroSigns = false; ///< FNUZ formats have no -0
};

bool areSame(float x, float y, Slack slack) {
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y);
  if (x == y)
    return slack.zeroSigns || std::signbit(x) == std::signbit(y);
  return std::isfinite(x) && std::isfinite(y) && std::fabs(x - y) <= slack.relative * std::fabs(x);
}

/// Describes the first value of a piece that differs from the source, rounded to `type`; empty if
/// there is none. `rows`: first the source, second the output.
std::string firstDifference(const PairedRows& rows, Piece piece,
                            std::optional<kernels::WideType> type, Slack slack, Scratch& scratch) {
  std::string difference;
  const std::int64_t columns = rows.columns();
  const auto done = rows.forTiles(piece, scratch, [&](Piece tile, float* x, const float* y) {
    const auto n = static_cast<std::size_t>((tile.end - tile.begin) * columns);
    if (type)
      roundTo(*type, x, n, scratch);
    if (n == 0 || std::memcmp(x, y, n * sizeof(float)) == 0)
      return true;
    for (std::size_t i = 0; i < n; ++i)
      if (!areSame(x[i], y[i], slack)) {
        difference = fmt::format("row {}, column {}: {} where the source gives {}",
                                 tile.begin + static_cast<std::int64_t>(i) / columns,
                                 static_cast<std::int64_t>(i) % columns, y[i], x[i]);
        return false;
      }
    return true;
  });
  return done ? difference : done.error().message();
}

/// Whether a scale follows another rule than equal values: it belongs to a FNUZ twin, or multiplies
/// instead of dividing.
bool isOtherScale(const NamedWeight& out, const NamedWeight& in) {
  return (out.inputOf && in.inputOf && areTwins(*out.inputOf, *in.inputOf)) ||
         out.scale->meaning != in.scale->meaning;
}

/// Describes the fault of such a scale; empty if there is none. The input scale of a FNUZ twin is
/// doubled or halved like the layer's scales.
std::string brokenScale(const NamedWeight& out, const NamedWeight& in) {
  const bool areOfTwins = out.inputOf && in.inputOf && areTwins(*out.inputOf, *in.inputOf);
  const bool isInverted = out.scale->meaning != in.scale->meaning;
  const auto read = multipliers(*out.scale), readSource = multipliers(*in.scale);
  if (!read || !readSource)
    return (read ? readSource : read).error().message();
  const std::vector<float>&found = *read, &source = *readSource;
  if (found.size() != source.size())
    return fmt::format("{} numbers where the source has {}", found.size(), source.size());
  const bool isFnuz =
      out.inputOf && out.inputOf->type.element->specials == format::Specials::UnsignedZero;
  const float factor = !areOfTwins ? 1.0f : isFnuz ? 2.0f : 0.5f;
  // The inverse is rounded when it is stored and again when a reader inverts it.
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

/// The weights of output and source with the same name; one may be null.
using OfOneName = std::pair<const NamedWeight*, const NamedWeight*>;

/// Compares the values of weights with their source, piece by piece.
class ValueCheck {
public:
  ValueCheck(const VerifyOptions& options, Record& record)
      : options(options), settings(options.work), record(record) {}

  /// Checks names and dtypes of a pair at once, and queues its values for run().
  void add(const OfOneName& pair) {
    const auto& [out, in] = pair;
    if (!out)
      return record.add(Complete, in->name + " is not in the output");
    if (!in)
      return record.add(Nothing, out->name + " is not in the source");
    record.add(Complete);
    record.add(Nothing);
    const bool areOfOneDtype =
        out->plain && in->plain && out->plain->entry->dtype == in->plain->entry->dtype;
    if (areOfOneDtype || (out->plain && in->plain && !wideType(*in->plain->entry->dtype)))
      return addBytes(*out, *in);
    auto rows = PairedRows::open(*in, *out);
    if (!rows)
      return rows.error().haveOtherShapes
                 ? record.add(Shapes, fmt::format("{}: [{}] where the source has [{}]", out->name,
                                                  fmt::join(out->shape(), ", "),
                                                  fmt::join(in->shape(), ", ")))
                 : record.add(out->layer ? Quantized : Rounded,
                              out->name + ": " + rows.error().why);
    record.add(Shapes);
    if (out->scale && isOtherScale(*out, *in))
      return addResult(Scales, *out, brokenScale(*out, *in));
    auto values = std::make_unique<Values>(Values{out, std::move(*rows), {}, {}});
    if (out->layer && !in->layer)
      return addQuantized(std::move(values), bytesOf(*out));
    const StoredTensor* stored = out->plain   ? out->plain
                                 : out->scale ? &out->scale->tensor
                                              : nullptr;
    addSearch(out->scale   ? Scales
              : out->plain ? Rounded
                           : Equal,
              *out, *values, bytesOf(*out),
              [rows = &values->rows, slack = slackOf(*out, *in),
               type = stored ? wideType(*stored->entry->dtype) : std::nullopt](Piece piece,
                                                                               Scratch& scratch) {
                return firstDifference(*rows, piece, type, slack, scratch);
              });
    held.back().values = std::move(values);
    held.back().mustBeEqual =
        !options.through && out->layer && in->layer && hasFormatOf(*out->layer, *in->layer);
  }

  void run() {
    runSearches();
    // Weights that are quantized in both and differ may still be correct roundings.
    std::vector<std::unique_ptr<Values>> other;
    std::swap(other, unequal);
    for (std::unique_ptr<Values>& values : other)
      addQuantized(std::move(values), 0);
    runSearches();
  }

private:
  struct Values {
    const NamedWeight* out;
    PairedRows rows; ///< first the source, second the output
    std::optional<LayerReader> reader;
    std::optional<QuantizationCheck> check;
  };
  struct Held {
    Check kind;
    const NamedWeight* out;
    std::unique_ptr<Values> values;
    bool mustBeEqual = false; ///< a correct rounding is not accepted
  };

  void addResult(Check kind, const NamedWeight& out, const std::string& broken) {
    record.add(kind, broken.empty() ? broken : out.name + ": " + broken);
  }

  static Slack slackOf(const NamedWeight& out, const NamedWeight& in) {
    if (!out.layer || !in.layer)
      return {};
    const bool isInverted = out.layer->outer && in.layer->outer &&
                            out.layer->outer->meaning != in.layer->outer->meaning;
    return {isInverted ? 0x1p-22f : 0.0f, areTwins(*out.layer, *in.layer)};
  }

  void addBytes(const NamedWeight& out, const NamedWeight& in) {
    if (!haveSameParts(out, in))
      return record.add(Bytes, out.name + " has different bytes, or another dtype or shape");
    held.push_back({Bytes, &out, nullptr});
    searches.push_back(byteSearch(out, in, bytesOf(out)));
  }

  /// Queues a check of roundings. `bytes`: bytes of the output not yet counted as progress.
  void addQuantized(std::unique_ptr<Values> values, std::uint64_t bytes) {
    auto reader = LayerReader::open(*values->out->layer);
    if (!reader) // cannot fail: PairedRows::open has read the layer before
      return addResult(Quantized, *values->out, reader.error().message());
    values->reader = std::move(*reader);
    values->check.emplace(values->rows, *values->reader, options.rounding, options.through);
    addSearch(Quantized, *values->out, *values, bytes,
              [check = &*values->check](Piece piece, Scratch& scratch) {
                return check->brokenIn(piece, scratch);
              });
    held.back().values = std::move(values);
  }

  template <typename Look>
  void addSearch(Check kind, const NamedWeight& out, const Values& values, std::uint64_t bytes,
                 Look look) {
    const std::span<const Piece> pieces = values.rows.pieces();
    held.push_back({kind, &out, nullptr});
    searches.push_back({.pieces = {pieces.begin(), pieces.end()},
                        .pieceMemory = values.rows.pieceMemory(),
                        .bytes = bytes,
                        .look = [pieces, look](std::size_t piece, Scratch& scratch) {
                          return look(pieces[piece], scratch);
                        }});
  }

  void runSearches() {
    const std::vector<std::string> found = search(searches, settings);
    for (std::size_t i = 0; i < held.size(); ++i) {
      Held& each = held[i];
      if (each.kind == Bytes)
        record.add(Bytes, found[i] == kBytesDiffer
                              ? each.out->name + " has different bytes, or another dtype or shape"
                              : found[i]);
      else if (each.kind == Equal && !found[i].empty() && !each.mustBeEqual)
        unequal.push_back(std::move(each.values));
      else if (each.kind == Equal && !found[i].empty() && !options.through)
        addResult(Equal, *each.out,
                  found[i] + "; if it was quantized from plain weights, --through DTYPE says so");
      else
        addResult(each.kind, *each.out, found[i]);
    }
    held.clear();
    searches.clear();
  }

  const VerifyOptions& options;
  const WorkSettings& settings;
  Record& record;
  std::vector<Held> held;
  std::vector<PieceSearch> searches; ///< one for each element of `held`
  std::vector<std::unique_ptr<Values>> unequal;
};

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
  // Opening the folder has compared the index with the shards; only total_size remains.
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
    record.add(Configuration, "the tensors are quantized, but no configuration says so");
  else
    record.add(Configuration);
  for (const Finding& finding : findings)
    if (finding.severity == Severity::Error)
      record.add(Configuration,
                 fmt::format("{}{}{}: {}", finding.rule.text(), finding.tensor.empty() ? "" : ": ",
                             finding.tensor, finding.what));

  if (!source.isSingleFile() && !output.isSingleFile())
    for (const std::string& name : source.otherFiles())
      record.add(Files, haveEqualBytes(output.path() / name, source.path() / name)
                            ? ""
                            : name + " is missing or differs");
  std::error_code ignored;
  record.add(Finished, fs::exists(output.path() / kJobFile, ignored)
                           ? fmt::format("{} is there: run the same command again", kJobFile)
                           : "");
}

} // namespace

bool VerifyReport::isKept() const { return std::ranges::all_of(promises, &Promise::isKept); }

/// Whether an input scale of the source is useless in the output, whose configuration makes this
/// layer's activations dynamic or wide.
static bool isWithoutUse(const NamedWeight& weight, const WeightList& out) {
  const NamedWeight* layer = weight.inputOf ? out.find(plainName(*weight.inputOf)) : nullptr;
  return layer && layer->layer && layer->layer->activations.kind != Activations::Kind::Static;
}

VerifyReport verify(const Folder& output, const Folder& source, const VerifyOptions& options) {
  Findings ofOutput, ofSource;
  const WeightList out(output, ofOutput, options.outputLayout),
      in(source, ofSource, options.sourceLayout);
  VerifyReport report = {std::string(in.layout().name()), std::string(out.layout().name()),
                         emptyPromises(options)};
  Record record(report.promises);
  checkFolder(output, source, out, ofOutput, record);
  ActivationsCheck inputs = checkActivations(out, output, in, source);
  report.promises[Inputs].checked = inputs.checked;
  report.promises[Inputs].broken = std::move(inputs.broken);

  // A plain checkpoint has no scales of activations and caches: quantizing adds them by a
  // calibration, dequantizing drops them.
  const bool isPlain = out.inventory().layers.empty(), wasPlain = in.inventory().layers.empty();
  ValueCheck check(options, record);
  for (const NamedWeight& weight : out.weights())
    if (const NamedWeight* same = in.find(weight.name); same || !(weight.scale && wasPlain))
      check.add({&weight, same});
  for (const NamedWeight& weight : in.weights())
    if (!out.find(weight.name) && !(weight.scale && isPlain) && !isWithoutUse(weight, out))
      check.add({nullptr, &weight});
  check.run();
  for (Promise& promise : report.promises)
    std::ranges::sort(promise.broken, base::precedesNaturally);
  return report;
}

} // namespace octavo::checkpoint
