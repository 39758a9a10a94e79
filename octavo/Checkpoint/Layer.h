// What a checkpoint says of one quantized weight, whatever layout spelled it: elements on a grid of
// scales, and where on disk each part lies.
#pragma once

#include "octavo/Checkpoint/Folder.h"
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Scaled.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// How a stored scale enters the value: value = element * scale, or value = element / scale
/// (compressed-tensors' global scales).
enum class Meaning : std::uint8_t { Multiplies, Divides };

/// The order in which the scales of a layer lie in their tensor.
enum class ScaleOrder : std::uint8_t {
  Rows,  ///< row after row of the grid
  Tiles, ///< cuBLAS' tiles of 128 x 4 (ScaleTiles.h)
  Parts, ///< one for each part of a fused weight (Layer::partRows), which all its rows share
};

/// Which element of two lies in the low four bits of a byte.
enum class NibbleOrder : std::uint8_t { EvenIsLow, EvenIsHigh };

/// A part of a layer: the tensor, and how its bytes are read.
struct Part {
  StoredTensor tensor;
  /// Of one code, which the dtype alone does not tell: e2m1fn in U8, e8m0fnu in U8.
  const format::ElementFormat* format;
  /// Whether codes narrower than a byte lie as a packed bit stream (PackedCodes.h) along the last
  /// axes; else one code a container.
  bool packed = false;
  Meaning meaning = Meaning::Multiplies;
  ScaleOrder order = ScaleOrder::Rows;
  std::array<std::int64_t, 2> grid = {}; ///< Tiles: rows and columns of the grid, without padding
  NibbleOrder nibbles = NibbleOrder::EvenIsLow; ///< of packed codes of 4 bits
};

/// What the layer's activations are quantized to at run time.
struct Activations {
  enum class Kind : std::uint8_t { None, Dynamic, Static } kind = Kind::None;
  const format::ScaledFormat* format = nullptr; ///< null where Kind::None

  bool operator==(const Activations&) const = default;
};

/// The rows that quantizers of the same configuration pair: what activations that are quantized
/// before they meet weights of `format` are.
Activations activationsFor(std::string_view format, Activations::Kind kind);

/// Whether both are quantized at the same time to the same elements under scales of the same
/// format: a token's or a tensor's dynamic FP8 are alike.
bool areAlike(const Activations& a, const Activations& b);

/// Which axes the same parameter has in the model's plain checkpoint: those of Layer::shape, or the
/// last two exchanged (Hugging Face's gpt-oss: MXFP4 is [E, N, K], BF16 is [E, K, N]).
enum class PlainAxes : std::uint8_t { Same, Swapped };

/// Which axes elements and scales have on disk: those of Layer::shape and its grid, or the last two
/// exchanged (ModelOpt's stacked experts: bytes [E, K * bits / 8, N], scales [E, k, N]).
enum class StoredAxes : std::uint8_t { Same, Swapped };

/// A layer whose parts are there agrees in them: layouts leave out a part that they cannot read and
/// report it. The plain tensor of a layer is named `name`.`parameter`.
struct Layer {
  std::string name;      ///< the module: "model.layers.0.self_attn.q_proj"
  std::string parameter; ///< of the module: "weight"; "gate_up_proj" of gpt-oss's experts
  /// Logical: [N, K], or [E, N, K] for stacked experts. K is the contracted axis, always last.
  std::vector<std::int64_t> shape;
  /// The scale format is f32 also where scales are stored as BF16 or F16, which widen exactly;
  /// Part::format is the stored one.
  numerics::ScaledType type;
  const format::ScaledFormat*
      format; ///< the row whose element, scale and blocks these are; or null
  Part elements;
  /// Nothing: missing or unreadable (a Finding says so). Any rank whose extents in order are the
  /// grid's, but for ones: [N], [N, 1], [n, 1, k, 1], []. Swapped axes: [E, k, n].
  std::optional<Part> scales;
  /// One number, or one an expert. Nothing also where the type has no outer scale.
  std::optional<Part> outer;
  /// Where the scales are one a part: how many rows each part has, of every matrix. The block is
  /// then one row.
  std::vector<std::int64_t> partRows;
  /// What was found in the place of scales that are not read: "m.weight_scale F32 [8, 2]".
  std::string misread;
  /// Static activation scale; NVFP4: the activations' outer scale. One number, or one an expert.
  std::optional<Part> inputScale;
  /// A tensor beside it that changes what it computes and is not applied, as a clause ("m.g_idx
  /// puts its columns in another order"); empty where its values are codes times scales.
  std::string unapplied;
  std::vector<StoredTensor> idle; ///< such tensors that change nothing: zero points of 0
  Activations activations;
  PlainAxes plainAxes = PlainAxes::Same;
  StoredAxes storedAxes = StoredAxes::Same;
};

/// "dynamic fp8_row", "static fp8_tensor", "-".
std::string activationsText(const Activations& activations);
/// Name of the plain tensor of a layer: "m.weight".
std::string plainName(const Layer& layer);
/// "fp8_block", or "e4m3fn x f32 [1, 64]" where no row says it.
std::string formatName(const Layer& layer);
/// Bytes of all parts.
std::uint64_t bytesOf(const Layer& layer);

/// The scales of one attention module's key-value cache.
struct KvScales {
  std::string module; ///< "model.layers.0.self_attn"
  std::optional<Part> key, value, query, probability;
  /// Under further names: values that the parts above have, or outweigh (kv_scale beside k_scale).
  std::vector<Part> repeated;
  /// Under further names: other values of the same scales. Which one counts depends on the reader.
  std::vector<Part> rivals;
};

/// A part, and what it is: "outer scale", "key scale".
struct NamedPart {
  std::string_view role;
  const Part* part;
};
/// The scales that are there, of a layer and of a cache under their first names.
std::vector<NamedPart> scalesOf(const Layer& layer);
std::vector<NamedPart> scalesOf(const KvScales& kv);

} // namespace octavo::checkpoint
