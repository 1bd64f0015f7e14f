// The chunk is the largest piece that all places and lengths are multiples of; the file says nothing of
// bytes.
#include "formats/msccl/msccl_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace infold::formats {

namespace {

using coll::Collective;
using coll::Program;
using coll::Step;

std::string_view collective_name(Collective c) {
  switch (c) {
    case Collective::kAllReduce:
      return "allreduce";
    case Collective::kAllGather:
      return "allgather";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllToAll:
      return "alltoall";
    default:
      return "";
  }
}

std::string_view protocol_name(coll::Protocol p) {
  return p == coll::Protocol::kSimple ? "Simple" : p == coll::Protocol::kLl ? "LL" : "LL128";
}

class MscclWriter {
 public:
  explicit MscclWriter(const coll::OwnProgram& own) : p_(own.program), name_(own.name) {}

  sim::Result<std::string> run() {
    if (collective_name(p_.collective).empty())
      return sim::fail(fmt::format("MSCCL has no {}", sim::name_of(p_.collective)));
    if (p_.engine != coll::Engine::kSm)
      return sim::fail(fmt::format("MSCCL runs on SMs, not on {}", sim::name_of(p_.engine)));
    find_chunk();
    sizes_ = coll::buffer_sizes(p_.collective, p_.bytes, p_.ranks);
    std::string gpus;
    for (int rank = 0; rank < p_.ranks; ++rank) {
      gpus += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", rank,
                          chunks(sizes_.input), chunks(sizes_.output), chunks(p_.scratch));
      int id = 0;
      for (int channel = 0; channel < p_.channels; ++channel) {
        if (p_.steps(rank, channel).empty()) continue;
        auto block = block_text(rank, channel, id++);
        if (!block) return block;
        gpus += *block;
      }
      gpus += "  </gpu>\n";
    }
    return fmt::format(
        "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
        "inplace=\"0\" "
        "outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\">\n{}</algo>\n",
        plain(name_), protocol_name(p_.tuning.protocol), p_.channels, chunks(p_.bytes), p_.ranks,
        collective_name(p_.collective), gpus);
  }

 private:
  /// A name that needs no quoting in XML.
  static std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '"' || c == '&' || c == '<' || c == '>' || c == '\'' ? '_' : c;
    return out;
  }

  void find_chunk() {
    std::int64_t unit = coll::has_shares(p_.collective) ? p_.bytes.count() / p_.ranks : p_.bytes.count();
    unit = std::gcd(unit, p_.scratch.count());
    for (const auto& list : p_.lists) {
      for (const Step& s : list) {
        unit = std::gcd(unit, s.bytes.count());
        if (s.uses_input) unit = std::gcd(unit, s.input_offset.count());
        if (s.uses_held) unit = std::gcd(unit, s.held_offset.count());
        if (s.writes_output) unit = std::gcd(unit, s.output_offset.count());
      }
    }
    chunk_ = std::max<std::int64_t>(unit, 1);
  }
  std::int64_t chunks(sim::Bytes bytes) const { return bytes.count() / chunk_; }

  sim::Result<std::string> block_text(int rank, int channel, int id) const {
    const auto& list = p_.steps(rank, channel);
    int send = -1;
    int recv = -1;
    int number = 0;
    std::string steps;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Step& s = list[i];
      const auto refuse = [&](std::string_view why) {
        return sim::fail(fmt::format("{}: {}", coll::place_of(rank, channel, list, i), why));
      };
      if (s.in_network()) return refuse("MSCCL has no switches that reduce");
      if (s.lands || s.landed) return refuse("MSCCL stores into no other GPU's output");
      if (s.bytes == sim::Bytes{}) return refuse("MSCCL has no flags without data");
      if (s.from.size() > 1 || s.to.size() > 1)
        return refuse("a step of MSCCL has one GPU that it receives from, and one that it sends to");
      if ((s.receives() && recv >= 0 && recv != s.from[0]) || (s.sends() && send >= 0 && send != s.to[0]))
        return refuse("a threadblock of MSCCL sends to one GPU only, and receives from one");
      if (s.receives()) recv = s.from[0];
      if (s.sends()) send = s.to[0];
      const std::string_view type = type_of(s);
      if (type.empty()) return refuse("no step of MSCCL does this");
      const std::int64_t put = chunks(s.writes_output ? s.output_offset
                                      : s.uses_input  ? s.input_offset
                                                      : s.held_offset);
      if (type == "cpy+s") {
        steps += step_text(number++, "cpy", s, put);
        steps += step_text(number++, "s", s, put);
      } else {
        steps += step_text(number++, type, s, put);
      }
    }
    return fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n{}    </tb>\n", id, send,
                       recv, channel, steps);
  }

  /// Empty if there is none.
  static std::string_view type_of(const Step& s) {
    const int own = int{s.uses_input} + int{s.uses_held};
    if (own > 1) return {};
    if (s.receives()) {
      if (own == 1) return s.writes_output ? (s.sends() ? "rrcs" : "rrc") : s.sends() ? "rrs" : "";
      return !s.writes_output ? "" : s.sends() ? "rcs" : "r";
    }
    if (own == 0) return {};
    return s.writes_output ? (s.sends() ? "cpy+s" : "cpy") : "s";
  }

  std::string step_text(int number, std::string_view type, const Step& s, std::int64_t put) const {
    const bool held = s.uses_held;
    const bool scratch_from = held && s.held_offset >= sizes_.output;
    const bool scratch_to = s.writes_output && s.output_offset >= sizes_.output;
    const std::int64_t from = chunks(held ? (scratch_from ? s.held_offset - sizes_.output : s.held_offset)
                                     : s.uses_input ? s.input_offset
                                                    : s.output_offset);
    const std::int64_t to = scratch_to ? chunks(s.output_offset - sizes_.output) : put;
    return fmt::format(
        "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" "
        "depid=\"-1\" "
        "deps=\"-1\" hasdep=\"0\"/>\n",
        number, type, held ? (scratch_from ? "s" : "o") : "i", from, scratch_to ? "s" : "o", to,
        chunks(s.bytes));
  }

  const Program& p_;
  std::string_view name_;
  std::int64_t chunk_ = 1;
  coll::BufferSizes sizes_;
};

}  // namespace

sim::Result<std::string> to_msccl(const coll::OwnProgram& own) {
  return MscclWriter(own).run();
}

}  // namespace infold::formats
