// Files are opened one after the other; each becomes what its rank did, and all of them one graph.
#include "formats/trace/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "config/yaml/position.h"
#include "config/yaml/text.h"
#include "formats/text/file_text.h"
#include "formats/trace/chakra_own.h"
#include "formats/trace/chakra_rank.h"
#include "formats/trace/graph_builder.h"
#include "formats/trace/kineto_rank.h"
#include "formats/workload/workload_file.h"

namespace infold::formats {

namespace {

constexpr std::size_t kHead = std::size_t{1} << 20;
constexpr std::size_t kMostRankFiles = 4096;

/// A stream with its first bytes put back.
class RejoinedStream final : public ByteStream {
 public:
  RejoinedStream(std::string head, ByteStream& rest) : head_(std::move(head)), rest_(rest) {}
  std::size_t read(char* to, std::size_t n) override {
    const std::size_t part = std::min(n, head_.size() - taken_);
    std::copy_n(head_.data() + taken_, part, to);
    taken_ += part;
    const std::size_t got = part + (part < n ? rest_.read(to + part, n - part) : 0);
    offset_ += got;
    fault_ = rest_.fault();
    return got;
  }

 private:
  std::string head_;
  std::size_t taken_ = 0;
  ByteStream& rest_;
};

/// The last number of a file's name: "trace.3.et" is of rank 3. -1: there is none.
int rank_in_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  int rank = -1;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (!config::is_digit(name[i])) continue;
    const std::size_t end = i + 1;
    while (i > 0 && config::is_digit(name[i - 1])) --i;
    if (end - i > 5) continue;  // a time or a process
    const bool apart = i == 0 || name[i - 1] == '.' || name[i - 1] == '_' || name[i - 1] == '-' ||
                       (i >= 4 && name.compare(i - 4, 4, "rank") == 0);
    if (!apart) continue;
    rank = std::stoi(name.substr(i, end - i));
    break;
  }
  return rank;
}

class TraceLoader {
 public:
  explicit TraceLoader(const TraceOptions& options) : options_(options) {}

  sim::Status add(const std::string& file, ByteStream& stream, bool in_archive = false) {
    std::string head(kHead, '\0');
    head.resize(stream.read(head.data(), head.size()));
    if (!stream.fault().empty()) return sim::fail(config::at(file, {}, stream.fault()));
    const Format format = recognise(head);
    RejoinedStream whole(std::move(head), stream);
    if (format == Format::kTar && !in_archive) {
      auto read = for_each_in_archive(whole, [&](const std::string& name, ByteStream& part) {
        return add(fmt::format("{}/{}", file, name), part, /*in_archive=*/true);
      });
      if (!read && read.error().place.file.empty()) read.error().place.file = file;
      return read;
    }
    if (in_archive && format != Format::kChakra && format != Format::kKineto) {
      skipped_.push_back(file);
      return {};
    }
    if (format != Format::kChakra && format != Format::kKineto) {
      return sim::fail(config::at(
          file, {},
          format == Format::kUnknown
              ? std::string(
                    "this is no trace that is known (known are traces of Chakra and of the PyTorch profiler, "
                    "archives of them, and workloads of infold)")
              : fmt::format("this is {}, and no trace", meaning_of(format))));
    }
    if (format_ != Format::kUnknown && format_ != format)
      return sim::fail(config::at(file, {}, "the traces of all ranks are of one format"));
    if (++files_ > kMostRankFiles)
      return sim::fail(config::at(file, {}, fmt::format("more than {} files", kMostRankFiles)));
    format_ = format;
    return format == Format::kChakra ? add_chakra(file, whole) : add_kineto(file, whole);
  }

  sim::Result<TracedWorkload> finish(const std::string& name) {
    TracedWorkload out{.format = format_, .workload = {}, .notes = {}};
    if (files_ == 0) return sim::fail("there is no trace in it");
    if (own_.any()) {
      auto workload = own_.finish();
      if (!workload) return sim::fail_as(std::move(workload));
      out.workload = std::move(*workload);
      out.notes.fact("written_by", std::string("infold"));
      describe(out);
      return out;
    }
    if (options_.step >= 0 && format_ != Format::kKineto)
      return sim::fail("--step: only traces of the PyTorch profiler mark steps");
    std::size_t nodes = 0;
    for (const RankTrace& t : traces_) nodes += t.nodes.size();
    if (nodes > kMostTraceNodes)
      return sim::fail(fmt::format("the traces have {} nodes, more than {}", nodes, kMostTraceNodes));
    number_ranks(out.notes);
    if (format_ == Format::kChakra) note_chakra(chakra_, out.notes);
    if (format_ == Format::kKineto) note_kineto(kineto_, out.notes);
    auto built = build_workload(name, traces_, options_.ranks, out.notes);
    if (!built) return sim::fail(error_of_file(built.error(), files_ == 1 ? traces_.front().file : ""));
    out.workload = std::move(*built);
    for (const std::string& file : skipped_)
      out.notes.ignored.push_back(fmt::format("{}, which is no trace", file));
    out.workload.sources = out.notes.sources(meaning_of(format_));
    describe(out);
    return out;
  }

 private:
  sim::Status add_chakra(const std::string& file, ByteStream& stream) {
    auto trace = read_chakra_rank(stream, file, rank_in_name(file), chakra_, own_);
    if (!trace) return sim::fail_as(std::move(trace));
    if (*trace) traces_.push_back(std::move(**trace));
    if (own_.any() && !traces_.empty())
      return sim::fail(config::at(file, {}, "traces that infold wrote do not go with others"));
    return {};
  }

  sim::Status add_kineto(const std::string& file, ByteStream& stream) {
    auto events = read_kineto_events(stream, file);
    if (!events) return sim::fail_as(std::move(events));
    auto trace = read_kineto_rank(*events, file, rank_in_name(file), options_.step, kineto_);
    if (!trace) return sim::fail_as(std::move(trace));
    traces_.push_back(std::move(*trace));
    return {};
  }

  /// Files whose names or contents do not say a rank are numbered in their order.
  void number_ranks(Notes& notes) {
    std::set<int> taken;
    const bool clear = std::ranges::all_of(traces_, [&](const RankTrace& t) {
      return t.rank >= 0 && t.rank < 16384 && taken.insert(t.rank).second;
    });
    if (clear) return;
    if (traces_.size() > 1)
      notes.assumed.emplace_back(
          "the files are of ranks 0, 1 and so on in their order, as they do not say it");
    for (std::size_t i = 0; i < traces_.size(); ++i) traces_[i].rank = static_cast<int>(i);
  }

  static void describe(TracedWorkload& out) {
    const work::Graph& g = out.workload.graph;
    out.notes.fact("ranks", g.ranks());
    out.notes.fact("operations", static_cast<std::int64_t>(g.operations.size()));
    for (const work::Communicator& c : g.communicators) {
      if (out.notes.understood.size() > 40) break;
      std::size_t size = c.groups.empty() ? 0 : c.groups.front().size();
      out.notes.fact(fmt::format("communicator {}", c.name),
                     fmt::format("{} groups of {} ranks", c.groups.size(), size));
    }
    if (!out.workload.measured) return;
    const study::TraceMeasured& m = *out.workload.measured;
    out.notes.fact("measured_step_ms", fmt::format("{:.3f}", m.step.in_us() * 1e-3));
    out.notes.fact("measured_comm_ms", fmt::format("{:.3f}", m.communicating.in_us() * 1e-3));
    out.notes.fact("measured_comm_alone_ms", fmt::format("{:.3f}", m.uncovered.in_us() * 1e-3));
  }

  TraceOptions options_;
  Format format_ = Format::kUnknown;
  std::size_t files_ = 0;
  std::vector<RankTrace> traces_;
  ChakraCounts chakra_;
  KinetoCounts kineto_;
  ChakraOwnReader own_;
  std::vector<std::string> skipped_;
};

std::string name_of_files(const std::vector<std::string>& files) {
  std::filesystem::path path(files.front());
  while (path.has_extension() && !path.stem().empty()) path = path.stem();
  return config::shown(path.filename().string(), 48);
}

sim::Result<TracedWorkload> own_workload(std::string_view text, const std::string& file) {
  auto workload = read_workload(text, file);
  if (!workload) return sim::fail_as(std::move(workload));
  TracedWorkload out{.format = Format::kWorkload, .workload = std::move(*workload), .notes = {}};
  if (out.workload.name.empty()) out.workload.name = name_of_files({file});
  out.notes.fact("ranks", out.workload.graph.ranks());
  out.notes.fact("operations", static_cast<std::int64_t>(out.workload.graph.operations.size()));
  return out;
}

}  // namespace

bool is_workload_format(Format format) {
  return format == Format::kChakra || format == Format::kKineto || format == Format::kTar ||
         format == Format::kWorkload;
}

sim::Result<Format> recognise_file(const std::string& file) {
  auto head = read_head(file, kHead);
  if (!head) return sim::fail_as(std::move(head));
  return recognise(*head);
}

sim::Result<TracedWorkload> load_workload(const std::vector<std::string>& files,
                                          const TraceOptions& options) {
  TraceLoader loader(options);
  for (const std::string& file : files) {
    auto format = recognise_file(file);
    if (!format) return sim::fail_as(std::move(format));
    if (*format == Format::kWorkload) {
      if (files.size() > 1)
        return sim::fail(config::at(file, {}, "a workload is one file, with all its ranks"));
      if (options.step >= 0) return sim::fail("--step: only traces of the PyTorch profiler mark steps");
      auto text = read_file(file);
      if (!text) return sim::fail_as(std::move(text));
      return own_workload(text->text, file);
    }
    auto stream = open_stream(file);
    if (!stream) return sim::fail_as(std::move(stream));
    if (auto added = loader.add(file, **stream); !added) return sim::fail_as(std::move(added));
  }
  auto out = loader.finish(name_of_files(files));
  if (!out && out.error().place.file.empty() && files.size() == 1 && !out.error().message.starts_with("--"))
    out.error().place.file = files.front();
  return out;
}

sim::Result<TracedWorkload> workload_from(std::string_view bytes, const std::string& file,
                                          const TraceOptions& options) {
  if (recognise(bytes.substr(0, kHead)) == Format::kWorkload) return own_workload(bytes, file);
  TraceLoader loader(options);
  const auto stream = stream_of(bytes);
  if (auto added = loader.add(file, *stream); !added) return sim::fail_as(std::move(added));
  return loader.finish(name_of_files({file}));
}

}  // namespace infold::formats
