// The interpreter dialect: requests of a program to the interpreter, for tests and for inspecting
// programs.
#ifndef OCTAVO_DIALECT_INTERPRETER_INTERPRETER
#define OCTAVO_DIALECT_INTERPRETER_INTERPRETER

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "octavo/Dialect/StableHLO/Base.td"

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::octavo::interpreter";
  let summary = "Printing, probing and running programs in parallel";
}

class Interpreter_Op<string mnemonic, list<Trait> traits = []>
    : Op<Interpreter_Dialect, mnemonic, traits>;

def Interpreter_PrintOp : Interpreter_Op<"print"> {
  let summary = "Prints a tensor";
  let description = [{
    Prints `%NAME = `, the type and the elements of its operand.

    ```mlir
    interpreter.print %x : tensor<2xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Interpreter_ProbeOp : Interpreter_Op<"probe", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "Writes a tensor to a file and gives it";
  let description = [{
    Writes its operand as NumPy file `probeN.npy` into the folder of `octavo run --probes`, where N
    counts from 1, and the line `probe_id,type,path` to `index.csv` there.

    ```mlir
    %y = interpreter.probe %x, probe_id = "p1" : tensor<3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, StrAttr:$probe_id);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($operand)";
}

def Interpreter_RunParallelOp
    : Interpreter_Op<"run_parallel", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs functions as the processes of a grid";
  let description = [{
    Runs `programs`, rows of replicas with a function for each partition, all at the same time.
    Operands and results are those of the functions, one after the other. `infeed` names functions
    without arguments, whose results `stablehlo.infeed` gives, in the order in which processes ask.

    ```mlir
    %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@p0], [@p1]]}
        : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyRankedTensor, StableHLO_Token]>>:$inputs,
                       OptionalAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "functions">>:$infeed,
                       TypedArrayAttrBase<TypedArrayAttrBase<FlatSymbolRefAttr, "functions">,
                                          "rows of functions">:$programs);
  let results = (outs Variadic<AnyTypeOf<[AnyRankedTensor, StableHLO_Token]>>:$results);
}

#endif // OCTAVO_DIALECT_INTERPRETER_INTERPRETER
