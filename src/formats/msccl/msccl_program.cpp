// The program is carried out once on paper, threadblock by threadblock: that tells which chunks hold input
// and which were stored, when a sum is complete, and an order for threadblocks that wait for each other,
// which become one workgroup, because channels of ours do not.
#include "formats/msccl/msccl_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "coll/program/checker.h"
#include "coll/program/chunking.h"
#include "formats/msccl/msccl_file.h"
#include "formats/msccl/msccl_memory.h"

namespace infold::formats {

namespace {

/// One block of one GPU in a row of all.
using BlockId = std::size_t;
/// From, to, channel.
using Ends = std::tuple<int, int, int>;

struct Message {
  int chunks = 0;
  int ranks = 0;
  BlockId receiver = 0;
  bool taken = false;
};

class MscclConverter {
 public:
  MscclConverter(const MscclFile& file, const std::string& name, ProgramImport& out)
      : file_(file), name_(name), out_(out) {}

  sim::Status run() {
    gather_blocks();
    if (auto joined = join_blocks(); !joined) return joined;
    give_channels();
    for (std::size_t g = 0; g < file_.gpus.size(); ++g) memory_.emplace_back(file_, g);
    begin_program();
    if (auto counted = count_readers(); !counted) return counted;
    if (auto done = carry_out(); !done) return done;
    for (const MscclMemory& m : memory_)
      program().scratch = sim::max(program().scratch, chunk_ * m.scratch_used());
    copy_what_stays();
    if (const auto flaw = coll::find_flaw(program()))
      return sim::fail(config::at(name_, place_of(*flaw), coll::to_string(*flaw, program())));
    note();
    return {};
  }

 private:
  struct Block {
    int gpu = 0;
    const MscclBlock* block = nullptr;
    std::size_t next = 0;
    BlockId joined = 0;  ///< the representative of those it must share a channel number with
    int channel = -1;
    bool queued = false;
  };

  coll::Program& program() { return out_.own.program; }
  sim::Status refuse(config::Position where, std::string why) const {
    return sim::fail(config::at(name_, where, std::move(why)));
  }

  void gather_blocks() {
    for (std::size_t g = 0; g < file_.gpus.size(); ++g) {
      first_.push_back(blocks_.size());
      for (const MscclBlock& block : file_.gpus[g].blocks) {
        Block made;
        made.gpu = static_cast<int>(g);
        made.block = &block;
        made.joined = blocks_.size();
        blocks_.push_back(made);
      }
    }
  }

  BlockId root_of(BlockId id) {
    while (blocks_[id].joined != id) {
      blocks_[id].joined = blocks_[blocks_[id].joined].joined;
      id = blocks_[id].joined;
    }
    return id;
  }
  void unite(BlockId a, BlockId b) {
    a = root_of(a);
    b = root_of(b);
    blocks_[std::max(a, b)].joined = std::min(a, b);
  }

  /// The ends of a connection have one channel, and so have blocks that wait for each other.
  sim::Status join_blocks() {
    for (BlockId id = 0; id < blocks_.size(); ++id) {
      const Block& b = blocks_[id];
      bool sends = false;
      bool receives = false;
      for (const MscclStep& step : b.block->steps) {
        sends = sends || step.sends;
        receives = receives || step.receives;
        if (step.wait_block >= 0)
          unite(id, first_[static_cast<std::size_t>(b.gpu)] + static_cast<std::size_t>(step.wait_block));
      }
      if (sends && !senders_.emplace(Ends{b.gpu, b.block->send, b.block->channel}, id).second)
        return refuse(b.block->at, fmt::format("a second threadblock sends to GPU {} on channel {}",
                                               b.block->send, b.block->channel));
      if (receives && !receivers_.emplace(Ends{b.block->recv, b.gpu, b.block->channel}, id).second)
        return refuse(b.block->at, fmt::format("a second threadblock receives from GPU {} on channel {}",
                                               b.block->recv, b.block->channel));
    }
    for (const auto& [ends, sender] : senders_) {
      const auto receiver = receivers_.find(ends);
      if (receiver == receivers_.end())
        return refuse(
            blocks_[sender].block->at,
            fmt::format("no threadblock of GPU {} receives what this one sends", std::get<1>(ends)));
      unite(sender, receiver->second);
    }
    for (const auto& [ends, receiver] : receivers_) {
      if (senders_.find(ends) == senders_.end())
        return refuse(
            blocks_[receiver].block->at,
            fmt::format("no threadblock of GPU {} sends what this one waits for", std::get<0>(ends)));
    }
    return {};
  }

  /// Blocks that are joined get one number, the file's where it is free on all of their GPUs.
  void give_channels() {
    std::map<BlockId, std::vector<BlockId>> groups;
    for (BlockId id = 0; id < blocks_.size(); ++id) groups[root_of(id)].push_back(id);
    std::vector<std::vector<bool>> taken(file_.gpus.size());
    const auto is_free = [&](const std::vector<BlockId>& group, std::size_t channel) {
      return std::ranges::none_of(group, [&](BlockId id) {
        const auto& of = taken[static_cast<std::size_t>(blocks_[id].gpu)];
        return channel < of.size() && of[channel];
      });
    };
    for (const auto& [root, group] : groups) {
      auto channel = static_cast<std::size_t>(blocks_[root].block->channel);
      if (!is_free(group, channel)) {
        channel = 0;
        while (!is_free(group, channel)) ++channel;
      }
      std::vector<int> gpus;
      for (const BlockId id : group) {
        auto& of = taken[static_cast<std::size_t>(blocks_[id].gpu)];
        if (of.size() <= channel) of.resize(channel + 1);
        of[channel] = true;
        blocks_[id].channel = static_cast<int>(channel);
        channels_ = std::max(channels_, blocks_[id].channel + 1);
        gpus.push_back(blocks_[id].gpu);
      }
      std::ranges::sort(gpus);
      const auto last = std::unique(gpus.begin(), gpus.end());
      merged_ += static_cast<int>(group.size()) - static_cast<int>(last - gpus.begin());
    }
  }

  void begin_program() {
    coll::Program& p = program();
    p.collective = file_.collective;
    p.ranks = static_cast<int>(file_.gpus.size());
    p.channels = std::max(channels_, 1);
    p.tuning = coll::for_protocol(out_.own.settings, file_.protocol);
    p.lists.resize(static_cast<std::size_t>(p.ranks) * static_cast<std::size_t>(p.channels));
    places_.resize(p.lists.size());
    int longest = 1;
    for (const Block& b : blocks_) {
      for (const MscclStep& step : b.block->steps) longest = std::max(longest, step.chunks);
    }
    const std::int64_t most = coll::max_chunk(p.tuning).count() / longest / coll::kVector * coll::kVector;
    chunk_ = sim::Bytes{std::max(most, coll::kVector)};
    int output = 0;
    int input = 0;
    for (std::size_t g = 0; g < file_.gpus.size(); ++g) {
      output = std::max(output, memory_[g].output_chunks());
      input = std::max(input, file_.gpus[g].input_chunks);
    }
    p.bytes = chunk_ * std::max(input, output);
  }

  /// A message that lands in scratch memory and is read once, to be added to something, need not be stored.
  sim::Status count_readers() {
    for (const Block& b : blocks_) {
      MscclMemory& m = memory_[static_cast<std::size_t>(b.gpu)];
      for (const MscclStep& step : b.block->steps) {
        if (!step.moves()) continue;
        const int from = step.reads_source() ? m.cell(step.from, step.from_chunk, step.chunks) : 0;
        const int to = step.copies ? m.cell(step.to, step.to_chunk, step.chunks) : 0;
        if (from < 0 || to < 0) return refuse(step.at, "reaches beyond its buffer");
        for (int i = 0; i < step.chunks; ++i) {
          if (step.reads_source()) ++m[from + i].readers;
          if (step.local && step.reduces) ++m[to + i].readers;
        }
      }
    }
    return {};
  }

  sim::Status carry_out() {
    for (BlockId id = 0; id < blocks_.size(); ++id) wake(id);
    while (!ready_.empty()) {
      const BlockId id = ready_.front();
      ready_.pop_front();
      blocks_[id].queued = false;
      if (!can_go(id)) continue;
      if (auto done = step(id); !done) return done;
      wake(id);
      const auto gpu = static_cast<std::size_t>(blocks_[id].gpu);
      const BlockId end = gpu + 1 < first_.size() ? first_[gpu + 1] : blocks_.size();
      for (BlockId other = first_[gpu]; other < end; ++other) {
        if (waits_for(other, id)) wake(other);
      }
    }
    for (const Block& b : blocks_) {
      if (b.next < b.block->steps.size())
        return refuse(b.block->steps[b.next].at,
                      "waits for what never comes: a message or another threadblock");
    }
    for (auto& [ends, messages] : messages_) {
      if (auto flushed = receive_pending(ends, messages.size()); !flushed) return flushed;
    }
    for (const auto& [ends, messages] : messages_) {
      if (taken_[ends] < messages.size())
        return refuse(file_.at, fmt::format("GPU {} sends more to GPU {} than it receives", std::get<0>(ends),
                                            std::get<1>(ends)));
    }
    return {};
  }

  void wake(BlockId id) {
    if (blocks_[id].queued || blocks_[id].next >= blocks_[id].block->steps.size()) return;
    blocks_[id].queued = true;
    ready_.push_back(id);
  }
  bool waits_for(BlockId id, BlockId other) const {
    const Block& b = blocks_[id];
    if (b.next >= b.block->steps.size()) return false;
    const int wait = b.block->steps[b.next].wait_block;
    return wait >= 0 && first_[static_cast<std::size_t>(b.gpu)] + static_cast<std::size_t>(wait) == other;
  }
  bool can_go(BlockId id) {
    const Block& b = blocks_[id];
    if (b.next >= b.block->steps.size()) return false;
    const MscclStep& s = b.block->steps[b.next];
    if (s.wait_block >= 0) {
      const Block& other =
          blocks_[first_[static_cast<std::size_t>(b.gpu)] + static_cast<std::size_t>(s.wait_block)];
      if (other.next <= static_cast<std::size_t>(s.wait_step)) return false;
    }
    if (!s.receives) return true;
    const Ends ends{b.block->recv, b.gpu, b.block->channel};
    return arrived_[ends] < messages_[ends].size();
  }

  std::vector<coll::Step>& list_of(BlockId id) {
    return program().steps(blocks_[id].gpu, blocks_[id].channel);
  }
  void emit(BlockId id, const coll::Step& step, config::Position at) {
    list_of(id).push_back(step);
    const auto list =
        static_cast<std::size_t>(blocks_[id].gpu) * static_cast<std::size_t>(program().channels) +
        static_cast<std::size_t>(blocks_[id].channel);
    places_[list].push_back(at);
  }

  /// Stores the pending messages of a connection up to number `end`, in the order in which they came.
  sim::Status receive_pending(const Ends& ends, std::size_t end) {
    auto& of = messages_[ends];
    for (std::size_t& i = taken_[ends]; i < end && pending_.find({ends, i}) != pending_.end(); ++i) {
      const int cell = pending_.at({ends, i});
      pending_.erase({ends, i});
      MscclMemory& m = memory_[static_cast<std::size_t>(std::get<1>(ends))];
      coll::Step s;
      s.from = {std::get<0>(ends)};
      s.bytes = chunk_ * of[i].chunks;
      s.writes_output = true;
      s.output_offset = chunk_ * cell;
      emit(of[i].receiver, s, blocks_[of[i].receiver].block->at);
      for (int c = 0; c < of[i].chunks; ++c) m[cell + c].pending = -1;
    }
    return {};
  }

  /// Makes chunks of `cell` a source of the step; `ranks` is what their value is from.
  sim::Status read(coll::Step& s, const MscclStep& step, MscclMemory& m, int cell, int& ranks) {
    const MscclMemory::Cell& first = m[cell];
    for (int i = 0; i < step.chunks; ++i) {
      const MscclMemory::Cell& c = m[cell + i];
      if (!c.written && c.input < 0) return refuse(step.at, "reads a chunk that nothing was written to");
      if (c.written != first.written || c.ranks != first.ranks)
        return refuse(step.at,
                      "reads chunks together of which some are input and some were stored, or from different "
                      "numbers of ranks");
    }
    if (first.written ? s.uses_held : s.uses_input)
      return refuse(step.at,
                    fmt::format("adds two {} values; a step here reads one of input and one that was stored",
                                first.written ? "stored" : "input"));
    if (first.written) {
      s.uses_held = true;
      s.held_offset = chunk_ * cell;
    } else {
      s.uses_input = true;
      s.input_offset = chunk_ * first.input;
    }
    ranks += first.ranks;
    return {};
  }

  void write(MscclMemory& m, int cell, int chunks, int ranks) {
    for (int i = 0; i < chunks; ++i) {
      m[cell + i].written = true;
      m[cell + i].ranks = ranks;
    }
  }

  /// Everything that a step reads must be there; messages for it that are pending are stored now.
  sim::Status settle(const Block& b, int cell, int chunks) {
    MscclMemory& m = memory_[static_cast<std::size_t>(b.gpu)];
    for (int i = 0; i < chunks; ++i) {
      if (m[cell + i].pending < 0) continue;
      const Ends ends = pending_ends_[static_cast<std::size_t>(m[cell + i].pending)].first;
      if (auto flushed =
              receive_pending(ends, pending_ends_[static_cast<std::size_t>(m[cell + i].pending)].second + 1);
          !flushed)
        return flushed;
    }
    return {};
  }

  bool reads_once(const MscclMemory& m, int cell, int chunks) const {
    for (int i = 0; i < chunks; ++i) {
      if (m[cell + i].readers != 1) return false;
    }
    return true;
  }

  /// Whether a message is the next of its connection, is the whole source, and is read by a block of its own
  /// workgroup.
  bool can_add_from(const Block& b, const MscclStep& step, int cell) {
    MscclMemory& m = memory_[static_cast<std::size_t>(b.gpu)];
    const int pending = m[cell].pending;
    if (pending < 0) return false;
    const auto& [ends, number] = pending_ends_[static_cast<std::size_t>(pending)];
    const Message& message = messages_[ends][number];
    if (number != taken_[ends] || message.chunks != step.chunks ||
        blocks_[message.receiver].channel != b.channel)
      return false;
    const auto at = pending_.find({ends, number});
    return at != pending_.end() && at->second == cell;
  }

  bool completes(int ranks, int before) const {
    return coll::reduces(file_.collective) && ranks == static_cast<int>(file_.gpus.size()) && before < ranks;
  }

  sim::Status step(BlockId id) {
    Block& b = blocks_[id];
    const MscclStep& step = b.block->steps[b.next++];
    if (!step.moves()) return {};
    MscclMemory& m = memory_[static_cast<std::size_t>(b.gpu)];
    const int source = step.reads_source() ? m.cell(step.from, step.from_chunk, step.chunks) : -1;
    const int target = step.copies ? m.cell(step.to, step.to_chunk, step.chunks) : -1;
    if (step.local && step.reduces) {
      if (auto there = settle(b, target, step.chunks); !there) return there;
      if (can_add_from(b, step, source)) return add_message(id, step, source, target);
    }
    if (source >= 0) {
      if (auto there = settle(b, source, step.chunks); !there) return there;
    }
    if (target >= 0) {
      if (auto there = settle(b, target, step.chunks); !there) return there;
    }
    coll::Step s;
    s.bytes = chunk_ * step.chunks;
    int ranks = 0;
    int most = 0;
    if (step.receives) {
      const Ends ends{b.block->recv, b.gpu, b.block->channel};
      const std::size_t number = arrived_[ends]++;
      Message& message = messages_[ends][number];
      if (message.chunks != step.chunks)
        return refuse(step.at,
                      fmt::format("receives {} chunks, and {} were sent", step.chunks, message.chunks));
      message.receiver = id;
      if (!step.sends && !step.reduces && step.to == MscclBuffer::kScratch &&
          reads_once(m, target, step.chunks)) {
        // Stored only if it is not added to something before.
        const auto mark = static_cast<int>(pending_ends_.size());
        pending_ends_.emplace_back(ends, number);
        pending_[{ends, number}] = target;
        write(m, target, step.chunks, message.ranks);
        for (int i = 0; i < step.chunks; ++i) m[target + i].pending = mark;
        return {};
      }
      if (auto flushed = receive_pending(ends, number); !flushed) return flushed;
      taken_[ends] = number + 1;
      s.from = {b.block->recv};
      ranks = most = message.ranks;
    }
    if (step.reads_source()) {
      const int before = ranks;
      if (auto can = read(s, step, m, source, ranks); !can) return can;
      most = std::max(most, ranks - before);
    }
    if (step.local && step.reduces) {
      const int before = ranks;
      if (auto can = read(s, step, m, target, ranks); !can) return can;
      most = std::max(most, ranks - before);
    }
    s.finishes = completes(ranks, most);
    if (step.copies) {
      s.writes_output = true;
      s.output_offset = chunk_ * target;
      write(m, target, step.chunks, ranks);
    }
    if (step.sends) {
      s.to = {b.block->send};
      const Ends ends{b.gpu, b.block->send, b.block->channel};
      messages_[ends].push_back({step.chunks, ranks, 0, false});
      wake(receivers_.at(ends));
    }
    emit(id, s, step.at);
    return {};
  }

  /// Adds a message to what the target holds as it arrives; several in a row become one step.
  sim::Status add_message(BlockId id, const MscclStep& step, int source, int target) {
    MscclMemory& m = memory_[static_cast<std::size_t>(blocks_[id].gpu)];
    const auto [ends, number] = pending_ends_[static_cast<std::size_t>(m[source].pending)];
    const Message& message = messages_[ends][number];
    pending_.erase({ends, number});
    taken_[ends] = number + 1;
    for (int i = 0; i < step.chunks; ++i) m[source + i].pending = -1;
    auto& list = list_of(id);
    const sim::Bytes place = chunk_ * target;
    coll::Step* last = list.empty() ? nullptr : &list.back();
    const bool more = last != nullptr && last->to.empty() && !last->from.empty() && !last->from.full() &&
                      last->writes_output && !last->finishes && last->output_offset == place &&
                      last->bytes == chunk_ * step.chunks && (last->uses_input || last->uses_held) &&
                      m[target].written &&
                      std::find(last->from.begin(), last->from.end(), std::get<0>(ends)) == last->from.end();
    if (more) {
      last->from.add(std::get<0>(ends));
      const int ranks = m[target].ranks + message.ranks;
      last->finishes = completes(ranks, std::max(m[target].ranks, message.ranks));
      write(m, target, step.chunks, ranks);
      return {};
    }
    coll::Step s;
    s.bytes = chunk_ * step.chunks;
    s.from = {std::get<0>(ends)};
    int ranks = 0;
    if (auto can = read(s, step, m, target, ranks); !can) return can;
    const int most = std::max(ranks, message.ranks);
    ranks += message.ranks;
    s.finishes = completes(ranks, most);
    s.writes_output = true;
    s.output_offset = place;
    write(m, target, step.chunks, ranks);
    emit(id, s, step.at);
    return {};
  }

  /// In place, input that is already where it belongs; our output is other memory, so it is copied.
  void copy_what_stays() {
    if (!file_.in_place || coll::reduces(file_.collective)) return;
    for (std::size_t g = 0; g < file_.gpus.size(); ++g) {
      const MscclMemory& m = memory_[g];
      for (int cell = 0; cell < m.output_chunks();) {
        int end = cell;
        while (end < m.output_chunks() && !m[end].written && m[end].input == m[cell].input + end - cell)
          ++end;
        if (m[cell].written || m[cell].input < 0) {
          ++cell;
          continue;
        }
        coll::Step s;
        s.bytes = chunk_ * (end - cell);
        s.uses_input = s.writes_output = true;
        s.input_offset = chunk_ * m[cell].input;
        s.output_offset = chunk_ * cell;
        program().steps(static_cast<int>(g), 0).push_back(s);
        places_[g * static_cast<std::size_t>(program().channels)].push_back(file_.at);
        copied_ = true;
        cell = end;
      }
    }
  }

  config::Position place_of(const coll::Flaw& flaw) {
    if (flaw.rank < 0 || flaw.channel < 0 || flaw.step < 0) return file_.at;
    const auto list = static_cast<std::size_t>(flaw.rank) * static_cast<std::size_t>(program().channels) +
                      static_cast<std::size_t>(flaw.channel);
    return list < places_.size() && static_cast<std::size_t>(flaw.step) < places_[list].size()
               ? places_[list][static_cast<std::size_t>(flaw.step)]
               : file_.at;
  }

  void note() {
    Notes& notes = out_.notes;
    const coll::Program& p = program();
    notes.fact("name", file_.name);
    notes.fact("collective", std::string(sim::name_of(p.collective)));
    notes.fact("protocol", std::string(sim::name_of(file_.protocol)));
    notes.fact("gpus", std::int64_t{p.ranks});
    notes.fact("chunks", std::int64_t{file_.chunks});
    notes.fact("threadblocks", static_cast<std::int64_t>(blocks_.size()));
    notes.fact("channels", std::int64_t{p.channels});
    notes.fact("steps", std::accumulate(p.lists.begin(), p.lists.end(), std::int64_t{0},
                                        [](std::int64_t n, const auto& list) {
                                          return n + static_cast<std::int64_t>(list.size());
                                        }));
    notes.fact("proved", "right");
    notes.assumed.push_back(
        fmt::format("a message of {} bytes: chunks of {} bytes", p.bytes.count(), chunk_.count()));
    if (merged_ > 0)
      notes.assumed.push_back(fmt::format(
          "threadblocks of a GPU that wait for each other are one workgroup: {} instead of {} on all GPUs",
          static_cast<std::int64_t>(blocks_.size()) - merged_, blocks_.size()));
    if (file_.in_place)
      notes.assumed.emplace_back(copied_ ? "in place; input that stays where it is is copied to the output"
                                         : "in place; input and output are different memory here");
    notes.ignored = file_.unused;
  }

  const MscclFile& file_;
  const std::string& name_;
  ProgramImport& out_;
  std::vector<Block> blocks_;
  std::vector<BlockId> first_;  ///< of each GPU
  std::map<Ends, BlockId> senders_;
  std::map<Ends, BlockId> receivers_;
  int channels_ = 0;
  int merged_ = 0;
  bool copied_ = false;
  sim::Bytes chunk_;
  std::vector<MscclMemory> memory_;
  std::vector<std::vector<config::Position>> places_;  ///< as the program's lists
  std::deque<BlockId> ready_;
  std::map<Ends, std::vector<Message>> messages_;
  std::map<Ends, std::size_t> arrived_;  ///< messages that a step of the receiver has asked for
  std::map<Ends, std::size_t> taken_;    ///< messages that the program receives so far
  std::map<std::pair<Ends, std::size_t>, int>
      pending_;  ///< cells of messages that were asked for and not stored
  std::vector<std::pair<Ends, std::size_t>> pending_ends_;
};

}  // namespace

sim::Result<ProgramImport> read_msccl(std::string_view text, const std::string& file) {
  const auto read = read_msccl_file(text, file);
  if (!read) return sim::fail_as(read);
  ProgramImport out;
  if (auto made = MscclConverter(*read, file, out).run(); !made) return sim::fail_as(std::move(made));
  out.own.name = read->name;
  return out;
}

}  // namespace infold::formats
