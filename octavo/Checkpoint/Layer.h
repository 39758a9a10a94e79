// Layer: one quantized weight in a form that does not depend on the layout: elements, a grid of
// scales, and the tensors on disk that hold them.
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

/// How a layer's scales are arranged in their tensor.
enum class ScaleOrder : std::uint8_t {
  Rows,  ///< row-major over the grid
  Tiles, ///< cuBLAS tiles of 128 x 4 (ScaleTiles.h)
  Parts, ///< one scale for each part of a fused weight (Layer::partRows), shared by all rows of the
         ///< part
};

/// Which element of a pair is in the low four bits of a byte.
enum class NibbleOrder : std::uint8_t { EvenIsLow, EvenIsHigh };

/// A part of a layer: the tensor and how to decode its bytes.
struct Part {
  StoredTensor tensor;
  /// Format of one code. The dtype alone does not determine it: e2m1fn and e8m0fnu are both stored
  /// as U8.
  const format::ElementFormat* format;
  /// Whether codes narrower than a byte are a packed bit stream (PackedCodes.h) along the last
  /// axis; if false, each code has a container of its own.
  bool packed = false;
  Meaning meaning = Meaning::Multiplies;
  ScaleOrder order = ScaleOrder::Rows;
  std::array<std::int64_t, 2> grid = {}; ///< Tiles: rows and columns of the grid without padding
  NibbleOrder nibbles = NibbleOrder::EvenIsLow; ///< only for packed 4-bit codes
};

/// The format to which readers quantize the layer's input at run time.
struct Activations {
  /// None: not quantized. Dynamic: scales are computed in each run. Static: the scale is stored.
  enum class Kind : std::uint8_t { None, Dynamic, Static } kind = Kind::None;
  const format::ScaledFormat* format = nullptr; ///< null if kind is None

  bool operator==(const Activations&) const = default;
};

/// The activations that the table of scaled formats pairs with weights of `format`
/// (ScaledFormat::activation), quantized at `kind`.
Activations activationsFor(std::string_view format, Activations::Kind kind);

/// Whether both have the same kind, the same element format and the same scale format. Block shapes
/// may differ: dynamic FP8 a token and a tensor are alike.
bool areAlike(const Activations& a, const Activations& b);

/// Axes of the parameter in the model's plain checkpoint: those of Layer::shape, or the last two
/// exchanged (Hugging Face's gpt-oss: MXFP4 is [E, N, K], BF16 is [E, K, N]).
enum class PlainAxes : std::uint8_t { Same, Swapped };

/// Axes of elements and scales on disk: those of Layer::shape and its grid, or the last two
/// exchanged (ModelOpt's stacked experts: bytes [E, K * bits / 8, N], scales [E, k, N]).
enum class StoredAxes : std::uint8_t { Same, Swapped };

/// A quantized weight. The parts that are set agree with each other: a layout leaves out a part
/// that it cannot read, and reports it. The plain tensor of a layer is named `name`.`parameter`.
struct Layer {
  std::string name;      ///< the module: "model.layers.0.self_attn.q_proj"
  std::string parameter; ///< of the module: "weight"; "gate_up_proj" of gpt-oss's experts
  /// Logical shape: [N, K], or [E, N, K] for stacked experts. K is the contracted axis, always
  /// last.
  std::vector<std::int64_t> shape;
  /// Logical type. The scale format is f32 also if scales are stored as BF16 or F16, which widen
  /// exactly; Part::format has the stored format.
  numerics::ScaledType type;
  const format::ScaledFormat*
      format; ///< the row with this element, scale and block; null if there is none
  Part elements;
  /// nullopt if missing or unreadable (a Finding reports it). Any rank, if the extents other than 1
  /// are those of the grid, in order: [N], [N, 1], [n, 1, k, 1], []. Swapped axes: [E, k, n].
  std::optional<Part> scales;
  /// One number, or one for each expert. nullopt also if the type has no outer scale.
  std::optional<Part> outer;
  /// ScaleOrder::Parts: the number of rows of each part, in every matrix. The block is then one
  /// row.
  std::vector<std::int64_t> partRows;
  /// The tensor in place of scales that cannot be read: "m.weight_scale F32 [8, 2]".
  std::string misread;
  /// Static activation scale; NVFP4: the activations' outer scale. One number, or one for each
  /// expert.
  std::optional<Part> inputScale;
  /// A tensor beside the weight that changes what the layer computes, and that octavo does not
  /// apply. As a clause: "m.g_idx puts its columns in another order". Empty if the values are codes
  /// times scales.
  std::string unapplied;
  std::vector<StoredTensor> idle; ///< tensors of that kind without effect: zero points of 0
  Activations activations;
  PlainAxes plainAxes = PlainAxes::Same;
  StoredAxes storedAxes = StoredAxes::Same;
};

/// "dynamic fp8_row", "static fp8_tensor", "-".
std::string activationsText(const Activations& activations);
/// Name of the layer's plain tensor: "m.weight".
std::string plainName(const Layer& layer);
/// "fp8_block", or "e4m3fn x f32 [1, 64]" if no row describes the format.
std::string formatName(const Layer& layer);
/// Bytes of all parts on disk.
std::uint64_t bytesOf(const Layer& layer);

/// The scales of one attention module's key-value cache.
struct KvScales {
  std::string module; ///< "model.layers.0.self_attn"
  std::optional<Part> key, value, query, probability;
  /// Tensors under further names that repeat a scale above, or that a scale above overrides
  /// (kv_scale beside k_scale).
  std::vector<Part> repeated;
  /// Tensors under further names with different values of the same scales. Which value counts
  /// depends on the reader.
  std::vector<Part> rivals;
};

/// A part and its role: "outer scale", "key scale".
struct NamedPart {
  std::string_view role;
  const Part* part;
};
/// The scales that are set: of a layer, and of a cache under their first names.
std::vector<NamedPart> scalesOf(const Layer& layer);
std::vector<NamedPart> scalesOf(const KvScales& kv);

} // namespace octavo::checkpoint
