// What happens to a contribution that finds no room in the table.
#pragma once

#include "inc/inc_spec.h"

namespace infold::inc {

enum class OnFull : std::uint8_t {
  kWait,      ///< in its input buffer, which it keeps full: the pressure spreads to its sender
  kPassHome,  ///< as it is; its home GPU adds it
  kMakeRoom,  ///< by sending the oldest partial sum home
};

/// `can_evict`: there is a partial sum that is not finished yet, and room to send it from.
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
