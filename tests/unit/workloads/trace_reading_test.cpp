// The same requests whichever way the bytes come and whichever path reads the lines.

#include <algorithm>
#include <memory>

#include <unistd.h>
#include <zlib.h>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/workloads/trace_test_support.hpp"

using namespace inferometer;
using inferometer::test::open_text;
using inferometer::test::take_all;
using inferometer::test::TemporaryDirectory;

namespace {

const std::string kHeader = "arrival_s,prompt_tokens,output_tokens,max_new_tokens,session,class\n";

/// All that a request says, for comparisons that show both sides.
std::string text_of(const Request& request) {
  std::string text = std::to_string(request.id) + " " + std::to_string(request.arrival.since_start().count());
  for (const std::int64_t number : {request.prompt.count(), request.output.count(), request.max_new.count(),
                                    request.session, std::int64_t{request.service_class}}) {
    text += " " + std::to_string(number);
  }
  return text;
}

std::vector<std::string> texts_of(TraceWorkload& trace) {
  std::vector<std::string> texts;
  for (const Request& request : take_all(trace)) {
    texts.push_back(text_of(request));
  }
  return texts;
}

/// Bytes in pieces of `piece` at most, or of random sizes for 0.
class Pieces : public ByteSource {
 public:
  Pieces(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}

  std::size_t read(char* into, std::size_t size) override {
    const std::size_t most = piece_ != 0 ? piece_ : 1 + random_.below(3'000);
    const std::size_t count = std::min({most, size, text_.size() - position_});
    std::copy_n(text_.data() + position_, count, into);
    position_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t position_ = 0;
  RandomStream random_{1, "test/pieces"};
};

// One field of a line, mostly good; bad ones and odd spellings now and then.
std::string field(RandomStream& random, bool may_be_empty) {
  constexpr const char* kOdd[] = {"",    "0",          "-1",         "1e3", "7.0", " 5",   "5 ",
                                  "abc", "2147483648", "2147483649", "000", "+3",  "\t12", "12345678901"};
  if (random.below(12) == 0) {
    return kOdd[random.below(std::size(kOdd))];
  }
  if (may_be_empty && random.below(2) == 0) {
    return "";
  }
  return std::to_string(1 + random.below(random.below(4) == 0 ? 3'000'000'000 : 3'000));
}

std::string random_row(RandomStream& random, std::uint64_t second) {
  std::string row = std::to_string(second);
  if (random.below(4) != 0) {
    row += "." + std::to_string(random.below(1'000'000'000));
  }
  row += random.below(12) == 0 ? "e0" : "";
  row += "," + field(random, false) + "," + field(random, false);
  for (int optional = 0; optional < 3; ++optional) {
    row += "," + field(random, true);
  }
  return row + (random.below(50) == 0 ? ",9" : "");
}

}  // namespace

TEST_CASE("lines are read alike on the fast and on the strict path", "[trace]") {
  RandomStream random(1, "test/rows");
  std::string plain = kHeader;
  std::string blank = kHeader;
  std::string quoted = kHeader;
  for (std::uint64_t second = 0; second < 20'000; ++second) {
    const std::string row = random_row(random, second);
    const std::string time = row.substr(0, row.find(','));
    const std::string rest = row.substr(time.size()) + "\n";
    plain += time + rest;
    blank += time + " " + rest;           // no plain number
    quoted += "\"" + time + "\"" + rest;  // no plain line
  }
  TraceOptions options;
  options.skip_bad_lines = true;
  const auto fast = open_text(plain, options);
  const std::vector<std::string> expected = texts_of(*fast);
  CHECK(fast->skipped_lines() > 1'000);
  CHECK(fast->skipped_lines() < 15'000);
  for (const std::string& other : {blank, quoted}) {
    const auto strict = open_text(other, options);
    CHECK(texts_of(*strict) == expected);
    CHECK(strict->skipped_lines() == fast->skipped_lines());
  }
}

TEST_CASE("lines are the same however the bytes come in pieces", "[trace]") {
  RandomStream random(2, "test/split");
  std::string text = kHeader;
  // More than the first buffer, and a line that does not fit it.
  for (std::uint64_t second = 0; second < 20'000; ++second) {
    text += std::to_string(second) + "." + std::to_string(random.below(1'000'000)) + "," +
            std::to_string(1 + random.below(10'000)) + "," + std::to_string(1 + random.below(500)) + ",,," +
            (random.below(3) == 0 ? "\r\n" : "\n");
    text += second == 10'000 ? std::string(300'000, ' ') + "\n" : "";
  }
  text += "20000,1,2,,,7";  // no end of line
  const auto whole = open_text(text);
  const std::vector<std::string> expected = texts_of(*whole);
  REQUIRE(expected.size() == 20'001);
  CHECK(expected.back().ends_with(" 1 2 2 -1 7"));
  constexpr std::size_t kPieces[] = {0, 1, 2, 3, 7, 31, 64, 4'096, 65'537};
  for (const std::size_t piece : kPieces) {
    INFO(piece);
    const auto trace = open_trace(std::make_unique<Pieces>(text, piece), "t", TraceOptions());
    CHECK(texts_of(*trace) == expected);
  }
}

TEST_CASE("a plain file, a gzip file and a pipe give the same requests", "[trace]") {
  std::string text = kHeader;
  for (int second = 0; second < 1'500; ++second) {
    text += std::to_string(second) + ".25,10,20,,,\n";
  }
  const auto whole = open_text(text);
  const std::vector<std::string> expected = texts_of(*whole);
  const TemporaryDirectory directory;
  CHECK(texts_of(*open_trace(directory.write("t.csv", text), TraceOptions())) == expected);

  const std::string zipped = directory.file("t.csv.gz");
  gzFile file = gzopen(zipped.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
  CHECK(texts_of(*open_trace(zipped, TraceOptions())) == expected);

  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  // Less than a pipe holds, so that nobody has to read meanwhile.
  REQUIRE(text.size() < 60'000);
  REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(ends[1]);
  CHECK(texts_of(*open_trace("/dev/fd/" + std::to_string(ends[0]), TraceOptions())) == expected);
  close(ends[0]);
}
