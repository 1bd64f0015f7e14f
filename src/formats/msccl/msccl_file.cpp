// Every number is bounded before anything is made of it.
#include "formats/msccl/msccl_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "formats/text/xml_tree.h"

namespace infold::formats {

namespace {

using config::Position;

constexpr int kMostMscclGpus = 1024;
constexpr int kMostChunks = 1 << 20;
constexpr std::size_t kMostMscclSteps = 1'000'000;
constexpr std::int64_t kMostCells = 20'000'000;  ///< chunks of all buffers of all GPUs

struct StepType {
  std::string_view name;
  bool receives, reduces, copies, sends, local;
};
constexpr std::array kStepTypes = {
    StepType{"s", false, false, false, true, false},    StepType{"r", true, false, true, false, false},
    StepType{"rcs", true, false, true, true, false},    StepType{"rrs", true, true, false, true, false},
    StepType{"rrc", true, true, true, false, false},    StepType{"rrcs", true, true, true, true, false},
    StepType{"cpy", false, false, true, false, true},   StepType{"re", false, true, true, false, true},
    StepType{"nop", false, false, false, false, false},
};

struct CollectiveName {
  std::string_view name;
  coll::Collective collective;
};
constexpr std::array kMscclCollectives = {
    CollectiveName{"allreduce", coll::Collective::kAllReduce},
    CollectiveName{"allgather", coll::Collective::kAllGather},
    CollectiveName{"reduce_scatter", coll::Collective::kReduceScatter},
    CollectiveName{"reducescatter", coll::Collective::kReduceScatter},
    CollectiveName{"alltoall", coll::Collective::kAllToAll},
};

class MscclReader {
 public:
  MscclReader(const std::string& file, MscclFile& out) : file_(file), out_(out) {}

  sim::Status read(const XmlNode& root) {
    if (root.name != "algo")
      return refuse(root, fmt::format("expected <algo>, not <{}>", config::shown(root.name)));
    out_.at = root.at;
    out_.name = config::shown(root.text("name"), 32);
    const int gpus = number(root, "ngpus", 1, kMostMscclGpus);
    out_.chunks = number(root, "nchunksperloop", 1, kMostChunks);
    const bool in_place = optional(root, "inplace", 0, 1, 0) == 1;
    const bool out_of_place = optional(root, "outofplace", 0, 1, in_place ? 0 : 1) == 1;
    out_.in_place = in_place && !out_of_place;
    read_names(root);
    for (const char* range : {"minBytes", "maxBytes"}) {
      if (root.find(range) != nullptr)
        out_.unused.push_back(fmt::format("{} {}", range, config::shown(root.text(range), 20)));
    }
    if (problem_) return sim::fail(*problem_);
    out_.gpus.resize(static_cast<std::size_t>(gpus));
    std::vector<bool> seen(out_.gpus.size());
    for (const XmlNode& node : root.children) {
      if (node.name != "gpu")
        return refuse(node, fmt::format("expected <gpu>, not <{}>", config::shown(node.name)));
      const int id = number(node, "id", 0, gpus - 1);
      if (problem_) return sim::fail(*problem_);
      if (seen[static_cast<std::size_t>(id)]) return refuse(node, fmt::format("GPU {} a second time", id));
      seen[static_cast<std::size_t>(id)] = true;
      read_gpu(node, id);
      if (problem_) return sim::fail(*problem_);
    }
    const auto missing = std::ranges::find(seen, false);
    if (missing != seen.end()) return refuse(root, fmt::format("there is no GPU {}", missing - seen.begin()));
    return {};
  }

 private:
  sim::Status refuse(const XmlNode& node, std::string why) const {
    return sim::fail(config::at(file_, node.at, std::move(why)));
  }
  void complain(const XmlNode& node, std::string why) {
    if (!problem_) problem_ = config::at(file_, node.at, std::move(why));
  }

  int optional(const XmlNode& node, std::string_view name, int least, int most, int otherwise) {
    return node.find(name) == nullptr ? otherwise : number(node, name, least, most);
  }
  int number(const XmlNode& node, std::string_view name, int least, int most) {
    const std::string* text = node.find(name);
    int value = 0;
    if (text == nullptr) {
      complain(node, fmt::format("<{}> has no {}", node.name, name));
      return least;
    }
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error == std::errc{} && stop == end && !text->empty() && value >= least && value <= most)
      return value;
    complain(node, fmt::format("<{}> {}: {} is not a whole number from {} to {}", node.name, name,
                               config::quote(*text), least, most));
    return least;
  }

  void read_names(const XmlNode& root) {
    const std::string_view collective = root.text("coll");
    std::vector<std::string_view> known;
    bool found = false;
    for (const CollectiveName& c : kMscclCollectives) {
      known.push_back(c.name);
      if (c.name != collective) continue;
      out_.collective = c.collective;
      found = true;
    }
    if (!found)
      complain(root, fmt::format("coll: {} is not known (known are {})", config::quote(collective),
                                 fmt::join(known, ", ")));
    const std::string_view protocol = root.text("proto");
    if (protocol == "Simple" || protocol.empty()) {
      out_.protocol = coll::Protocol::kSimple;
    } else if (protocol == "LL") {
      out_.protocol = coll::Protocol::kLl;
    } else if (protocol == "LL128") {
      out_.protocol = coll::Protocol::kLl128;
    } else {
      complain(root,
               fmt::format("proto: {} is not known (known are Simple, LL, LL128)", config::quote(protocol)));
    }
  }

  void read_gpu(const XmlNode& node, int id) {
    MscclGpu& gpu = out_.gpus[static_cast<std::size_t>(id)];
    gpu.input_chunks = number(node, "i_chunks", 0, kMostChunks);
    gpu.output_chunks = number(node, "o_chunks", 0, kMostChunks);
    gpu.scratch_chunks = number(node, "s_chunks", 0, kMostChunks);
    cells_ += std::int64_t{2} * gpu.input_chunks + gpu.output_chunks + gpu.scratch_chunks;
    if (cells_ > kMostCells)
      complain(node, fmt::format("more than {} million chunks on all GPUs together", kMostCells / 1'000'000));
    for (const XmlNode& child : node.children) {
      if (child.name != "tb")
        return complain(child, fmt::format("expected <tb>, not <{}>", config::shown(child.name)));
      MscclBlock block;
      block.at = child.at;
      block.id = number(child, "id", 0, kMostMscclGpus);
      block.send = number(child, "send", -1, static_cast<int>(out_.gpus.size()) - 1);
      block.recv = number(child, "recv", -1, static_cast<int>(out_.gpus.size()) - 1);
      block.channel = number(child, "chan", 0, 255);
      if (block.send == id || block.recv == id) complain(child, "a GPU sends to itself");
      for (const XmlNode& step : child.children) read_step(step, block);
      if (problem_) return;
      gpu.blocks.push_back(std::move(block));
    }
    std::ranges::sort(gpu.blocks, {}, &MscclBlock::id);
    for (std::size_t i = 0; i < gpu.blocks.size(); ++i) {
      if (gpu.blocks[i].id != static_cast<int>(i))
        return complain(node,
                        fmt::format("threadblocks are not numbered from 0 on, each once ({} is missing)", i));
    }
    for (const MscclBlock& block : gpu.blocks) check_waits(block, gpu);
  }

  void check_waits(const MscclBlock& block, const MscclGpu& gpu) {
    for (const MscclStep& step : block.steps) {
      if (step.wait_block < 0) continue;
      const auto other = static_cast<std::size_t>(step.wait_block);
      if (other < gpu.blocks.size() && step.wait_step >= 0 &&
          static_cast<std::size_t>(step.wait_step) < gpu.blocks[other].steps.size())
        continue;
      if (!problem_)
        problem_ = config::at(file_, step.at,
                              fmt::format("waits for step {} of threadblock {}, which does not exist",
                                          step.wait_step, step.wait_block));
    }
  }

  MscclBuffer buffer(const XmlNode& node, std::string_view name) {
    const std::string_view text = node.text(name);
    if (text == "i") return MscclBuffer::kInput;
    if (text == "o") return MscclBuffer::kOutput;
    if (text == "s") return MscclBuffer::kScratch;
    complain(node, fmt::format("{}: {} is no buffer (i, o or s)", name, config::quote(text)));
    return MscclBuffer::kInput;
  }

  void read_step(const XmlNode& node, MscclBlock& block) {
    if (problem_) return;
    if (node.name != "step")
      return complain(node, fmt::format("expected <step>, not <{}>", config::shown(node.name)));
    if (++steps_ > kMostMscclSteps) return complain(node, fmt::format("more than {} steps", kMostMscclSteps));
    if (number(node, "s", 0, static_cast<int>(kMostMscclSteps)) != static_cast<int>(block.steps.size()))
      return complain(node, fmt::format("step {} was expected here", block.steps.size()));
    const auto type = std::ranges::find(kStepTypes, node.text("type"), &StepType::name);
    if (type == kStepTypes.end()) {
      std::vector<std::string_view> known;
      known.reserve(kStepTypes.size());
      for (const StepType& t : kStepTypes) known.push_back(t.name);
      return complain(node, fmt::format("type: {} is not known (known are {})",
                                        config::quote(node.text("type")), fmt::join(known, ", ")));
    }
    MscclStep step;
    step.receives = type->receives;
    step.reduces = type->reduces;
    step.copies = type->copies;
    step.sends = type->sends;
    step.local = type->local;
    step.at = node.at;
    step.wait_block = optional(node, "depid", -1, kMostMscclGpus, -1);
    step.wait_step = optional(node, "deps", -1, static_cast<int>(kMostMscclSteps), -1);
    if (step.moves()) {
      step.from = buffer(node, "srcbuf");
      step.to = buffer(node, "dstbuf");
      step.chunks = number(node, "cnt", 1, kMostChunks);
      step.from_chunk = number(node, "srcoff", step.reads_source() ? 0 : -1, kMostChunks);
      step.to_chunk = number(node, "dstoff", step.copies ? 0 : -1, kMostChunks);
      if (step.sends && block.send < 0) complain(node, "sends, and its threadblock has nobody to send to");
      if (step.receives && block.recv < 0)
        complain(node, "receives, and its threadblock has nobody to receive from");
    }
    block.steps.push_back(step);
  }

  const std::string& file_;
  MscclFile& out_;
  std::optional<sim::Error> problem_;
  std::size_t steps_ = 0;
  std::int64_t cells_ = 0;
};

}  // namespace

sim::Result<MscclFile> read_msccl_file(std::string_view text, const std::string& file) {
  const auto root = parse_xml(text, file);
  if (!root) return sim::fail_as(root);
  MscclFile out;
  if (auto read = MscclReader(file, out).read(*root); !read) return sim::fail_as(std::move(read));
  return out;
}

}  // namespace infold::formats
