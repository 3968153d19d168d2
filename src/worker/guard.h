// The one place where an exception out of an engine's library becomes an EngineError. Costs nothing
// unless one is thrown.
#pragma once

#include <exception>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "worker/engine.h"

namespace fiel {

inline std::unexpected<EngineError> engine_fail(std::string reason, std::string message) {
  return std::unexpected(EngineError{std::move(reason), std::move(message)});
}

/// Calls `call`, which returns an EngineResult; what it throws is an error with `reason`, but for
/// lack of memory.
template <class Call>
auto guarded(std::string_view reason, Call&& call) -> decltype(call()) {
  try {
    return std::invoke(std::forward<Call>(call));
  } catch (const std::bad_alloc&) {
    return engine_fail("out_of_memory", "the engine could not get the memory that it asked for");
  } catch (const std::exception& error) {
    return engine_fail(std::string(reason), error.what());
  } catch (...) {
    return engine_fail(std::string(reason), "the engine threw something that is no std::exception");
  }
}

}  // namespace fiel

/// FIEL_TRY for functions that return an EngineResult but call ours that return a Result: what was
/// asked was wrong.
#define FIEL_TRY_REQUEST(expression)                                                         \
  __extension__({                                                                            \
    auto fiel_try_result = (expression);                                                     \
    if (!fiel_try_result)                                                                    \
      return ::fiel::engine_fail("bad_request", std::move(fiel_try_result).error().message); \
    ::fiel::detail::unwrap(std::move(fiel_try_result));                                      \
  })

/// FIEL_TRY for EngineResults.
#define FIEL_TRY_ENGINE(expression)                                                   \
  __extension__({                                                                     \
    auto fiel_try_result = (expression);                                              \
    if (!fiel_try_result) return std::unexpected(std::move(fiel_try_result).error()); \
    ::fiel::unwrap_engine(std::move(fiel_try_result));                                \
  })

namespace fiel {
template <class T>
T unwrap_engine(EngineResult<T>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}
}  // namespace fiel
