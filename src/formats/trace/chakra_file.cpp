// One message after the other, each behind its length.
#include "formats/trace/chakra_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "config/yaml/text.h"
#include "formats/trace/wire.h"

namespace infold::formats {

namespace {

// GlobalMetadata
constexpr int kVersion = 1;
constexpr int kMetadataAttribute = 2;
// Node
constexpr int kId = 1;
constexpr int kName = 2;
constexpr int kType = 3;
constexpr int kControl = 4;
constexpr int kData = 5;
constexpr int kStart = 6;
constexpr int kDuration = 7;
constexpr int kInputs = 8;
constexpr int kNodeAttribute = 10;
// IOInfo
constexpr int kValues = 1;
// AttributeProto
constexpr int kAttributeName = 1;
constexpr int kDouble = 3;
constexpr int kFloat = 5;
constexpr int kInt32 = 7;
constexpr int kInt64 = 9;
constexpr int kUint32 = 11;
constexpr int kUint64 = 13;
constexpr int kSint32 = 15;
constexpr int kSint64 = 17;
constexpr int kFixed32 = 19;
constexpr int kFixed64 = 21;
constexpr int kSfixed32 = 23;
constexpr int kSfixed64 = 25;
constexpr int kBool = 27;
constexpr int kString = 29;
constexpr int kBytes = 31;

constexpr std::size_t kMostDependencies = 100'000;

std::int64_t zigzag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

sim::Status read_attribute(const WireField& field, std::vector<ChakraAttribute>& attributes) {
  ChakraAttribute a;
  WireReader reader(field.bytes, field.offset);
  for (WireField f; reader.next(f);) {
    switch (f.number) {
      case kAttributeName:
        a.name = config::shown(f.bytes);
        break;
      case kDouble:
        a.value = std::bit_cast<double>(f.value);
        break;
      case kFloat:
        a.value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(f.value)));
        break;
      case kInt32:
      case kInt64:
      case kUint32:
      case kUint64:
      case kFixed32:
      case kFixed64:
      case kSfixed64:
      case kBool:
        a.value = static_cast<std::int64_t>(f.value);
        break;
      case kSfixed32:
        a.value = static_cast<std::int64_t>(static_cast<std::int32_t>(f.value));
        break;
      case kSint32:
      case kSint64:
        a.value = zigzag(f.value);
        break;
      case kString:
      case kBytes:
        a.value = std::string(f.bytes);
        break;
      default:
        break;  // a list, or a text for readers
    }
  }
  if (!reader.fault().empty()) return sim::fail(reader.fault());
  attributes.push_back(std::move(a));
  return {};
}

sim::Status read_metadata(std::string_view message, std::uint64_t offset, ChakraMetadata& metadata) {
  WireReader reader(message, offset);
  for (WireField f; reader.next(f);) {
    if (f.number == kVersion && f.is_bytes) metadata.version = config::shown(f.bytes);
    if (f.number == kMetadataAttribute && f.is_bytes) {
      if (auto ok = read_attribute(f, metadata.attributes); !ok) return ok;
    }
  }
  if (!reader.fault().empty()) return sim::fail(reader.fault());
  return {};
}

sim::Status read_node(std::string_view message, std::uint64_t offset, ChakraNode& node) {
  WireReader reader(message, offset);
  node = {};
  node.offset = offset;
  const auto refuse = [&](std::string_view why) {
    return sim::fail(fmt::format("byte {}: node {} {}: {}", offset, node.id, config::quote(node.name), why));
  };
  for (WireField f; reader.next(f);) {
    switch (f.number) {
      case kId:
        node.id = f.value;
        break;
      case kName:
        node.name = config::shown(f.bytes, 120);
        break;
      case kType:
        if (f.value > static_cast<std::uint64_t>(ChakraType::kCollective))
          return refuse(fmt::format("there is no type {} of nodes", f.value));
        node.type = static_cast<ChakraType>(f.value);
        break;
      case kControl:
      case kData: {
        auto& list = f.number == kControl ? node.control : node.data;
        if (!add_numbers(f, list)) return refuse("its dependencies are no numbers");
        if (list.size() > kMostDependencies) return refuse("it waits for too many nodes");
        break;
      }
      case kStart:
        node.start_us = f.value;
        break;
      case kDuration:
        node.duration_us = f.value;
        break;
      case kInputs: {
        WireReader inputs(f.bytes, f.offset);
        for (WireField i; inputs.next(i);) {
          if (i.number == kValues && i.is_bytes) node.inputs = i.bytes;
        }
        break;
      }
      case kNodeAttribute:
        if (auto ok = read_attribute(f, node.attributes); !ok) return ok;
        break;
      default:
        break;
    }
  }
  if (!reader.fault().empty()) return refuse(reader.fault());
  return {};
}

/// The next message of a file: false at its end.
sim::Result<bool> next_message(ByteStream& stream, std::string& message) {
  std::uint64_t length = 0;
  const std::uint64_t start = stream.offset();
  const auto refuse = [&](std::string why) {
    if (!stream.fault().empty()) return sim::fail(stream.fault());
    return sim::fail(fmt::format("byte {}: {}", start, why));
  };
  for (int shift = 0;; shift += 7) {
    char byte = 0;
    if (stream.read(&byte, 1) == 0) {
      if (shift == 0 && stream.fault().empty()) return false;
      return refuse("the trace is cut off");
    }
    if (shift > 28) return refuse("this is no length of a message");
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte) & 0x7F) << shift;
    if ((static_cast<unsigned char>(byte) & 0x80) == 0) break;
  }
  if (length > kLargestMessage)
    return refuse(
        fmt::format("a message of {} bytes; at most {} MiB are read", length, kLargestMessage >> 20));
  // The length may be a lie, so memory grows with what is there.
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  message.clear();
  while (message.size() < length) {
    const std::size_t had = message.size();
    message.resize(std::min<std::size_t>(had + kPiece, static_cast<std::size_t>(length)));
    const std::size_t got = stream.read(message.data() + had, message.size() - had);
    if (had + got < message.size()) return refuse("the trace is cut off");
  }
  return true;
}

void write_attribute(const ChakraAttribute& a, int field, WireWriter& to) {
  WireWriter w;
  w.text(kAttributeName, a.name);
  if (const auto* n = std::get_if<std::int64_t>(&a.value)) {
    w.number(a.name == "is_cpu_op" ? kBool : kInt64, static_cast<std::uint64_t>(*n));
  } else if (const auto* s = std::get_if<std::string>(&a.value)) {
    w.text(kString, *s);
  }
  to.text(field, w.bytes());
}

}  // namespace

const ChakraAttribute* ChakraNode::find(std::string_view attribute) const {
  const auto at = std::ranges::find(attributes, attribute, &ChakraAttribute::name);
  return at == attributes.end() ? nullptr : &*at;
}

std::optional<std::int64_t> ChakraNode::number(std::string_view attribute) const {
  const ChakraAttribute* a = find(attribute);
  if (a == nullptr) return std::nullopt;
  if (const auto* n = std::get_if<std::int64_t>(&a->value)) return *n;
  if (const auto* d = std::get_if<double>(&a->value); d != nullptr && *d >= 0 && *d < 9e18)
    return static_cast<std::int64_t>(*d);
  return std::nullopt;
}

std::string_view ChakraNode::text(std::string_view attribute) const {
  const ChakraAttribute* a = find(attribute);
  const auto* s = a == nullptr ? nullptr : std::get_if<std::string>(&a->value);
  return s == nullptr ? std::string_view() : std::string_view(*s);
}

sim::Status read_chakra_file(ByteStream& stream,
                             const std::function<sim::Status(const ChakraMetadata&)>& metadata,
                             const std::function<sim::Status(ChakraNode&)>& each) {
  std::string message;
  ChakraMetadata head;
  auto more = next_message(stream, message);
  if (!more) return sim::fail_as(std::move(more));
  if (!*more) return sim::fail("the trace is empty");
  if (auto ok = read_metadata(message, stream.offset() - message.size(), head); !ok) return ok;
  if (auto ok = metadata(head); !ok) return ok;
  ChakraNode node;
  for (;;) {
    more = next_message(stream, message);
    if (!more) return sim::fail_as(std::move(more));
    if (!*more) return {};
    if (auto ok = read_node(message, stream.offset() - message.size(), node); !ok) return ok;
    if (auto ok = each(node); !ok) return ok;
  }
}

std::string chakra_bytes(const ChakraMetadata& metadata) {
  WireWriter w;
  w.text(kVersion, metadata.version);
  for (const ChakraAttribute& a : metadata.attributes) write_attribute(a, kMetadataAttribute, w);
  return w.delimited();
}

std::string chakra_bytes(const ChakraNode& node) {
  WireWriter w;
  w.number(kId, node.id);
  w.text(kName, node.name);
  w.number(kType, static_cast<std::uint64_t>(node.type));
  w.packed(kControl, node.control);
  w.packed(kData, node.data);
  if (node.start_us > 0) w.number(kStart, node.start_us);
  if (node.duration_us > 0) w.number(kDuration, node.duration_us);
  for (const ChakraAttribute& a : node.attributes) write_attribute(a, kNodeAttribute, w);
  return w.delimited();
}

}  // namespace infold::formats
