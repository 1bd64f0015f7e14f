// Names are compared without case and without what separates words.
#include "formats/trace/collective_names.h"

#include <array>
#include <cctype>

namespace infold::formats {

namespace {

std::string letters_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

struct CollectiveWord {
  std::string_view word;
  NamedCollective means;
};
using Kind = TraceNode::Kind;
using What = coll::Collective;
// In this order: longer words hold shorter ones.
constexpr std::array<CollectiveWord, 13> kCollectiveWords = {
    {{"reducescatter", {Kind::kCollective, What::kReduceScatter}},
     {"allreduce", {Kind::kCollective, What::kAllReduce}},
     {"allgather", {Kind::kCollective, What::kAllGather}},
     {"alltoall", {Kind::kCollective, What::kAllToAll}},
     {"all2all", {Kind::kCollective, What::kAllToAll}},
     {"broadcast", {Kind::kCollective, What::kBroadcast}},
     {"barrier", {Kind::kCollective, What::kBarrier}},
     {"scatter", {Kind::kScatterFrom, What::kSend}},
     {"gather", {Kind::kGatherTo, What::kSend}},
     {"reduce", {Kind::kCollective, What::kReduce}},
     {"sendrecv", {Kind::kNothing, What::kSend}},
     {"recv", {Kind::kReceive, What::kSend}},
     {"send", {Kind::kSend, What::kSend}}}};

}  // namespace

std::optional<NamedCollective> collective_named(std::string_view name) {
  // Of "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, ...)", arguments say nothing.
  const std::string text = letters_of(name.substr(0, name.find('(')));
  for (const CollectiveWord& w : kCollectiveWords) {
    if (text.find(w.word) == std::string::npos) continue;
    if (w.means.kind == Kind::kNothing) return std::nullopt;  // says neither who sends nor who receives
    return w.means;
  }
  return std::nullopt;
}

std::optional<int> element_bytes_named(std::string_view type) {
  const std::string text = letters_of(type);
  struct TypeWord {
    std::string_view word;
    int bytes;
  };
  // In this order: longer words hold shorter ones.
  constexpr std::array<TypeWord, 17> kTypes = {{{"float8", 1},
                                                {"bfloat16", 2},
                                                {"float16", 2},
                                                {"float64", 8},
                                                {"half", 2},
                                                {"double", 8},
                                                {"int64", 8},
                                                {"int16", 2},
                                                {"int8", 1},
                                                {"longint", 8},
                                                {"long", 8},
                                                {"short", 2},
                                                {"char", 1},
                                                {"byte", 1},
                                                {"bool", 1},
                                                {"float", 4},
                                                {"int", 4}}};
  for (const TypeWord& t : kTypes) {
    if (text.find(t.word) != std::string::npos) return t.bytes;
  }
  return std::nullopt;
}

std::optional<sim::DataType> data_type_named(std::string_view type) {
  const std::string text = letters_of(type);
  if (text.find("bfloat16") != std::string::npos) return sim::DataType::kBf16;
  if (text.find("half") != std::string::npos || text.find("float16") != std::string::npos)
    return sim::DataType::kFp16;
  if (text.find("float8") == std::string::npos && text.find("float") != std::string::npos)
    return sim::DataType::kFp32;
  return std::nullopt;
}

}  // namespace infold::formats
