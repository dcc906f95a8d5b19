#include "calibration/record/measurement_file.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/text_input/csv_fields.hpp"
#include "calibration/record/importers.hpp"
#include "calibration/record/plausibility.hpp"

namespace inferometer {
namespace {

using Importer = void (*)(LineSource& lines, FileContents& contents, RowErrors& errors);

/// A form of file and how to know it: by one of these columns in its header.
struct TableForm {
  std::vector<std::string_view> columns;
  Importer import;
};

const std::vector<TableForm>& table_forms() {
  static const std::vector<TableForm> forms = {
      {{"op_name", "kernel_source", "framework"}, import_aiconfigurator},
      {{"n_expanded_embd", "time_stats.mlp_up_proj.median"}, import_vidur_layers},
      {{"kv_cache_size", "time_stats.attn_prefill.median"}, import_vidur_attention},
      {{"collective", "time_stats.all_reduce.median"}, import_vidur_collectives},
      {{"schedule_median", "prepare_inputs_e2e_median"}, import_vidur_host},
  };
  return forms;
}

/// nullptr for a first line of no form that is known.
Importer importer_for(std::string_view first_line) {
  first_line = trimmed(first_line);
  if (first_line.starts_with('{')) {
    return import_record;
  }
  if (first_line.starts_with('#') && first_line.find('=') != std::string_view::npos) {
    return import_aiconfigurator;
  }
  CsvFields fields;
  LineError ignored;
  if (!fields.split(first_line, ignored)) {
    return nullptr;
  }
  for (const TableForm& form : table_forms()) {
    for (const std::string_view column : form.columns) {
      if (fields.find(column)) {
        return form.import;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Measurements> read_measurement_file(LineSource& lines, bool must_be, const GpuNames& gpus,
                                                const MeasurementHints& hints) {
  std::string_view first_line;
  lines.mark();
  const bool is_empty = !lines.next(first_line);
  const Importer import = is_empty ? nullptr : importer_for(first_line);
  if (import == nullptr) {
    if (!must_be) {
      return {};
    }
    throw ConfigError(
        lines.place(),
        fmt::format(
            "expected measurements: our JSON lines, a table of aiconfigurator or one of Vidur; found {}",
            is_empty ? "an empty file" : quoted_excerpt(first_line)));
  }
  lines.rewind_to_mark();
  FileContents contents(lines.name(), gpus, hints);
  RowErrors errors;
  import(lines, contents, errors);
  errors.throw_if_any(lines.name());
  std::vector<Measurements> sets = contents.take();
  for (Measurements& set : sets) {
    if (const GpuSpec* const gpu = gpus.find(set.header.gpu)) {
      check_time_scale(set, *gpu, lines.name(), import == import_record ? "ns" : "ms");
      set_suspects_apart(set, *gpu);
    }
  }
  return sets;
}

}  // namespace inferometer
