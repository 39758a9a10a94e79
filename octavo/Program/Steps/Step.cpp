#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

std::string_view name(StepFacts::Kind kind) {
  switch (kind) {
  case StepFacts::Kind::Kernel:
    return "kernel";
  case StepFacts::Kind::Product:
    return "product";
  case StepFacts::Kind::Pack:
    return "pack";
  case StepFacts::Kind::Quantize:
    return "quantize";
  case StepFacts::Kind::Dequantize:
    return "dequantize";
  case StepFacts::Kind::Chain:
    return "chain";
  case StepFacts::Kind::Update:
    return "update";
  case StepFacts::Kind::Sort:
    return "sort";
  case StepFacts::Kind::RandomBits:
    return "random bits";
  case StepFacts::Kind::Cholesky:
    return "cholesky";
  case StepFacts::Kind::TriangularSolve:
    return "triangular solve";
  case StepFacts::Kind::Fourier:
    return "fourier transform";
  case StepFacts::Kind::Running:
    return "running";
  case StepFacts::Kind::Copy:
    return "copy";
  case StepFacts::Kind::Loop:
    return "loop";
  case StepFacts::Kind::Branch:
    return "branch";
  case StepFacts::Kind::Function:
    return "function";
  case StepFacts::Kind::Call:
    return "call";
  case StepFacts::Kind::Interpreted:
    return "interpreted";
  }
}

Outcome failure(const Step& step, const std::string& message) {
  const OperationText& op = *step.operation();
  return tl::make_unexpected(op.location + ": '" + op.name + "': " + message);
}

Outcome interruption(const Step& step) {
  return failure(step, "interrupted here, in @" + step.operation()->function);
}

Outcome Sequence::bind(const Binding& binding) const {
  for (const std::unique_ptr<Step>& step : steps) {
    if (auto bound = step->bind(binding); !bound)
      return bound;
    for (const Sequence* nested : step->nested())
      if (auto bound = nested->bind(binding); !bound)
        return bound;
  }
  return {};
}

Outcome Sequence::run(Frame& frame) const {
  const RunContext& host = *frame.host;
  for (const std::unique_ptr<Step>& step : steps) {
    if (host.at != nullptr)
      host.at->store(step->operation().get(), std::memory_order_release);
    if (host.isInterrupted && host.isInterrupted())
      return interruption(*step);
    const Timed timed(host.profile, step.get(), Profile::Extent::Whole);
    if (Outcome outcome = step->run(frame); !outcome)
      return outcome;
  }
  return {};
}

} // namespace octavo::program
