// What tests ask of a Result: why there is no value, and of which kind that is.
#pragma once

#include <string>

#include "sim/result.h"

namespace infold::sim {

/// The message of an error, "" of a value.
template <class T>
std::string why(const Result<T>& result) {
  return result ? "" : result.error().message;
}

template <class T>
bool is_refused(const Result<T>& result) {
  return !result && result.error().kind == Error::Kind::kInput;
}
template <class T>
bool is_deadlock(const Result<T>& result) {
  return !result && result.error().kind == Error::Kind::kDeadlock;
}
template <class T>
bool is_interrupted(const Result<T>& result) {
  return !result && result.error().kind == Error::Kind::kInterrupted;
}

}  // namespace infold::sim
