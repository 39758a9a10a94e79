// Channels family: send and recv between processes, infeed and outfeed between host and program.
#ifndef OCTAVO_DIALECT_STABLEHLO_CHANNELS_TD
#define OCTAVO_DIALECT_STABLEHLO_CHANNELS_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_StaticTensorOrToken : AnyTypeOf<[StableHLO_StaticTensorOrPerAxis, StableHLO_Token]>;

def StableHLO_InfeedOp : StableHLO_Op<"infeed"> {
  let arguments = (ins
    StableHLO_Token:$token,
    DefaultValuedOptionalAttr<StrAttr, "\"\"">:$infeed_config,
    OptionalAttr<ArrayAttr>:$layout
  );
  let results = (outs Variadic<StableHLO_StaticTensorOrToken>:$results);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp : StableHLO_Op<"outfeed"> {
  let arguments = (ins
    Variadic<StableHLO_TensorOrPerAxis>:$inputs,
    StableHLO_Token:$token,
    DefaultValuedOptionalAttr<StrAttr, "\"\"">:$outfeed_config
  );
  let results = (outs StableHLO_Token:$result);
}

def StableHLO_RecvOp : StableHLO_Op<"recv"> {
  let arguments = (ins
    StableHLO_Token:$token,
    StableHLO_ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs
  );
  let results = (outs Variadic<StableHLO_StaticTensorOrToken>:$results);
  let hasVerifier = 1;
}

def StableHLO_SendOp : StableHLO_Op<"send"> {
  let arguments = (ins
    Variadic<StableHLO_TensorOrPerAxis>:$inputs,
    StableHLO_Token:$token,
    StableHLO_ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs
  );
  let results = (outs StableHLO_Token:$result);
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_CHANNELS_TD
