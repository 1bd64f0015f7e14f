// Limits of channels are compared with those of the system, which is read once more for that.
#include "cli/options/environment.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "config/catalog.h"
#include "formats/catalog.h"
#include "formats/text/file_text.h"

namespace infold::cli {

namespace {

constexpr std::size_t kLargestEnvironment = std::size_t{1} << 20;

sim::Result<formats::NcclEnvironment> read_typed(const std::string& typed) {
  if (typed.find('=') != std::string::npos) return formats::read_nccl_environment(typed, "--env");
  auto text = formats::read_file(typed, kLargestEnvironment);
  if (!text) return sim::fail_as(std::move(text));
  return formats::read_nccl_environment(text->text, typed);
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void add(formats::NcclEnvironment& all, formats::NcclEnvironment&& more) {
  if (more.max_channels) all.max_channels = more.max_channels;
  if (more.min_channels) all.min_channels = more.min_channels;
  all.p2p_off = all.p2p_off || more.p2p_off;
  append(all.sets, std::move(more.sets));
  append(all.algorithms, std::move(more.algorithms));
  append(all.protocols, std::move(more.protocols));
  append(all.notes.assumed, std::move(more.notes.assumed));
  append(all.notes.ignored, std::move(more.notes.ignored));
}

/// What depends on the system, as --set takes it.
std::vector<std::string> sets_of(const formats::NcclEnvironment& env, const study::SystemSpec& system) {
  std::vector<std::string> sets = env.sets;
  int channels = system.coll.channels;
  if (env.min_channels) channels = std::max(channels, *env.min_channels);
  if (env.max_channels) channels = std::min(channels, *env.max_channels);
  if (channels != system.coll.channels) sets.push_back(fmt::format("coll.channels={}", channels));
  if (env.max_channels && *env.max_channels < system.coll.nvls.channels)
    sets.push_back(fmt::format("coll.nvls.channels={}", *env.max_channels));
  if (!env.p2p_off) return sets;
  for (const char* set :
       {"fabric.topology=pcie-tree", "fabric.link.rate=31.5GB/s", "fabric.packet.payload=128B",
        "fabric.packet.header=24B", "fabric.packet.ack=8B", "inc.unit=none"})
    sets.emplace_back(set);
  sets.push_back(fmt::format("fabric.groups={}", system.machine.gpus));
  return sets;
}

using Names = std::vector<std::string>;

/// Those that can run the collective on such machines.
Names runnable(const Names& names, coll::Collective collective, bool reducing_switches) {
  Names kept;
  for (const std::string& name : names) {
    const coll::Algorithm* found = coll::find_algorithm(name);
    if (found->offers(collective) && (reducing_switches || !found->in_network)) kept.push_back(name);
  }
  return kept;
}

}  // namespace

void add_environment_argument(CLI::App& command, EnvironmentArguments& args) {
  command
      .add_option(
          "--env", args.typed,
          "environment variables of NCCL, e.g. \"NCCL_ALGO=Ring NCCL_MAX_NCHANNELS=8\", or a file like "
          "nccl.conf")
      ->allow_extra_args(false);
}

sim::Result<Environment> read_environment(const EnvironmentArguments& args, const std::string& systems) {
  Environment out;
  if (args.typed.empty()) return out;
  for (const std::string& typed : args.typed) {
    auto read = read_typed(typed);
    if (!read) return sim::fail_as(std::move(read));
    add(out.variables, *std::move(read));
  }
  for (const std::string& note : out.variables.notes.assumed) complain(fmt::format("# --env: {}\n", note));
  for (const std::string& note : out.variables.notes.ignored) complain(fmt::format("# --env: {}\n", note));
  bool first = true;
  out.reducing_switches = true;
  for (const std::string& name : split(systems)) {
    const auto system = formats::load_system(name, {}, config::Validate{});
    if (!system) return sim::fail_as(system);
    std::vector<std::string> sets = sets_of(out.variables, *system);
    const bool off = std::ranges::find(sets, "inc.unit=none") != sets.end();
    out.reducing_switches = out.reducing_switches && !off && system->machine.inc.unit == inc::Unit::kNvls;
    if (!first && sets != out.sets)
      return sim::fail("--env: its variables mean different things on these systems; give one at a time");
    out.sets = std::move(sets);
    first = false;
  }
  return out;
}

sim::Status Environment::restrict(coll::Collective collective, bool several, LibraryWords& words) const {
  if (const auto left = formats::NcclEnvironment::allowed(variables.algorithms, collective)) {
    if (words.algorithms_typed) return sim::fail("--algo and NCCL_ALGO of --env: give one of them");
    const Names names = runnable(*left, collective, reducing_switches);
    if (names.empty()) {
      return sim::fail(fmt::format("--env: NCCL_ALGO leaves {}, which cannot run {} here",
                                   fmt::join(*left, ", "), sim::name_of(collective)));
    }
    const bool has_default = std::ranges::find(names, words.algorithms) != names.end();
    if (several) {
      words.algorithms = fmt::format("{}", fmt::join(names, ","));
    } else if (!has_default) {
      words.algorithms = names.front();
    }
  }
  const auto left = formats::NcclEnvironment::allowed(variables.protocols, collective);
  if (!left || left->size() == coll::kProtocolNames.size()) return {};
  if (words.protocols_typed) return sim::fail("--proto and NCCL_PROTO of --env: give one of them");
  if (!several && left->size() > 1)
    return sim::fail(fmt::format("--env: NCCL_PROTO leaves {}; name one, for a step runs one here",
                                 fmt::join(*left, ", ")));
  words.protocols = fmt::format("{}", fmt::join(*left, ","));
  return {};
}

study::AllowedChoice Environment::allowed() const {
  return [variables = variables](coll::Collective collective, const study::Choice& choice) {
    const auto among = [&](const std::vector<formats::AllowedNames>& rules, std::string_view name) {
      const auto names = formats::NcclEnvironment::allowed(rules, collective);
      return !names || std::ranges::find(*names, name) != names->end();
    };
    // Sends have no algorithm and no protocol that NCCL_ALGO or NCCL_PROTO could name.
    if (choice.algorithm->name == "p2p" || choice.algorithm->name == "direct") return true;
    return among(variables.algorithms, choice.algorithm->name) &&
           among(variables.protocols, sim::name_of(choice.protocol));
  };
}

}  // namespace infold::cli
