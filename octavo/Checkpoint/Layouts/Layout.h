// A layout: how one producer spells quantized weights, their scales and their configuration. One
// file a layout in Layouts/, one row a scaled format in it; everything that reads, checks or writes
// goes through this interface.
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

/// The shape of a scale part on disk, for a weight [N, K] (or [E, N, K]) with grid [n, k] of
/// scales. A reader takes any shape that has the grid's scales in the grid's order; a writer takes
/// this one.
enum class ScaleShape : std::uint8_t {
  Scalar, ///< []
  One,    ///< [1]
  Rows,   ///< [N]
  Column, ///< [N, 1]
  Grid,   ///< [..., n, k]
  Grid4,  ///< [n, 1, k, 1]
  Tiles,  ///< the grid in cuBLAS' tiles (ScaleTiles.h), of whatever rank; read only
};

/// How the codes of elements narrower than a byte, or known by another dtype, lie on disk.
enum class ElementShape : std::uint8_t {
  Logical,     ///< the dtype is the element's own: [..., N, K]
  PackedBytes, ///< U8 [..., N, K * bits / 8], PackedCodes.h
  BlocksOf16,  ///< U8 [..., N, K / 32, 16]: gpt-oss
  HighFirst,   ///< PackedBytes with the even element in the high four bits; read only
  PackedWords, ///< U32 [..., N, K * bits / 32], low bits first: MLX; read only
};

/// Names of parts are spelled with `*` for the parameter: "*_packed" is "weight_packed" of a Linear
/// and "gate_up_proj_packed" of stacked experts. A name without `*` is the module's
/// ("input_scale").
struct ElementSpelling {
  std::string_view name; ///< after the module and a dot: "*", "*_packed"
  std::string_view dtype;
  ElementShape shape;
};

struct ScaleSpelling {
  std::string_view name; ///< "*_scale"
  /// "F32", "U8", ...; empty: the dtype that the weight had before it was quantized.
  std::string_view dtype;
  ScaleShape shape;
  Meaning meaning = Meaning::Multiplies;
};

/// What a spelling is good for.
enum class Access : std::uint8_t {
  ReadAndWrite, ///< the one that octavo writes for its format
  ReadOnly,     ///< another that producers and readers of the layout agree on
  Tolerated,    ///< one that exists and that readers trip over: read, with a finding
};

/// Whether readers load a layer without its input scale: those that quantize activations with a
/// stored scale alone compute with whatever was in its place. Telling: without one it is not this
/// spelling.
enum class InputScale : std::uint8_t { Optional, Required, Telling };

/// Which weights readers of the layout look for under a spelling.
enum class Holds : std::uint8_t {
  Matrices, ///< [N, K]: experts one by one
  Stacks,   ///< [E, N, K] of isExpertStack, and nothing else
  Either,
};

/// How a layout spells one scaled format. Absent parts have an empty name.
struct LayerSpelling {
  std::string_view format; ///< name of the scaled format's row
  ElementSpelling elements;
  ScaleSpelling scales;
  ScaleSpelling outer = {};
  ScaleSpelling input = {};
  Access access = Access::ReadAndWrite;
  /// Swapped: of stacked experts alone, elements [E, K * bits / 8, N] and scales [E, k, n].
  StoredAxes axes = StoredAxes::Same;
  InputScale inputScale = InputScale::Optional;
  Holds holds = Holds::Matrices;
  /// Extents across and along of the blocks, where they are not the row's; read only.
  std::array<std::int64_t, 2> block = {};
};

/// Names of the scales of a key-value cache, after the attention module and a dot; and how they
/// lie.
struct KvSpelling {
  std::string_view key = "k_scale", value = "v_scale", query = "q_scale";
  std::string_view probability = "prob_output_scale";
  std::string_view dtype = "F32"; ///< empty: the dtype that weights had before
  ScaleShape shape = ScaleShape::Scalar;
};

/// The tensor that a spelled part is: "m.weight_packed" for ("m", "weight", "*_packed").
std::string tensorName(std::string_view module, std::string_view parameter,
                       std::string_view spelled);

/// Something of a checkpoint without which its weights are not the model's, and that octavo cannot
/// read or does not apply.
struct Unread {
  std::string name; ///< a tensor, or a key of config.json
  std::string why;  ///< a clause
  std::string fix = "convert it with the tool that wrote it";
};

/// A doubt that reading a layout leaves.
struct Doubtful {
  Doubt doubt;
  std::string file, tensor; ///< either may be empty
  std::string expected, found;
};

/// Codes that no layout of octavo reads, among the plain tensors.
struct ForeignCodes {
  StoredTensor tensor;
  std::string producer; ///< "GPTQ"; empty where nothing tells it
};

/// All that a layout says of a checkpoint.
struct Inventory {
  std::vector<Layer> layers;       ///< quantized, in the order of names
  std::vector<StoredTensor> plain; ///< tensors that belong to no layer and to no KvScales
  std::vector<KvScales> kvScales;
  std::vector<Unread> unread; ///< where there is any, other layouts cannot say the model
  std::vector<Doubtful> doubts;
  std::vector<ForeignCodes> foreign; ///< each unread, too
  /// From the configuration: "fp8" where the key-value cache is meant to be FP8; else empty.
  std::string kvCacheFormat;
  std::string quantizer; ///< producer and version, where the configuration says so
};

/// A module whose weight is written quantized.
struct ChosenLayer {
  std::string module;
  const format::ScaledFormat* format;
  Activations activations = {};
};

/// What a written configuration must say.
struct LayoutChoice {
  std::vector<ChosenLayer> layers = {};  ///< modules that are not here stay plain
  std::vector<std::string> ignored = {}; ///< linear modules left plain: "lm_head"
  bool kvScales = false;
  bool kvScalesPerHead = false; ///< only where there are some
};

class Layout {
public:
  virtual ~Layout() = default;
  virtual std::string_view name() const = 0;        ///< "compressed-tensors"
  virtual std::string_view description() const = 0; ///< a sentence
  virtual std::string_view source() const = 0;      ///< where the rule is from
  /// The formats that it spells, in the order in which they are documented; of the spellings of one
  /// format the one that octavo writes comes first, and the one of stacked experts is written too.
  virtual std::span<const LayerSpelling> spellings() const = 0;
  virtual KvSpelling kvSpelling() const { return {}; }
  /// What config.json has under quant_method where it is of this layout; empty where nothing names
  /// it.
  virtual std::span<const std::string_view> quantMethods() const { return {}; }

  /// Why the configuration says that `folder` is of this layout ("config.json: quant_method is
  /// fp8"), or nothing.
  virtual std::optional<std::string> detectByConfiguration(const Folder& folder) const = 0;
  /// Why the tensors alone say so: they fit the spellings to the letter. Nothing if they do not.
  virtual std::optional<std::string> detectByTensors(const Folder& folder) const;

  /// Every layer with its parts. What does not fit (a scale that is missing, of a wrong shape, an
  /// orphan, configuration and tensors that disagree) is a finding, not an error.
  virtual Inventory read(const Folder& folder, Findings& findings) const = 0;

  /// Makes of what is wanted of each layer's activations what configure can say: alike where it
  /// can, else of another kind, else wide.
  virtual void settleActivations(std::span<ChosenLayer> layers) const = 0;
  /// Writes what readers of this layout expect into config.json (and hf_quant_config.json where it
  /// has one), replacing what was there of any layout. Both start as the source's. Precondition:
  /// the activations are settled.
  virtual void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const = 0;

  /// The spelling in which octavo writes weights of a scaled format, and of a rank where there is
  /// one for it (3: stacked experts). Null where this layout has none of the format.
  const LayerSpelling* spelling(std::string_view format, std::size_t rank = 2) const;
};

/// Whether a configuration of this layout says that there is a cache with scales; and that there is
/// one a head.
bool saysCaches(const Layout& layout);
bool saysHeads(const Layout& layout);

/// All layouts, in the order of documentation; the last is "plain".
std::span<const Layout* const> layouts();
const Layout* findLayout(std::string_view name);

/// The layout of a checkpoint: the one that its configuration names, else the one that the tensors'
/// names, dtypes and shapes fit; never nothing, since plain fits all. `findings` gets a warning
/// where two fit, an error where the configuration names a layout that octavo does not read.
struct DetectedLayout {
  const Layout* layout;
  std::string reason;
  /// A guess, good for a look and for nothing else: the configuration names a quant_method that
  /// octavo does not know, or the tensors fit no layout though the configuration speaks of a
  /// quantization or codes lie beside scales.
  bool isForeign = false;
  std::string producer = {}; ///< whose its codes are, where that is told
  /// A second layout, if it reads the same bytes as other values and nothing says which one the
  /// checkpoint has. Then isForeign is set.
  const Layout* rival = nullptr;
};
/// The codes of a folder that no layout reads: matrices of integers, and narrow floats beside
/// something that scales them. `taken` says which tensors a layout has placed.
std::vector<ForeignCodes> findForeignCodes(
    const Folder& folder, const std::function<bool(const StoredTensor&)>& taken =
                              [](const StoredTensor&) { return false; });

/// Why no value of such a checkpoint is read unless the layout is named, and how to name it.
Error foreignLayout(const Folder& folder, const DetectedLayout& detected);
DetectedLayout detectLayout(const Folder& folder, Findings& findings);

/// Error: no layer was found in a checkpoint that says that it is quantized, and there are codes:
/// taken for values they would be another model's.
tl::expected<void, Error> refuseCodesAlone(const Folder& folder, const Layout& layout,
                                           const Inventory& inventory);

/// `named`, or where that is null what detectLayout finds.
DetectedLayout layoutOf(const Folder& folder, const Layout* named, Findings& findings);

} // namespace octavo::checkpoint
