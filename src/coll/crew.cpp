// The table of crews.
#include "coll/crew.h"

#include "coll/engine_crew.h"
#include "coll/nvls_crew.h"
#include "coll/sm_crew.h"
#include "sim/check.h"

namespace infold::coll {

std::unique_ptr<Crew> make_crew(CrewContext context) {
  switch (context.program.engine) {
    case Engine::kSm:
      if (context.program.in_network()) return std::make_unique<NvlsCrew>(std::move(context));
      return std::make_unique<SmCrew>(std::move(context));
    case Engine::kDma:
    case Engine::kAce:
      break;
    case Engine::kCollectiveEngine:
      return std::make_unique<EngineCrew>(std::move(context));
  }
  INFOLD_CHECK(false, "a program runs on an engine that there is (study::refuse)");
  return nullptr;
}

}  // namespace infold::coll
