#include "base/config/unit_text.hpp"

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/config/decimal.hpp"
#include "base/config/table.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kKibi = std::int64_t{1} << 10;
constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::int64_t kGibi = std::int64_t{1} << 30;
constexpr std::int64_t kTebi = std::int64_t{1} << 40;

constexpr std::array kDurations{
    Unit{"ps", 0}, Unit{"ns", 3}, Unit{"us", 6},       Unit{"µs", 6, 1, 1, true}, Unit{"μs", 6, 1, 1, true},
    Unit{"ms", 9}, Unit{"s", 12}, Unit{"min", 12, 60}, Unit{"h", 12, 3600},
};
constexpr std::array kBytes{
    Unit{"B", 0},          Unit{"kB", 3},         Unit{"KB", 3, 1, 1, true},
    Unit{"KiB", 0, kKibi}, Unit{"MB", 6},         Unit{"MiB", 0, kMebi},
    Unit{"GB", 9},         Unit{"GiB", 0, kGibi}, Unit{"TB", 12},
    Unit{"TiB", 0, kTebi},
};
constexpr std::array kBandwidths{
    Unit{"b/s", 0, 1, 8, true},
    Unit{"kb/s", 3, 1, 8, true},
    Unit{"Mb/s", 6, 1, 8, true},
    Unit{"Gb/s", 9, 1, 8, true},
    Unit{"Tb/s", 12, 1, 8, true},
    Unit{"B/s", 0},
    Unit{"kB/s", 3},
    Unit{"KB/s", 3, 1, 1, true},
    Unit{"KiB/s", 0, kKibi, 1, true},
    Unit{"MB/s", 6},
    Unit{"MiB/s", 0, kMebi, 1, true},
    Unit{"GB/s", 9},
    Unit{"GiB/s", 0, kGibi, 1, true},
    Unit{"TB/s", 12},
    Unit{"TiB/s", 0, kTebi, 1, true},
};
constexpr std::array kComputeRates{
    Unit{"FLOPS", 0},   Unit{"FLOP/s", 0, 1, 1, true},   Unit{"MFLOPS", 6},  Unit{"MFLOP/s", 6, 1, 1, true},
    Unit{"GFLOPS", 9},  Unit{"GFLOP/s", 9, 1, 1, true},  Unit{"TFLOPS", 12}, Unit{"TFLOP/s", 12, 1, 1, true},
    Unit{"PFLOPS", 15}, Unit{"PFLOP/s", 15, 1, 1, true},
};
constexpr std::array kRates{
    Unit{"req/h", 0, 1, 3600},
    Unit{"req/min", 0, 1, 60},
    Unit{"req/s", 0},
};
constexpr std::array kPriceRates{Unit{"$/h", 0}};
constexpr std::array kPowers{Unit{"W", 0}, Unit{"kW", 3}};
constexpr std::array kFrequencies{Unit{"Hz", 0}, Unit{"kHz", 3}, Unit{"MHz", 6}, Unit{"GHz", 9}};

const UnitFamily kDurationFamily{"a duration", "ms", "500 ms", "picosecond", kDurations};
const UnitFamily kBytesFamily{"a size in bytes", "GB", "80 GB", "byte", kBytes};
const UnitFamily kBandwidthFamily{"a bandwidth", "TB/s", "3.35 TB/s", "", kBandwidths};
const UnitFamily kComputeRateFamily{"a compute rate", "TFLOPS", "989 TFLOPS", "", kComputeRates};
const UnitFamily kRateFamily{"a rate", "req/s", "12 req/s", "", kRates};
const UnitFamily kPriceRateFamily{"a price", "$/h", "2.95 $/h", "", kPriceRates};
const UnitFamily kPowerFamily{"a power", "W", "700 W", "", kPowers};
const UnitFamily kFrequencyFamily{"a frequency", "MHz", "1830 MHz", "", kFrequencies};

const UnitFamily* find_family(ValueType type) {
  switch (type) {
    case ValueType::duration:
      return &kDurationFamily;
    case ValueType::bytes:
      return &kBytesFamily;
    case ValueType::bandwidth:
      return &kBandwidthFamily;
    case ValueType::compute_rate:
      return &kComputeRateFamily;
    case ValueType::rate:
      return &kRateFamily;
    case ValueType::price_rate:
      return &kPriceRateFamily;
    case ValueType::power:
      return &kPowerFamily;
    case ValueType::frequency:
      return &kFrequencyFamily;
    case ValueType::count:
    case ValueType::number:
    case ValueType::flag:
    case ValueType::text:
    case ValueType::choice:
    case ValueType::section:
    case ValueType::tree:
      return nullptr;
  }
  return nullptr;
}

Value::Scalar wrap(double value, ValueType type) {
  switch (type) {
    case ValueType::bandwidth:
      return BytesPerSecond(value);
    case ValueType::compute_rate:
      return FlopsPerSecond(value);
    case ValueType::rate:
      return PerSecond(value);
    case ValueType::price_rate:
      return DollarsPerHour(value);
    case ValueType::power:
      return Watts(value);
    default:
      return Hertz(value);
  }
}

std::vector<std::string> written_units(const UnitFamily& family) {
  std::vector<std::string> names;
  for (const Unit& unit : family.units) {
    if (!unit.is_alias) {
      names.emplace_back(unit.name);
    }
  }
  return names;
}

std::string unknown_unit(std::string_view text, std::string_view unit, const UnitFamily& family) {
  if (family.units.size() == 1) {
    return fmt::format("\"{}\" has the unit \"{}\"; the only unit is {}", text, unit, family.usual_unit);
  }
  std::vector<std::string> all_names;
  for (const Unit& each : family.units) {
    all_names.emplace_back(each.name);
  }
  return fmt::format("\"{}\" has the unit \"{}\", which is not one of {}{}", text, unit,
                     join_alternatives(written_units(family)), did_you_mean(unit, all_names));
}

Parsed convert(std::string_view text, const Decimal& decimal, const Unit& unit, const UnitFamily& family,
               ValueType type) {
  if (!family.smallest.empty()) {
    const IntegerResult integer = to_integer(decimal, unit.power_of_ten, unit.multiplier);
    if (integer.fault == IntegerFault::not_whole) {
      return fmt::format("\"{}\" is not a whole number of {}s", text, family.smallest);
    }
    if (integer.fault == IntegerFault::too_large) {
      return fmt::format("\"{}\" is too large; at most {} {}s", text,
                         std::numeric_limits<std::int64_t>::max(), family.smallest);
    }
    return type == ValueType::duration ? Value::Scalar(Duration(integer.value))
                                       : Value::Scalar(Bytes(integer.value));
  }
  const std::optional<double> number = to_double(decimal, unit.power_of_ten);
  const double value =
      number.value_or(0) * static_cast<double>(unit.multiplier) / static_cast<double>(unit.divisor);
  if (!number || value > std::numeric_limits<double>::max()) {
    return fmt::format("\"{}\" is outside the range of numbers", text);
  }
  return wrap(value, type);
}

}  // namespace

bool has_unit(ValueType type) {
  return find_family(type) != nullptr;
}

const UnitFamily& unit_family(ValueType type) {
  const UnitFamily* family = find_family(type);
  INFEROMETER_CHECK(family != nullptr, "a type that is written without a unit");
  return *family;
}

Parsed parse_quantity(std::string_view text, ValueType type) {
  const UnitFamily& family = unit_family(type);
  const std::size_t length = decimal_length(text);
  if (length == 0) {
    return fmt::format("\"{}\" is not {}; write e.g. \"{}\"", text, family.what, family.example);
  }
  std::string_view unit = text.substr(length);
  if (unit.empty()) {
    return fmt::format("\"{0}\" has no unit; write e.g. \"{0} {1}\"", text, family.usual_unit);
  }
  if (unit.front() == ' ') {
    unit.remove_prefix(1);
  }
  for (const Unit& each : family.units) {
    if (each.name == unit) {
      return convert(text, read_decimal(text.substr(0, length)), each, family, type);
    }
  }
  return unknown_unit(text, unit, family);
}

std::string quantity_pattern(ValueType type) {
  std::string units;
  for (const Unit& unit : unit_family(type).units) {
    units += units.empty() ? "" : "|";
    for (const char c : unit.name) {
      units += c == '$' ? "\\$" : std::string(1, c);
    }
  }
  return R"(^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})? ?()" + units + ")$";
}

}  // namespace inferometer
