// Preloaded into fiel by tests (LD_PRELOAD): kills it at an exact place in the writing of a journal, and keeps what would be on
// the disk if the power failed at that moment. Nothing of it is in the product, and its workers don't inherit it.
//
//   FIEL_SEAM_FILE   end of the path of the file that counts: run.db-wal (one fdatasync an event, one more for a new file)
//   FIEL_SEAM_KILL   N:before   at the first write after N - 1 syncs
//                    N:torn     at that write, half of it done
//                    N:written  at the N-th sync, instead of it
//                    N:after    at the N-th sync, when it is done
//   FIEL_SEAM_DISK   a folder. Every synced file is copied to f<inode>, every synced folder's list of names to d<inode>: a file
//                    that was never synced is empty after a power failure, a name that was not synced is not there
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Where { kNever, kBefore, kTorn, kWritten, kAfter };

struct Plan {
  long at = 0;
  Where where = Where::kNever;
  std::string file, disk;
};

Plan read_plan() {
  Plan plan;
  if (const char* file = std::getenv("FIEL_SEAM_FILE")) plan.file = file;
  if (const char* disk = std::getenv("FIEL_SEAM_DISK")) plan.disk = disk;
  const char* kill = std::getenv("FIEL_SEAM_KILL");
  if (kill == nullptr) return plan;
  char* word = nullptr;
  plan.at = std::strtol(kill, &word, 10);
  const std::string where = word + 1;
  if (where == "before") plan.where = Where::kBefore;
  if (where == "torn") plan.where = Where::kTorn;
  if (where == "written") plan.where = Where::kWritten;
  if (where == "after") plan.where = Where::kAfter;
  return plan;
}

const Plan& plan() {
  static const Plan made = read_plan();
  return made;
}

long syncs = 0;  // of the file that counts; fiel is one thread

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool counts(int descriptor) {
  if (plan().file.empty()) return false;
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return size > 0 && std::string(path, static_cast<std::size_t>(size)).ends_with(plan().file);
}

// True: write only half, and die.
bool torn_here(int descriptor) {
  const Where where = plan().where;
  if ((where != Where::kBefore && where != Where::kTorn) || syncs != plan().at - 1 || !counts(descriptor)) return false;
  if (where == Where::kBefore) die();
  return true;
}

void keep_folder(int descriptor, const std::string& place) {
  DIR* folder = ::fdopendir(::openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::FILE* list = std::fopen(place.c_str(), "w");
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      std::fprintf(list, "%c %lu %s\n", entry->d_type == DT_DIR ? 'd' : 'f', static_cast<unsigned long>(entry->d_ino), name.c_str());
    }
  }
  std::fclose(list);
  ::closedir(folder);
}

void keep_file(int descriptor, const struct stat& facts, const std::string& place) {
  const int from = ::open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDONLY | O_CLOEXEC);
  const int to = ::open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  off_t done = 0;
  while (done < facts.st_size && ::sendfile(to, from, &done, static_cast<std::size_t>(facts.st_size - done)) > 0) {
  }
  ::close(to);
  ::close(from);
}

void keep(int descriptor) {
  struct stat facts{};
  if (plan().disk.empty() || ::fstat(descriptor, &facts) != 0) return;
  const std::string inode = std::to_string(facts.st_ino);
  if (S_ISDIR(facts.st_mode)) return keep_folder(descriptor, plan().disk + "/d" + inode);
  if (S_ISREG(facts.st_mode)) keep_file(descriptor, facts, plan().disk + "/f" + inode);
}

int sync_by(int (*real)(int), int descriptor) {
  const bool counted = counts(descriptor);
  const bool here = counted && syncs + 1 == plan().at;
  if (here && plan().where == Where::kWritten) die();
  const int result = real(descriptor);
  keep(descriptor);
  if (counted) ++syncs;
  if (here && plan().where == Where::kAfter) die();
  return result;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!torn_here(descriptor)) return real(descriptor, bytes, size);
  real(descriptor, bytes, size / 2);
  die();
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  if (!torn_here(descriptor)) return real(descriptor, bytes, size, offset);
  real(descriptor, bytes, size / 2, offset);
  die();
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) { return pwrite64(descriptor, bytes, size, offset); }

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  return sync_by(real, descriptor);
}

int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return sync_by(real, descriptor);
}

}  // extern "C"
