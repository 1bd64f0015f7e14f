// A table says which variables are parameters of ours; the few others have a function each.
#include "formats/nccl_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "config/yaml/position.h"
#include "config/yaml/suggest.h"
#include "config/yaml/text.h"

namespace infold::formats {

namespace {

constexpr std::size_t kMostVariables = 1000;
constexpr std::size_t kLongestValue = 4096;

/// A variable that is a number, and the parameters that it sets.
struct Parameter {
  std::string_view variable;
  std::string_view path;
  std::string_view second = {};
  bool bytes = false;
};
constexpr std::array kParameters = {
    // NCCL_NTHREADS is for Simple and LL; LL128 has its own.
    Parameter{"NCCL_NTHREADS", "coll.threads", "coll.ll.threads"},
    Parameter{"NCCL_LL128_NTHREADS", "coll.ll128.threads"},
    Parameter{"NCCL_BUFFSIZE", "coll.buffer", {}, true},
    Parameter{"NCCL_LL_BUFFSIZE", "coll.ll.buffer", {}, true},
    Parameter{"NCCL_LL128_BUFFSIZE", "coll.ll128.buffer", {}, true},
    Parameter{"NCCL_NVLS_NCHANNELS", "coll.nvls.channels"},
    Parameter{"NCCL_MAX_P2P_NCHANNELS", "coll.p2p.channels"},
    Parameter{"NCCL_P2P_NVL_CHUNKSIZE", "coll.p2p.chunk", {}, true},
};

/// Variables that change nothing that is simulated, whole or by their beginning.
constexpr std::array<std::string_view, 31> kWithoutEffect = {
    "NCCL_DEBUG",         "NCCL_SOCKET_",       "NCCL_IB_",    "NCCL_NET",       "NCCL_COLLNET_",
    "NCCL_CROSS_NIC",     "NCCL_TOPO_DUMP_",    "NCCL_GRAPH_", "NCCL_CUMEM_",    "NCCL_LAUNCH_MODE",
    "NCCL_ASYNC_ERROR_",  "NCCL_BLOCKING_WAIT", "NCCL_COMM_",  "NCCL_CHECKS_",   "NCCL_CONF_FILE",
    "NCCL_HOSTID",        "NCCL_IGNORE_",       "NCCL_NVB_",   "NCCL_PXN_",      "NCCL_RAS_",
    "NCCL_RINGS",         "NCCL_SET_",          "NCCL_SHM_",   "NCCL_PROFILER_", "NCCL_TUNER_",
    "NCCL_WORK_",         "NCCL_OOB_",          "NCCL_GDR",    "NCCL_SINGLE_",   "NCCL_PARALLEL_",
    "NCCL_LOCAL_REGISTER"};
constexpr std::array<std::string_view, 9> kMapped = {
    "NCCL_ALGO",     "NCCL_PROTO",       "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS", "NCCL_MAX_CTAS",
    "NCCL_MIN_CTAS", "NCCL_NVLS_ENABLE", "NCCL_P2P_DISABLE",   "NCCL_P2P_LEVEL"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(config::trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// NCCL's names of algorithms and protocols; ours is empty where there is none.
struct Known {
  std::string_view nccl;
  std::string_view ours;
};
constexpr std::array kAlgorithms = {
    Known{"tree", "tree"},     Known{"ring", "ring"}, Known{"collnetdirect", ""},
    Known{"collnetchain", ""}, Known{"nvls", "nvls"}, Known{"nvlstree", ""},
    Known{"pat", ""}};
constexpr std::array kProtocols = {Known{"ll", "ll"}, Known{"ll128", "ll128"}, Known{"simple", "simple"}};

struct NamedCollective {
  std::string_view nccl;
  coll::Collective collective;
};
constexpr std::array kCollectives = {NamedCollective{"broadcast", coll::Collective::kBroadcast},
                                     NamedCollective{"reduce", coll::Collective::kReduce},
                                     NamedCollective{"allgather", coll::Collective::kAllGather},
                                     NamedCollective{"reducescatter", coll::Collective::kReduceScatter},
                                     NamedCollective{"allreduce", coll::Collective::kAllReduce}};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  sim::Status variable(std::string_view name, std::string_view value, config::Position at) {
    at_ = at;
    name_ = name;
    if (++count_ > kMostVariables) return refuse(fmt::format("more than {} variables", kMostVariables));
    if (value.size() > kLongestValue) return refuse("its value is too long");
    for (const Parameter& p : kParameters) {
      if (p.variable == name) return parameter(p, value);
    }
    if (name == "NCCL_ALGO") return names(value, kAlgorithms, "algorithm", out_.algorithms);
    if (name == "NCCL_PROTO") return names(value, kProtocols, "protocol", out_.protocols);
    if (name == "NCCL_MAX_NCHANNELS" || name == "NCCL_MAX_CTAS") return channels(value, out_.max_channels);
    if (name == "NCCL_MIN_NCHANNELS" || name == "NCCL_MIN_CTAS") return channels(value, out_.min_channels);
    if (name == "NCCL_NVLS_ENABLE") return nvls(value);
    if (name == "NCCL_P2P_DISABLE" || name == "NCCL_P2P_LEVEL") return p2p(name, value);
    ignore(name, value);
    return {};
  }

  NcclEnvironment take() { return std::move(out_); }

 private:
  sim::Failure refuse(std::string why) const {
    return sim::fail(config::at(file_, at_, fmt::format("{}: {}", config::shown(name_, 40), why)));
  }
  void understood(std::string meaning) { out_.notes.fact(name_, std::move(meaning)); }

  sim::Status parameter(const Parameter& p, std::string_view value) {
    const auto number = number_of(value);
    if (!number || *number < 0 || *number > (std::int64_t{1} << 40))
      return refuse(fmt::format("'{}' is not a whole number", config::shown(value, 40)));
    std::string said;
    for (const std::string_view path : {p.path, p.second}) {
      if (path.empty()) continue;
      out_.sets.push_back(fmt::format("{}={}{}", path, *number, p.bytes ? "B" : ""));
      said += said.empty() ? out_.sets.back() : ", " + out_.sets.back();
    }
    understood(std::move(said));
    return {};
  }

  sim::Status channels(std::string_view value, std::optional<int>& out) {
    const auto number = number_of(value);
    if (!number || *number < 1 || *number > 256)
      return refuse(fmt::format("'{}' is not a number from 1 to 256", config::shown(value, 40)));
    out = static_cast<int>(*number);
    understood(
        fmt::format("coll.channels {} {}", name_.starts_with("NCCL_MAX") ? "at most" : "at least", *number));
    return {};
  }

  sim::Status nvls(std::string_view value) {
    const auto number = number_of(value);
    if (!number || *number < 0 || *number > 2)
      return refuse(fmt::format("'{}' is neither 0, 1 nor 2", config::shown(value, 40)));
    if (*number == 0) out_.sets.emplace_back("inc.unit=none");
    understood(*number == 0 ? "inc.unit=none" : "as the machine has it");
    return {};
  }

  sim::Status p2p(std::string_view name, std::string_view value) {
    const std::string word = lower(value);
    const bool off =
        name == "NCCL_P2P_DISABLE" ? number_of(value).value_or(0) != 0 : word == "loc" || word == "0";
    out_.p2p_off = out_.p2p_off || off;
    understood(off ? "data go through the host" : "GPUs reach each other, as the machine has it");
    if (off)
      out_.notes.assumed.emplace_back(
          "without peer-to-peer access each GPU has one PCIe 4.0 x16 link to the host; --set "
          "fabric.link.rate=... "
          "says another rate");
    return {};
  }

  /// "ring,tree;allreduce:^nvls": lists for all or for one collective; ^ takes what the list does not name.
  template <std::size_t N>
  sim::Status names(std::string_view value, const std::array<Known, N>& known, std::string_view what,
                    std::vector<AllowedNames>& out) {
    for (std::string_view rule : split_at(value, ';')) {
      if (rule.empty()) continue;
      AllowedNames made;
      if (const std::size_t colon = rule.find(':'); colon != std::string_view::npos) {
        const std::string collective = lower(config::trimmed(rule.substr(0, colon)));
        const auto found =
            std::ranges::find(kCollectives, std::string_view(collective), &NamedCollective::nccl);
        if (found == kCollectives.end())
          return refuse(fmt::format("there is no collective '{}'", config::shown(collective, 32)));
        made.collective = found->collective;
        rule.remove_prefix(colon + 1);
      }
      const bool all_but = rule.starts_with('^');
      if (all_but) rule.remove_prefix(1);
      std::vector<std::string> listed;
      for (const std::string_view word : split_at(rule, ',')) {
        const std::string name = lower(word);
        const auto found = std::ranges::find(known, std::string_view(name), &Known::nccl);
        if (found == known.end()) {
          std::vector<std::string_view> all;
          all.reserve(known.size());
          for (const Known& k : known) all.push_back(k.nccl);
          return refuse(fmt::format("there is no {} '{}'{}; there is {}", what, config::shown(name, 32),
                                    config::did_you_mean(name, all), fmt::join(all, ", ")));
        }
        if (found->ours.empty() && !all_but)
          out_.notes.ignored.push_back(
              fmt::format("{} of {}, which infold does not have", found->nccl, name_));
        listed.push_back(name);
      }
      for (const Known& k : known) {
        const bool named = std::ranges::find(listed, k.nccl) != listed.end();
        if (named != all_but && !k.ours.empty()) made.names.emplace_back(k.ours);
      }
      if (made.names.empty()) return refuse(fmt::format("of what it allows, infold has no {}", what));
      understood(fmt::format("{}{}",
                             made.collective ? fmt::format("{}: ", sim::name_of(*made.collective)) : "",
                             fmt::join(made.names, ", ")));
      out.push_back(std::move(made));
    }
    return {};
  }

  void ignore(std::string_view name, std::string_view value) {
    for (const std::string_view start : kWithoutEffect) {
      if (name.starts_with(start)) {
        out_.notes.ignored.push_back(
            fmt::format("{}: no effect on what is simulated", config::shown(name, 40)));
        return;
      }
    }
    if (name == "NCCL_TOPO_FILE") {
      out_.notes.ignored.push_back(
          fmt::format("NCCL_TOPO_FILE: --system {} takes it", config::shown(value, 80)));
      return;
    }
    std::vector<std::string_view> known(kMapped.begin(), kMapped.end());
    for (const Parameter& p : kParameters) known.push_back(p.variable);
    out_.notes.ignored.push_back(fmt::format("{}: not known{}", config::shown(name, 40),
                                             config::did_you_mean(std::string(name), known)));
  }

  const std::string& file_;
  config::Position at_;
  std::string name_;
  std::size_t count_ = 0;
  NcclEnvironment out_;
};

}  // namespace

std::optional<std::vector<std::string>> NcclEnvironment::allowed(const std::vector<AllowedNames>& rules,
                                                                 coll::Collective collective) {
  std::optional<std::vector<std::string>> found;
  for (const AllowedNames& rule : rules) {
    if (!rule.collective || *rule.collective == collective) found = rule.names;
  }
  return found;
}

sim::Result<NcclEnvironment> read_nccl_environment(std::string_view text, const std::string& file) {
  Reader reader(file);
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    const std::string_view whole = line;
    ++number;
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    for (line = config::trimmed(line); !line.empty(); line = config::trimmed(line)) {
      if (line.starts_with("export ")) line = config::trimmed(line.substr(7));
      const config::Position at{number, static_cast<int>(line.data() - whole.data()) + 1};
      const std::size_t stop = std::min(line.find_first_of(" \t\r"), line.size());
      const std::string_view word = line.substr(0, stop);
      line.remove_prefix(stop);
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos || equals == 0)
        return sim::fail(
            config::at(file, at, fmt::format("'{}' is not like NCCL_ALGO=Ring", config::shown(word, 40))));
      std::string_view value = word.substr(equals + 1);
      if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
          value.back() == value.front())
        value = value.substr(1, value.size() - 2);
      if (auto read = reader.variable(word.substr(0, equals), value, at); !read)
        return sim::fail_as(std::move(read));
    }
  }
  return reader.take();
}

}  // namespace infold::formats
