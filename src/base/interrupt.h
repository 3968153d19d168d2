// What Ctrl-C does: the first SIGINT, SIGTERM or SIGHUP makes a descriptor readable that all poll
// loops watch; the second kills all children and exits with 130 at once. Nothing else happens in
// the handler.
#pragma once

#include "base/files.h"
#include "base/result.h"

namespace fiel {

class Interrupt {
 public:
  /// Takes the signals until the object goes; at most one at a time (FIEL_CHECK). A signal that was
  /// ignored when we started (nohup) stays ignored.
  static Result<Interrupt> install();

  Interrupt(Interrupt&& other) noexcept = default;
  Interrupt& operator=(Interrupt&&) = delete;
  ~Interrupt();

  /// Readable for ever once cancelled; never read from it.
  int cancel_fd() const { return read_.get(); }
  bool cancelled() const;

 private:
  Interrupt(Fd read, Fd write) : read_(std::move(read)), write_(std::move(write)) {}
  Fd read_, write_;
};

/// A cancel_fd has something to say; false for -1.
bool is_cancelled(int cancel_fd);

}  // namespace fiel
