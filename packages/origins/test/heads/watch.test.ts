import { POOL } from "@sotto/test-chain/pool";
import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { World } from "../../../wallet/test/support/world.ts";
import { HeadWatch, type HeadWatchOptions } from "../../src/heads/watch.ts";
import { HEAD_PATH, headPackPath, type SignedHead } from "../../src/index.ts";
import { MemoryCurator } from "../support/memory-curator.ts";

const CURATOR = "https://curator.example";
const MIRROR = "https://mirror.example";
const HOUR_MS = 3_600_000;

describe("the heads of a set, for those who ask for its origins", () => {
  const world = new World();
  let curator: MemoryCurator;
  /** What answers by its base URL. */
  let servers: Map<string, typeof fetch>;
  let now: number;
  beforeEach(async () => {
    curator = new MemoryCurator({ chain: world.chain, pool: POOL });
    servers = new Map([[CURATOR, curator.fetch(CURATOR)]]);
    await curator.sign();
    now = curator.heads[0]!.head.time * 1000;
  });

  const send: typeof fetch = async (input, init) => {
    for (const [base, answer] of servers) if (String(input).startsWith(`${base}/`)) return answer(input, init);
    throw new TypeError(`no server at ${String(input)}`);
  };
  const watch = (changes: Partial<HeadWatchOptions> = {}) => {
    const { chainId, pool, curator: key, name } = curator.heads[0]!.head;
    const set = { chainId, pool, curator: key, name };
    return new HeadWatch({ set, urls: [CURATOR], maxAgeMs: HOUR_MS, fetch: send, clock: () => now, ...changes });
  };
  /** Signs a head with another root than before. */
  const sign = async (of = curator): Promise<SignedHead> => {
    of.state.mask.set(of.heads.length, true);
    of.leaves[of.heads.length] ??= BigInt(1_000 + of.heads.length);
    const signed = await of.sign({ leaves: 100 });
    now = Math.max(now, signed.head.time * 1000);
    return signed;
  };
  /** Another curator with the same key, whose first heads are those of this one. */
  const twin = (): MemoryCurator => {
    const other = new MemoryCurator({ chain: world.chain, pool: POOL, secret: curator.secret });
    for (const signed of curator.heads) other.publish(signed);
    return other;
  };

  it("are good from their slot until an hour after a newer one", async () => {
    const roots = [curator.heads[0]!, await sign(), await sign()].map(({ head }) => head.maskRoot);
    const [first, , newest] = roots as [bigint, bigint, bigint];
    const seen = watch();
    await seen.refresh();
    expect(seen.newest).to.deep.equal(curator.heads.at(-1)!.head);
    const until = curator.heads[1]!.head.time * 1000;
    expect([seen.accepts(first, until + HOUR_MS - 1_000), seen.accepts(first, until + HOUR_MS)]).to.deep.equal([
      true,
      false,
    ]);
    expect(seen.accepts(newest, now)).to.equal(true);
    expect([seen.has(1n), seen.accepts(1n, now)]).to.deep.equal([false, false]);
  });

  it("age while no head can be read, the newest too", async () => {
    const { maskRoot } = curator.heads[0]!.head;
    const seen = watch();
    await seen.refresh();
    servers.clear();
    await expectRejected("CURATOR_UNREACHABLE", () => seen.refresh());
    expect(seen.accepts(maskRoot, now + HOUR_MS - 1)).to.equal(true);
    expect(seen.accepts(maskRoot, now + HOUR_MS)).to.equal(false);
    servers.set(CURATOR, curator.fetch(CURATOR));
    now += HOUR_MS;
    await seen.refresh();
    expect(seen.accepts(maskRoot, now + HOUR_MS - 1), "read again").to.equal(true);
  });

  it("are read in packs, no further back than they are good, and then only what is new", async () => {
    for (let i = 0; i < 260; i += 1) await curator.sign();
    now = curator.heads.at(-1)!.head.time * 1000;
    const seen = watch();
    await seen.refresh();
    const packs = () => curator.asked.filter((path) => path !== HEAD_PATH);
    expect(packs()).to.deep.equal([headPackPath(2), headPackPath(1)]);
    await seen.refresh();
    expect(packs()).to.have.length(2);
    await curator.sign();
    await seen.refresh();
    expect(packs(), "the next one needs no pack").to.have.length(2);
    await curator.sign();
    await curator.sign();
    await seen.refresh();
    expect(packs().slice(2)).to.deep.equal([headPackPath(2)]);
    expect(seen.newest?.number).to.equal(263);
  });

  it("are sought at once if a payer has seen a newer one, at most once a second", async () => {
    const seen = watch();
    await seen.refresh();
    const { maskRoot } = (await sign()).head;
    const asked = curator.asked.length;
    await seen.seek(maskRoot);
    expect(seen.has(maskRoot)).to.equal(true);
    await seen.seek(7n);
    await seen.seek(8n);
    expect(curator.asked.length - asked, "the second reading waits").to.equal(1);
    servers.set(CURATOR, () => new Promise(() => undefined));
    now += 1_000;
    await seen.seek(9n);
  });

  it("are refused for good once their curator signed two with one number, also at a mirror", async () => {
    const seen = watch({ urls: [CURATOR, MIRROR] });
    const other = twin();
    servers.set(MIRROR, other.fetch(MIRROR));
    await seen.refresh();
    const { maskRoot } = curator.heads[0]!.head;
    await sign(other);
    await curator.sign();
    await expectRejected("CURATOR_EQUIVOCATED", () => seen.refresh());
    servers.delete(MIRROR);
    await expectRejected("CURATOR_EQUIVOCATED", () => seen.refresh());
    expect([seen.newest?.number, seen.accepts(maskRoot, now)]).to.deep.equal([0, true]);

    // A past head is replaced, and a newer one is built on it.
    const later = watch();
    await later.refresh();
    const forked = twin();
    forked.leaves[50] = 50n;
    forked.state.mask.set(50, true);
    await sign(curator);
    await later.refresh();
    for (let i = 0; i < 3; i += 1) await sign(forked);
    servers.set(CURATOR, forked.fetch(CURATOR));
    await expectRejected("CURATOR_EQUIVOCATED", () => later.refresh());
  });

  it("never go back, and are refused if they are of another set, not signed, not in order or early", async () => {
    const seen = watch();
    const before = twin();
    await sign();
    await seen.refresh();
    servers.set(CURATOR, before.fetch(CURATOR));
    await expectRejected("CURATOR_WENT_BACK", () => seen.refresh());
    servers.set(CURATOR, curator.fetch(CURATOR));
    await seen.refresh();

    const other = new MemoryCurator({ chain: world.chain, pool: POOL, name: "other", secret: curator.secret });
    await other.sign();
    const stranger = new MemoryCurator({ chain: world.chain, pool: POOL });
    await stranger.sign();
    for (const wrong of [other, stranger]) {
      servers.set(CURATOR, wrong.fetch(CURATOR));
      await expectRejected("CURATOR_HEAD_INVALID", () => watch().refresh());
    }
    const text = new TextDecoder();
    const damaged = (path: string, change: (text: string) => string) => {
      const files = curator.fetch(CURATOR);
      servers.set(CURATOR, async (input, init) => {
        const response = await files(input, init);
        if (!String(input).endsWith(path)) return response;
        return new Response(change(text.decode(await response.arrayBuffer())));
      });
    };
    for (const change of [
      (json: string) => json.replace(/"leaves":[0-9]+/, `"leaves":7`),
      (json: string) => json.slice(1),
      () => "null",
      () => "[]",
      () => '"head"',
    ]) {
      damaged(HEAD_PATH, change);
      await expectRejected("CURATOR_HEAD_INVALID", () => watch().refresh());
    }
    for (const change of [
      (lines: string) => lines.split("\n").reverse().join("\n"),
      (lines: string) => lines.split("\n").slice(1).join("\n"),
      (lines: string) => lines.split("\n").slice(0, 1).join("\n"),
      () => "",
    ]) {
      damaged(headPackPath(0), change);
      await expectRejected("CURATOR_HEAD_INVALID", () => watch().refresh());
    }
    damaged(HEAD_PATH, (json) => `${json}${" ".repeat(3_000)}`);
    await expectRejected("CURATOR_UNREACHABLE", () => watch().refresh());
    servers.set(CURATOR, curator.fetch(CURATOR));
    await watch().refresh();
    now -= 2 * HOUR_MS;
    await expectRejected("CURATOR_HEAD_INVALID", () => watch().refresh());
  });

  it("do not count if they cannot be stored, and resume from what was", async () => {
    const kept: SignedHead[] = [];
    let isFull = true;
    const keep = async (heads: readonly SignedHead[]) => {
      if (isFull) throw new Error("the disk is full");
      kept.push(...heads);
    };
    const problems: unknown[] = [];
    const seen = watch({ keep, onError: (error) => void problems.push(error) });
    await sign();
    expect(await seen.refresh().catch(String)).to.equal("Error: the disk is full");
    expect([seen.newest, problems.length]).to.deep.equal([undefined, 1]);
    isFull = false;
    await seen.refresh();
    expect(kept).to.deep.equal(curator.heads);
    const next = watch();
    next.resume(kept.map(({ head }) => head));
    servers.clear();
    expect(next.accepts(kept[0]!.head.maskRoot, now)).to.equal(true);
    // Nobody has confirmed yet that the newest is still the newest.
    expect(next.accepts(kept[1]!.head.maskRoot, now)).to.equal(false);
  });

  it("are read in the background, more rarely while that fails", async () => {
    const seen = watch();
    seen.start();
    while (seen.newest === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    seen.close();
  });
});
