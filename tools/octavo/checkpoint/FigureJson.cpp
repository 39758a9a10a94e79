#include "tools/octavo/checkpoint/FigureJson.h"

#include "octavo/Checkpoint/FindingRules.h"

#include <cmath>

namespace octavo::tools {

using checkpoint::Json;
using checkpoint::ScaleHistogram;

Json figureJson(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json scalesJson(const checkpoint::ScaleCensus& census, const ScaleHistogram& histogram) {
  Json faults, bins = Json::array();
  for (std::size_t fault = 0; fault < kFaultNames.size(); ++fault)
    faults[std::string(kFaultNames[fault])] = census.faults[fault];
  for (int exponent = ScaleHistogram::kLowest; exponent <= ScaleHistogram::kHighest; ++exponent)
    if (histogram[exponent] > 0)
      bins.push_back({{"exponent", exponent}, {"count", histogram[exponent]}});
  const bool hasRange = census.largest > 0;
  return {{"count", census.count},
          {"smallest", hasRange ? Json(census.smallest) : Json()},
          {"largest", hasRange ? Json(census.largest) : Json()},
          {"faults", faults},
          {"histogram", bins}};
}

Json differenceJson(const checkpoint::WeightDifference& difference) {
  return {{"name", difference.name},
          {"sameness", samenessName(difference.sameness)},
          {"first", difference.first},
          {"second", difference.second},
          {"why", difference.why},
          {"elements", difference.elements},
          {"differing", difference.differing},
          {"zero_signs", difference.zeroSigns},
          {"max_absolute", figureJson(difference.maxAbsolute)},
          {"max_relative", figureJson(difference.maxRelative)},
          {"of_amax", figureJson(difference.ofAmax)},
          {"rms", figureJson(difference.rms)}};
}

Json findingsJson(const checkpoint::Findings& findings) {
  Json json = Json::array();
  for (const checkpoint::Finding& finding : findings)
    json.push_back({{"rule", finding.rule.text()},
                    {"severity", checkpoint::severityName(finding.severity)},
                    {"file", finding.file},
                    {"tensor", finding.tensor},
                    {"what", finding.what},
                    {"why", finding.why},
                    {"fix", finding.fix}});
  return json;
}

} // namespace octavo::tools
