// A program of MSCCL as its XML says it: GPUs, their threadblocks, and the steps of each, before it becomes a
// program of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coll/program/collective.h"
#include "coll/program/protocol.h"
#include "config/yaml/position.h"
#include "sim/result.h"

namespace infold::formats {

enum class MscclBuffer { kInput, kOutput, kScratch };

struct MscclStep {
  bool receives = false;
  bool reduces = false;  ///< with its source, or (`re`) its source with its destination
  bool copies = false;   ///< stores to its destination
  bool sends = false;
  bool local = false;  ///< `re` and `cpy`: source and destination are this GPU's
  MscclBuffer from = MscclBuffer::kInput;
  MscclBuffer to = MscclBuffer::kOutput;
  int from_chunk = 0;
  int to_chunk = 0;
  int chunks = 0;
  int wait_block = -1;  ///< the threadblock that must have done step `wait_step` before; -1: none
  int wait_step = -1;
  config::Position at;

  bool moves() const { return receives || sends || local; }
  bool reads_source() const { return local || reduces || (sends && !receives); }
};

struct MscclBlock {
  int id = 0;
  int send = -1;  ///< the GPU that it sends to
  int recv = -1;
  int channel = 0;
  std::vector<MscclStep> steps;
  config::Position at;
};

struct MscclGpu {
  int input_chunks = 0;
  int output_chunks = 0;
  int scratch_chunks = 0;
  std::vector<MscclBlock> blocks;  ///< by id
};

struct MscclFile {
  std::string name;
  coll::Collective collective = coll::Collective::kAllReduce;
  coll::Protocol protocol = coll::Protocol::kSimple;
  int chunks = 0;         ///< of the whole message
  bool in_place = false;  ///< input and output are the same memory
  std::vector<MscclGpu> gpus;
  std::vector<std::string> unused;  ///< attributes without a meaning here
  config::Position at;
};

sim::Result<MscclFile> read_msccl_file(std::string_view text, const std::string& file);

}  // namespace infold::formats
