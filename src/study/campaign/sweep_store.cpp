// The store uses write-ahead logging: a point is one append to the log, which is there as a whole or not at
// all. The lock is held for as long as the store is open.
#include "study/campaign/sweep_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sim/file_behind.h"

namespace infold::study {

namespace {

constexpr int kSchema = 1;
/// The suffix of memory shared by several processes, which this store never uses: an existing file stays.
constexpr std::string_view kMemory = "-shm";

std::string between(char quote, std::string_view text) {
  std::string out(1, quote);
  for (const char c : text) out.append(c == quote ? 2 : 1, c);
  return out + quote;
}
/// A name as an SQL identifier.
std::string sql_name(std::string_view name) {
  return between('"', name);
}
std::string sql_text(std::string_view text) {
  return between('\'', text);
}

void bind_text(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* text = sqlite3_column_text(statement, column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  // The text of SQLite is unsigned.
  return text == nullptr ? "" : std::string(reinterpret_cast<const char*>(text), bytes);  // NOLINT
}

/// The first line in which the two texts differ.
std::string difference(std::string_view before, std::string_view now) {
  while (!before.empty() || !now.empty()) {
    const std::string_view a = before.substr(0, before.find('\n'));
    const std::string_view b = now.substr(0, now.find('\n'));
    if (a != b) return fmt::format("{} was {}", b.empty() ? "nothing" : b, a.empty() ? "nothing" : a);
    before.remove_prefix(std::min(before.size(), a.size() + 1));
    now.remove_prefix(std::min(now.size(), b.size() + 1));
  }
  return {};
}

/// Whether a file exists that SQLite did not leave behind, but would remove.
bool is_somebodys(const std::string& path) {
  using namespace std::string_view_literals;
  // The first bytes of a database, a log, a journal, and a journal that was just begun.
  constexpr std::array<std::string_view, 4> kHeads = {
      "SQLite format 3"sv, "\x37\x7f\x06"sv, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"sv, "\0\0\0\0\0\0\0\0"sv};
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  // Opening a pipe would block until another process fills it.
  if (!std::filesystem::is_regular_file(status)) return std::filesystem::exists(status);
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return true;
  std::string head(16, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return !head.empty() &&
         std::ranges::none_of(kHeads, [&](std::string_view known) { return head.starts_with(known); });
}

constexpr std::string_view kShort = "...";
std::string shortened(std::string text) {
  constexpr std::size_t kMost = 300;
  if (text.size() > kMost) text = text.substr(0, kMost - kShort.size()).append(kShort);
  return text;
}

}  // namespace

std::string_view name_of(PointStatus status) {
  switch (status) {
    case PointStatus::kDone:
      return "done";
    case PointStatus::kRefused:
      return "refused";
    case PointStatus::kFailed:
      break;
  }
  return "failed";
}

void SweepStore::Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}
void SweepStore::Close::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

sim::Failure SweepStore::failed() const {
  const int code = sqlite3_errcode(db_.get());
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) return sim::fail(fmt::format("{} is in use", path_));
  if (code == SQLITE_NOTADB)
    return sim::fail(fmt::format("{} is there and is not a sweep's database", path_));
  return sim::fail(fmt::format("cannot write {}: {}", path_, sqlite3_errmsg(db_.get())));
}

sim::Status SweepStore::execute(const std::string& sql) const {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failed();
  return {};
}

sim::Status SweepStore::prepare(const std::string& sql, Statement& statement) const {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  statement.reset(raw);
  if (code != SQLITE_OK) return failed();
  return {};
}

sim::Status SweepStore::connect() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file_.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  db_.reset(raw);
  if (raw == nullptr) return sim::fail(fmt::format("cannot write {}: no memory", path_));
  if (code != SQLITE_OK) return failed();
  // SQLite writes nothing into a folder for temporary files.
  return execute("PRAGMA temp_store = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
}

sim::Result<SweepStore> SweepStore::open(const Options& options, const Sweep& sweep) {
  SweepStore store;
  store.path_ = options.path;
  store.file_ = sim::file_behind(options.path).string();
  store.column_names_ = sweep.columns();
  std::error_code error;
  const auto status = std::filesystem::status(store.file_, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return sim::fail(fmt::format("cannot write {}: it is not a file", store.path_));
  for (const std::string_view name : kBeside) {
    const std::string beside = fmt::format("{}{}", store.file_, name);
    if (name != kMemory && is_somebodys(beside))
      return sim::fail(fmt::format("{} is in the way: it is not a sweep's database or its log", beside));
  }
  sim::Status begun = store.connect();
  if (begun) begun = store.begin(options, sweep);
  if (!begun) return sim::fail_as(std::move(begun));
  return store;
}

sim::Status SweepStore::begin(const Options& options, const Sweep& sweep) {
  finished_.assign(sweep.points(), false);
  Statement tables;
  if (auto e =
          prepare("SELECT count(*), sum(name IN ('sweep', 'points')) FROM sqlite_schema WHERE type = 'table'",
                  tables);
      !e)
    return e;
  if (sqlite3_step(tables.get()) != SQLITE_ROW) return failed();
  const int all = sqlite3_column_int(tables.get(), 0);
  const int ours = sqlite3_column_int(tables.get(), 1);
  tables.reset();
  if (all > 0 && (all != 2 || ours != 2))
    return sim::fail(fmt::format("{} is there and is not a sweep's database", path_));
  if (all > 0 && options.fresh) {
    if (auto e = execute("DROP VIEW IF EXISTS results; DROP TABLE points; DROP TABLE sweep"); !e) return e;
  }
  if (auto e = all == 0 || options.fresh ? create(options, sweep) : go_on(options, sweep); !e) return e;
  // This is done only now, so that a file that is refused stays as it is. Losing power may lose the last
  // points, but never what was before them; ending the process loses nothing.
  if (auto e = execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"); !e) return e;
  std::string places = "?";
  for (std::size_t i = 0; i < column_names_.size() + 3; ++i) places += ", ?";
  return prepare(fmt::format("INSERT INTO points VALUES ({})", places), insert_);
}

sim::Status SweepStore::create(const Options& options, const Sweep& sweep) {
  return execute(
      fmt::format("BEGIN; {}INSERT INTO sweep VALUES ('schema', '{}'), ('name', {}), ('summary', {}), "
                  "('points', '{}'), ('identity', {}), ('made_by', {}); COMMIT",
                  tables("main"), kSchema, sql_text(sweep.name), sql_text(sweep.summary), sweep.points(),
                  sql_text(sweep.identity()), sql_text(options.made_by)));
}

/// The statements that create the tables in that database.
std::string SweepStore::tables(std::string_view database) const {
  std::string columns;
  // With NUMERIC, text that looks like a number becomes one, and everything else stays text.
  for (const std::string& name : column_names_) columns += fmt::format("{} NUMERIC, ", sql_name(name));
  return fmt::format(
      "CREATE TABLE {0}.sweep (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID; "
      "CREATE TABLE {0}.points (point INTEGER PRIMARY KEY, {1}status TEXT, message TEXT, result TEXT); ",
      database, columns);
}

sim::Status SweepStore::go_on(const Options& options, const Sweep& sweep) {
  Statement facts;
  if (auto e = prepare("SELECT key, value FROM sweep", facts); !e) return e;
  while (sqlite3_step(facts.get()) == SQLITE_ROW) {
    const std::string key = text_of(facts.get(), 0);
    const std::string value = text_of(facts.get(), 1);
    if (key == "identity" && value != sweep.identity()) {
      return sim::fail(
          fmt::format("{} holds another sweep ({}); take --fresh to throw it away, or another --out", path_,
                      shortened(difference(value, sweep.identity()))));
    }
    if (key == "made_by" && value != options.made_by) {
      return sim::fail(fmt::format(
          "{} was made by another build of infold ({}, this is {}); take --fresh to throw it away, or "
          "another --out",
          path_, value, options.made_by));
    }
  }
  Statement rows;
  if (auto e = prepare("SELECT point FROM points", rows); !e) return e;
  int code = 0;
  while ((code = sqlite3_step(rows.get())) == SQLITE_ROW) {
    const auto point = static_cast<std::size_t>(sqlite3_column_int64(rows.get(), 0));
    if (point < finished_.size()) finished_[point] = true;
  }
  if (code != SQLITE_DONE) return failed();
  return execute(fmt::format("REPLACE INTO sweep VALUES ('name', {}), ('summary', {})", sql_text(sweep.name),
                             sql_text(sweep.summary)));
}

sim::Status SweepStore::put(std::size_t point, const std::vector<std::string>& values,
                            const PointResult& result) {
  sqlite3_stmt* s = insert_.get();
  int index = 0;
  sqlite3_bind_int64(s, ++index, static_cast<sqlite3_int64>(point));
  for (const std::string& value : values) bind_text(s, ++index, value);
  bind_text(s, ++index, name_of(result.status));
  bind_text(s, ++index, result.message);
  if (result.result.empty()) {
    sqlite3_bind_null(s, ++index);
  } else {
    bind_text(s, ++index, result.result);
  }
  sim::Status kept;
  if (sqlite3_step(s) != SQLITE_DONE) kept = failed();
  sqlite3_reset(s);
  if (kept) finished_[point] = true;
  return kept;
}

sim::Status SweepStore::read(const std::function<void(std::size_t, PointResult)>& take) const {
  Statement rows;
  if (auto e = prepare("SELECT point, status, message, result FROM points ORDER BY point", rows); !e)
    return e;
  int code = 0;
  while ((code = sqlite3_step(rows.get())) == SQLITE_ROW) {
    const std::string status = text_of(rows.get(), 1);
    PointResult result{.status = status == "done"      ? PointStatus::kDone
                                 : status == "refused" ? PointStatus::kRefused
                                                       : PointStatus::kFailed,
                       .message = text_of(rows.get(), 2),
                       .result = text_of(rows.get(), 3)};
    take(static_cast<std::size_t>(sqlite3_column_int64(rows.get(), 0)), std::move(result));
  }
  if (code != SQLITE_DONE) return failed();
  return {};
}

sim::Status SweepStore::finish(const std::vector<ResultColumn>& columns, std::string_view rows) {
  std::string select = "SELECT p.point";
  for (const std::string& name : column_names_) select += fmt::format(", p.{}", sql_name(name));
  select += ", p.status";
  for (const ResultColumn& c : columns)
    select += fmt::format(", json_extract({}, {}) AS {}", c.in_row ? "r.value" : "p.result",
                          sql_text(c.json_path), sql_name(c.name));
  select += " FROM points p";
  // A point without a result also has one row.
  if (!rows.empty())
    select += fmt::format(" LEFT JOIN json_each(p.result, {}) r", sql_text(fmt::format("$.{}", rows)));
  // A new file that is made by the same statements has the same bytes, whatever happened to the old one. It
  // is then renamed, so it is there as a whole or not at all.
  const std::string copy = file_ + kCopy;
  std::remove(copy.c_str());
  sim::Status made = execute(
      fmt::format("ATTACH {} AS done; BEGIN; {}CREATE VIEW done.results AS {} ORDER BY p.point; "
                  "INSERT INTO done.sweep SELECT * FROM main.sweep; "
                  "INSERT INTO done.points SELECT * FROM main.points ORDER BY point; COMMIT; DETACH done",
                  sql_text(copy), tables("done"), select));
  insert_.reset();  // a connection with a statement does not close
  db_.reset();      // this removes the log, so that none is left that does not belong to the new file
  if (!made) {
    std::remove(copy.c_str());
    return made;
  }
  std::error_code error;
  std::filesystem::rename(copy, file_, error);
  if (error) return sim::fail(fmt::format("cannot write {}: {}", path_, error.message()));
  return {};
}

}  // namespace infold::study
