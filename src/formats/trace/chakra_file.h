// Execution traces of Chakra, schema 0.0.4: the messages of one rank's file. The field numbers are those of
// the published schema.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/text/byte_stream.h"
#include "sim/result.h"

namespace infold::formats {

enum class ChakraType : std::uint8_t {
  kInvalid,
  kMetadata,
  kMemoryLoad,
  kMemoryStore,
  kCompute,
  kSend,
  kReceive,
  kCollective
};

struct ChakraAttribute {
  std::string name;
  std::variant<std::int64_t, double, std::string> value = std::int64_t{0};  ///< lists are left out
};

struct ChakraNode {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::kInvalid;
  std::vector<std::uint64_t> control;  ///< ids of nodes that it waits for
  std::vector<std::uint64_t> data;     ///< the same
  std::uint64_t start_us = 0;
  std::uint64_t duration_us = 0;
  std::string inputs;  ///< values, as text
  std::vector<ChakraAttribute> attributes;

  const ChakraAttribute* find(std::string_view attribute) const;
  std::optional<std::int64_t> number(std::string_view attribute) const;
  std::string_view text(std::string_view attribute) const;
};

struct ChakraMetadata {
  std::string version;
  std::vector<ChakraAttribute> attributes;
};

/// The most bytes of one message.
inline constexpr std::size_t kLargestMessage = std::size_t{64} << 20;

/// Calls `node` for every node of a file, in its order, and `metadata` first. Only one message is in memory
/// at a time. Errors name the byte, and the node.
sim::Status read_chakra_file(ByteStream& stream,
                             const std::function<sim::Status(const ChakraMetadata&)>& metadata,
                             const std::function<sim::Status(ChakraNode&)>& node);

/// The bytes of messages, with their lengths.
std::string chakra_bytes(const ChakraMetadata& metadata);
std::string chakra_bytes(const ChakraNode& node);

}  // namespace infold::formats
