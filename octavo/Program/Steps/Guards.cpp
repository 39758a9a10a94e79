#include "octavo/Program/Steps/Guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace octavo::program {

namespace {

std::span<std::byte> memoryOf(const Frame& frame, const Guards::Piece& piece) {
  return {frame.at(piece.slot), piece.bytes};
}

std::span<std::byte> guardOf(const Frame& frame, const Guards::Piece& piece) {
  return {frame.at(piece.slot) + piece.bytes, kGuardBytes};
}

} // namespace

void Guards::open(Frame& frame, const Piece& piece) {
  std::ranges::fill(memoryOf(frame, piece), kNobodys);
  guard(frame, piece);
}

void Guards::guard(Frame& frame, const Piece& piece) {
  std::ranges::fill(guardOf(frame, piece), kGuard);
  frame.isGuarded[static_cast<std::size_t>(piece.slot.number)] = true;
}

void Guards::begin(Frame& frame) const {
  frame.isGuarded.assign(frame.whole.memory.size(), false);
  for (const Piece& piece : pieces)
    if (piece.first == 0)
      open(frame, piece);
}

void Guards::beforeStep(Frame& frame, int number) const {
  for (const Piece& piece : pieces)
    if (piece.first == number && number != 0)
      open(frame, piece);
}

void Guards::afterNested(Frame& frame, int number) const {
  for (const Piece& piece : pieces)
    if (piece.first == number)
      guard(frame, piece);
}

int Guards::afterStep(Frame& frame, int number) const {
  for (const Piece& piece : pieces) {
    auto isGuarded = frame.isGuarded[static_cast<std::size_t>(piece.slot.number)];
    if (piece.last < number) // no step has that number
      isGuarded = false;
    if (!isGuarded) // in a branch that was not taken, or not in use
      continue;
    if (std::ranges::any_of(guardOf(frame, piece), [](std::byte each) { return each != kGuard; }))
      return piece.slot.number;
    if (piece.last == number) {
      std::ranges::fill(memoryOf(frame, piece), kNobodys);
      isGuarded = false;
    }
  }
  return -1;
}

Outcome GuardedStep::run(Frame& frame) const {
  const StepFacts::Kind kind = guarded->facts().kind;
  const bool runsOthers = kind == StepFacts::Kind::Loop || kind == StepFacts::Kind::Branch;
  if (!runsOthers)
    guards->beforeStep(frame, number);
  if (Outcome outcome = guarded->run(frame); !outcome)
    return outcome;
  if (runsOthers)
    guards->afterNested(frame, number);
  if (const int slot = guards->afterStep(frame, number); slot >= 0)
    return failure(*this, fmt::format("it wrote beyond slot {}: a mistake in octavo", slot));
  return {};
}

} // namespace octavo::program
