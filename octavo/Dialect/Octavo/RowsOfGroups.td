// octavo.rows_of_groups: selects from a product of all rows with the matrices of all groups the
// values of each row's own group.
#ifndef OCTAVO_DIALECT_OCTAVO_ROWSOFGROUPS
#define OCTAVO_DIALECT_OCTAVO_ROWSOFGROUPS

include "octavo/Dialect/Octavo/Octavo.td"

def Octavo_RowsOfGroupsOp : Octavo_Op<"rows_of_groups", [Pure]> {
  let summary = "Of each row what it has of its own group";
  let description = [{
    The groups are runs of rows, one after the other, as long as `group_sizes` says and cut where the
    rows end, as those of `chlo.ragged_dot`. A row of group g has `all[row, g]`, one of no group
    zeros. With the product of rows and the matrices of all groups it is a ragged dot of scaled
    tensors, of which compiled programs multiply each row by the matrix of its group alone.

    ```mlir
    %all = octavo.dot_general %x, %w, contracting_dims = [1] x [1]
        : (!octavo.scaled<11x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>,
           !octavo.scaled<3x64x7xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>) -> tensor<11x3x7xf32>
    %y = octavo.rows_of_groups %all, %sizes : (tensor<11x3x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
    ```

    Constraints:
    - (R1) there are two axes or more, the second of as many places as there are sizes.
    - (R2) the result has the other axes and the same elements.
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat]>:$all, 1DTensorOf<[AnyInteger]>:$group_sizes);
  let results = (outs RankedTensorOf<[AnyFloat]>:$result);
  let extraClassDeclaration = [{
    /// The result's type, inferred from the operand's.
    ::mlir::RankedTensorType inferredResult();
  }];
  let assemblyFormat =
      "$all `,` $group_sizes attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_OCTAVO_ROWSOFGROUPS
