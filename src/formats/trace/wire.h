// The wire format of protocol buffers: fields of one message, with the place of each byte, and the same
// written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"

namespace infold::formats {

struct WireField {
  int number = 0;
  std::uint64_t value = 0;      ///< of numbers, whatever their width; of 32 and 64 bits as they are
  std::string_view bytes = {};  ///< of texts, messages and packed lists
  bool is_bytes = false;
  std::uint64_t offset = 0;  ///< of the field, in the file
};

/// Goes over the fields of a message in memory.
class WireReader {
 public:
  /// `offset`: where the message stands in its file.
  WireReader(std::string_view message, std::uint64_t offset) : left_(message), offset_(offset) {}

  /// Reads the next field. False at the end, and where the bytes are no field: then there is a fault.
  bool next(WireField& field);
  /// What is wrong, with its byte; empty if nothing is.
  const std::string& fault() const { return fault_; }

 private:
  bool varint(std::uint64_t& value);
  bool refuse(std::string why);

  std::string_view left_;
  std::uint64_t offset_;
  std::string fault_;
};

/// The numbers of a list, packed or one by one, added to those there are. False if the bytes are no numbers.
bool add_numbers(const WireField& field, std::vector<std::uint64_t>& numbers);

/// Puts a message together.
class WireWriter {
 public:
  void number(int field, std::uint64_t value);
  void text(int field, std::string_view bytes);
  void packed(int field, const std::vector<std::uint64_t>& numbers);
  const std::string& bytes() const { return bytes_; }
  /// The message behind its length, as files hold one behind the other.
  std::string delimited() const;

 private:
  std::string bytes_;
};

}  // namespace infold::formats
