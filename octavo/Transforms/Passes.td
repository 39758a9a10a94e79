// The passes, one record each.
#ifndef OCTAVO_TRANSFORMS_PASSES
#define OCTAVO_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

class Octavo_Pass<string argument> : PassBase<argument, "::octavo::transforms::ModulePass">;

def QuantizeDots : Octavo_Pass<"octavo-quantize-dots"> {
  let summary = "Quantizes the dots of a wide program";
  let description = [{
    Each `stablehlo.dot_general` of f32, bf16 or f16 that the options choose becomes an
    `octavo.dot_general`: its weight is quantized to one scaled format, its activation to another or
    left as it is. The contracted axis is the one that is blocked, on both sides.

    A weight is an operand that data movement (transpose, reshape, broadcast_in_dim, slice, convert)
    takes from a constant or from an argument that is marked `octavo.parameter`, also through calls
    of private functions and into computations of Shardy, whose devices quantize their parts. A constant is quantized by the pass; an argument of a public function that
    only such dots use becomes an argument of scaled type with the attribute `octavo.quantize`, so
    that it is quantized once, when it is bound. Every other operand is quantized in the program.

    `recipe` gives each dot its own format (docs/recipes.md), in place of weights, activations, rule,
    non-finite, preset, calibration and range. With `calibration` activations have the scales of the
    ranges that `octavo calibrate` found.

    Every dot gets a remark: what it became, or why it was left.
  }];
  let dependentDialects = ["::octavo::ir::OctavoDialect", "::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"recipe", "recipe", "std::string", "", "Rules that give each dot its format: a file of JSON, or the name of a recipe">,
    Option<"calibration", "calibration", "std::string", "", "A calibration: scales of activations are constants">,
    Option<"range", "range", "std::string", "", "Which range of the calibration: amax (the default), percentile:P, mse">,
    Option<"weights", "weights", "std::string", "", "Scaled format of weights, as octavo formats lists them">,
    Option<"activations", "activations", "std::string", "",
           "Scaled format of activations, or none; default: what the weights' format goes with">,
    Option<"rule", "rule", "std::string", "", "Scale rule; default: each format's own">,
    Option<"match", "match", "std::string", "",
           "Only dots whose name or whose weight's name this regular expression (RE2) finds">,
    Option<"exclude", "exclude", "std::string", "",
           "Not the dots whose name or whose weight's name this regular expression (RE2) finds">,
    Option<"minSize", "min-size", "int64_t", "0", "Not the dots whose weight has fewer elements">,
    Option<"bothActivations", "both-activations", "bool", "false",
           "Also the dots that have no weight">,
    Option<"ahead", "ahead", "bool", "true",
           "Quantize constants here and arguments when they are bound, not in the program">,
    Option<"parameters", "parameters", "std::string", "",
           "Arguments whose name this regular expression (RE2) finds are weights too">,
    Option<"nonFinite", "non-finite", "std::string", "",
           "What NaN and Inf in a quantized tensor do: error (the default), propagate, saturate, skip-nan">,
    Option<"preset", "preset", "std::string", "",
           "Settings that make another library's bytes, as octavo presets lists them; in place of rule and non-finite">,
  ];
}

def EmitStableHLO : Octavo_Pass<"octavo-emit"> {
  let summary = "Writes the operations of the octavo dialect as plain StableHLO";
  let description = [{
    Scaled tensors become tensors of elements and of scales (and an outer scale); quantization,
    dequantization and dots become arithmetic that any compiler of StableHLO takes, in the form of
    explicit quantization and dequantization: `convert(elements) * broadcast(convert(scales))`, then a
    `dot_general` of f32.

    Codes, scales and dequantized values are those of the octavo program, on the interpreter bit for bit;
    sums of dots are rounded in the order of `dot_general`. A compiler that flushes subnormals, as XLA
    does on CPUs, takes f32 below 2^-126 for 0, scales of 2^-127 among them. A program cannot refuse
    NaN and Inf: the quantizations whose policy is `error` are equal on finite values.

    Every setting of a quantization is written, those of presets too, and every conversion. Roundings
    other than ties to even, stochastic ones from the random bits of the operation, are integer
    arithmetic on the bits of the quotient, and so are NaN and Inf that a policy lets pass. Elements
    that MLIR has no type of (CFloat8) are codes in `ui8`, whose values are integer arithmetic, too.
    Floats of 6 bits keep their types: XLA's CPU compiler fails at them ("Failed to translate module
    to LLVM IR").

    An argument of scaled type with `octavo.quantize` becomes the f32 tensor that is bound to it,
    quantized in the program. Any other becomes two or three arguments, NAME, NAME.scales and NAME.outer,
    and a result likewise two or three results, of calls as well. An `octavo.fused_dot` is opened.
    Scaled tensors through other operations of control flow are errors, and so are open extents.

    Other forms of dots are those by which XLA knows products of scaled tensors. A dot that the form
    does not say is written as explicit dequantization, with a remark of what it has:

    - `xla-scaled-dot`: `stablehlo.composite "xla.scaled_dot"`, as `jax.lax.scaled_dot` writes it, with
      a decomposition that computes in f32. Not said: several contracted or batch axes, short last
      blocks, int8, CFloat8, outer scales, one scale for a tensor, and floats of 6 bits, which XLA has
      no type of.
    - `xla-custom-calls`: `__op$block_scaled_dot` with its block size and, of outer scales, the global
      scale; `__op$dequantize`. Operands are transposed as the call wants them. Not said: blocks of
      several rows or of two sizes, other axes than one contracted, one free and one batch axis, short
      last blocks, int8, CFloat8, floats of 6 bits, an outer scale beside a side without scales.
      `__op$quantize` for the preset xla, with equal values unless an amax is below 2^(emax - 126);
      other quantizations stay arithmetic, with a remark: XLA's call makes NaN of a block of zeros.

    `octavo-recover-scaled` makes the products of these forms again.
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect", "::mlir::func::FuncDialect"];
  let options = [
    Option<"qdq", "qdq", "bool", "false", "Explicit dequantization; the default">,
    Option<"xlaScaledDot", "xla-scaled-dot", "bool", "false",
           "Dots as composites that XLA compiles to scaled dots">,
    Option<"xlaCustomCalls", "xla-custom-calls", "bool", "false",
           "Dots and dequantizations as XLA's custom calls on scaled blocks">,
  ];
}

def RecoverScaled : Octavo_Pass<"octavo-recover-scaled"> {
  let summary = "Makes dots of dequantized values dots of scaled tensors";
  let description = [{
    A dot whose operand is codes of a narrow float times their scales, as frameworks write it by hand,
    becomes an `octavo.dot_general` of an `octavo.pack`, and so does a convolution, as a product of
    patches. Codes and scales are looked for upward:

    - `convert` of codes, before or after the scales; `multiply` on either side, `divide` (by s: times
      1 / s, rounded to f32); scales that are scalars, a row's, a column's or a block's, broadcast by
      `broadcast_in_dim`, `reshape` and `transpose`, before or after they are computed; one outer scale
      above narrow ones, two levels of f32 scales as one; constants too; codes of scales that
      `bitcast_convert` takes from u8. Scales that are 2^(code - 127) of 8-bit codes, by whatever
      operations (the interpreter evaluates them on all 256), are E8M0, and so are 2^(127 - code) and
      what is divided by E8M0. Elements whose exponents such codes are added to, as `ldexp` does, are
      tried on all pairs of codes. Where the program's values differ, of codes 0 and 255 or beyond
      normal f32, the remark says so.
    - `transpose`, `reshape`, `reverse`, `broadcast_in_dim`, `slice`, `dynamic_slice`, `gather`,
      `dynamic_update_slice`, `concatenate`, `pad` with 0, `select` against 0 or NaN,
      `optimization_barrier`, `all_gather`, `all_to_all`, `collective_permute` and
      `collective_broadcast` between them and the dot, where they move whole blocks: they are done to
      the codes and to the scales.
    - A `while` that carries such values, unchanged or dequantized again in each round, carries codes
      and scales, and an `if` or `case` whose branches all give such values gives these; within one
      another, too. Calls, and composites but `xla.scaled_dot`, are opened where something narrow is
      within, a dequantized value goes in, or a scale comes out.
    - Extents may be open (`?`), where an axis has a scale for each index or one for all:
      `dynamic_broadcast_in_dim`, `dynamic_reshape`, `real_dynamic_slice` and `dynamic_gather` are
      followed where the result is right for every extent.
    - A dot of codes without scales has scales of 1. A fake quantization is a quantization: its codes
      are multiplied.
    - `stablehlo.composite "xla.scaled_dot"`, the custom calls `__op$dequantize` and
      `__op$block_scaled_dot`, with padded scales too, and `jax.nn.scaled_matmul` under shardings, which
      is a call that JAX leaves to a partitioner.

    The product is that of the scaled tensors (docs/semantics.md, D4 and I13): dequantized values are
    not rounded on the way, to bf16 say, and sums are in its order. Every recovered dot gets a remark,
    and every dot that multiplies wide values with narrow ones behind them a warning: the first
    operation that stands in the way, what it does, what to change.
  }];
  let dependentDialects = ["::octavo::ir::OctavoDialect", "::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"failOnMissed", "fail-on-missed", "bool", "false", "Make these warnings errors">,
  ];
}

def NarrowCollectives : Octavo_Pass<"octavo-narrow-collectives"> {
  let summary = "Moves codes and scales between processes in the place of wide values";
  let description = [{
    - `all_gather`, `all_to_all`, `collective_permute` and `collective_broadcast` of dequantized values
      (in the forms of octavo-recover-scaled) become those of codes and scales, dequantized after. A
      scale that is one constant is the same everywhere and does not move.
    - `reduce_scatter` by addition of dequantized values becomes an `all_to_all` of codes and scales and
      a sum of their values, in f32 and in the order of the group.
    - `octavo.quantize` of what an `all_gather` brings quantizes the parts before it. Where blocks lie
      within the parts nothing else is exchanged. Blocks that go beyond a part, a scale for the tensor
      among them, and outer scales need the amax of all parts: an `all_reduce` of amax by maximum.

    - `all_reduce` by addition of what `octavo.quantize` alone takes becomes a `reduce_scatter` and an
      `all_gather`, along an axis whose parts are whole blocks, with the quantization between them.
    - With `all-reduce`, `all_reduce` by addition of dequantized values does, too: the sum is quantized
      as what it adds was, E8M0 scales by floor, others by nearest, so that codes and scales move both
      times. That rounds the sum once more.

    Values stay the same but with `all-reduce`, and but that a dequantization is not rounded on the way
    (to bf16, say). Every such collective gets a remark with the bytes that come to a process, before
    and after, and what stands in the way of others.
  }];
  let dependentDialects = ["::octavo::ir::OctavoDialect", "::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"allReduce", "all-reduce", "bool", "false",
           "Also round the sums of all_reduce to the format of what they add, which changes values">,
  ];
}

def DropScales : Octavo_Pass<"octavo-drop-scales"> {
  let summary = "Leaves tensors wide that are quantized only to be dequantized";
  let description = [{
    A scale is needed where codes are stored, sent or multiplied. An `octavo.quantize` whose result only
    `octavo.dequantize` takes, or `octavo.unpack` and `octavo.pack` between them, is none of that: the
    tensor stays as it is, and its scales, the outer scale and the search for amax go. So does a
    quantization that is spelled out: values divided by a scale or multiplied by its inverse, clamped to
    constants or not, converted to a narrow float, and back by the same scale, where nothing else takes
    the codes. That leaves out a rounding, so values differ from those of the program, but where they
    had been rounded so before; each such tensor gets a remark, and every other quantization one that
    names what needs its scale. Calls are not looked into: `--inline` comes first.
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
}

def FoldConstants : Octavo_Pass<"octavo-fold-constants"> {
  let summary = "Evaluates operations whose operands are constants";
  let description = [{
    Each operation of StableHLO and CHLO that has no side effects, whose operands are all constants and
    whose results are plain tensors of known extents, becomes the constants that the interpreter gives:
    the values of a run stay the same, bit for bit, but for sums and products of floats, whose order is
    the interpreter's then (rules C3, C4). Left alone are functions of floats that compiled code
    approximates by itself (rule C2), an operation with a tensor of more than `max-elements` elements
    among its operands and results, and an operation that the interpreter refuses.
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", "65536", "The largest tensor that is read or made">,
  ];
}

def HoistDots : Octavo_Pass<"octavo-hoist-dots"> {
  let summary = "Multiplies what the rounds of a loop take of one stack all at once, before the loop";
  let description = [{
    In a loop that counts up to a constant, a dot of a `dynamic_slice` whose start steps through a
    stack evenly, forwards or backwards, and of a side that is the same in all rounds becomes one dot of
    the stack before the loop, of whose result each round takes a slice. The stack is the same in all
    rounds, too, and each slice lies within it; a reshape that leaves the axis out, converts, and a
    quantization whose blocks lie along the contracted axis may be between the slice and the dot. The
    other side may be moved about, converted or quantized in the loop.

    Values stay the same, and so do the bits of a compiled program: dots of plain floats of at most 32
    bits and of i8 are taken, of scaled tensors those of more than 16 rows a round, or of formats
    whose sums are integers (docs/semantics.md P10, D4).

    Each round reads the other side again. The dot is left where that has no more bytes than twice
    the result of a round, which is written and read once more, from 32 rows a round on, where reading is
    lost in the arithmetic, and where the results of all rounds have more than 32 MiB.
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
}

def SimplifyConverts : Octavo_Pass<"octavo-simplify-converts"> {
  let summary = "Leaves out converts that change no value";
  let description = [{
    A chain of `stablehlo.convert` from a float A by way of B to C becomes one convert from A to C, or
    nothing where C is A, if every value of A comes out as it did: infinities, signs of zeros and of NaN
    included, payloads of NaN not. A fake quantization, f32 to f8 to f32, stays.

    With `excess-precision` a chain whose middle type does not hold the values of A goes too, as XLA
    does where it is allowed to: that changes values, and each such convert gets a remark.

    `reduce-precision=converts` makes a `reduce_precision` the converts to a format and back that are
    equal to it for every value; `reduce-precision=operation` the reverse. Formats with the exponent
    field of the operand have it: f32 by bf16, f16 by f8E5M2. A narrower field differs in subnormals.
    A `reduce_precision` that keeps all bits of its operand goes.

    A division by constants that are powers of two becomes a product by their inverses, if these are
    values of the type: both are rounded once from the same number. No other division does.
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"excessPrecision", "excess-precision", "bool", "false",
           "Also leave out converts to a narrower type and back, which changes values">,
    Option<"reducePrecision", "reduce-precision", "std::string", "",
           "converts or operation: which of the two forms equal roundings get; default: the one they have">,
  ];
}

def NormalizeFloats : Octavo_Pass<"octavo-normalize-floats"> {
  let summary = "Computes in the float types that a target has";
  let description = [{
    Around each elementwise operation, dot, convolution, `reduce` and `reduce_window` with an operand or
    a result of a float type that the target does not compute in, converts go to f32 and back
    (arithmetic on f8E8M0FNU: f64). Data movement, `select` and `convert` keep their types, and so does
    everything else; operations of CHLO are legalized before.

    `add`, `subtract`, `multiply`, `divide`, `sqrt`, exact operations, dots, convolutions and reductions
    by one operation keep every bit that the interpreter gives. Other functions are rounded twice, to
    f32 and to their own type, which may differ in the last place.

    Where f32 or f64 is needed and the target lacks it too, that is an error. An operation whose meaning
    is bound to its type (`reduce_precision`, `batch_norm_*`, `cholesky` and their like, dots with an
    algorithm) is left, with a remark.

    | target | computes in | takes in dots |
    |---|---|---|
    | `xla-cpu` | f16, f32, f64 | the same |
    | `xla-gpu-sm89` | bf16, f16, f32, f64 | those, f8E4M3FN and f8E5M2, but not f8E5M2 on both sides |
    | `f32-only` | f32 | the same |
    | `bf16` | bf16, f32 | the same |
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"target", "target", "std::string", "", "xla-cpu, xla-gpu-sm89, f32-only or bf16">,
  ];
}

def RefineShapes : Octavo_Pass<"octavo-refine-shapes"> {
  let summary = "Makes the extents known that follow from the types of the arguments";
  let description = [{
    The function is given arguments of `types`, or keeps those that it has. What is known of their
    extents goes through its operations and regions; functions that it calls are copied for the types
    and the constants that they are called with. On the way computations on shapes are evaluated by
    the interpreter, operations that take shapes as operands (`dynamic_*`, `real_dynamic_slice`,
    `set_dimension_size`) become those that have them as attributes, branches that constants choose
    take the place of their operation, and the assertions of `jax.export` on shapes are dropped where
    they hold. Where one does not, its message is an error.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::octavo::chlo::CHLODialect",
                           "::octavo::stablehlo::StableHLODialect"];
  let options = [
    ListOption<"types", "types", "std::string", "The type of each argument, as in tensor<2x3xf32>,tensor<i32>">,
    Option<"function", "function", "std::string", "\"main\"", "The function to refine">,
  ];
}

// Legalizations: rewrite a dialect's operations as other operations of the same meaning. Their
// files are in Legalize/; CHLO's functions are in Legalize/CHLO/.

def LegalizeCHLO : Octavo_Pass<"octavo-legalize-chlo"> {
  let summary = "Makes operations of CHLO operations of StableHLO";
  let description = [{
    Each operation of CHLO becomes operations of StableHLO that compute the same. Implicit broadcasts
    become explicit ones. Functions become formulas in the element's own type, those of floats
    narrower than f32 in f32, rounded once; docs/generated/accuracy.md has the largest error found of each.
    Infinities, NaN, poles and the signs of zeros are those of the operation. Extents may be open:
    shapes are then computed where they are needed, by `get_dimension_size`.

    An operation that StableHLO has no tensors for is an error, and the others are legalized all the
    same.
  }];
  let dependentDialects = ["::octavo::stablehlo::StableHLODialect"];
}

def LegalizeComposites : Octavo_Pass<"octavo-legalize-composites"> {
  let summary = "Makes composites calls of their decompositions";
  let description = [{
    A `stablehlo.composite` means what the function means that it names as its decomposition. Each
    becomes a call of it, which `--inline` then opens, but for those whose name is in `keep`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [
    ListOption<"keep", "keep", "std::string", "Names of composites that are left">,
  ];
}

def LegalizeArith : Octavo_Pass<"octavo-legalize-arith"> {
  let summary = "Makes operations of arith and math on tensors operations of StableHLO";
  let description = [{
    Exporters leave constants and arithmetic of MLIR's own dialects in programs. Each operation on
    tensors that StableHLO has, with the same values, becomes StableHLO's. Left are those on scalars,
    on tensors of index, and those without a counterpart: unsigned arithmetic of signless integers,
    unordered comparisons, conversions that read i1 as -1 or keep its lowest bit, and roundings other
    than to nearest even. The interpreter evaluates them as they are. Inverse and hyperbolic functions
    and `math.isinf` become operations of CHLO.
  }];
  let dependentDialects = ["::octavo::chlo::CHLODialect", "::octavo::stablehlo::StableHLODialect"];
}

def InlineFusedDots : Octavo_Pass<"octavo-inline-fused-dots"> {
  let summary = "Puts the bodies of fused dots in their place";
  let description = [{
    Each `octavo.fused_dot` becomes the operations of its body, which mean the same: the inverse of
    `octavo-fuse-scaled-dots`.
  }];
  let dependentDialects = ["::octavo::ir::OctavoDialect"];
}

def FuseScaledDots : Octavo_Pass<"octavo-fuse-scaled-dots"> {
  let summary = "Makes products of scaled tensors and what follows them one operation";
  let description = [{
    Each `octavo.dot_general` with an epilogue becomes an `octavo.fused_dot`, whose body has the same
    operations, so that values stay the same, bit for bit. The epilogue is what follows the product
    element by element in the same block: scales (multiplied or divided), bias, residual,
    activations (relu, gelu, silu and what else those operations spell), clamp, and conversion, and
    the amax (`abs`, then a reduction by maximum) of any value on the way. What is used elsewhere
    too is one more result.

    Outer scales of `octavo.pack` on either of two scaled sides multiply the sum of f32 at the end: they
    become the epilogue's first operation, with the same bits.

    An epilogue ends with the conversion to a narrow float format. That needs a clamp at exactly the
    format's own least and largest values before it, or `overflow=allow`; an `octavo.convert` says
    itself what overflow does.

    Every dot gets a remark: what was fused, and the first obstacle to more.
  }];
  let dependentDialects = ["::octavo::ir::OctavoDialect", "::octavo::stablehlo::StableHLODialect"];
  let options = [
    Option<"overflow", "overflow", "std::string", "\"clamped\"",
           "Conversions to narrow formats that are fused: clamped (those whose operand is clamped to the format's limits), allow (all)">,
  ];
}

#endif // OCTAVO_TRANSFORMS_PASSES
