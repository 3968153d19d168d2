// Landlock by bare system calls: the C library has no functions for it, and older headers lack its newer rights.
#include "base/confine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace fiel {
namespace {

namespace fs = std::filesystem;

// linux/landlock.h, of which the headers here may know an older version. The numbers are the same on all architectures.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1, kPathBeneath = 1;

struct RulesetRights {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // from version 4 on
  std::uint64_t scoped = 0;   // from version 6 on
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

constexpr std::uint64_t kWriteFile = bit(1), kTruncate = bit(14), kDeviceControl = bit(15);
// Remove folders and files; make devices, folders, files, sockets, pipes, links.
constexpr std::uint64_t kChangeFolder = bit(4) | bit(5) | bit(6) | bit(7) | bit(8) | bit(9) | bit(10) | bit(11) | bit(12);
constexpr std::uint64_t kMakeDevices = bit(6) | bit(11);
constexpr std::uint64_t kMoveBetween = bit(13);
constexpr std::uint64_t kTcp = bit(0) | bit(1);      // bind, connect
constexpr std::uint64_t kOutside = bit(0) | bit(1);  // abstract sockets of, and signals to, others

constexpr int kTruncateVersion = 3, kTcpVersion = 4, kDeviceVersion = 5, kScopeVersion = 6;

// Which rights on files a version of Landlock can refuse.
std::uint64_t file_rights(int version) {
  std::uint64_t rights = kWriteFile | kChangeFolder;
  if (version >= 2) rights |= kMoveBetween;
  if (version >= kTruncateVersion) rights |= kTruncate;
  if (version >= kDeviceVersion) rights |= kDeviceControl;
  return rights;
}

std::size_t size_of_rights(int version) {
  if (version >= kScopeVersion) return sizeof(RulesetRights);
  return version >= kTcpVersion ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

// Programs write there without meaning any file.
constexpr const char* kSinks[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
// Drivers of accelerators are called through their nodes, so an engine without them has no device. Where there are none,
// nothing is granted.
constexpr const char* kAccelerators[] = {"/dev/dri", "/dev/kfd", "/dev/accel", "/dev/dxg", "/dev/nvidia-caps"};

std::vector<fs::path> device_nodes() {
  std::vector<fs::path> nodes(std::begin(kSinks), std::end(kSinks));
  nodes.insert(nodes.end(), std::begin(kAccelerators), std::end(kAccelerators));
  std::error_code code;
  for (fs::directory_iterator at("/dev", code), end; !code && at != end; at.increment(code)) {
    if (at->path().filename().string().starts_with("nvidia")) nodes.push_back(at->path());
  }
  std::erase_if(nodes, [](const fs::path& node) { return ::access(node.c_str(), F_OK) != 0; });
  return nodes;
}

Result<> allow(const Fd& ruleset, const fs::path& path, std::uint64_t rights) {
  const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat facts{};
  if (!place.is_open() || ::fstat(place.get(), &facts) != 0) {
    return std::unexpected(file_error("let a worker write to", path, errno));
  }
  if (!S_ISDIR(facts.st_mode)) rights &= kWriteFile | kTruncate | kDeviceControl;
  const PathRule rule{.allowed = rights, .parent = place.get()};
  if (::syscall(kAddRule, ruleset.get(), kPathBeneath, &rule, 0u) != 0) {
    return std::unexpected(file_error("let a worker write to", path, errno));
  }
  return {};
}

Result<Fd> make_ruleset(const Confinement& confinement, int version) {
  const std::uint64_t files = file_rights(version);
  const bool open = confinement.network == Network::kOpen;
  const RulesetRights rights{.files = files, .network = open ? 0 : kTcp, .scoped = open ? bit(1) : kOutside};
  Fd ruleset(static_cast<int>(::syscall(kCreateRuleset, &rights, size_of_rights(version), 0u)));
  if (ruleset.is_open() && ruleset.get() <= 2) ruleset = Fd(::fcntl(ruleset.get(), F_DUPFD_CLOEXEC, 3));
  if (!ruleset.is_open()) return std::unexpected(file_error("confine", "a worker (Landlock)", errno));
  for (const fs::path& node : device_nodes()) FIEL_TRY(allow(ruleset, node, files & (kWriteFile | kDeviceControl)));
  for (const fs::path& path : confinement.writable) {
    FIEL_TRY(allow(ruleset, path, files & ~(kMakeDevices | kDeviceControl)));
  }
  return ruleset;
}

}  // namespace

KernelGuards kernel_guards() { return {.landlock = landlock_version(), .seccomp = detail::can_filter_calls()}; }

std::vector<std::string> missing_guards(const KernelGuards& guards) {
  std::vector<std::string> missing;
  if (guards.landlock == 0) {
    missing.push_back("files: workers may write wherever you may (no Landlock)");
  } else if (guards.landlock < kTruncateVersion) {
    missing.push_back("files: workers may cut short whatever you may write (Landlock before Linux 6.2)");
  }
  if (guards.landlock < kScopeVersion) {
    missing.push_back("signals: workers may end other programs of yours (no Landlock of Linux 6.12)");
  }
  if (!guards.seccomp) {
    missing.push_back(guards.landlock >= kTcpVersion ? "network: workers may use all but TCP (no seccomp)"
                                                     : "network: workers may use it (no seccomp)");
    missing.push_back("system calls: workers may use all of them (no seccomp)");
  }
  return missing;
}

std::string enforced_guards(const KernelGuards& guards) {
  std::vector<std::string> words;
  if (guards.landlock >= kTruncateVersion) words.push_back("files");
  if (guards.seccomp) words.insert(words.end(), {"network", "system calls"});
  if (guards.landlock >= kScopeVersion) words.push_back("signals");
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

Result<Fence> Fence::create(const Confinement& confinement) {
  Fence fence;
  fence.network_ = confinement.network;
  fence.filters_ = detail::can_filter_calls();
  if (const int version = landlock_version(); version > 0) {
    fence.ruleset_ = FIEL_TRY(make_ruleset(confinement, version));
  }
  return fence;
}

bool Fence::enter() const noexcept {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (ruleset_.is_open() && ::syscall(kRestrictSelf, ruleset_.get(), 0u) != 0) return false;
  return !filters_ || detail::filter_calls(network_);
}

}  // namespace fiel
