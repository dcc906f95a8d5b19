// Host memory and the disk behind it: times by hand, and what they hold against tiers that know every block
// by itself. Blocks of one token, so that a block is a token.

#include <algorithm>
#include <vector>

#include "sim/kvcache/kv_offload.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/kvcache/plain_tier.hpp"

namespace inferometer {
namespace {

using testing::Dice;
using testing::PlainTier;
using testing::TierBlock;

TimePoint at(std::int64_t time) {
  return TimePoint(Duration(time));
}

KvTierConfig tier(std::int64_t blocks, std::int64_t write, std::int64_t read,
                  std::int64_t buffer = KvTierConfig::kUnbounded) {
  return {
      .blocks = blocks, .block_write = Duration(write), .block_read = Duration(read), .write_buffer = buffer};
}

/// Prompts, so that there are runs to look for.
class Prompts {
 public:
  Prompts() : cache_(1000, 1) {}

  PrefixCache::Slot add(std::vector<ContentRun> content) {
    Request request;
    request.id = static_cast<std::int64_t>(blocks_.size());
    std::int64_t tokens = 0;
    for (const ContentRun& run : content) {
      tokens += run.tokens;
    }
    request.prompt = TokenCount(tokens);
    request.content = std::move(content);
    const auto slot = static_cast<PrefixCache::Slot>(blocks_.size());
    cache_.enter(slot, request);
    cache_.match(slot, tokens);
    std::vector<TierBlock>& blocks = blocks_.emplace_back();
    cache_.visit_runs(slot, 0, tokens, [&](std::uint64_t run, std::int64_t from, std::int64_t to) {
      for (std::int64_t block = from; block < to; ++block) {
        blocks.emplace_back(run, block);
      }
      return true;
    });
    return slot;
  }
  [[nodiscard]] const PrefixCache& cache() const { return cache_; }
  [[nodiscard]] const std::vector<TierBlock>& blocks(PrefixCache::Slot slot) const {
    return blocks_[static_cast<std::size_t>(slot)];
  }
  /// The GPU loses blocks [from, to) of a prompt.
  void lose(KvOffload& offload, PrefixCache::Slot slot, std::int64_t from, std::int64_t to) const {
    std::vector<std::pair<TierBlock, std::int64_t>> parts;
    cache_.visit_runs(slot, from, to, [&](std::uint64_t run, std::int64_t begin, std::int64_t end) {
      parts.push_back({{run, begin}, end});
      return true;
    });
    std::reverse(parts.begin(), parts.end());
    for (const auto& [first, end] : parts) {
      offload.evicted(first.first, first.second, end);
    }
  }

 private:
  PrefixCache cache_;
  std::vector<std::vector<TierBlock>> blocks_;
};

TEST_CASE("kv offload chain: what host memory drops comes back over disk and link") {
  // Host: 4 blocks, 1 a copy. Disk: 10 to write one, 5 to read one.
  Prompts prompts;
  const auto first = prompts.add({{1, 4}});
  const auto second = prompts.add({{2, 3}});
  KvOffload offload({.tiers = {tier(4, 1, 1), tier(100, 10, 5)}});
  prompts.lose(offload, first, 0, 4);  // in host memory by 4
  offload.set_time(at(100));
  prompts.lose(offload, second, 0, 3);  // blocks 3, 2, 1 go to disk: by 130
  const KvHit hit = offload.find(prompts.cache(), first, 0, 4, 2);
  CHECK(hit.blocks == 4);
  CHECK(hit.in_tier[0].blocks == 1);
  CHECK(hit.in_tier[1].blocks == 3);
  CHECK((hit.in_tier[1].ready == at(130)));
  CHECK(offload.find(prompts.cache(), first, 0, 4, 1).blocks == 1);
  // Written by 130, read by 145, all four over the link by 149.
  CHECK((offload.time_to_load(hit) == Duration(49)));
  offload.set_time(at(200));
  CHECK((offload.time_to_load(hit) == Duration(3 * 5 + 4)));
  const KvOffload::Loading loading = offload.load(prompts.cache(), first, 0, 4);
  CHECK((loading.end == at(219)));
  CHECK(loading.hit.in_tier[1].blocks == 3);
  const KvOffloadCounts counts = offload.counts();
  CHECK(counts.host.stored_blocks == 7);
  CHECK(counts.host.loaded_blocks == 4);
  CHECK((counts.host.load_waiting == Duration(0)));  // it asks for the link when it has been read
  CHECK(counts.disk.loaded_blocks == 3);
  CHECK(counts.disk.loads == 1);
  CHECK((counts.disk.loading == Duration(15)));
  // They stay in host memory, there by 215. The others went to disk for them.
  CHECK(counts.disk.stored_blocks == 6);
  CHECK((counts.disk.storing == Duration(60)));
  CHECK(offload.find(prompts.cache(), first, 0, 4, 1).blocks == 4);
  CHECK((offload.find(prompts.cache(), first, 0, 4, 1).in_tier[0].ready == at(215)));
  CHECK(offload.find(prompts.cache(), second, 0, 3, 2).in_tier[1].blocks == 3);
}

TEST_CASE("kv offload chain: what is on disk is not written again") {
  Prompts prompts;
  const auto first = prompts.add({{1, 2}});
  const auto second = prompts.add({{2, 2}});
  KvOffload offload({.tiers = {tier(2, 1, 1), tier(100, 10, 5)}});
  for (int i = 0; i < 3; ++i) {
    prompts.lose(offload, first, 0, 2);
    prompts.lose(offload, second, 0, 2);
  }
  CHECK(offload.counts().host.stored_blocks == 12);
  CHECK(offload.counts().disk.stored_blocks == 4);
}

TEST_CASE("kv offload chain: reads wait for each other and host memory does not wait for disk") {
  Prompts prompts;
  const auto first = prompts.add({{1, 4}});
  const auto second = prompts.add({{2, 4}});
  const auto third = prompts.add({{3, 2}});
  KvOffload offload({.tiers = {tier(2, 1, 10), tier(100, 1, 100)}});
  prompts.lose(offload, first, 0, 4);
  prompts.lose(offload, second, 0, 4);
  prompts.lose(offload, third, 0, 2);  // alone in host memory
  offload.set_time(at(1000));
  CHECK((offload.load(prompts.cache(), first, 0, 2).end == at(1000 + 2 * 100 + 2 * 10)));
  CHECK((offload.load(prompts.cache(), second, 0, 1).end == at(1200 + 100 + 10)));
  CHECK((offload.counts().disk.load_waiting == Duration(200)));
  prompts.lose(offload, third, 0, 2);
  offload.set_time(at(1010));
  CHECK((offload.load(prompts.cache(), third, 0, 2).end == at(1030)));  // the link is free until 1200
}

TEST_CASE("kv offload chain: what finds the write buffer full is lost") {
  // Two blocks may wait for a disk that takes 10 for one.
  Prompts prompts;
  const auto first = prompts.add({{1, 4}});
  const auto second = prompts.add({{2, 4}});
  const auto third = prompts.add({{3, 1}});
  KvOffload offload({.tiers = {tier(4, 1, 1), tier(100, 10, 5, 2)}});
  prompts.lose(offload, first, 0, 4);
  offload.set_time(at(100));
  prompts.lose(offload, second, 0, 4);  // blocks 3 and 2 of the first are written, 1 and 0 not
  CHECK(offload.counts().disk.stored_blocks == 2);
  CHECK(offload.counts().disk.lost_blocks == 2);
  CHECK(offload.find(prompts.cache(), first, 0, 4, 2).blocks == 0);
  CHECK(offload.find(prompts.cache(), first, 2, 4, 2).blocks == 2);
  offload.set_time(at(109));
  prompts.lose(offload, third, 0, 1);  // the first block is still being written
  CHECK(offload.counts().disk.lost_blocks == 3);
  offload.set_time(at(110));
  prompts.lose(offload, first, 1, 2);
  CHECK(offload.counts().disk.stored_blocks == 3);
}

/// Both tiers block by block.
class PlainChain {
 public:
  PlainChain(const KvTierConfig& host, const KvTierConfig& disk)
      : host_(host.blocks), disk_(disk.blocks), disk_config_(disk) {}

  void store(const TierBlock& block, std::int64_t now) {
    stored_in_host += host_.has(block) ? 0 : 1;
    keep(block, now);
  }
  /// Blocks of a prompt that are there, in order, each with whether host memory has it.
  [[nodiscard]] std::vector<bool> find(const std::vector<TierBlock>& wanted) const {
    std::vector<bool> found;
    for (const TierBlock& block : wanted) {
      if (!host_.has(block) && !disk_.has(block)) {
        break;
      }
      found.push_back(host_.has(block));
    }
    return found;
  }
  /// From the last one; successive blocks of a run that are on disk are read together.
  void load(const std::vector<TierBlock>& wanted, const std::vector<bool>& in_host, std::int64_t now) {
    for (std::size_t i = wanted.size(); i-- > 0;) {
      (in_host[i] ? host_ : disk_).use(wanted[i]);
    }
    for (std::size_t end = wanted.size(); end > 0;) {
      std::size_t begin = end - 1;
      while (begin > 0 && wanted[begin - 1].first == wanted[begin].first &&
             in_host[begin - 1] == in_host[begin]) {
        --begin;
      }
      for (std::size_t i = end; i-- > begin;) {
        (in_host[begin] ? host_ : disk_).use(wanted[i]);
      }
      for (std::size_t i = end; i-- > begin && !in_host[begin];) {
        keep(wanted[i], now);
      }
      end = begin;
    }
  }

  std::int64_t stored_in_host = 0, stored_on_disk = 0, lost = 0;

 private:
  void keep(const TierBlock& block, std::int64_t now) {
    if (const auto dropped = host_.put(block)) {
      write(*dropped, now);
    }
  }
  void write(const TierBlock& block, std::int64_t now) {
    if (!disk_.has(block)) {
      const std::int64_t time = disk_config_.block_write.count();
      written_by_ = std::max(written_by_, now);
      if (disk_config_.write_buffer != KvTierConfig::kUnbounded &&
          written_by_ - now > (disk_config_.write_buffer - 1) * time) {
        ++lost;
        return;
      }
      written_by_ += time;
      ++stored_on_disk;
    }
    disk_.put(block);
  }

  PlainTier host_, disk_;
  KvTierConfig disk_config_;
  std::int64_t written_by_ = 0;
};

/// Prompts with common beginnings.
std::vector<PrefixCache::Slot> draw_prompts(Dice& dice, Prompts& prompts) {
  std::vector<PrefixCache::Slot> slots;
  for (std::int64_t i = dice.between(2, 8); i > 0; --i) {
    std::vector<ContentRun> content;
    for (std::int64_t run = dice.between(1, 3); run > 0; --run) {
      content.push_back({static_cast<std::uint64_t>(dice.between(1, 2)), dice.one_of({1, 5, 9})});
    }
    slots.push_back(prompts.add(std::move(content)));
  }
  return slots;
}

TEST_CASE("kv offload chain: as block by block: 300 histories") {
  std::int64_t lost = 0, loaded_from_disk = 0, mixed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Dice dice(seed, "tests/kv_offload_chain");
    // What a buffer takes depends on times, which are those of whole extents where copies to host memory have
    // not ended: with a bound nothing is loaded, and what one call brings is not dropped in it.
    const bool is_bounded = dice.chance(40);
    const KvTierConfig host = tier(is_bounded ? 30 : dice.one_of({1, 3, 10, 40}), 1, 1);
    const KvTierConfig disk = tier(dice.one_of({1, 5, 30, 200}), 40, 7,
                                   is_bounded ? dice.between(1, 12) : KvTierConfig::kUnbounded);
    KvOffload offload({.tiers = {host, disk}});
    PlainChain plain(host, disk);
    Prompts prompts;
    const std::vector<PrefixCache::Slot> slots = draw_prompts(dice, prompts);
    std::int64_t now = 0;
    for (int i = 0; i < 150; ++i) {
      CAPTURE(i);
      now += 100 + dice.between(0, 400);
      offload.set_time(at(now));
      const PrefixCache::Slot slot =
          slots[static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(slots.size()) - 1))];
      const std::vector<TierBlock>& all = prompts.blocks(slot);
      const auto size = static_cast<std::int64_t>(all.size());
      const std::int64_t from = dice.between(0, size - 1), to = dice.between(from + 1, size);
      const std::vector<TierBlock> blocks(all.begin() + from, all.begin() + to);
      if (is_bounded || dice.chance(60)) {
        prompts.lose(offload, slot, from, to);
        std::for_each(blocks.rbegin(), blocks.rend(),
                      [&](const TierBlock& block) { plain.store(block, now); });
      } else if (const std::vector<bool> found = plain.find(blocks); !found.empty()) {
        const auto count = static_cast<std::int64_t>(found.size());
        const KvOffload::Loading loading = offload.load(prompts.cache(), slot, from, from + count);
        const auto in_host = std::count(found.begin(), found.end(), true);
        REQUIRE(loading.hit.in_tier[0].blocks == in_host);
        REQUIRE(loading.hit.in_tier[1].blocks == count - in_host);
        loaded_from_disk += count - in_host;
        mixed += in_host > 0 && in_host < count ? 1 : 0;
        plain.load({blocks.begin(), blocks.begin() + count}, found, now);
      }
      const std::vector<bool> found = plain.find(all);
      const KvHit hit = offload.find(prompts.cache(), slot, 0, size, 2);
      REQUIRE(hit.blocks == static_cast<std::int64_t>(found.size()));
      REQUIRE(hit.in_tier[0].blocks == std::count(found.begin(), found.end(), true));
      REQUIRE(offload.find(prompts.cache(), slot, 0, size, 1).blocks ==
              std::find(found.begin(), found.end(), false) - found.begin());
      const KvOffloadCounts counts = offload.counts();
      REQUIRE(counts.host.stored_blocks == plain.stored_in_host);
      REQUIRE(counts.disk.stored_blocks == plain.stored_on_disk);
      REQUIRE(counts.disk.lost_blocks == plain.lost);
    }
    lost += plain.lost;
  }
  CHECK(lost > 100);
  CHECK(loaded_from_disk > 1000);
  CHECK(mixed > 100);
}

}  // namespace
}  // namespace inferometer
