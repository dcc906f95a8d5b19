#include "workloads/csv_format.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "base/text_input/csv_fields.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

// The header's column that is most like `missing`, none of the layout's own.
std::optional<std::size_t> nearest_column(const CsvFields& header, const CsvLayout& layout,
                                          std::string_view missing) {
  std::vector<bool> is_own(header.size());
  for (const std::string_view name : {layout.time, layout.prompt, layout.output, layout.max_new,
                                      layout.session, layout.service_class, layout.priority}) {
    if (const std::optional<std::size_t> index = header.find(name)) {
      is_own[*index] = true;
    }
  }
  std::vector<std::string> others;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!is_own[i]) {
      others.emplace_back(trimmed(header[i]));
    }
  }
  const std::string nearest = nearest_word(missing, others);
  return nearest.empty() ? std::nullopt : header.find(nearest);
}

std::optional<LineError> missing_column(const std::string& format, const std::string& first_line,
                                        const CsvLayout& layout) {
  CsvFields header;
  LineError ignored;
  if (!header.split(first_line, ignored)) {
    return std::nullopt;
  }
  std::vector<std::string_view> missing;
  for (const std::string_view name : {layout.time, layout.prompt, layout.output}) {
    if (!header.find(name)) {
      missing.push_back(name);
    }
  }
  if (missing.size() != 1) {
    return std::nullopt;
  }
  const std::string expected =
      fmt::format("expected the column {} (trace format {}), found ", missing[0], format);
  const std::optional<std::size_t> nearest = nearest_column(header, layout, missing[0]);
  if (!nearest) {
    return LineError{0, expected + "none like it in " + quoted_excerpt(first_line)};
  }
  return LineError{header.column_of(*nearest),
                   fmt::format("{}{}; did you mean \"{}\"?", expected,
                               quoted_excerpt(trimmed(header[*nearest])), missing[0])};
}

}  // namespace

TraceFormat csv_format(std::string name, std::string looks_like, const CsvLayout& layout) {
  TraceFormat format;
  format.name = std::move(name);
  format.looks_like = std::move(looks_like);
  format.open = [layout](const TraceSample& sample) { return open_csv(sample.first, layout); };
  format.near_miss = [name = format.name, layout](const std::string& first_line) {
    return missing_column(name, first_line, layout);
  };
  return format;
}

}  // namespace inferometer
