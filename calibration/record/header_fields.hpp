#pragma once

// The fields of a header by name: how files hold them, and which of them keep two sets apart.

#include <span>
#include <string>
#include <string_view>

#include "calibration/record/measurement.hpp"

namespace inferometer {

struct HeaderText {
  std::string_view name;
  std::string MeasurementHeader::*member;
  bool tells_apart;  ///< two sets that differ in it are two
};

struct HeaderNumber {
  std::string_view name;
  double MeasurementHeader::*member;
  bool tells_apart;
};

/// In the order in which files hold them, texts before numbers.
std::span<const HeaderText> header_texts();
std::span<const HeaderNumber> header_numbers();

/// Name and both values of the first field that keeps the two apart, as in `library_version "1.0" and "2.0"`;
/// "" when they describe one set.
std::string header_difference(const MeasurementHeader& a, const MeasurementHeader& b);

/// What `into` becomes when points of `other` join it: inputs of both; what differs is no longer known.
/// Precondition: no header_difference.
void merge_headers(MeasurementHeader& into, const MeasurementHeader& other);

}  // namespace inferometer
