#include "octavo/Session/Trials/DotErrorsJson.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace octavo::session {

namespace {

using analysis::QuantizationLoss;
using Json = nlohmann::ordered_json;

double shareOf(std::int64_t count, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(count) / static_cast<double>(all);
}

Json numberOrNull(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

Json sideJson(const DotError& dot, std::size_t side) {
  const QuantizationLoss& loss = dot.sides[side];
  const format::ScaledFormat* format = (side == 0 ? dot.record.lhs : dot.record.rhs);
  Json json = {{"is", dot.record.isWeight[side] ? "weight" : "activation"},
               {"format", format != nullptr ? Json(format->name) : Json(nullptr)},
               {"values", loss.sums.values},
               {"non_finite", loss.sums.nonFinite},
               {"amax", loss.sums.amax}};
  json["sqnr"] = format != nullptr ? numberOrNull(loss.sums.sqnr()) : Json(nullptr);
  json["saturated"] =
      format != nullptr ? Json(shareOf(loss.saturated, loss.sums.values)) : Json(nullptr);
  json["underflowed"] =
      format != nullptr ? Json(shareOf(loss.sums.underflowed, loss.sums.values)) : Json(nullptr);
  return json;
}

} // namespace

Json json(const DotErrors& errors) {
  Json dots = Json::array();
  for (std::size_t i = 0; i < errors.dots.size(); ++i) {
    const DotError& dot = errors.dots[i];
    Json row = {{"name", dot.record.name},
                {"function", dot.record.function},
                {"sizes", dot.record.sizes()},
                {"quantized", dot.record.isQuantized},
                {"reason", dot.record.reason},
                {"runs", dot.runs},
                {"share", numberOrNull(dot.share)},
                {"sqnr", nullptr},
                {"sqnr_to_f32", nullptr},
                {"lhs", nullptr},
                {"rhs", nullptr},
                {"from", Json::array()}};
    if (dot.runs > 0) {
      row["sqnr"] = numberOrNull(dot.result.sqnr());
      row["sqnr_to_f32"] = numberOrNull(dot.accumulated.sqnr());
      row["lhs"] = sideJson(dot, 0);
      row["rhs"] = sideJson(dot, 1);
    }
    if (i < errors.graph.sources.size())
      row["from"] = errors.graph.sources[i];
    dots.push_back(std::move(row));
  }
  return {{"error", errors.error},
          {"non_finite", errors.nonFinite},
          {"outputs_counted", errors.counted},
          {"outputs_of_one_element_rows", errors.rowsOfOne},
          {"sum_of_shares", errors.sumOfShares()},
          {"dots", std::move(dots)}};
}

} // namespace octavo::session
