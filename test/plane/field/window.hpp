// The part of a record that is looked at.
#pragma once

#include "millwright/sandbox/recorder.hpp"

namespace millwright::field {

struct Window {
  base::TimePoint begin;
  base::TimePoint end;  // the last change that counts, or when looking on was given up
  bool at_rest = true;  // false: given up
};

using PriceLookup = sandbox::Recorder::PriceLookup;

inline double seconds_between(base::TimePoint from, base::TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace millwright::field
