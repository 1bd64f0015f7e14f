// Keeps what samples gave, by their keys: in memory, and in files where there is a folder for them.
//
// - A file appears whole or not at all (it is written under another name and renamed), so several processes
// can
//   share a folder. One that is damaged is as good as none.
// - The folder does not grow beyond a bound: the oldest files go.
// - A key says everything that a result depends on, this build of the program included, so what is kept never
//   changes a result.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "study/composed/sample.h"

namespace infold::study::composed {

class ProfileStore {
 public:
  /// `folder` empty: only in memory. `version`: of the program, a part of every key.
  explicit ProfileStore(std::string version, std::filesystem::path folder = {})
      : version_(std::move(version)), folder_(std::move(folder)) {}

  const std::string& version() const { return version_; }
  std::optional<Sampled> find(const std::string& key);
  /// Where the file cannot be written, it is kept in memory alone.
  void keep(const std::string& key, const Sampled& sampled);

  /// Each of the folder's 256 parts holds at most so many bytes.
  static constexpr std::uintmax_t kMostBytesPerPart = 1 << 20;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void prune(const std::filesystem::path& part) const;

  std::string version_;
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::string, Sampled> known_;
};

/// A result as the text of its file, and back; nothing if the text is not such a file.
std::string text_of(const std::string& key, const Sampled& sampled);
std::optional<Sampled> read_profile(const std::string& key, const std::string& text);

}  // namespace infold::study::composed
