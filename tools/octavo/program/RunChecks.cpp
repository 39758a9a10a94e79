#include "tools/octavo/program/RunChecks.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/Interruption.h"

#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Session/Binding/Program.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>

namespace octavo::tools {

namespace {

using Json = nlohmann::ordered_json;

Json failuresJson(const program::CheckReport& report) {
  Json failures = Json::array();
  for (const program::CheckFailure& failure : report.failures)
    failures.push_back({{"operation", failure.operation},
                        {"location", failure.location},
                        {"index", failure.index},
                        {"expected", failure.expected},
                        {"found", failure.found},
                        {"elements", failure.count}});
  return failures;
}

} // namespace

ExitCode evaluationFailed() {
  return Interruption::isAsked() ? ExitCode::Interrupted : ExitCode::BadInput;
}

void runChecks(mlir::ModuleOp program, const std::string& path, const session::Backend& backend,
               const program::RunContext& host, ReportFormat format) {
  Json functions = Json::array();
  std::int64_t held = 0, failed = 0;
  for (mlir::func::FuncOp function : session::selfChecks(program)) {
    const std::string name = function.getName().str();
    const ElapsedTime time(fmt::format("checking @{}", name));
    program::CheckReport report;
    const auto run = [&]() -> llvm::Error {
      auto executable = backend.prepare(program, name);
      if (!executable)
        return executable.takeError();
      program::RunContext own = host;
      own.checks = &report;
      return llvmExpected((*executable)->run({}, own)).takeError();
    };
    if (llvm::Error error = run())
      throw CommandError(fmt::format("{}: @{} could not be evaluated: {}", path, name,
                                     llvm::toString(std::move(error))),
                         evaluationFailed());
    held += report.held;
    failed += static_cast<std::int64_t>(report.failures.size());
    if (format == ReportFormat::Json) {
      functions.push_back({{"name", name},
                           {"held", report.held},
                           {"seconds", time.seconds()},
                           {"failed", failuresJson(report)}});
      continue;
    }
    printText(fmt::format("@{}: {} held, {} failed\n", name, report.held, report.failures.size()));
    for (const program::CheckFailure& failure : report.failures)
      printText(fmt::format("  {}\n", failure.message()));
  }
  if (format == ReportFormat::Json)
    printText(fmt::format(
        "{}\n", Json{{"program", path}, {"backend", backend.name}, {"functions", functions}}.dump(
                    2, ' ', false, Json::error_handler_t::replace)));
  if (failed > 0)
    throw CommandError(fmt::format("{}: {} of {} checks failed", path, failed, held + failed),
                       ExitCode::CheckFailed);
}

} // namespace octavo::tools
