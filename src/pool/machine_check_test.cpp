#include "pool/machine_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/files.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

// A made-up machine: files of /proc and /sys in a folder of their own.
class Machine {
 public:
  Machine() : folder_(TempFolder::create({}, "fiel-machine-").value()) {}

  MachineRoots roots() const { return {.proc = folder_.path() / "proc", .sys = folder_.path() / "sys"}; }

  void file(const std::string& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    ASSERT_TRUE(ensure_folder(path.parent_path()));
    ASSERT_TRUE(write_atomic(path, text + "\n"));
  }
  void core(int number, const std::string& name, const std::string& text) const {
    file(fmt::format("sys/devices/system/cpu/cpu{}/{}", number, name), text);
  }
  // In ticks of 10 ms since boot.
  void ticks(int busy, int steal) const { file("proc/stat", fmt::format("cpu  {} 0 0 9000 5 0 0 {} 0 0", busy, steal)); }
  void process(int pid, const std::string& name, int used_ticks) const {
    file(fmt::format("proc/{}/stat", pid),
         fmt::format("{} ({}) S 1 {} 1 0 -1 0 0 0 0 0 {} 0 0 0 20 0 1 0 5 1000 100 18446744073709551615", pid, name, pid,
                     used_ticks));
  }
  // Ours is 42, as /proc/self says.
  void self(int used_ticks) const {
    process(42, "fiel", used_ticks);
    file("proc/self/stat", "42 (fiel) R");
  }

  MachineLook look() const { return look_at_machine(roots()); }

  std::map<std::string, MachineFact> facts(const MachineLook& before, double seconds = 1) const {
    const MachineLook after = look();
    std::map<std::string, MachineFact> by_key;
    for (MachineFact& fact : check_machine(roots(), {.before = before, .after = after, .seconds = seconds})) {
      by_key.emplace(fact.key, fact);
    }
    return by_key;
  }

 private:
  TempFolder folder_;
};

void expect(const std::map<std::string, MachineFact>& facts, const std::string& key, const std::string& value, Mark mark) {
  ASSERT_TRUE(facts.contains(key)) << key;
  EXPECT_EQ(facts.at(key).value, value) << key;
  EXPECT_EQ(to_string(facts.at(key).mark), to_string(mark)) << key;
  const bool to_do = mark == Mark::kCouldBeBetter || mark == Mark::kBad;
  EXPECT_EQ(!facts.at(key).advice.empty(), to_do) << key << ": " << facts.at(key).advice;
}

TEST(MachineCheck, ALaptopOnBatteryWithAPowersaveGovernor) {
  const Machine laptop;
  laptop.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Quick CPU 5\nflags\t\t: fpu avx2\n");
  laptop.file("proc/self/status", "Name:\tfiel\nCpus_allowed_list:\t0-1");
  laptop.file("sys/devices/system/cpu/online", "0-1");
  for (const int core : {0, 1}) {
    laptop.core(core, "cpufreq/scaling_governor", "powersave");
    laptop.core(core, "cpufreq/scaling_driver", "intel_pstate");
    laptop.core(core, "cpufreq/scaling_cur_freq", core == 0 ? "900000" : "1200000");
    laptop.core(core, "cpufreq/cpuinfo_max_freq", "4000000");
    laptop.core(core, "cpufreq/scaling_max_freq", "4000000");
    laptop.core(core, "thermal_throttle/core_throttle_count", "100");
  }
  laptop.file("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  laptop.file("sys/devices/system/cpu/smt/active", "1");
  laptop.file("sys/class/power_supply/AC/type", "Mains");
  laptop.file("sys/class/power_supply/AC/online", "0");
  laptop.file("sys/class/power_supply/BAT0/type", "Battery");
  laptop.file("proc/loadavg", "1.50 0.70 0.30 2/800 4711");
  laptop.ticks(1000, 0);
  laptop.self(10);
  laptop.process(7, "browser", 500);
  laptop.process(8, "browser", 0);
  const MachineLook before = laptop.look();
  laptop.ticks(1100, 0);
  laptop.self(20);
  laptop.process(7, "browser", 550);
  laptop.process(8, "browser", 20);
  laptop.core(1, "thermal_throttle/core_throttle_count", "103");
  const auto facts = laptop.facts(before);
  expect(facts, "cpu", "Quick CPU 5", Mark::kOk);
  expect(facts, "cores", "2 of 2 (0-1)", Mark::kOk);
  expect(facts, "governor", "powersave (intel_pstate)", Mark::kCouldBeBetter);
  expect(facts, "boost", "on", Mark::kCouldBeBetter);
  expect(facts, "smt", "on", Mark::kCouldBeBetter);
  expect(facts, "frequency", "1200 / 4000 MHz", Mark::kOk);
  expect(facts, "throttling", "3 events just now, 203 since boot", Mark::kBad);
  expect(facts, "load", "0.90 cores: browser 0.70", Mark::kBad);
  expect(facts, "load_average", "1.50 0.70 0.30", Mark::kOk);
  expect(facts, "power", "on battery", Mark::kBad);
  expect(facts, "virtual_machine", "no", Mark::kOk);
}

TEST(MachineCheck, APowersaveGovernorThatHoldsTheFrequencyDownIsBad) {
  const Machine machine;
  machine.core(0, "cpufreq/scaling_governor", "powersave");
  machine.core(0, "cpufreq/scaling_driver", "acpi-cpufreq");
  machine.file("sys/devices/system/cpu/cpufreq/boost", "1");
  const auto facts = machine.facts(machine.look());
  expect(facts, "governor", "powersave (acpi-cpufreq)", Mark::kBad);
  EXPECT_NE(facts.at("boost").advice.find("cpufreq/boost"), std::string::npos);
}

TEST(MachineCheck, AVirtualMachineWhoseHypervisorTakesTime) {
  const Machine guest;
  guest.file("proc/cpuinfo", "model name\t: Virtual CPU\ncpu MHz\t\t: 2100.000\nflags\t\t: fpu hypervisor avx2\n");
  guest.file("sys/class/dmi/id/sys_vendor", "QEMU");
  guest.file("sys/class/dmi/id/product_name", "Standard PC");
  guest.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "acpi_pm");
  guest.ticks(1000, 100);
  guest.self(0);
  const MachineLook before = guest.look();
  guest.ticks(1002, 120);
  auto facts = guest.facts(before, 2);
  expect(facts, "virtual_machine", "yes, QEMU Standard PC", Mark::kCouldBeBetter);
  expect(facts, "steal", "0.10 cores", Mark::kBad);
  expect(facts, "load", "0.01 cores", Mark::kOk);
  expect(facts, "clock", "acpi_pm", Mark::kBad);
  EXPECT_EQ(facts.at("frequency").value, "2100.000 MHz told by cpuinfo; the rest is not readable here");
  EXPECT_EQ(facts.at("frequency").mark, Mark::kUnknown);
  guest.ticks(1002, 102);
  expect(guest.facts(before, 2), "steal", "0.01 cores", Mark::kCouldBeBetter);
}

TEST(MachineCheck, AContainerWithQuotasOfAGroupAboveItsOwn) {
  const Machine box;
  box.file("proc/self/status", "Cpus_allowed_list:\t0-3");
  box.file("sys/devices/system/cpu/online", "0-7");
  box.file("proc/self/cgroup", "12:devices:/x\n0::/pods/mine");
  box.file("sys/fs/cgroup/pods/cpu.max", "150000 100000");
  box.file("sys/fs/cgroup/pods/mine/cpu.max", "max 100000");
  box.file("sys/fs/cgroup/pods/cpu.stat", "usage_usec 5\nthrottled_usec 1000000");
  box.file("sys/fs/cgroup/pods/mine/memory.max", "max");
  box.file("sys/fs/cgroup/pods/memory.max", "1073741824");
  box.file("sys/fs/cgroup/pods/memory.current", "943718400");
  box.ticks(0, 0);
  const MachineLook before = box.look();
  expect(box.facts(before), "cpu_quota", "1.5 cores", Mark::kBad);
  box.file("sys/fs/cgroup/pods/cpu.stat", "usage_usec 5\nthrottled_usec 1500000");
  const auto facts = box.facts(before);
  expect(facts, "cores", "4 of 8 (0-3)", Mark::kOk);
  expect(facts, "cpu_quota", "1.5 cores, threads stopped for 0.5 s just now", Mark::kBad);
  EXPECT_NE(facts.at("cpu_quota").advice.find("1 core"), std::string::npos);
  expect(facts, "memory_limit", "1.0 GiB, 124 MiB left", Mark::kBad);
}

TEST(MachineCheck, ABareServerThatIsQuiet) {
  const Machine server;
  server.file("proc/self/status", "Cpus_allowed_list:\t0-1");
  server.file("proc/self/cgroup", "0::/");
  server.core(0, "cpufreq/scaling_governor", "performance");
  server.core(0, "cpufreq/cpuinfo_max_freq", "4000000");
  server.core(0, "cpufreq/scaling_max_freq", "3000000");
  server.core(0, "cpufreq/scaling_cur_freq", "3000000");
  server.file("sys/devices/system/cpu/cpufreq/boost", "0");
  server.file("sys/devices/system/cpu/smt/active", "0");
  server.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  server.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
  server.file("proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\nSwapTotal: 1048576 kB\nSwapFree: 524288 kB");
  server.file("proc/vmstat", "pswpin 10\npswpout 20");
  server.ticks(100, 0);
  server.self(5);
  const MachineLook before = server.look();
  server.ticks(105, 0);
  server.self(9);
  auto facts = server.facts(before);
  expect(facts, "cores", "2 (0-1)", Mark::kOk);
  expect(facts, "cpu_quota", "none", Mark::kOk);
  expect(facts, "memory_limit", "none", Mark::kOk);
  expect(facts, "governor", "performance", Mark::kOk);
  expect(facts, "boost", "off", Mark::kOk);
  expect(facts, "smt", "off", Mark::kOk);
  expect(facts, "frequency", "3000 / 4000 MHz, capped at 3000", Mark::kCouldBeBetter);
  expect(facts, "huge_pages", "madvise", Mark::kOk);
  expect(facts, "clock", "tsc", Mark::kOk);
  expect(facts, "memory", "32 GiB of 64 GiB", Mark::kOk);
  expect(facts, "swap", "512 MiB of 1.0 GiB", Mark::kOk);
  expect(facts, "load", "0.01 cores", Mark::kOk);
  expect(facts, "steal", "0.00 cores", Mark::kOk);
  server.file("proc/vmstat", "pswpin 10\npswpout 25");
  server.file("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  facts = server.facts(before);
  expect(facts, "swap", "512 MiB of 1.0 GiB, 5 pages moved just now", Mark::kBad);
  expect(facts, "huge_pages", "never", Mark::kCouldBeBetter);
}

TEST(MachineCheck, WhatCannotBeReadIsSaidAndNeverMadeUp) {
  const Machine nothing;
  const MachineLook before = nothing.look();
  const auto facts = nothing.facts(before);
  EXPECT_EQ(facts.size(), 18U);
  for (const auto& [key, fact] : facts) {
    EXPECT_EQ(fact.value, "not readable here") << key;
    EXPECT_EQ(fact.mark, Mark::kUnknown) << key;
  }
}

TEST(MachineCheck, ThisMachineGivesTheSameKeysAndReadsItsOwnCores) {
  const MachineLook before = look_at_machine(), after = look_at_machine();
  const auto facts = check_machine({}, {.before = before, .after = after, .seconds = 0.001});
  EXPECT_EQ(facts.size(), 18U);
  EXPECT_EQ(facts[1].key, "cores");
  EXPECT_NE(facts[1].mark, Mark::kUnknown);
}

}  // namespace
}  // namespace fiel
