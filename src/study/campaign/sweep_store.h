// The results of a sweep in an SQLite database. A result that was stored survives the end of the process,
// however it ends, so a sweep can be continued. See docs/sweeps.md for the tables.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"
#include "study/campaign/sweep.h"

struct sqlite3;
struct sqlite3_stmt;

namespace infold::study {

enum class PointStatus {
  kDone,
  kRefused,  ///< the point is bad input, so it is not possible
  kFailed,   ///< the simulation failed, by a deadlock or a wrong value
};
std::string_view name_of(PointStatus status);

struct PointResult {
  PointStatus status = PointStatus::kDone;
  std::string message;  ///< why the point is not done
  std::string result;   ///< JSON on one line; empty if there is none
};

/// A column of the table that results are read from: a member of the result, by its path in JSON.
struct ResultColumn {
  std::string name;
  std::string json_path;  ///< "$.sim.events"
  bool in_row = false;    ///< it belongs to one of the rows of a result, not to the whole
};

class SweepStore {
 public:
  struct Options {
    std::string path;
    std::string made_by;  ///< identifies a program that gives the same results on every run; results of
                          ///< others are not continued
    bool fresh = false;   ///< discard an existing database, if it is that of a sweep
  };
  /// The suffixes of the files that come and go next to the database: those of SQLite, and the file that
  /// replaces the database at the end.
  static constexpr const char* kCopy = ".new";
  static constexpr std::array<std::string_view, 5> kBeside = {"-wal", "-shm", "-journal", kCopy,
                                                              ".new-journal"};
  /// Creates the database, or opens that of the same sweep. If the path is a link, the database stays where
  /// the link leads. Only one process at a time can open it.
  static sim::Result<SweepStore> open(const Options& options, const Sweep& sweep);

  SweepStore(SweepStore&&) noexcept = default;
  SweepStore& operator=(SweepStore&&) noexcept = default;

  /// For each point, whether it has a result.
  const std::vector<bool>& finished() const { return finished_; }
  /// Keeps a result for good. If that fails, nothing stored before is lost. Requires: not finished.
  sim::Status put(std::size_t point, const std::vector<std::string>& values, const PointResult& result);
  /// All results in the order of points.
  sim::Status read(const std::function<void(std::size_t point, PointResult result)>& take) const;
  /// Ends a complete sweep: adds the view `results` with these columns of each of the rows that results have
  /// under `rows` (if empty, a result is a row), and writes the file so that its bytes do not depend on the
  /// order in which points came. The store is closed by this, and nothing may follow.
  sim::Status finish(const std::vector<ResultColumn>& columns, std::string_view rows);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  SweepStore() = default;
  sim::Status connect();
  sim::Status begin(const Options& options, const Sweep& sweep);
  sim::Status create(const Options& options, const Sweep& sweep);
  sim::Status go_on(const Options& options, const Sweep& sweep);
  std::string tables(std::string_view database) const;
  sim::Status execute(const std::string& sql) const;
  sim::Status prepare(const std::string& sql, Statement& statement) const;
  /// The error that SQLite reports.
  sim::Failure failed() const;

  std::string path_;  // the path as the user named it, for messages
  std::string file_;  // the file that the path leads to
  std::vector<std::string> column_names_;
  std::unique_ptr<sqlite3, Close> db_;
  Statement insert_;  // declared after db_, so that it is destroyed first
  std::vector<bool> finished_;
};

}  // namespace infold::study
