// How the memory command words its answers. The figures are round ones made up here.

#include "sim/cli/memory_report.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

MemoryRow roomy_row() {
  MemoryFootprint memory;
  memory.block_size = 16;
  memory.usable = Bytes(100'000'000'000);
  memory.budget = Bytes(90'000'000'000);
  memory.weights = Bytes(16'000'000'000);
  memory.activations = Bytes(1'500'000'000);
  memory.other = Bytes(500'000'000);
  memory.kv_cache = Bytes(72'000'000'000);
  memory.kv_bytes_per_token = Bytes(100'000);
  memory.blocks = BlockCount(45'000);
  MemoryRow row;
  row.model = "small";
  row.gpu = "big";
  row.context = TokenCount(1000);
  row.max_positions = 2000;
  row.footprint = memory;
  row.smallest_fitting = 1;
  return row;
}

MemoryRow tight_row() {
  MemoryRow row = roomy_row();
  row.gpu = "little";
  row.footprint->kv_cache = Bytes(-3'000'000'000);
  row.footprint->blocks = BlockCount(0);
  row.smallest_fitting = 4;
  return row;
}

}  // namespace

TEST_CASE("a model that fits, in full") {
  // 45000 blocks of 16 tokens; 1000 tokens take 63 blocks: 714 sequences.
  CHECK(memory_text(roomy_row()) ==
        "small on big, tensor_parallel 1: fits\n"
        "\n"
        "On each GPU\n"
        "  usable memory                   100.00 GB\n"
        "  engine's share, 0.9 of it        90.00 GB\n"
        "    weights                        16.00 GB\n"
        "    activations at their peak       1.50 GB\n"
        "    CUDA context, buffers, other    0.50 GB\n"
        "    left for KV cache              72.00 GB\n"
        "\n"
        "KV cache\n"
        "  a token                    100000 B\n"
        "  a block                   16 tokens\n"
        "  blocks                        45000\n"
        "  tokens                       720000\n"
        "  sequences of 1000 tokens        714\n");
}

TEST_CASE("the share is what the engine's arithmetic means by it") {
  MemoryRow row = roomy_row();
  row.kv_memory = "sglang";  // keeps activations outside
  check_says(memory_text(row), {"\n  weights and KV, at most 0.9 of it"});
  CHECK(memory_text(row).find("activations") == std::string::npos);
  row.kv_memory = "trtllm";
  check_says(memory_text(row), {"\n  engine's, KV 0.9 of what is left", "activations at their peak"});
}

TEST_CASE("what does not fit says by how much and what would") {
  MemoryRow row = tight_row();
  // The first block of 16 x 100000 B is missing as well: 3.0016 GB.
  check_says(memory_text(row),
             {"does not fit, 3.00 GB too little on each GPU", "tensor_parallel 4 would hold one"});
  row.smallest_fitting.reset();
  check_says(memory_text(row), {"no tensor_parallel up to the 8 GPUs of a node holds one"});

  MemoryRow long_context = roomy_row();
  long_context.context = TokenCount(720'001);
  long_context.smallest_fitting = 2;
  check_says(memory_text(long_context),
             {"fits, but not one sequence of 720001 tokens; tensor_parallel 2 would",
              "The model was made for contexts of up to 2000 tokens."});
  MemoryRow unsplittable = roomy_row();
  unsplittable.tensor_parallel = 7;
  unsplittable.footprint.reset();
  unsplittable.cannot_split = "7 does not divide 32 heads";
  CHECK(memory_text(unsplittable) == "small on big, tensor_parallel 7: 7 does not divide 32 heads\n");
  // In lists it keeps its row, with the reason below.
  unsplittable.model = "odd";
  const std::string table = memory_table({roomy_row(), unsplittable});
  CHECK(table.ends_with("\nodd on big: 7 does not divide 32 heads\n"));
  const std::size_t line = table.find("\nodd ") + 1;
  const std::string cells = table.substr(line, table.find('\n', line) - line);
  CHECK(std::count(cells.begin(), cells.end(), '-') == 9);  // all figures but tensor_parallel
  check_says(memory_matrix({roomy_row(), unsplittable}),
             {"\nodd          tp 1\n", "\n\nodd: 7 does not divide 32 heads\n"});
}

TEST_CASE("a table has a line a row and remarks on what does not fit") {
  const std::string text = memory_table({roomy_row(), tight_row()});
  CHECK(text.substr(0, text.find("\n\n")) ==
        "model  gpu     tp   weights  activations    other  KV cache  B/token  blocks  tokens  context  "
        "sequences\n"
        "small  big      1  16.00 GB      1.50 GB  0.50 GB  72.00 GB   100000   45000  720000     1000       "
        " 714\n"
        "small  little   1  16.00 GB      1.50 GB  0.50 GB  -3.00 GB   100000       0       0     1000       "
        "   0");
  check_says(text, {"\n\nsmall on little: does not fit"});
  CHECK(text.find("small on big:") == std::string::npos);
}

TEST_CASE("a matrix has tokens, or the tensor_parallel that would do") {
  MemoryRow never = tight_row();
  never.model = "huge";
  never.smallest_fitting.reset();
  MemoryRow other = roomy_row();
  other.model = "huge";
  const std::string text = memory_matrix({roomy_row(), tight_row(), other, never});
  CHECK(text.substr(0, text.find("\n\n")) ==
        "KV tokens     big  little\n"
        "small      720000    tp 4\n"
        "huge       720000       -");
}

TEST_CASE("number formats are named where they are not the checkpoint's") {
  MemoryRow row = roomy_row();
  CHECK(memory_text(row).find("fp8") == std::string::npos);
  row.kv_cache_dtype = "fp8";
  CHECK(memory_text(row).starts_with("small on big, tensor_parallel 1, kv_cache_dtype fp8: fits\n"));
  row.quantization = "int4";
  CHECK(memory_text(row).starts_with(
      "small on big, tensor_parallel 1, quantization int4, kv_cache_dtype fp8: fits\n"));
  check_says(memory_table({row}), {"\nWith quantization int4, kv_cache_dtype fp8.\n"});
  check_says(memory_matrix({row}), {"At tensor_parallel 1, quantization int4, kv_cache_dtype fp8."});
}

TEST_CASE("CSV and JSON carry the same values under the same names") {
  MemoryRow row = tight_row();
  row.model = "a,\"b\"";
  row.quantization = "fp8";
  MemoryRow unsplittable = roomy_row();
  unsplittable.footprint.reset();
  CHECK(
      memory_csv({row, unsplittable}) ==
      "model,gpu,tensor_parallel,pipeline_parallel,attention_data_parallel,expert_parallel,quantization,"
      "kv_cache_dtype,gpu_memory_utilization,kv_memory,fits,"
      "stage,usable_bytes,budget_"
      "bytes,weights_bytes,"
      "activations_bytes,other_bytes,kv_cache_bytes,kv_bytes_per_token,block_size_tokens,kv_blocks,kv_tokens,"
      "context_tokens,sequences,shortfall_bytes,smallest_fitting_tensor_parallel\n"
      "\"a,\"\"b\"\"\",little,1,1,1,1,fp8,auto,0.9,vllm,false,1,100000000000,90000000000,16000000000,"
      "1500000000,"
      "500000000,"
      "-"
      "3000000000,"
      "100000,16,0,0,1000,0,3001600000,4\n"
      "small,big,1,1,1,1,none,auto,0.9,vllm,,,,,,,,,,,,,1000,,,1\n");
  const nlohmann::json list = nlohmann::json::parse(memory_json({row, unsplittable}));
  REQUIRE(list.size() == 2);
  CHECK(list[0]["model"] == "a,\"b\"");
  CHECK(list[0]["kv_cache_bytes"] == -3'000'000'000);
  CHECK(list[0]["shortfall_bytes"] == 3'001'600'000);
  CHECK(list[1]["fits"].is_null());
  CHECK(list[1]["smallest_fitting_tensor_parallel"] == 1);
  CHECK(list[0]["stage"] == 1);
  CHECK(list[1]["stage"].is_null());
}

TEST_CASE("of a pipeline the fullest stage is shown") {
  MemoryRow row = roomy_row();
  row.tensor_parallel = 8;
  row.pipeline_parallel = 4;
  row.footprint->pipeline_parallel = 4;
  row.footprint->stage = 2;
  check_says(memory_text(row), {"small on big, tensor_parallel 8, pipeline_parallel 4: fits\n",
                                "\nOn each GPU of stage 3 of 4, the fullest\n"});
  check_says(memory_table({row}), {"\nWith pipeline_parallel 4.\n"});
  check_says(memory_matrix({row}), {"At tensor_parallel 8, pipeline_parallel 4."});
  check_says(memory_json({row}), {"\"pipeline_parallel\": 4", "\"stage\": 3"});
  row.footprint.reset();
  row.cannot_split = "3 layers make no 4 stages";
  check_says(memory_text(row), {"tensor_parallel 8, pipeline_parallel 4: 3 layers make no 4 stages\n"});
}

TEST_CASE("what would hold the model over nodes is said where one node does not") {
  MemoryRow row = tight_row();
  row.smallest_fitting.reset();
  CHECK(memory_text(row).find("pipeline_parallel") == std::string::npos);
  row.smallest_over_nodes = in_one_node(8);
  row.smallest_over_nodes->pipeline = 2;
  check_says(memory_text(row),
             {"no tensor_parallel up to the 8 GPUs of a node holds one, but tensor_parallel 8, "
              "pipeline_parallel 2 would"});
}

}  // namespace inferometer
