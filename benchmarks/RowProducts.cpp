// Products that quantize f32 rows on the way beside quantizing and packing all rows and then
// multiplying, and beside the product alone of rows packed beforehand, all in turn. Gop/s are of 2
// M N K; x_pack_first and of_product are ratios of speed.
#include "Measure.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Product/RowProduct.h"

#include <fmt/format.h>
#include <memory>
#include <vector>

using namespace octavo;
using kernels::Isa;

namespace {

struct Shape {
  std::int64_t m, n, k;
};
/// The shapes of MiniLM, and one more.
constexpr Shape kShapes[] = {
    {1024, 384, 384}, {1024, 1536, 384}, {1024, 384, 1536}, {1024, 1024, 1024}};

struct Formats {
  const char* left; ///< a scaled format, or f32
  const char* right;
};
constexpr Formats kFormats[] = {{"mxfp4", "mxfp4"},
                                {"mxint8", "mxint8"},
                                {"mxfp6_e2m3", "mxfp6_e2m3"},
                                {"nvfp4", "nvfp4"},
                                {"mxfp8_e4m3", "mxfp8_e4m3"},
                                {"fp8_row", "fp8_row"},
                                {"fp8_group", "fp8_block"},
                                {"f32", "mxfp4"},
                                {"f32", "mxint8"},
                                {"f32", "mxfp8_e4m3"}};

kernels::OperandFormat formatOf(std::string_view name) {
  return name == "f32" ? kernels::floatOperand()
                       : kernels::operandFormat(*format::findScaledFormat(name));
}

/// What the closures of one measurement share.
struct Operands {
  kernels::ProductPlan plan;
  Shape shape;
  kernels::Execution execution;
  std::vector<float> x, c;
  kernels::PackedOperand right{}, left{}, packed{};

  Operands(const Formats& formats, const Shape& shape, Isa isa, int threads)
      : plan(kernels::productPlan(formatOf(formats.left), formatOf(formats.right), shape.k, isa)
                 .value()),
        shape(shape), execution{.isa = isa, .threads = threads},
        x(static_cast<std::size_t>(shape.m * shape.k)),
        c(static_cast<std::size_t>(shape.m * shape.n)) {
    benchmarks::fillNormal(x.data(), x.size(), 1.0f);
    std::vector<float> y(static_cast<std::size_t>(shape.n * shape.k));
    benchmarks::fillNormal(y.data(), y.size(), 1.0f);
    const format::ScaledFormat& format = *format::findScaledFormat(formats.right);
    numerics::ScaledType type{format.element, format.scale, {}, format.hasOuterScale};
    const std::vector<std::int64_t> extents{shape.n, shape.k};
    type.block = format::blockShape(format, extents, 1);
    right = pack(numerics::quantize(y, extents, type, {}).tensor, kernels::Side::Right, plan,
                 execution);
    packed = packedLeft({});
  }
  kernels::PackedOperand packedLeft(kernels::PackedOperand&& old) {
    return plan.left.scale ? quantizeAndPack(x, plan, {}, execution, std::move(old)).value()
                           : pack(std::span<const float>(x), plan, execution, std::move(old));
  }
};

/// Operands made on first use: making them for all measurements takes long.
class MadeOnUse {
public:
  MadeOnUse(const Formats& formats, const Shape& shape, Isa isa, int threads)
      : formats(formats), shape(shape), isa(isa), threads(threads) {}
  Operands* operator->() {
    if (!made)
      made = std::make_unique<Operands>(formats, shape, isa, threads);
    return made.get();
  }

private:
  Formats formats;
  Shape shape;
  Isa isa;
  int threads;
  std::unique_ptr<Operands> made;
};

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (Isa isa : {Isa::Avx512, Isa::Avx2}) {
    if (auto why = kernels::whyNot(isa)) {
      fmt::print("not run: {}\n", *why);
      continue;
    }
    for (const Formats& formats : kFormats)
      for (const Shape& shape : kShapes)
        for (int threads : {1, 2}) {
          auto of = std::make_shared<MadeOnUse>(formats, shape, isa, threads);
          benchmarks::registerMeasurement(
              {.name = fmt::format("row-product/{}*{}/{}/{}x{}x{}/{}T", formats.left, formats.right,
                                   kernels::isaName(isa), shape.m, shape.n, shape.k, threads),
               .work = 2.0 * static_cast<double>(shape.m * shape.n) * static_cast<double>(shape.k),
               .unit = "Gop/s",
               .threads = threads,
               .kernel =
                   [of] {
                     (void)multiplyRows((*of)->plan, (*of)->x.data(), (*of)->shape.k,
                                        (*of)->shape.m, (*of)->right, (*of)->c.data(),
                                        (*of)->shape.n, {}, (*of)->execution);
                   },
               .beside = {{"x_pack_first",
                           [of] {
                             (*of)->left = (*of)->packedLeft(std::move((*of)->left));
                             multiply((*of)->plan, (*of)->left, (*of)->right, (*of)->c,
                                      (*of)->execution);
                           }},
                          {"of_product", [of] {
                             multiply((*of)->plan, (*of)->packed, (*of)->right, (*of)->c,
                                      (*of)->execution);
                           }}}});
        }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
