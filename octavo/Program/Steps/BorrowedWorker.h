// A thread's memory for a while.
#pragma once

#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// A worker of the frame for as long as it is in use.
class BorrowedWorker {
public:
  explicit BorrowedWorker(Frame& frame) : frame(frame), worker(frame.workers.take()) {
    if (!worker)
      worker = std::make_unique<Worker>();
  }
  BorrowedWorker(const BorrowedWorker&) = delete;
  BorrowedWorker& operator=(const BorrowedWorker&) = delete;
  ~BorrowedWorker() { frame.workers.giveBack(std::move(worker)); }
  Worker& operator*() const { return *worker; }
  Worker* operator->() const { return worker.get(); }

private:
  Frame& frame;
  std::unique_ptr<Worker> worker;
};

} // namespace octavo::program
