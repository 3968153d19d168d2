// How a function of ours says that it could not do what the caller can expect to fail sometimes.
//
// Knows nothing of outcomes: a candidate that crashes or is wrong is data (see decide/), not an Error.
// Our own bugs are FIEL_CHECKs, which stop the program with exit status 70.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fiel {

/// What the caller may do about an error; decides the exit status (cli/exit_status.h).
enum class ErrorKind {
  kUsage,        // the command line is wrong
  kContract,     // the contract, the model or the data is wrong or contradicts itself
  kEnvironment,  // the machine lacks something: an engine, disk space, a permission
  kProtocol,     // a worker or an evaluator said something that is not in the protocol
  kTimeout,      // a deadline passed
  kDied,         // the other process ended
  kCancelled,    // the user asked us to stop; what was finished is kept
  kCorrupt,      // a file of ours was damaged or written by a newer version
};

std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind;
  std::string message;    // a lower-case fragment: "cannot read contract.toml: no such file"
  std::string hint = {};  // what to do: names the flag, key or command

  /// "context: message"; the kind and the hint stay.
  Error with_context(std::string_view context) &&;
};

template <class T = void>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string message,
                                                 std::string hint = {}) {
  return std::unexpected(Error{kind, std::move(message), std::move(hint)});
}

/// What the user gave us is wrong: a contract, a model, data.
[[nodiscard]] inline std::unexpected<Error> refuse(std::string message, std::string hint) {
  return fail(ErrorKind::kContract, std::move(message), std::move(hint));
}

namespace detail {
template <class T>
T unwrap(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace fiel

#define FIEL_JOIN_AGAIN(a, b) a##b
#define FIEL_JOIN(a, b) FIEL_JOIN_AGAIN(a, b)
// The name is unique per use, so that one FIEL_TRY may stand inside another.
#define FIEL_TRY_AS(result, expression)                                     \
  __extension__({                                                           \
    auto result = (expression);                                             \
    if (!result) return std::unexpected(std::move(result).error());         \
    ::fiel::detail::unwrap(std::move(result));                              \
  })

/// Value of a Result, or return its error from the enclosing function.
#define FIEL_TRY(expression) FIEL_TRY_AS(FIEL_JOIN(fiel_try_result_, __COUNTER__), expression)

/// A promise of our own code; when it does not hold, that is a bug of ours.
#define FIEL_CHECK(condition) \
  ((condition) ? void(0) : ::fiel::detail::check_failed(#condition, __FILE__, __LINE__))
