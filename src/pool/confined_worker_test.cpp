// A worker that its model took over: what it puts in our way, what it tries outside its folders, and how many it becomes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/confine.h"
#include "pool/pool_fixture.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ConfinedWorkerTest : public WorkerTest {
 protected:
  ConfinedWorkerTest() {
    EXPECT_TRUE(ensure_folder(home_));
    EXPECT_TRUE(write_atomic(home_ / "precious", "as it was"));
  }
  ~ConfinedWorkerTest() override {
    EXPECT_EQ(read_text(home_ / "precious").value(), "as it was");
    EXPECT_EQ(std::distance(fs::directory_iterator(home_), fs::directory_iterator()), 1);
  }

  /// The scripted worker after some lines of Python in its place.
  WorkerSpec spec_after(const std::string& python) {
    auto argv = fake_argv("{}");
    const std::string then = fmt::format("\nimport os; os.execv('{0}', ['{0}', '{1}'])", argv[0], argv[1]);
    return spec({FIEL_PYTHON, "-c", python + then});
  }

  fs::path home_ = folder_.path() / "home";  // of the user, say
};

TEST_F(ConfinedWorkerTest, ALinkInPlaceOfItsOutputFolderIsNotFollowed) {
  const auto worker = start_fake();
  bring_up(*worker);
  value_of(request_infer(*worker, infer_order({1}), kSeconds));
  fs::remove_all(worker->scratch() / "out");
  fs::create_directory_symlink(home_, worker->scratch() / "out");
  value_of(request_infer(*worker, infer_order({2}), kSeconds));
  EXPECT_FALSE(fs::is_symlink(worker->scratch() / "out"));
}

TEST_F(ConfinedWorkerTest, ALinkInPlaceOfItsArrivalsIsNotFollowed) {
  const auto worker = start_fake();
  bring_up(*worker);
  fs::create_symlink(home_ / "precious", worker->scratch() / "arrivals.f64");
  MeasureOrder order = measure_order();
  order.scenario = Scenario::kServer;
  order.arrivals_seconds = {0, 0.1};
  value_of(request_measure(*worker, order, kSeconds));
}

TEST_F(ConfinedWorkerTest, ItWorksThoughItCanNotWriteElsewhere) {
  if (kernel_guards().landlock == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const WorkerSpec tries = spec_after(fmt::format(R"(
import os, sys, tempfile
for path in ('{0}/precious', '{0}/new', '{1}', os.path.expanduser('~/.fiel-test')):
    try: open(path, 'w'); print('WROTE', path, file=sys.stderr)
    except OSError: print('refused', path, file=sys.stderr)
tempfile.TemporaryFile().write(b'temporary files have a place')
)", home_.string(), (folder_.path() / "log0").string()));
  const auto worker = start(tries);
  EXPECT_FALSE(drive(*worker));
  const std::string log = read_text(tries.log).value();
  EXPECT_THAT(log, ::testing::Not(HasSubstr("WROTE")));
  EXPECT_THAT(log, HasSubstr("refused"));
}

TEST_F(ConfinedWorkerTest, OneThatForksWithoutEndIsEndedWithAllOfThem) {
  const auto worker = start(spec_after(R"(
import os, time
for _ in range(800):
    if os.fork() == 0: time.sleep(60)
time.sleep(60))"));
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, FailureKind::kProtocol);
  EXPECT_THAT(failure->message, HasSubstr("512 processes"));
}

}  // namespace
}  // namespace fiel
