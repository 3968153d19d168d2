// One worker on a machine of the fleet, for pool/fleet.cpp alone: what can't be seen or done through a launcher goes by the
// machine's keeper, and a machine that is gone is told from a worker that failed.
#pragma once

#include "pool/fleet.h"

namespace fiel {

/// A worker on a place; lives no longer than its fleet.
class FleetWorker : public Worker {
 public:
  FleetWorker(Fleet& fleet, Place& place, std::unique_ptr<Worker> inner, std::int64_t process)
      : fleet_(fleet), place_(place), inner_(std::move(inner)), process_(process) {}
  ~FleetWorker() override;

  Answer call(Json request, double deadline_seconds) override;
  void begin(Json request, double deadline_seconds) override {
    if (paused_) resume();
    inner_->begin(std::move(request), deadline_seconds);
  }
  Answer finish() override;
  bool wait(double seconds) override { return inner_->wait(seconds); }
  bool busy() const override { return inner_->busy(); }
  void look() override { inner_->look(); }
  void pause() override {
    paused_ = true;
    tell("stop");
  }
  void resume() override {
    paused_ = false;
    tell("continue");
  }
  WorkerUsage usage() override {
    (void)look_there();
    return usage_;
  }
  const std::filesystem::path& scratch() const override { return inner_->scratch(); }
  bool alive() const override { return inner_->alive() && !place_.lost; }

 private:
  void tell(const char* what);
  std::optional<Json> look_there();
  void end() {
    if (!ended_ && !place_.lost) tell("end");
    ended_ = true;
  }

  Fleet& fleet_;
  Place& place_;
  std::unique_ptr<Worker> inner_;
  std::int64_t process_;
  WorkerUsage usage_;
  bool paused_ = false, ended_ = false, lost_ = false;
};

}  // namespace fiel
