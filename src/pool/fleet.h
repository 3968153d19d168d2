// Workers on a machine that somebody else hands out: a launcher (srun, ssh, kubectl exec) stands in front of each, and the
// protocol passes through it as it is. Knows no scheduler: what it says in front of a command is the contract's.
//
// With a crew (pool/crew.h), each of its seats has a machine, and what is said here of one machine holds of the calling thread's.
//
// A keeper (pool/node.h) comes first. While it lives, its machine is ours, and all workers join it there: what is compared runs
// on one machine. It answers for what can't be seen from here (memory, CPU time, a paused group). A keeper that is gone takes
// its workers with it; the next one must come up on the same kind of machine.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pool/crew.h"
#include "pool/node.h"
#include "pool/worker.h"

namespace fiel {

struct FleetOptions {
  std::vector<std::string> launcher;   // gets a machine for the words after it
  std::vector<std::string> join;       // starts them on one that we have; {node} and {job} are replaced
  std::vector<std::string> cancel = {};  // frees one that was lost, in case it only seems so
  double wait_seconds = 3600;          // for a machine
  double patience_seconds = 15;        // for an answer of one that we have, which may be busy with something else
  std::filesystem::path node_program;  // fiel-node
  std::filesystem::path folder;        // of the run; the machines must see it
  std::vector<std::filesystem::path> files = {};  // and these
  std::function<void(std::string_view)> say = {};  // one line: which machine came, waited for, was lost
  int cancel_fd = -1;
};

/// A machine that was ours at some time.
struct Place {
  int number = 0;  // counts them
  std::unique_ptr<Worker> keeper;
  NodeFacts facts;
  bool lost = false;
};

class Fleet : public WorkerPool {
 public:
  explicit Fleet(FleetOptions options);
  ~Fleet() override;  // gives the machine back

  /// Once, before anything is started.
  void man(Crew& crew) { crew_ = &crew; }

  /// A failure to come to a machine at all has the phase kLaunch and is no worker's fault.
  static constexpr std::string_view kLaunch = "launch";
  std::variant<std::unique_ptr<Worker>, Failure> start(const WorkerSpec& spec) override;
  MachineTimes machine_times() override;

  /// The machine that we have, or that we now wait for.
  std::variant<const Place*, Failure> place();
  /// The last one that we had; null before the first.
  const Place* latest() const { return here().place; }
  /// Our machine is not fit for this run, for this reason: what runs there counts as lost, and the next one is another.
  void refuse(const std::string& why);
  /// Only machines with this CPU will do; otherwise the first one says which.
  void bind(std::string cpu, std::int64_t cpu_count);
  /// How many workers were at work on a machine that was lost: what they did must be done again.
  int workers_lost() const { return here().workers_lost; }

  // For a crew: see Crew::Options.
  bool prepare();
  void leave();
  void hurry(int seat);

 private:
  friend class FleetWorker;
  struct Kind {
    std::string cpu;
    std::int64_t cpu_count = 0;
  };

  struct Seat {
    Place* place = nullptr;
    int workers_lost = 0;
    Fd hurried, cancelled;  // cancelled: by the user, or hurried
    std::unique_ptr<WorkerPool> keepers;
  };

  static Failure failed(FailureKind kind, std::string message);
  Seat& here();
  const Seat& here() const { return const_cast<Fleet*>(this)->here(); }
  Baton* baton() const { return crew_ == nullptr ? nullptr : &crew_->baton(); }
  std::variant<std::unique_ptr<Place>, Failure> open_place();
  bool is_ours(const NodeFacts& facts) const;
  void give_back(Place& place);
  /// finish(), or that the machine does not answer meanwhile.
  Answer wait_there(Place& place, Worker& worker);
  void cancel_job(const Place& place);
  Answer call(Worker& worker, Json request, double deadline_seconds);
  std::variant<std::unique_ptr<Worker>, Failure> join(Place& place, const WorkerSpec& spec);
  WorkerSpec launched(std::vector<std::string> argv, const WorkerSpec& spec) const;
  Json needs() const;
  /// nullopt: it is lost, now if not before.
  std::optional<Json> ask(Place& place, Json request);
  Failure launch_failure(const std::vector<std::string>& words, Failure failure, double seconds) const;
  void say(const std::string& line) const;

  FleetOptions options_;
  std::string token_;
  Crew* crew_ = nullptr;
  std::unique_ptr<WorkerPool> pool_;  // of the launchers that join
  std::map<int, Seat> seats_;
  std::vector<std::unique_ptr<Place>> places_;  // all of them, since workers refer to theirs
  int places_opened_ = 0;
  std::optional<Kind> kind_;
};

/// "node n2, job 17".
std::string to_string(const NodeFacts& facts);

}  // namespace fiel
