// A file as a stream of bytes that need not fit in memory: packed with gzip or not, or one file of an
// archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/result.h"

namespace infold::formats {

/// The most that is read of one file, packed or unpacked. What is kept of it is bounded by its reader.
inline constexpr std::uint64_t kLargestStream = std::uint64_t{4} << 30;

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Gives up to `n` bytes; fewer only at the end, or where reading fails.
  virtual std::size_t read(char* to, std::size_t n) = 0;
  /// Why reading stopped before the end; empty if it did not.
  const std::string& fault() const { return fault_; }
  /// Bytes that were read so far.
  std::uint64_t offset() const { return offset_; }

 protected:
  std::string fault_;
  std::uint64_t offset_ = 0;
};

/// Opens a regular file, and unpacks it as it is read.
sim::Result<std::unique_ptr<ByteStream>> open_stream(const std::string& file,
                                                     std::uint64_t largest = kLargestStream);
/// The same for bytes in memory, which must outlive it; also packed ones.
std::unique_ptr<ByteStream> stream_of(std::string_view bytes, std::uint64_t largest = kLargestStream);

/// The beginning of a file, unpacked.
sim::Result<std::string> read_head(const std::string& file, std::size_t bytes);

/// Calls `each` with the name and the bytes of every regular file of a tar archive, in its order, until one
/// fails. Bytes that `each` leaves are skipped.
sim::Status for_each_in_archive(ByteStream& archive,
                                const std::function<sim::Status(const std::string& name, ByteStream&)>& each);

}  // namespace infold::formats
