// What the tests of this room share: unpacking results, files in a scratch folder, text packed by gzip.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

#include "config/helpers.h"

namespace infold::formats {

using config::error_of;
using FolderTest = config::ScratchTest;

/// The text as gzip packs it.
inline std::string packed(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.erase(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace infold::formats
