#include "hardware/profile.hpp"

#include <filesystem>
#include <utility>

#include "base/check.hpp"
#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "base/data_path.hpp"

namespace inferometer {
namespace {

constexpr const char* kFolder = "hardware/profiles";
constexpr const char* kGenericName = "generic";

Table sourced_table(const std::string& name, const std::string& summary) {
  Table table(name, summary);
  table.add("source", ValueType::text, "Where the figures come from").required();
  table.add("date", ValueType::text, "When they were read, as YYYY-MM-DD").required();
  table.add("assumed", ValueType::flag, "Borrowed from a related GPU instead of measured on this one")
      .by_default("false");
  return table;
}

void add_start_up(Table& table) {
  table.add("start_up", ValueType::duration, "Time of a kernel with next to no work")
      .required()
      .range("0 s", "1 ms");
}

void add_share(Table& table, const std::string& name, const std::string& sentence) {
  table.add(name, ValueType::number, sentence).required().range("", "1").above("0");
}

Table kernel_table(const std::string& name, const std::string& summary) {
  Table table = sourced_table(name, summary);
  add_start_up(table);
  add_share(table, "compute_efficiency", "Achieved share of the datasheet's compute peak");
  add_share(table, "bandwidth_efficiency", "Achieved share of the datasheet's memory bandwidth");
  return table;
}

Table all_reduce_table() {
  Table table = sourced_table("all_reduce", "Collectives among the GPUs of one node");
  for (const char* gpus : {"2", "4", "8"}) {
    Table group(std::string("among_") + gpus, std::string("Among ") + gpus + " GPUs");
    add_start_up(group);
    add_share(group, "link_efficiency", "Achieved share of one GPU's link bandwidth to all its peers");
    table.add_section(group.name(), group, group.summary());
  }
  return table;
}

Table profile_table() {
  Table table("profile", "How near a GPU's kernels come to its datasheet");
  table.add("gpu", ValueType::text, "Whose kernels these are").required();
  table.add_section("gemm", kernel_table("gemm", "Matrix products"), "Matrix products");
  Table decode = kernel_table("decode_attention", "Attention of one new token a sequence");
  decode.add("start_up_per_sequence_head", ValueType::duration, "More start-up, for each sequence x KV head")
      .required()
      .range("0 s", "1 us");
  table.add_section("decode_attention", decode, decode.summary());
  Table prefill = kernel_table("prefill_attention", "Attention of prompt chunks");
  prefill.add("overhang_tokens", ValueType::count, "T0 of time = start_up + FLOPs of s (s + T0) / 2 pairs")
      .required()
      .range("1", "100000");
  table.add_section("prefill_attention", prefill, prefill.summary());
  Table elementwise = sourced_table("elementwise", "Norms, rotary embedding, activation, gather, sampling");
  add_start_up(elementwise);
  add_share(elementwise, "bandwidth_efficiency", "Achieved share of the datasheet's memory bandwidth");
  table.add_section("elementwise", elementwise, elementwise.summary());
  Table all_reduce = all_reduce_table();
  table.add_section("all_reduce", all_reduce, all_reduce.summary());
  return table;
}

KernelEfficiency kernel_from(const Values& values) {
  return {values.duration("start_up"), values.number("compute_efficiency"),
          values.number("bandwidth_efficiency")};
}

LinkEfficiency link_from(const Values& values) {
  return {values.duration("start_up"), values.number("link_efficiency")};
}

Profile profile_from(const Values& values) {
  Profile profile;
  profile.gpu = values.text("gpu");
  profile.gemm = kernel_from(values.section("gemm"));
  profile.decode_attention = kernel_from(values.section("decode_attention"));
  profile.decode_per_sequence_head =
      values.section("decode_attention").duration("start_up_per_sequence_head");
  profile.prefill_attention = kernel_from(values.section("prefill_attention"));
  profile.overhang_tokens = values.section("prefill_attention").count("overhang_tokens");
  const Values& elementwise = values.section("elementwise");
  profile.elementwise = {elementwise.duration("start_up"), 1, elementwise.number("bandwidth_efficiency")};
  const Values& all_reduce = values.section("all_reduce");
  profile.all_reduce = {link_from(all_reduce.section("among_2")), link_from(all_reduce.section("among_4")),
                        link_from(all_reduce.section("among_8"))};
  for (const char* name : {"gemm", "decode_attention", "prefill_attention", "elementwise", "all_reduce"}) {
    const Values& section = values.section(name);
    profile.provenance.emplace_back(name, Provenance{section.text("source"), section.text("date")});
    if (section.flag("assumed")) {
      profile.assumed_sections.emplace_back(name);
    }
  }
  return profile;
}

}  // namespace

const LinkEfficiency& link_efficiency(const Profile& profile, std::int64_t gpus) {
  INFEROMETER_CHECK(gpus >= 2 && gpus <= kMaxTensorParallel, "collectives are described among 2 to 8 GPUs");
  if (gpus == 2) {
    return profile.all_reduce[0];
  }
  return gpus <= 4 ? profile.all_reduce[1] : profile.all_reduce[2];
}

Profile read_profile(const std::string& path) {
  Diagnostics diagnostics;
  const Values values = parse(profile_table(), read_yaml_file(path), diagnostics);
  diagnostics.throw_if_any();
  return profile_from(values);
}

std::string profile_file(const std::string& gpu_name) {
  const std::filesystem::path folder = data_directory(kFolder);
  const std::filesystem::path own = folder / (gpu_name + ".yaml");
  // A GPU that the user describes is named by its file's path, which is no name of a profile.
  const bool is_plain_name = gpu_name.find('/') == std::string::npos;
  if (is_plain_name && std::filesystem::is_regular_file(own)) {
    return own.string();
  }
  return (folder / (std::string(kGenericName) + ".yaml")).string();
}

Profile load_profile(const std::string& gpu_name) {
  return read_profile(profile_file(gpu_name));
}

}  // namespace inferometer
