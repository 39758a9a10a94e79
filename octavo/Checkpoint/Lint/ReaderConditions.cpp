#include "octavo/Checkpoint/Lint/ReaderConditions.h"

#include "octavo/Checkpoint/Layouts/Configuration.h"

namespace octavo::checkpoint {

void report(RuleName rule, Findings& findings, const StoredTensor* tensor, std::string what) {
  findings.push_back(finding(rule, tensor ? tensor->shard->name() : "",
                             tensor ? tensor->name() : "", std::move(what)));
}

std::string quantMethod(const Folder& folder) {
  const Json& method = memberAt(folder.quantizationConfig(), {"quant_method"});
  if (method.is_string())
    return method.get<std::string>();
  return memberAt(folder.quantConfig(), {"quantization"}).is_object() ? "modelopt" : "";
}

bool isModelOpt(const Folder& folder) { return quantMethod(folder).starts_with("modelopt"); }

bool hasFormat(const Layer& layer, std::string_view name) {
  return layer.format && layer.format->name == name;
}

} // namespace octavo::checkpoint
