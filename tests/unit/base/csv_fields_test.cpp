#include "base/text_input/csv_fields.hpp"

#include <string>

#include "base/random.hpp"
#include "base/text_input/byte_search.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

std::string random_text(RandomStream& random, std::string_view characters, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    text += characters[random.below(characters.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("a byte is found at the same places with and without SSE2", "[csv_fields]") {
  RandomStream random(1, "test/bytes");
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random_text(random, ",,,ab+-\"\xAC\x2D\x2B\x80\xFF\n", kSearchBlock);
    std::uint64_t expected = 0;
    for (std::size_t place = 0; place < kSearchBlock; ++place) {
      expected |= std::uint64_t{text[place] == ',' ? 1U : 0U} << place;
    }
    REQUIRE(find_byte(text.data(), ',') == expected);
    REQUIRE(find_byte_portably(text.data(), ',') == expected);
  }
}

TEST_CASE("a line is split alike fast and strictly", "[csv_fields]") {
  RandomStream random(2, "test/lines");
  int plain_lines = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::size_t size = random.below(200);
    const std::string padded = random_text(random, i % 2 == 0 ? ",,,123 " : ",,,,,,12345 abc\"", size) +
                               random_text(random, ",\"\n12", CsvFields::kPlainSplitPadding);
    const std::string_view line = std::string_view(padded).substr(0, size);
    CsvFields plain;
    if (!plain.split_plain(line)) {
      continue;
    }
    ++plain_lines;
    CsvFields strict;
    LineError error;
    REQUIRE(strict.split(line, error));
    REQUIRE(plain.size() == strict.size());
    for (std::size_t field = 0; field < strict.size(); ++field) {
      REQUIRE(plain[field] == strict[field]);
      REQUIRE(plain.column_of(field) == strict.column_of(field));
    }
  }
  CHECK(plain_lines > 10'000);
}

TEST_CASE("fields of an earlier, longer line are gone", "[csv_fields]") {
  const std::string padding(CsvFields::kPlainSplitPadding, ',');
  CsvFields fields;
  REQUIRE(fields.split_plain(std::string_view("a,b,c,d" + padding).substr(0, 7)));
  CHECK(fields.size() == 4);
  const std::string second = "e,f" + padding;
  REQUIRE(fields.split_plain(std::string_view(second).substr(0, 3)));
  CHECK(fields.size() == 2);
  CHECK(fields[1] == "f");
  CHECK_FALSE(fields.find("c").has_value());
  const std::string quoted = "\"e,f\",g" + padding;
  CHECK_FALSE(fields.split_plain(std::string_view(quoted).substr(0, 7)));
}

TEST_CASE("a name is found again in the fields behind it", "[csv_fields]") {
  CsvFields fields;
  LineError error;
  REQUIRE(fields.split("a,b, A ,\"a\",c", error));
  CHECK(fields.find("a") == 0);
  CHECK(fields.find_second("a") == 2);
  CHECK_FALSE(fields.find_second("b").has_value());
  CHECK_FALSE(fields.find_second("d").has_value());
}
