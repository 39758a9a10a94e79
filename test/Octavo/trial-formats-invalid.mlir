// REQUIRES: trial-formats
// RUN: octavo-opt %s -split-input-file -verify-diagnostics
// Codes of 5 bits, which a build with OCTAVO_TRIAL_FORMATS has and MLIR has no type of, are in ui8.

func.func @unpack(%q: !octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>) {
  // expected-error @+1 {{'octavo.unpack' op (P1) the elements of '!octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>' are 'tensor<2x4xui8>', found 'tensor<2x4xi8>'}}
  %e, %s = octavo.unpack %q : (!octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>) -> (tensor<2x4xi8>, tensor<2x1xf8E8M0FNU>)
  return
}

// -----

// expected-error @+1 {{e2m2fn cannot be a scale}}
func.func private @scale(!octavo.scaled<4xf8E4M3FN, scale e2m2fn, block [4]>)
