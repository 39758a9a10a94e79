// What is wrong with options is told without the program, and with the options that there are.
// RUN: not octavo-opt %s --octavo-emit=bogus 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not octavo-opt %s --octavo-drop-scales=all 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not octavo-opt %s --octavo-emit="qdq xla-scaled-dot" 2>&1 | FileCheck %s --check-prefix=FORMS --implicit-check-not=func.func
// RUN: not octavo-opt %s --octavo-quantize-dots=weights=fp3 2>&1 | FileCheck %s --check-prefix=WEIGHTS --implicit-check-not=func.func
// RUN: not octavo-opt %s --octavo-fuse-scaled-dots=overflow=wrap 2>&1 | FileCheck %s --check-prefix=OVERFLOW --implicit-check-not=func.func
// RUN: not octavo-opt %s --octavo-normalize-floats=target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET --implicit-check-not=func.func
// RUN: not octavo-opt %s --octavo-simplify-converts=reduce-precision=both 2>&1 | FileCheck %s --check-prefix=PRECISION --implicit-check-not=func.func
// RUN: not octavo-opt %s --octavo-refine-shapes=function=other 2>&1 | FileCheck %s --check-prefix=FUNCTION --implicit-check-not=func.func

// FORM: error: octavo-emit: no such option bogus; its options, with their defaults: octavo-emit{qdq=false xla-custom-calls=false xla-scaled-dot=false}
// NONE: error: octavo-drop-scales: no such option all; its options, with their defaults: octavo-drop-scales
// FORMS: error: octavo-emit: writes one form: qdq, xla-scaled-dot or xla-custom-calls
// WEIGHTS: error: octavo-quantize-dots: weights: no scaled format "fp3"; {{.*}}available: mxfp8_e4m3
// OVERFLOW: error: octavo-fuse-scaled-dots: no overflow "wrap"; available: clamped allow
// TARGET: error: octavo-normalize-floats: no target 'tpu'; available: xla-cpu xla-gpu-sm89 f32-only bf16
// PRECISION: error: octavo-simplify-converts: reduce-precision is converts or operation; found 'both'
// FUNCTION: error: octavo-refine-shapes: there is no function @other to refine; name one with the option function

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
