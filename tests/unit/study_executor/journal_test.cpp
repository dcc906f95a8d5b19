#include "sim/study/executor/journal.hpp"

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

const std::vector<std::pair<std::string, std::string>> kRecords = {
    {"rate 3", R"({"ttft_ms_p99": 12.5})"},
    {"", ""},
    {"tab\tnewline\nbackslash\\n", std::string("\0\r\xff\\t\n", 6)},
    {"long", std::string(300, 'x')},
    {"rate 4", "last"},
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Appends the first so many records, and tells the length of the file after each, the first line before all.
std::vector<std::size_t> write_records(const std::string& path, std::size_t count = kRecords.size()) {
  Journal journal(path, true);
  std::vector<std::size_t> lengths = {std::filesystem::file_size(path)};
  for (std::size_t i = 0; i < count; ++i) {
    journal.append(kRecords[i].first, kRecords[i].second);
    lengths.push_back(std::filesystem::file_size(path));
  }
  return lengths;
}

bool has(const Journal& journal, std::size_t record) {
  const std::string* const value = journal.find(kRecords[record].first);
  return value != nullptr && *value == kRecords[record].second;
}

std::string refusal(const std::string& path, bool is_fresh = false) {
  try {
    const Journal journal(path, is_fresh);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was taken";
}

TEST_CASE("a journal gives back what was appended", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  write_records(path);
  {
    Journal journal(path, false);
    CHECK(journal.size() == 5);
    CHECK(journal.skipped() == 0);
    for (std::size_t i = 0; i < kRecords.size(); ++i) {
      CHECK(has(journal, i));
    }
    CHECK(journal.find("rate") == nullptr);
    journal.append("rate 3", "anew");
    CHECK(*journal.find("rate 3") == "anew");
  }
  const Journal journal(path, false);
  CHECK(journal.size() == 5);
  CHECK(*journal.find("rate 3") == "anew");
}

TEST_CASE("the file is as its format says", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  Journal(path, false).append("1234", "5\n6");
  // CRC-32 of "1234<tab>5\n6" with the newline as two characters, by Python's zlib.crc32.
  CHECK(bytes_of(path) ==
        "inferometer-journal 1\n"
        "854c00cd 1234\t5\\n6\n");
}

TEST_CASE("a journal cut off anywhere has its whole records and goes on", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  const std::vector<std::size_t> lengths = write_records(path);
  const std::string whole = bytes_of(path);
  REQUIRE(whole.size() == lengths.back());
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    static_cast<void>(directory.write("journal", whole.substr(0, size)));
    std::size_t records = 0;
    while (records < kRecords.size() && lengths[records + 1] <= size) {
      ++records;
    }
    INFO("cut to " << size << " bytes, " << records << " whole records");
    {
      Journal journal(path, false);
      CHECK(journal.size() == static_cast<std::int64_t>(records));
      CHECK(journal.skipped() == 0);
      for (std::size_t i = 0; i < kRecords.size(); ++i) {
        CHECK(has(journal, i) == (i < records));
      }
      for (std::size_t i = records; i < kRecords.size(); ++i) {
        journal.append(kRecords[i].first, kRecords[i].second);
      }
    }
    CHECK((bytes_of(path) == whole));
  }
}

TEST_CASE("a byte that is changed costs its line and is counted", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  const std::vector<std::size_t> lengths = write_records(path);
  const std::string whole = bytes_of(path);
  for (std::size_t at = lengths[0]; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x04);
    static_cast<void>(directory.write("journal", changed));
    std::size_t hit = 0;
    while (lengths[hit + 1] <= at) {
      ++hit;
    }
    const bool is_newline = at + 1 == lengths[hit + 1];
    const bool is_last = hit + 1 == kRecords.size();
    INFO("byte " << at << " of record " << hit);
    const Journal journal(path, false);
    for (std::size_t i = 0; i < kRecords.size(); ++i) {
      // Without its newline a line is one with the next.
      CHECK(has(journal, i) == (i != hit && !(is_newline && i == hit + 1)));
    }
    // A last line without a newline counts as unfinished.
    CHECK(journal.skipped() == (is_newline && is_last ? 0 : 1));
  }
}

TEST_CASE("a damaged line stays and what is appended comes behind it", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write(
      "journal", "inferometer-journal 1\n\nabc\n00000000 a\tb\n" + std::string(20, '\0') + "\n12345678");
  {
    Journal journal(path, false);
    CHECK(journal.skipped() == 4);
    CHECK(journal.size() == 0);
    journal.append("a", "c");
  }
  const Journal journal(path, false);
  CHECK(journal.skipped() == 4);
  CHECK(*journal.find("a") == "c");
}

TEST_CASE("a second program on the same journal is refused", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  write_records(path);
  {
    const Journal journal(path, false);
    check_says(refusal(path), {path, "another study is writing to it"});
    check_says(refusal(path, true), {"another study is writing to it"});
  }
  CHECK(Journal(path, false).size() == 5);
}

TEST_CASE("a file of another kind is refused and left as it is", "[journal]") {
  const test::TemporaryDirectory directory;
  for (const bool is_fresh : {false, true}) {
    for (const std::string text : {"my notes\n", "inferometer-journ", "inferometer-journal\n", "x"}) {
      // What begins like the first line may be one that was cut short.
      const bool is_beginning = text == "inferometer-journ";
      const std::string path = directory.write("notes", text);
      const std::string says = refusal(path, is_fresh);
      CHECK((says == "it was taken") == is_beginning);
      if (!is_beginning) {
        check_says(says, {path, "is no journal of a study"});
        CHECK(bytes_of(path) == text);
      }
    }
  }
  const std::string later = "inferometer-journal 2\n...\n";
  const std::string path = directory.write("journal", later);
  check_says(refusal(path), {"is a journal of another version (\"inferometer-journal 2\")"});
  CHECK(bytes_of(path) == later);
  CHECK(refusal(path, true) == "it was taken");
  CHECK(bytes_of(path) == "inferometer-journal 1\n");
}

TEST_CASE("a fresh journal forgets", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  write_records(path);
  CHECK(Journal(path, true).size() == 0);
  CHECK(Journal(path, false).size() == 0);
}

TEST_CASE("what is no regular file is refused", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string pipe = directory.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  check_says(refusal(pipe), {pipe, "is not a regular file"});
  check_says(refusal("/dev/null"), {"is not a regular file"});
  check_says(refusal(directory.file("no/such/folder")), {"cannot write: No such file or directory"});
  check_says(refusal(directory.file(".")), {"cannot write: Is a directory"});
}

TEST_CASE("a disk that is full keeps the whole records", "[journal]") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  const std::vector<std::size_t> lengths = write_records(path, 3);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  {
    Journal journal(path, false);
    // Room for no byte, for half a record, for all of it but the newline.
    for (const std::size_t room : {std::size_t{0}, std::size_t{150}, std::size_t{9 + 5 + 300}}) {
      const rlimit limit{lengths.back() + room, before.rlim_max};
      setrlimit(RLIMIT_FSIZE, &limit);
      CHECK_THROWS_WITH(journal.append("long", kRecords[3].second),
                        path + ": cannot write all of it: File too large");
      CHECK(std::filesystem::file_size(path) == lengths.back());
      CHECK(journal.find("long") == nullptr);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    journal.append("long", kRecords[3].second);
  }
  std::signal(SIGXFSZ, handler);
  const Journal journal(path, false);
  CHECK(journal.size() == 4);
  CHECK(journal.skipped() == 0);
}

}  // namespace
}  // namespace inferometer
