// The tool `origins`: what an agent sees of the sets that the wallet's owner follows.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { connectChain } from "@sotto/chain";
import { showOrigins } from "@sotto/origins/client";
import { origins as askFor } from "@sotto/origins/server";
import { Origins } from "@sotto/origins/wallet";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { OriginProver } from "@sotto/test-world/origin-prover";
import { openResourceServer } from "@sotto/test-world/resource-server";
import { fund, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { MemoryCurator } from "../../packages/origins/test/support/memory-curator.ts";
import { type ServedCurator, serveCurator } from "../../packages/origins/test/support/served-curator.ts";
import { call, openAgent } from "./support/agent.ts";
import { openMcpWorld } from "./support/world.ts";

const usdc = (amount: string, decimal: string) => ({ amount, decimal, token: "USDC" });

describe("origins: what an agent sees of the money's origins", function () {
  slow(this, "a chain and a service");
  let world: World;
  let wallet: Wallet;
  let curator: MemoryCurator;
  let site: ServedCurator;
  let agent: Client;

  before(async () => {
    world = await openMcpWorld();
    await clearOfMidnight();
    wallet = await payerWith(world, [300_000n, 200_000n], { prover: new OriginProver() });
    const chain = connectChain({ urls: [world.node.url], chainId: BigInt(world.chainId) });
    curator = new MemoryCurator({ chain, pool: world.pool });
    site = await serveCurator(curator);
    agent = await openAgent(world, wallet);
  });
  after(async () => {
    await agent?.close();
    site?.close();
  });

  const origins = async () => {
    const { result, text } = await call(agent, "origins");
    return { ...(result.structuredContent as { sets: readonly Record<string, unknown>[] }), text };
  };
  /** What the owner does with `sotto origin`. */
  const asOwner = async (action: (following: Origins) => Promise<unknown>) => {
    const following = await Origins.open(wallet);
    await action(following);
    following.close();
  };

  it("says so if the owner follows no set", async () => {
    expect(await origins()).to.deep.equal({ sets: [], text: "The wallet follows no set." });
  });

  it("shows head, crowd, and how much money is in the set, waits, and why", async () => {
    const set = { curator: curator.curator, name: curator.name, url: site.url };
    await asOwner((following) => following.follow(set));
    const [unread] = (await origins()).sets;
    expect(unread).to.deep.include({
      ...set,
      head: null,
      crowd: 0,
      minimum_crowd: 1_000,
      stopped: null,
      removal: null,
      problem: null,
    });
    // The curator has signed no head yet.
    await asOwner((following) => following.sync());
    const failed = await origins();
    expect(failed.sets[0]!["problem"]).to.match(/^CURATOR_UNREACHABLE: /u);
    expect(failed.text).to.include("The last attempt failed: CURATOR_UNREACHABLE: ");

    // Other tests have deposited in the same pool.
    const deposits = await curator.read();
    curator.accept(...deposits);
    await curator.sign();
    const count = deposits.length;
    await fund(world, wallet, [50_000n]);
    await asOwner(async (following) => following.sync());
    const asked = site.asked.length;
    const { sets, text } = await origins();
    const { head, url: _, ...rest } = sets[0]!;
    const { number, notes } = head as Record<string, unknown>;
    expect([number, notes]).to.deep.equal([0, count]);
    expect(rest).to.deep.equal({
      ...{ curator: curator.curator, name: curator.name, crowd: count, minimum_crowd: 1_000 },
      ...{ in_set: usdc("500000", "0.5"), waiting: usdc("50000", "0.05"), outside: usdc("0", "0") },
      reasons: [{ why: "head", in: "waiting", amount: usdc("50000", "0.05"), notes: 1 }],
      ...{ payments_to_claim: 0, removal: null, stopped: null, problem: null },
    });
    expect(text).to.match(
      new RegExp(
        `^The set clean of ${curator.curator}: head 0, \\d+ s old, ${count} notes; crowd ${count}, below the minimum of 1000: nothing is shown\\.\n` +
          "In the set: 0\\.5 USDC\\. Waiting: 0\\.05 USDC\\. Outside: 0 USDC\\.\n" +
          "0\\.05 USDC waits: the curator's next head decides\\.$",
      ),
    );
    expect(site.asked, "the tool asks no curator").to.have.length(asked);
  });

  it("says with a paid request which set was shown, and who saw it", async () => {
    const set = { curator: site.url, key: curator.curator as `0x${string}`, name: curator.name };
    const asking = await openResourceServer(world, "0.01", false, [askFor({ sets: [set] })]);
    const silent = await openResourceServer(world, "0.01");
    const following = await Origins.open(wallet);
    await following.follow({ curator: curator.curator, name: curator.name, url: site.url, minimumCrowd: 0 });
    const paying = await openAgent(world, wallet, {
      wallet: (action) => action(wallet, async () => [showOrigins({ origins: following })]),
    });
    const pay = async (url: string) => {
      const { result, report, text } = await call(paying, "fetch_paid", { url });
      const { origins: shown } = result.structuredContent as { origins: unknown };
      return { report, text, shown };
    };
    try {
      const { report, text, shown } = await pay(`${asking.url}/a`);
      expect(report.outcome, text).to.equal("paid");
      expect(asking.events).to.include("origin");
      expect(shown).to.deep.equal([{ curator: curator.curator, name: "clean" }]);
      const fact = `that the money comes from the set clean of the curator ${curator.curator}`;
      const informed = report.revealed.filter(({ what }) => what.includes(fact)).map(({ to }) => to);
      expect(informed).to.deep.equal(["merchant", "service"]);
      const other = await pay(`${silent.url}/b`);
      expect([other.report.outcome, other.shown]).to.deep.equal(["paid", null]);
      expect(other.text).to.not.include("comes from the set");
    } finally {
      await paying.close();
      following.close();
      await asking.close();
      await silent.close();
    }
  });

  it("shows that a curator was stopped, and why", async () => {
    const twin = new MemoryCurator({
      chain: connectChain({ urls: [world.node.url], chainId: BigInt(world.chainId) }),
      ...{ pool: world.pool, secret: curator.secret },
    });
    await twin.read();
    await twin.sign();
    const following = await Origins.open(wallet, { fetch: twin.fetch(site.url) });
    await following.sync();
    following.close();
    const { sets, text } = await origins();
    expect(sets[0]!["stopped"]).to.match(/^CURATOR_EQUIVOCATED: the curator /);
    expect(text).to.include("The wallet no longer believes this curator: CURATOR_EQUIVOCATED");
  });

  it("takes no argument, and no tool follows or unfollows a curator", async () => {
    const refused = await agent.callTool({ name: "origins", arguments: { follow: site.url } });
    expect(refused.isError).to.equal(true);
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name).toSorted()).to.deep.equal([
      ...["balance", "fetch_paid", "history", "origins", "receive"],
    ]);
    const tool = tools.find(({ name }) => name === "origins")!;
    expect(tool.annotations).to.include({ readOnlyHint: true, openWorldHint: false });
    expect(tool.description).to.include("No tool follows or unfollows a curator: only the owner does");
  });
});
