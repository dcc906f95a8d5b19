#include "calibration/record/header_fields.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace inferometer {
namespace {

using Header = MeasurementHeader;

constexpr HeaderText kTexts[] = {
    {"gpu", &Header::gpu, true},
    {"device", &Header::device, true},
    {"library", &Header::library, true},
    {"library_version", &Header::library_version, true},
    {"source", &Header::source, true},
    {"driver_version", &Header::driver_version, true},
    {"cuda_runtime_version", &Header::cuda_runtime_version, true},
    {"cublas_version", &Header::cublas_version, true},
    {"nvcc_version", &Header::nvcc_version, true},
    {"clocks", &Header::clocks, true},
    {"method", &Header::method, true},
    {"l2_state", &Header::l2_state, true},
    {"source_hash", &Header::source_hash, true},
    {"revision", &Header::revision, true},
    {"compute_capability", &Header::compute_capability, true},
    {"ecc", &Header::ecc, true},
    {"mig", &Header::mig, true},
    {"uuid_hash", &Header::uuid_hash, false},
    {"host", &Header::host, false},
    {"utc", &Header::utc, false},
};

constexpr HeaderNumber kNumbers[] = {
    {"sm_count", &Header::sm_count, true},        {"l2_bytes", &Header::l2_bytes, true},
    {"hbm_bytes", &Header::hbm_bytes, true},      {"power_limit_w", &Header::power_limit_w, true},
    {"mem_mhz", &Header::mem_mhz, true},          {"temperature_c", &Header::temperature_c, false},
    {"sm_mhz_mean", &Header::sm_mhz_mean, false},
};

}  // namespace

std::span<const HeaderText> header_texts() {
  return kTexts;
}

std::span<const HeaderNumber> header_numbers() {
  return kNumbers;
}

std::string header_difference(const Header& a, const Header& b) {
  for (const HeaderText& field : kTexts) {
    if (field.tells_apart && a.*field.member != b.*field.member) {
      return fmt::format("{} \"{}\" and \"{}\"", field.name, a.*field.member, b.*field.member);
    }
  }
  for (const HeaderNumber& field : kNumbers) {
    if (field.tells_apart && a.*field.member != b.*field.member) {
      return fmt::format("{} {} and {}", field.name, a.*field.member, b.*field.member);
    }
  }
  return "";
}

void merge_headers(Header& into, const Header& other) {
  for (const HeaderText& field : kTexts) {
    if (into.*field.member != other.*field.member) {
      (into.*field.member).clear();
    }
  }
  for (const HeaderNumber& field : kNumbers) {
    if (into.*field.member != other.*field.member) {
      into.*field.member = 0;
    }
  }
  into.inputs.insert(into.inputs.end(), other.inputs.begin(), other.inputs.end());
  std::sort(into.inputs.begin(), into.inputs.end());
  into.inputs.erase(std::unique(into.inputs.begin(), into.inputs.end()), into.inputs.end());
}

}  // namespace inferometer
