#include "sim/report/plan/plan_words.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/report_plan/sample_plan.hpp"

using namespace inferometer;
using namespace inferometer::test;

TEST_CASE("targets and metrics are called as people call them") {
  CHECK(target_in_words("ttft_p99") == "p99 TTFT");
  CHECK(target_in_words("e2el_mean") == "mean E2E");
  CHECK(target_in_words("goodput") == "goodput");
  CHECK(metric_of_target("itl_p95") == "p95_itl_ms");
  CHECK(metric_of_target("goodput") == "goodput_share");
  CHECK(metric_in_words("p50_tpot_ms") == "p50 TPOT");
  CHECK(metric_in_words("p99_queue_delay_ms") == "p99 queue delay");
  CHECK(metric_in_words("output_throughput") == "output throughput");
  CHECK(metric_in_words("") == "");
}

TEST_CASE("a value comes with its interval and its limit in a unit that suits it") {
  CHECK(target_sentence(ttft_of(612, 598, 626)) == "p99 TTFT 612 ms (598-626) of 800 ms");
  CHECK(target_in_brief(ttft_of(612, 598, 626)) == "p99 TTFT 612 of 800 ms");
  // Seconds of a limit in milliseconds; a bound below 0 that no latency can have.
  CHECK(target_sentence(ttft_of(1500, -20, 3100)) == "p99 TTFT 1.50 s (0.00-3.10) of 800 ms");
  CHECK(target_in_brief(ttft_of(1500, 1400, 1600)) == "p99 TTFT 1.50 s of 800 ms");
  TargetResult goodput{"goodput", 0.99, 0.987, 0.98, 0.994, false, 0.003, true};
  CHECK(target_sentence(goodput) == "goodput 98.7 % (98.0-99.4) of at least 99.0 %");
  goodput.mean.reset();
  CHECK(target_sentence(goodput) == "goodput nothing measured of at least 99.0 %");
  CHECK(target_in_brief(goodput) == "goodput not measured");
}

TEST_CASE("money and power and what is minimised have units") {
  CHECK(dollars_per_hour_in_words(8.97) == "$8.97/h");
  CHECK(dollars_per_hour_in_words(1234.5) == "$1,235/h");
  CHECK(dollars_per_hour_in_words(0) == "no price");
  CHECK(power_in_words(700) == "700 W");
  CHECK(power_in_words(2100) == "2.10 kW");
  const Size size{3, 6, 8.97, 2100, 8.97};
  CHECK(cost_in_words(Objective::dollars_per_hour, size) == "$8.97/h");
  CHECK(cost_in_words(Objective::gpus, size) == "6 GPUs");
  CHECK(cost_in_words(Objective::watts, size) == "2.10 kW");
  CHECK(counted(1, "GPU") == "1 GPU");
  CHECK(counted(1200, "GPU") == "1,200 GPUs");
}

TEST_CASE("units multiply what stands in front of the setup, or the whole of it") {
  ShapeResult shape = shape_of("h100-sxm", 2, 2.99, 700);
  CHECK(setup_in_words(shape, 1) == "1 x (2 x h100-sxm)");
  CHECK(setup_in_words(shape, 3) == "3 x (2 x h100-sxm)");
  CHECK(settings_in_words(shape, nullptr) == "policy chunked_prefill, max_num_batched_tokens 1024");
  shape.setup = "prefill 1 x (1 x h100-sxm), decode 2 x (1 x h100-sxm)";
  CHECK(setup_in_words(shape, 2) == "2 x [prefill 1 x (1 x h100-sxm), decode 2 x (1 x h100-sxm)]");
  shape.values = {{"decode.gpu", "h100-sxm"}, {"split", "1:2"}, {"engine.max_num_seqs", "64"}};
  CHECK(settings_in_words(shape, nullptr) == "max_num_seqs 64");
  // What the answer has as well is not said again.
  ShapeResult other = shape;
  CHECK(settings_in_words(shape, &other).empty());
  other.values[2].second = "32";
  CHECK(settings_in_words(shape, &other) == "max_num_seqs 64");
}

TEST_CASE("a sustained rate says what is known of it") {
  SustainedRate rate = *three_h100().sustained;
  CHECK(rate_in_words(rate) == "14.2-14.5 req/s");
  // 14.2 / 12 - 1 = 0.18333
  CHECK(*headroom(rate, 12) == Approx(0.183333).margin(1e-6));
  CHECK(part_in_words(14.2 / 12 - 1) == "18.3 % above");
  CHECK(part_in_words(-0.04) == "4.00 % below");
  CHECK_FALSE(headroom(rate, 0));
  rate.low_per_second = 0;
  CHECK(rate_in_words(rate) == "less than 14.5 req/s");
  CHECK_FALSE(headroom(rate, 12));
  CHECK(rate_in_brief(rate) == "< 14.5");
  rate = {14.2, 0, "", {}};
  CHECK(rate_in_brief(rate) == ">= 14.2");
  CHECK(rate_in_words(rate) == "at least 14.2 req/s");
}

TEST_CASE("a reason ends as a sentence does") {
  CHECK(with_stop("the queue grows") == "the queue grows.");
  CHECK(with_stop("It does.") == "It does.");
  CHECK(with_stop("").empty());
}
