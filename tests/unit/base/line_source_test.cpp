#include "base/text_input/line_source.hpp"

#include <zlib.h>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace inferometer;
using inferometer::test::TemporaryDirectory;

namespace {

std::vector<std::string> lines_of(LineSource source) {
  std::vector<std::string> lines;
  std::string_view line;
  while (source.next(line)) {
    lines.emplace_back(std::to_string(source.line_number()) + ":" + std::string(line));
  }
  return lines;
}

std::vector<std::string> lines_of(std::string text) {
  return lines_of(LineSource(bytes_in_memory(std::move(text)), "t"));
}

std::string file_error(const std::string& path) {
  try {
    lines_of(LineSource(open_bytes(path), path));
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("lines end with LF or CRLF, the last one with nothing", "[line_source]") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("a\nb\r\nc") == Lines{"1:a", "2:b", "3:c"});
  CHECK(lines_of("a\n") == Lines{"1:a"});
  CHECK(lines_of("a\r") == Lines{"1:a"});
  CHECK(lines_of("a\rb\n") == Lines{"1:a\rb"});
  CHECK(lines_of("") == Lines{});
}

TEST_CASE("blank lines are passed over and counted", "[line_source]") {
  CHECK(lines_of("\n \t\r\na\n\n\nb\n\n") == std::vector<std::string>{"3:a", "6:b"});
}

TEST_CASE("a byte order mark is dropped at the front only", "[line_source]") {
  CHECK(lines_of("\xEF\xBB\xBF"
                 "a\n\xEF\xBB\xBF"
                 "b") == std::vector<std::string>{"1:a",
                                                  "2:\xEF\xBB\xBF"
                                                  "b"});
  CHECK(lines_of("\xEF\xBB\xBF").empty());
  CHECK(lines_of("\xEF\xBB") == std::vector<std::string>{"1:\xEF\xBB"});
}

TEST_CASE("NUL bytes stay in the line", "[line_source]") {
  CHECK(lines_of(std::string("a\0b\nc", 5)) == std::vector<std::string>{std::string("1:a\0b", 5), "2:c"});
}

TEST_CASE("lines longer than the first buffer are whole", "[line_source]") {
  const std::string long_line(3'000'000, 'x');
  CHECK(lines_of("a\n" + long_line + "\nb") == std::vector<std::string>{"1:a", "2:" + long_line, "3:b"});
}

TEST_CASE("a line over the limit is an error at its number", "[line_source]") {
  const std::string text = "a\n" + std::string(2 * LineSource::kLongestLineBytes, 'x');
  CHECK_THROWS_WITH(lines_of(text), "t:2: expected lines of at most 16 MiB, found a longer one");
}

TEST_CASE("a mark brings the lines back", "[line_source]") {
  // Long enough for the buffer to move and grow between the mark and the way back.
  const std::string first(200'000, 'a');
  const std::string second(400'000, 'b');
  LineSource source(bytes_in_memory("\n" + first + "\n" + second + "\nc"), "t");
  std::string_view line;
  source.mark();
  REQUIRE(source.next(line));
  REQUIRE(source.next(line));
  CHECK(line == second);
  source.rewind_to_mark();
  REQUIRE(source.next(line));
  CHECK(line == first);
  CHECK(source.line_number() == 2);
  REQUIRE(source.next(line));
  CHECK(line == second);
  REQUIRE(source.next(line));
  CHECK(line == "c");
  CHECK_FALSE(source.next(line));
}

TEST_CASE("gzip is recognised by content, also in several members", "[line_source]") {
  const TemporaryDirectory directory;
  write_gzip(directory.file("one"), "a\nb");
  write_gzip(directory.file("two"), "c\nd\n");
  CHECK(lines_of(LineSource(open_bytes(directory.file("one")), "t")) ==
        std::vector<std::string>{"1:a", "2:b"});
  const std::string both =
      directory.write("both.csv", content_of(directory.file("one")) + content_of(directory.file("two")));
  CHECK(lines_of(LineSource(open_bytes(both), "t")) == std::vector<std::string>{"1:a", "2:bc", "3:d"});
  const std::string plain = directory.write("plain.gz", "a\nb\n");
  CHECK(lines_of(LineSource(open_bytes(plain), "t")) == std::vector<std::string>{"1:a", "2:b"});
}

TEST_CASE("damaged and cut off gzip are told apart", "[line_source]") {
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += std::to_string(i * 7919 % 100'003) + "\n";
  }
  write_gzip(directory.file("good.gz"), text);
  const std::string good = content_of(directory.file("good.gz"));
  CHECK(file_error(directory.file("good.gz")) == "");

  for (const std::size_t kept : {std::size_t{2}, std::size_t{11}, good.size() / 2, good.size() - 1}) {
    const std::string cut = directory.write("cut.gz", good.substr(0, kept));
    CHECK(file_error(cut) == cut + ": the gzip data are cut off");
  }
  std::string changed = good;
  changed[good.size() - 6] = static_cast<char>(changed[good.size() - 6] ^ 1);  // of the checksum
  const std::string bad_checksum = directory.write("changed.gz", changed);
  CHECK(file_error(bad_checksum) == bad_checksum + ": the gzip data are damaged");
  const std::string bad_header = directory.write("header.gz", "\x1f\x8b\x07" + good.substr(3));
  CHECK(file_error(bad_header) == bad_header + ": the gzip data are damaged");
}

TEST_CASE("what is not a readable file is said", "[line_source]") {
  const TemporaryDirectory directory;
  const std::string missing = directory.file("missing.csv");
  CHECK(file_error(missing) == missing + ": cannot open: No such file or directory");
  CHECK(file_error(directory.file("")) == directory.file("") + ": expected a file, found a directory");
}
