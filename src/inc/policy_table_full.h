// What happens to a contribution that finds no room in the table.
#pragma once

#include "inc/inc_spec.h"

namespace infold::inc {

enum class OnFull : std::uint8_t {
  kWait,      ///< it waits in its input buffer, which stays full: the pressure spreads to its sender
  kPassHome,  ///< it is sent on as it is, and its home GPU adds it
  kMakeRoom,  ///< the oldest partial sum is sent to its home GPU to make room
};

/// `can_evict`: there is a partial sum that is not finished yet, and there is room to send it from.
constexpr OnFull on_full(TableFull policy, bool can_evict) {
  switch (policy) {
    case TableFull::kStall:
      return OnFull::kWait;
    case TableFull::kBypass:
      return OnFull::kPassHome;
    case TableFull::kEvict:
      return can_evict ? OnFull::kMakeRoom : OnFull::kWait;
  }
  return OnFull::kWait;
}

}  // namespace infold::inc
