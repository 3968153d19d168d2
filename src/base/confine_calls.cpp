// The filter of system calls, a classic BPF program laid down at compile time: what it refuses is a list, and all else is
// allowed, since engines are many and what they call changes. What is refused fails as if we had no right to it, so that a
// library goes another way where it has one.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/confine.h"

namespace fiel {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// The same numbers everywhere, but unknown to older headers.
constexpr std::uint32_t kIoUringSetup = 425, kClone3 = 435, kPidfdGetfd = 438, kMountSetattr = 442, kOpenTree = 428,
                        kMoveMount = 429, kFsopen = 430;

constexpr std::uint32_t kRefused[] = {
#ifndef __SANITIZE_ADDRESS__  // whose search for leaks traces its own process
    SYS_ptrace,
#endif
    // A look into other processes. (kill and its like are Landlock's business.)
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, kPidfdGetfd,
    // Out of the group that we end.
    SYS_setsid, SYS_setpgid,
    // Another view of the file system.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, kMountSetattr, kOpenTree, kMoveMount, kFsopen,
    SYS_open_by_handle_at, SYS_quotactl, SYS_fanotify_init, SYS_swapon, SYS_swapoff, SYS_acct,
    // The kernel, the clock, the keys.
    SYS_bpf, SYS_userfaultfd, SYS_perf_event_open, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_reboot, SYS_syslog, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
    SYS_setdomainname, SYS_add_key, SYS_request_key, SYS_keyctl,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_kexec_file_load,
#endif
};

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t no(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr), kArch = offsetof(seccomp_data, arch);
constexpr std::uint32_t argument(std::size_t i) {  // its low half; both architectures are little-endian
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * i);
}

class Program {
 public:
  constexpr void load(std::uint32_t offset) { add({BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}); }
  constexpr void answer(std::uint32_t action) { add({BPF_RET | BPF_K, 0, 0, action}); }
  // The next instruction is for what is equal, or above, or has a bit of the mask; others skip it.
  constexpr void if_equal(std::uint32_t value) { add({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value}); }
  constexpr void if_not(std::uint32_t value) { add({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value}); }
  constexpr void if_at_least(std::uint32_t value) { add({BPF_JMP | BPF_JGE | BPF_K, 0, 1, value}); }
  // `argument` of the call `number`: where the test `jump` of `value` comes out so, `action`, else on with the next call.
  constexpr void look_at(std::uint32_t number, std::size_t which, std::uint16_t jump, std::uint32_t value, bool when,
                         std::uint32_t action) {
    add({BPF_JMP | BPF_JEQ | BPF_K, 0, 4, number});
    load(argument(which));
    add({static_cast<std::uint16_t>(BPF_JMP | jump | BPF_K), static_cast<std::uint8_t>(when ? 0 : 1),
         static_cast<std::uint8_t>(when ? 1 : 0), value});
    answer(action);
    load(kNumber);
  }

  constexpr sock_fprog program() { return {.len = static_cast<unsigned short>(size_), .filter = code_.data()}; }

 private:
  constexpr void add(sock_filter instruction) { code_[size_++] = instruction; }

  std::array<sock_filter, 192> code_{};
  std::size_t size_ = 0;
};

constexpr Program make_program(Network network) {
  constexpr std::uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                           CLONE_NEWPID | CLONE_NEWNET;
  Program p;
  p.load(kArch);  // numbers mean other calls there
  p.if_not(kArchitecture);
  p.answer(no(ENOSYS));
  p.load(kNumber);
#ifdef __x86_64__
  constexpr std::uint32_t kX32 = 0x40000000;
  p.if_at_least(kX32);
  p.answer(no(ENOSYS));
#endif
  for (const std::uint32_t number : kRefused) {
    p.if_equal(number);
    p.answer(no(EPERM));
  }
  p.if_equal(kIoUringSetup);  // it does what the other calls do, past any filter
  p.answer(no(ENOSYS));
  p.if_equal(kClone3);  // its flags lie in memory, where no filter can look; libraries then use clone
  p.answer(no(ENOSYS));
  p.look_at(SYS_clone, 0, BPF_JSET, kNewNamespaces, true, no(EPERM));
  p.look_at(SYS_prctl, 0, BPF_JEQ, PR_SET_PDEATHSIG, true, no(EPERM));  // it dies with us
  p.look_at(SYS_ioctl, 1, BPF_JEQ, TIOCSTI, true, no(EPERM));           // typing at the user's terminal
  if (network == Network::kNone) {
    p.if_equal(SYS_socket);
    p.answer(no(EACCES));
    p.look_at(SYS_socketpair, 0, BPF_JEQ, AF_UNIX, false, no(EACCES));
  }
  p.answer(kAllow);
  return p;
}

constexpr Program kClosed = make_program(Network::kNone), kOpen = make_program(Network::kOpen);

}  // namespace

namespace detail {

bool can_filter_calls() noexcept {
  if (kArchitecture == 0) return false;
  std::uint32_t action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool filter_calls(Network network) noexcept {
  Program program = network == Network::kNone ? kClosed : kOpen;
  const sock_fprog code = program.program();
  // Older kernels slow a filtered process down against a leak between processes (SSB) unless told not to: what is measured
  // must be what will run without us.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &code) == 0;
}

}  // namespace detail

}  // namespace fiel
