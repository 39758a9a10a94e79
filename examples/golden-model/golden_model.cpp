// MXFP4 by hand, as hardware does it with comparators and integers, held against octavo's golden
// model. Stands for an implementation of yours.
//
//   octavo vectors mxfp4 --blocks 1000 > vectors.csv
//   golden_model vectors.csv
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Dot.h"
#include "octavo/Numerics/Scaled.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace octavo;

constexpr std::int64_t kBlock = 32;

/// The scale byte of a block: floor(log2(largest magnitude)) - 2, since 4 = 2^2 is the largest
/// power of two of E2M1 (OCP MX 6.3). 0 is the byte of a block of zeros.
std::uint8_t scaleByHand(const std::vector<float>& block) {
  float largest = 0;
  for (float value : block)
    largest = std::max(largest, std::fabs(value));
  if (largest == 0)
    return 0;
  return static_cast<std::uint8_t>(std::clamp(std::ilogb(largest) - 2 + 127, 0, 254));
}

/// The code of one element: seven comparators, at the midpoints of 0, 0.5, 1, 1.5, 2, 3, 4, 6. On a
/// tie the even code wins, so every other comparator includes its midpoint.
std::uint8_t elementByHand(float value, std::uint8_t scale) {
  constexpr double kMidpoints[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
  const double magnitude = std::ldexp(std::fabs(double{value}), 127 - scale);
  std::uint8_t code = 0;
  for (int i = 0; i < 7; ++i)
    code += i % 2 == 0 ? magnitude > kMidpoints[i] : magnitude >= kMidpoints[i];
  return code | (std::signbit(value) ? 8 : 0);
}

/// The dot of two blocks: elements count halves, so products count quarters, in integers; then both
/// scales, and one rounding to f32 (OCP MX 6.2).
float dotByHand(const std::vector<std::uint8_t>& a, std::uint8_t aScale,
                const std::vector<std::uint8_t>& b, std::uint8_t bScale) {
  constexpr int kHalves[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  int quarters = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    quarters += kHalves[a[i]] * kHalves[b[i]];
  return static_cast<float>(std::ldexp(quarters, aScale + bScale - 2 * 127 - 2));
}

/// One line of `octavo vectors mxfp4`: 32 inputs as bits of f32, the scale, 32 codes.
struct Vector {
  std::vector<float> inputs;
  std::uint8_t scale;
  std::vector<std::uint8_t> elements;
};

Vector parse(const std::string& line) {
  std::stringstream cells(line);
  std::string inputs, scale, elements, number;
  std::getline(cells, inputs, ',');
  std::getline(cells, scale, ',');
  std::getline(cells, elements);
  Vector vector{{}, static_cast<std::uint8_t>(std::stoul(scale, nullptr, 16)), {}};
  for (std::stringstream numbers(inputs); numbers >> number;)
    vector.inputs.push_back(
        std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(number, nullptr, 16))));
  for (std::stringstream numbers(elements); numbers >> number;)
    vector.elements.push_back(static_cast<std::uint8_t>(std::stoul(number, nullptr, 16)));
  return vector;
}

/// What the golden model makes of a block, called as a library.
numerics::ScaledTensor golden(const std::vector<float>& block) {
  const format::ScaledFormat& format = *format::findScaledFormat("mxfp4");
  const numerics::ScaledType type{format.element, format.scale, {kBlock}, format.hasOuterScale};
  const std::int64_t shape[] = {kBlock};
  return numerics::quantize(block, shape, type, {.rule = format.rule}).tensor;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: golden_model vectors.csv\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::string line;
  std::getline(file, line); // the header
  int blocks = 0, wrong = 0;
  Vector last{std::vector<float>(kBlock), 0, std::vector<std::uint8_t>(kBlock)};
  while (std::getline(file, line)) {
    const Vector vector = parse(line);
    const std::uint8_t scale = scaleByHand(vector.inputs);
    std::vector<std::uint8_t> elements;
    for (float value : vector.inputs)
      elements.push_back(elementByHand(value, scale));

    const numerics::ScaledTensor expected = golden(vector.inputs);
    const auto scaled = [](const numerics::ScaledTensor& tensor) {
      return numerics::ScaledVector{tensor.type.element, tensor.type.scale, kBlock, tensor.elements,
                                    tensor.scales};
    };
    const float dot = numerics::dot(scaled(expected), scaled(golden(last.inputs)));
    wrong += scale != vector.scale || elements != vector.elements || scale != expected.scales[0] ||
             elements != expected.elements ||
             dot != dotByHand(elements, scale, last.elements, last.scale);
    last = vector;
    ++blocks;
  }
  std::printf("%d blocks, %d wrong\n", blocks, wrong);
  return blocks > 0 && wrong == 0 ? 0 : 1;
}
