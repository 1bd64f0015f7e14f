// Variable-length numbers carry seven bits per byte, the lowest first.
#include "formats/trace/wire.h"

#include <fmt/format.h>

namespace infold::formats {

namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

/// Takes a number off the front of the bytes. False if they end too early, or it has more than 64 bits.
bool take_varint(std::string_view& left, std::uint64_t& value) {
  constexpr int kBits = 7;
  value = 0;
  for (int shift = 0; shift < 64 && !left.empty(); shift += kBits) {
    const auto byte = static_cast<unsigned char>(left.front());
    left.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

void append_varint(std::uint64_t value, std::string& to) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>((value & 0x7F) | 0x80);
  to += static_cast<char>(value);
}

}  // namespace

bool WireReader::refuse(std::string why) {
  fault_ = fmt::format("byte {}: {}", offset_, why);
  left_ = {};
  return false;
}

bool WireReader::varint(std::uint64_t& value) {
  const std::size_t before = left_.size();
  if (!take_varint(left_, value)) return refuse("a number is cut off, or has more than 64 bits");
  offset_ += before - left_.size();
  return true;
}

bool WireReader::next(WireField& field) {
  if (left_.empty()) return false;
  field = {.number = 0, .value = 0, .bytes = {}, .is_bytes = false, .offset = offset_};
  std::uint64_t key = 0;
  if (!varint(key)) return false;
  constexpr std::uint64_t kMostFields = std::uint64_t{1} << 29;
  if (key >> 3 == 0 || key >> 3 >= kMostFields) return refuse("this is no field of a message");
  field.number = static_cast<int>(key >> 3);
  const auto take = [&](std::size_t n) {
    if (left_.size() < n) return false;
    field.bytes = left_.substr(0, n);
    left_.remove_prefix(n);
    offset_ += n;
    return true;
  };
  switch (key & 7) {
    case kVarint:
      return varint(field.value);
    case kFixed64:
    case kFixed32: {
      const std::size_t n = (key & 7) == kFixed64 ? 8 : 4;
      if (!take(n)) return refuse("a number is cut off");
      for (std::size_t i = n; i-- > 0;)
        field.value = field.value << 8 | static_cast<unsigned char>(field.bytes[i]);
      field.bytes = {};
      return true;
    }
    case kLengthDelimited: {
      std::uint64_t n = 0;
      if (!varint(n)) return false;
      field.is_bytes = true;
      if (n > left_.size() || !take(static_cast<std::size_t>(n)))
        return refuse(fmt::format("{} bytes are announced, and {} are left", n, left_.size()));
      return true;
    }
    default:
      return refuse(fmt::format("a field of type {} is not part of the format", key & 7));
  }
}

bool add_numbers(const WireField& field, std::vector<std::uint64_t>& numbers) {
  if (!field.is_bytes) {
    numbers.push_back(field.value);
    return true;
  }
  for (std::string_view left = field.bytes; !left.empty();) {
    std::uint64_t value = 0;
    if (!take_varint(left, value)) return false;
    numbers.push_back(value);
  }
  return true;
}

void WireWriter::number(int field, std::uint64_t value) {
  append_varint(static_cast<std::uint64_t>(field) << 3 | kVarint, bytes_);
  append_varint(value, bytes_);
}

void WireWriter::text(int field, std::string_view text) {
  append_varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited, bytes_);
  append_varint(text.size(), bytes_);
  bytes_ += text;
}

void WireWriter::packed(int field, const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return;
  std::string list;
  for (const std::uint64_t n : numbers) append_varint(n, list);
  text(field, list);
}

std::string WireWriter::delimited() const {
  std::string out;
  append_varint(bytes_.size(), out);
  return out + bytes_;
}

}  // namespace infold::formats
