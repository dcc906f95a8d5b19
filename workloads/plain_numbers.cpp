#include "workloads/plain_numbers.hpp"

#include <algorithm>
#include <chrono>

namespace inferometer {
namespace {

constexpr std::size_t kPicosecondDigits = 12;
constexpr std::uint64_t kPicosecondsPerSecondWhole = 1'000'000'000'000;

// How many digits the text begins with, at most 8.
std::size_t leading_digits(std::string_view text) {
  const std::uint64_t values = load_eight(text.data()) ^ eight_times('0');
  const auto count = static_cast<std::size_t>(std::countr_zero(places_from(values, 10))) / 8;
  return std::min(count, text.size());
}

// The digits behind the point as picoseconds: the places behind the last one are zeros.
bool read_fraction(std::string_view text, std::uint64_t& picoseconds) {
  if (text.size() > kPicosecondDigits) {
    return false;
  }
  const std::size_t first = std::min<std::size_t>(text.size(), 8);
  const std::uint64_t high = (load_eight(text.data()) ^ eight_times('0')) & first_places(first);
  const std::uint64_t low =
      (load_eight(text.data() + 8) ^ eight_times('0')) & first_places(text.size() - first);
  picoseconds = number_of(high) * 10'000 + number_of(low << 32);
  return (places_from(high, 10) | places_from(low, 10)) == 0;
}

// In place i the number below 100 that the digits in places i and i + 1 write.
constexpr std::uint64_t pairs_of(std::uint64_t digits) {
  return digits * 10 + (digits >> 8);
}

constexpr unsigned place(std::uint64_t bytes, int index) {
  return static_cast<unsigned>(bytes >> (8 * index)) & 0xFFU;
}

// Reads eight bytes with digits where `shape` has '0', and just its other characters; the digits' values go
// to their places, 0 to the others.
bool read_shape(const char* text, const char* shape, std::uint64_t& values) {
  const std::uint64_t expected = load_eight(shape);
  values = load_eight(text) ^ expected;
  const std::uint64_t fixed = ~(places_of(expected, '0') / 0x80 * 0xFF);
  return places_from(values, 10) == 0 && (values & fixed) == 0;
}

bool read_date(const char* text, std::int64_t& days) {
  std::uint64_t date = 0;
  std::uint64_t rest = 0;
  if (!read_shape(text, "0000-00-", date) || !read_shape(text + 2, "00-00-00", rest)) {
    return false;
  }
  const std::uint64_t pairs = pairs_of(date);
  const std::chrono::year_month_day found{
      std::chrono::year(static_cast<int>(100 * place(pairs, 0) + place(pairs, 2))),
      std::chrono::month(place(pairs, 5)), std::chrono::day(place(pairs_of(rest), 6))};
  days = std::chrono::sys_days(found).time_since_epoch().count();
  return found.ok();
}

bool read_clock(const char* text, std::int64_t& seconds) {
  std::uint64_t clock = 0;
  if (!read_shape(text, "00:00:00", clock)) {
    return false;
  }
  const std::uint64_t pairs = pairs_of(clock);
  const unsigned hour = place(pairs, 0);
  const unsigned minute = place(pairs, 3);
  const unsigned second = place(pairs, 6);
  seconds = (hour * 60 + minute) * 60 + second;
  return hour <= 23 && minute <= 59 && second <= 59;
}

}  // namespace

bool read_plain_seconds(std::string_view text, WidePicoseconds& time) {
  const std::size_t whole = leading_digits(text);
  if (whole == 0) {
    return false;
  }
  const std::uint64_t digits = load_eight(text.data()) ^ eight_times('0');
  const std::uint64_t seconds = number_of(digits << (64 - 8 * whole));
  std::uint64_t picoseconds = 0;
  if (whole < text.size() && (text[whole] != '.' || !read_fraction(text.substr(whole + 1), picoseconds))) {
    return false;
  }
  time = static_cast<WidePicoseconds>(seconds) * kPicosecondsPerSecondWhole + picoseconds;
  return true;
}

bool read_plain_timestamp(std::string_view text, WidePicoseconds& time) {
  constexpr std::size_t kSecondsEnd = 19;  // of "YYYY-MM-DD HH:MM:SS"
  std::int64_t days = 0;
  std::int64_t seconds = 0;
  if (text.size() < kSecondsEnd || !read_date(text.data(), days) || (text[10] != ' ' && text[10] != 'T') ||
      !read_clock(text.data() + 11, seconds)) {
    return false;
  }
  std::string_view rest = text.substr(kSecondsEnd);
  std::uint64_t picoseconds = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    std::size_t digits = leading_digits(rest);
    digits += digits == 8 && rest.size() > 8 && rest[8] >= '0' && rest[8] <= '9' ? 1 : 0;
    if (digits == 0 || !read_fraction(rest.substr(0, digits), picoseconds)) {
      return false;
    }
    rest.remove_prefix(digits);
  }
  time = static_cast<WidePicoseconds>(days * 86'400 + seconds) * kPicosecondsPerSecondWhole + picoseconds;
  return rest.empty() || rest == "+00:00";
}

}  // namespace inferometer
