// A layout: how one producer spells quantized weights, their scales and their configuration. Each
// layout is a file in Layouts/ with one row for each scaled format. All reading, checking and
// writing of checkpoints uses this interface.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/Layer.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The shape on disk of the scales of a weight [N, K] or [E, N, K]; their grid is [n, k]. A reader
/// accepts any shape with the grid's scales in the grid's order; a writer uses exactly this shape.
enum class ScaleShape : std::uint8_t {
  Scalar, ///< []
  One,    ///< [1]
  Rows,   ///< [N]
  Column, ///< [N, 1]
  Grid,   ///< [..., n, k]
  Grid4,  ///< [n, 1, k, 1]
  Tiles,  ///< the grid in cuBLAS tiles (ScaleTiles.h), of any rank; read only
};

/// How codes are stored, for elements that are narrower than a byte or have another dtype on disk.
enum class ElementShape : std::uint8_t {
  Logical,     ///< the dtype is the element format's: [..., N, K]
  PackedBytes, ///< U8 [..., N, K * bits / 8], PackedCodes.h
  BlocksOf16,  ///< U8 [..., N, K / 32, 16]: gpt-oss
  HighFirst,   ///< PackedBytes with the even element in the high four bits; read only
  PackedWords, ///< U32 [..., N, K * bits / 32], low bits first: MLX; read only
};

/// Spelled names contain `*` for the parameter: "*_packed" is "weight_packed" of a Linear and
/// "gate_up_proj_packed" of stacked experts. A name without `*` belongs to the module
/// ("input_scale").
struct ElementSpelling {
  std::string_view name; ///< follows the module and a dot: "*", "*_packed"
  std::string_view dtype;
  ElementShape shape;
};

/// How a layout spells a scale.
struct ScaleSpelling {
  std::string_view name; ///< "*_scale"
  /// "F32", "U8", ...; empty: the dtype of the weight before it was quantized
  std::string_view dtype;
  ScaleShape shape;
  Meaning meaning = Meaning::Multiplies; ///< how the stored number enters the value
};

/// How a spelling may be used.
enum class Access : std::uint8_t {
  ReadAndWrite, ///< read; octavo writes its format with it
  ReadOnly,     ///< read; an alternative that producers and readers of the layout agree on
  Tolerated,    ///< read, with a finding; it exists, but readers have trouble with it
};

/// Whether readers need a layer's input scale. Required: readers that quantize activations only
/// with a stored scale would use a placeholder for it. Telling: without an input scale a layer does
/// not have this spelling.
enum class InputScale : std::uint8_t { Optional, Required, Telling };

/// Which weights readers of the layout expect under a spelling.
enum class Holds : std::uint8_t {
  Matrices, ///< [N, K]; experts as separate matrices
  Stacks,   ///< only stacks [E, N, K] for which isExpertStack
  Either,
};

/// How a layout spells one scaled format. Parts that do not exist have an empty name.
struct LayerSpelling {
  std::string_view format; ///< name of the row in kScaledFormats
  ElementSpelling elements;
  ScaleSpelling scales;
  ScaleSpelling outer = {}; ///< outer scale
  ScaleSpelling input = {}; ///< input scale
  Access access = Access::ReadAndWrite;
  /// Swapped: only for stacked experts, elements [E, K * bits / 8, N] and scales [E, k, n].
  StoredAxes axes = StoredAxes::Same;
  InputScale inputScale = InputScale::Optional;
  Holds holds = Holds::Matrices;
  /// Block extents across and along, if they differ from the row's; read only. 0: the row's.
  std::array<std::int64_t, 2> block = {};
};

/// Names of the scales of a key-value cache, after the attention module and a dot, and their dtype
/// and shape.
struct KvSpelling {
  std::string_view key = "k_scale", value = "v_scale", query = "q_scale";
  std::string_view probability = "prob_output_scale";
  std::string_view dtype = "F32"; ///< empty: the dtype of the weights before quantization
  ScaleShape shape = ScaleShape::Scalar;
};

/// The name of the tensor for a spelled part: "m.weight_packed" for ("m", "weight", "*_packed").
std::string tensorName(std::string_view module, std::string_view parameter,
                       std::string_view spelled);

/// A part of a checkpoint that octavo cannot read or does not apply, and without which the weights
/// are not the model's.
struct Unread {
  std::string name; ///< a tensor, or a key of config.json
  std::string why;  ///< a clause
  std::string fix = "convert it with the tool that wrote it";
};

/// A doubt that reading a layout found, for the error of a command that does not allow it.
struct Doubtful {
  Doubt doubt;
  std::string file, tensor; ///< either may be empty
  std::string expected, found;
};

/// Codes among the plain tensors that no layout of octavo reads.
struct ForeignCodes {
  StoredTensor tensor;
  std::string producer; ///< "GPTQ"; empty if unknown
};

/// Everything that a layout read from a checkpoint.
struct Inventory {
  std::vector<Layer> layers;       ///< quantized layers, sorted by name
  std::vector<StoredTensor> plain; ///< tensors that belong to no layer and to no KvScales
  std::vector<KvScales> kvScales;
  std::vector<Unread> unread; ///< if not empty, no other layout can express the model
  std::vector<Doubtful> doubts;
  std::vector<ForeignCodes> foreign; ///< also listed in `unread`
  /// From the configuration: "fp8" if the key-value cache is to be FP8; else empty.
  std::string kvCacheFormat;
  std::string quantizer; ///< producer and version if the configuration states them
};

/// A module whose weight is written quantized, and its activations.
struct ChosenLayer {
  std::string module;
  const format::ScaledFormat* format;
  Activations activations = {};
};

/// What a configuration that is written must state.
struct LayoutChoice {
  std::vector<ChosenLayer> layers = {};  ///< quantized modules; all others stay plain
  std::vector<std::string> ignored = {}; ///< Linear modules that stay plain: "lm_head"
  bool kvScales = false;                 ///< whether there are cache scales
  bool kvScalesPerHead = false;          ///< whether there is one for each head
};

/// The interface of a layout. The instances live as long as the program.
class Layout {
public:
  virtual ~Layout() = default;
  virtual std::string_view name() const = 0;        ///< "compressed-tensors"
  virtual std::string_view description() const = 0; ///< one sentence
  virtual std::string_view source() const = 0;      ///< where the rule comes from
  /// The spellings, in documentation order. Of several spellings of one format, the one that octavo
  /// writes comes first; a second one for stacked experts may be written too.
  virtual std::span<const LayerSpelling> spellings() const = 0;
  /// How it spells scales of key-value caches.
  virtual KvSpelling kvSpelling() const { return {}; }
  /// Values of quant_method in config.json that name this layout; empty if none does.
  virtual std::span<const std::string_view> quantMethods() const { return {}; }

  /// Why the configuration states that `folder` has this layout ("config.json: quant_method is
  /// fp8"); nullopt if it does not.
  virtual std::optional<std::string> detectByConfiguration(const Folder& folder) const = 0;
  /// Why the tensors alone imply this layout: they fit its spellings exactly. nullopt if they do
  /// not.
  virtual std::optional<std::string> detectByTensors(const Folder& folder) const;

  /// Reads every layer with its parts. Mismatches are findings, not errors: a scale that is missing
  /// or has a wrong shape, an orphan, a configuration that disagrees with the tensors.
  virtual Inventory read(const Folder& folder, Findings& findings) const = 0;

  /// Replaces the wanted activations of each layer by the nearest that configure can express: alike
  /// if possible, else of another kind, else wide.
  virtual void settleActivations(std::span<ChosenLayer> layers) const = 0;
  /// Writes what readers of this layout expect into config.json, and into hf_quant_config.json if
  /// the layout uses it. Replaces descriptions of any other layout. Both start as the source's.
  /// Precondition: settleActivations was applied.
  virtual void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const = 0;

  /// The spelling with which octavo writes weights of a scaled format; if there is one for this
  /// rank (3: stacked experts), that one. Null if the layout does not write the format.
  const LayerSpelling* spelling(std::string_view format, std::size_t rank = 2) const;
};

/// Whether a configuration of this layout states that cache scales exist (saysCaches), and that
/// there is one for each head (saysHeads).
bool saysCaches(const Layout& layout);
bool saysHeads(const Layout& layout);

/// All layouts in documentation order; the last is "plain".
std::span<const Layout* const> layouts();
/// The layout of that name; null if there is none.
const Layout* findLayout(std::string_view name);

/// The layout of a checkpoint: named by its configuration, else implied by names, dtypes and shapes
/// of its tensors; at last "plain", which fits any.
struct DetectedLayout {
  const Layout* layout;
  std::string reason; ///< why it is that layout
  /// Whether the layout is only a guess, good enough for inspection. It is if the configuration
  /// names a quant_method that octavo does not know. It is also if no layout fits the tensors
  /// although the configuration mentions a quantization, or codes have scales.
  bool isForeign = false;
  std::string producer = {}; ///< producer of its codes; empty if unknown
  /// A second layout that reads the same bytes as other values, if nothing tells which is right;
  /// isForeign is then set. Else null.
  const Layout* rival = nullptr;
};
/// The codes of a folder that no layout reads: matrices of integers, and narrow floats with scales
/// beside them. `taken`: whether a layout has placed the tensor.
std::vector<ForeignCodes> findForeignCodes(
    const Folder& folder, const std::function<bool(const StoredTensor&)>& taken =
                              [](const StoredTensor&) { return false; });

/// The error with which commands refuse a layout that isForeign, unless the user names the layout.
Error foreignLayout(const Folder& folder, const DetectedLayout& detected);
/// Detects the layout. `findings` gets a warning if two layouts fit, and an error if the
/// configuration names a layout that octavo does not read.
DetectedLayout detectLayout(const Folder& folder, Findings& findings);

/// Error: the checkpoint states that it is quantized, has no layer in this layout, and has codes,
/// which would be copied as if they were values.
tl::expected<void, Error> refuseCodesAlone(const Folder& folder, const Layout& layout,
                                           const Inventory& inventory);

/// The layout `named`; if null, the result of detectLayout.
DetectedLayout layoutOf(const Folder& folder, const Layout* named, Findings& findings);

} // namespace octavo::checkpoint
