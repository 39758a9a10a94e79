// What a checkpoint says of one quantized weight, whatever layout spelled it: elements on a grid of
// scales, and where on disk each part lies.
#pragma once

#include "octavo/Checkpoint/Folder.h"
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// How a stored scale enters the value: value = element * scale, or value = element / scale
/// (compressed-tensors' global scales).
enum class Meaning : std::uint8_t { Multiplies, Divides };

/// A part of a layer: the tensor, and how its bytes are read.
struct Part {
  StoredTensor tensor;
  /// Of one code, which the dtype alone does not tell: e2m1fn in U8, e8m0fnu in U8.
  const format::ElementFormat* format;
  /// Whether codes narrower than a byte lie as a packed bit stream (PackedCodes.h) along the last
  /// axes; else one code a container.
  bool packed = false;
  Meaning meaning = Meaning::Multiplies;
};

/// What the layer's activations are quantized to at run time.
struct Activations {
  enum class Kind : std::uint8_t { None, Dynamic, Static } kind = Kind::None;
  const format::ScaledFormat* format = nullptr; ///< null where Kind::None
};

struct Layer {
  std::string name;      ///< the module: "model.layers.0.self_attn.q_proj"
  std::string parameter; ///< of the module: "weight"; "gate_up_proj" of gpt-oss's experts
  /// Logical: [N, K], or [E, N, K] for stacked experts. K is the contracted axis, always last.
  std::vector<std::int64_t> shape;
  numerics::ScaledType type;
  const format::ScaledFormat* format; ///< the row whose element, scale and blocks these are; or null
  Part elements;
  std::optional<Part> scales; ///< nothing: missing (a Finding says so)
  std::optional<Part> outer;
  std::optional<Part> inputScale; ///< static activation scale; NVFP4: the activations' outer scale
  Activations activations;
};

/// The scales of one attention module's key-value cache.
struct KvScales {
  std::string module; ///< "model.layers.0.self_attn"
  std::optional<Part> key, value, query, probability;
};

} // namespace octavo::checkpoint
