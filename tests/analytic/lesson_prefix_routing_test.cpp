// What scenarios/prefix_routing.yaml teaches: documents that fit into all caches together and not into each.

#include <cmath>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

constexpr double kDocuments = 200, kPrompts = 2000, kReplicas = 4;
constexpr double kDocumentShare = 4000.0 / 4100;  // of a prompt's tokens

Summary run(const std::string& variant, std::int64_t seed = 1) {
  return StudyFile("prefix_routing.yaml").run(variant, {}, seed).summary;
}

// All prompts but the first of each document, 200 of them less the few that nobody asked for.
TEST_CASE("who follows documents computes each once") {
  for (const std::string variant : {"cache_aware", "prefix_scorer"}) {
    CHECK(run(variant).prefixes->hit_rate ==
          Approx((1 - kDocuments / kPrompts) * kDocumentShare).epsilon(0.01));
  }
}

// A cache of C documents fills after D ln(D / (D - C)) prompts that ask for any of D, C of which found
// nothing; from then on C in D find theirs. A document takes 250 of the 27,936 blocks, of which some 1,600
// are held by the six prompts that run: C is 105.
TEST_CASE("who looks at loads finds what one cache holds of all documents") {
  constexpr double kCached = 105;
  const double fills = kDocuments * std::log(kDocuments / (kDocuments - kCached));
  const double each = kPrompts / kReplicas;
  const double found = (fills - kCached + (each - fills) * kCached / kDocuments) / each;
  for (const std::int64_t seed : {1, 2, 3}) {
    CHECK(run("least_outstanding", seed).prefixes->hit_rate == Approx(found * kDocumentShare).epsilon(0.06));
  }
}

TEST_CASE("a look at the replicas once a second costs the tail and not the documents found") {
  const Summary fresh = run("conductor"), stale = run("stale"), by_load = run("least_outstanding");
  CHECK(stale.prefixes->hit_rate > 1.7 * by_load.prefixes->hit_rate);
  CHECK(stale.ttft->p99_ms > 1.5 * by_load.ttft->p99_ms);
  CHECK(fresh.ttft->p99_ms < by_load.ttft->p99_ms);
}

}  // namespace
}  // namespace inferometer::testing
