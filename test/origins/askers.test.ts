// Those who ask for an origin: a resource server, a service with a policy, and wallets that pay both, on a real chain.
import { join } from "node:path";
import { connectChain } from "@sotto/chain";
import { type WrapOptions, wrapFetch } from "@sotto/client";
import { startDeployedNode } from "@sotto/local/chain/node";
import { createPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { mpp as payingMpp } from "@sotto/mpp/client";
import { mpp } from "@sotto/mpp/server";
import { showOrigins } from "@sotto/origins/client";
import { origins, type ShownSet } from "@sotto/origins/server";
import { Origins } from "@sotto/origins/wallet";
import { buyPrepaid, prepaid as payingTokens } from "@sotto/prepaid/client";
import { prepaid } from "@sotto/prepaid/server";
import { createVerifier, loadArtifacts } from "@sotto/prover";
import { verifyOrigin } from "@sotto/prover/origin";
import type { PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { eventually } from "@sotto/test-kit/eventually";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { type Merchant, openMerchant } from "@sotto/test-world/merchant";
import { OriginProver } from "@sotto/test-world/origin-prover";
import { ARTIFACTS, accountOf, closeWorld, createWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { MemoryCurator } from "../../packages/origins/test/support/memory-curator.ts";
import { type ServedCurator, serveCurator } from "../../packages/origins/test/support/served-curator.ts";

const artifacts = await loadArtifacts({ folder: ARTIFACTS });
const verifier = createVerifier({ artifacts });
const ORIGIN = "https://data.example";

describe("those who ask for an origin", function () {
  slow(this, "a chain, a service and real proofs");
  let world: World;
  let curator: MemoryCurator;
  let site: ServedCurator;
  /** Whose payments must show an origin at the service, and who only asks. */
  let strict: Merchant;
  let asking: Merchant;
  const set = () => ({ curator: curator.curator as `0x${string}`, name: curator.name });

  before(async () => {
    const node = await startDeployedNode();
    const { chainId, pool } = node.deployment;
    const chain = connectChain({ urls: [node.url], chainId: BigInt(chainId) });
    curator = new MemoryCurator({ chain, pool, verify: (claim) => verifyOrigin(verifier, claim) });
    site = await serveCurator(curator);
    const account = accountOf(7);
    const required = { curator: site.url, key: curator.curator, name: curator.name, recipients: [account.address] };
    world = await createWorld(node, { SOTTO_ORIGINS: JSON.stringify([required]) });
    strict = await openMerchant(world, account);
    asking = await openMerchant(world);
  });
  after(async () => {
    site.close();
    await closeWorld();
  });

  /** A server that sells for 0.01, and what it saw of the payments. */
  const open = async (merchant: Merchant, changes: Partial<PaywallOptions> = {}) => {
    const seen: (readonly ShownSet[] | undefined)[] = [];
    const events: PaywallEvent[] = [];
    const sets = [{ curator: site.url, key: curator.curator, name: curator.name }];
    const handle = withPayment(
      async (_request, payment) => {
        seen.push(payment?.origin);
        return new Response("the goods");
      },
      {
        origin: ORIGIN,
        price: "0.01",
        ...merchant.paywall,
        store: "sqlite::memory:",
        attachments: [origins({ sets })],
        onEvent: (event) => void events.push(event),
        ...changes,
      },
    );
    await handle.ready;
    return {
      seen,
      events,
      fetch: ((input, init) => handle(new Request(input, init))) as typeof fetch,
      close: handle.close,
    };
  };
  const paying = (
    server: Pick<Awaited<ReturnType<typeof open>>, "fetch">,
    payer: Wallet,
    following?: Origins,
    changes: Partial<WrapOptions> = {},
  ) =>
    wrapFetch(server.fetch, payer, {
      services: [world.serviceUrl],
      maxPerRequest: 10_000n,
      serviceFetch: fetch,
      pinHosts: false,
      attachments: following === undefined ? [] : [showOrigins({ origins: following, missing: "without" })],
      ...changes,
    });
  const follow = async (payer: Wallet): Promise<Origins> => {
    const following = await Origins.open(payer);
    await following.follow({ ...set(), url: site.url, minimumCrowd: 0 });
    await following.sync();
    return following;
  };

  it("see the set that a payer shows, refuse without one before anything is paid, and let the change inherit", async () => {
    const payer = await payerWith(world, [500_000n, 1_000_000n], { prover: new OriginProver() });
    await curator.acceptNew();
    const following = await follow(payer);
    const server = await open(strict);
    try {
      // A wallet that does not know the field meets a clear error, and loses nothing.
      const error = await expectRejected("SERVICE_REFUSED", () => paying(server, payer)(`${ORIGIN}/a`));
      expect(error).to.have.property("details").that.includes({ status: 422, reason: "ORIGIN_REQUIRED" });
      expect(error.message).to.include(`the set ${curator.name} of ${curator.curator}`);
      expect(server.seen).to.deep.equal([]);
      expect(await strict.received()).to.equal(0n);
      await payer.scan();
      // The refused proof left the process, so its note waits until it can no longer settle.
      expect(payer.balance()).to.include({ total: 1_500_000n, held: 500_000n });

      const answer = await paying(server, payer, following)(`${ORIGIN}/b`);
      expect(await answer.text()).to.equal("the goods");
      const { maskRoot } = curator.heads.at(-1)!.head;
      const { curator: key, name } = set();
      expect(server.seen).to.deep.equal([[{ curator: site.url, key, name, root: maskRoot }]]);
      expect(server.events.map(({ event }) => event)).to.include("origin");
      expect(await strict.received()).to.equal(10_000n);
      // The server tells the curator, whose next head has the change: the wallet shows it without a claim of its own.
      const [spend] = await eventually(async () => {
        await payer.scan();
        await curator.read();
        const spends = payer.spends();
        return spends.length > 0 && spends;
      });
      await eventually(async () => curator.state.hasClaim({ nullifier: spend!.nullifier, maskRoot }));
      await eventually(async () => {
        await payer.scan();
        return payer.balance().spendable === 990_000n;
      });
      await curator.sign();
      await following.sync();
      expect(await (await paying(server, payer, following)(`${ORIGIN}/c`)).text()).to.equal("the goods");
      expect(server.seen.at(-1)).to.have.length(1);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("see the set in the format of MPP too, and a service with a condition takes the payment", async () => {
    const payer = await payerWith(world, [500_000n], { prover: new OriginProver() });
    await curator.acceptNew();
    const following = await follow(payer);
    const server = await open(strict, { methods: [mpp({ secret: "0123456789abcdef0123456789abcdef" })] });
    const credentials: string[] = [];
    const recording: typeof fetch = async (input, init) => {
      const { headers } = new Request(input, init);
      if (headers.has("authorization")) credentials.push(headers.get("authorization")!.split(" ")[0]!);
      return server.fetch(input, init);
    };
    try {
      const methods = [payingMpp()];
      const pay = paying({ fetch: recording }, payer, following, { methods });
      expect(await (await pay(`${ORIGIN}/mpp`)).text()).to.equal("the goods");
      expect(credentials).to.deep.equal(["Payment"]);
      expect(server.seen.map((sets) => sets?.map(({ root }) => root))).to.deep.equal([
        [curator.heads.at(-1)!.head.maskRoot],
      ]);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("see where the money of a pack of prepaid tokens comes from, and nothing of the requests that its tokens pay", async () => {
    const payer = await payerWith(world, [500_000n], { prover: new OriginProver() });
    await curator.acceptNew();
    const following = await follow(payer);
    const terms = {
      chainId: BigInt(world.chainId),
      pool: world.pool as `0x${string}`,
      origin: ORIGIN,
      values: [1_000n],
    };
    const files = await createPrepaidKeys(strict.account, terms);
    const tokens = prepaid({ ...files, store: `sqlite:${join(temporaryFolder("askers"), "tokens.sqlite")}` });
    const server = await open(strict, { price: "0.001", methods: [tokens] });
    const options: WrapOptions = {
      services: [world.serviceUrl],
      maxPerRequest: 1_000n,
      serviceFetch: fetch,
      pinHosts: false,
      methods: [payingTokens({ maxPerHost: 200_000n, mirrors: [], fetch: server.fetch, buy: false })],
    };
    const showing = { ...options, attachments: [showOrigins({ origins: following, missing: "refuse" })] };
    const kinds = () =>
      server.events.map(({ event }) => event).filter((event) => /^(origin|issued|redeemed)/.test(event));
    try {
      const pack = await buyPrepaid(server.fetch, payer, showing, { origin: ORIGIN, value: 1_000n });
      expect([pack.count, kinds()]).to.deep.equal([100, ["origin", "issued"]]);
      const { maskRoot } = curator.heads.at(-1)!.head;
      const [spend] = await eventually(async () => {
        await payer.scan();
        await curator.read();
        return payer.spends().length > 0 && payer.spends();
      });
      await eventually(async () => curator.state.hasClaim({ nullifier: spend!.nullifier, maskRoot }));
      expect(await (await wrapFetch(server.fetch, payer, showing)(`${ORIGIN}/a`)).text()).to.equal("the goods");
      expect([server.seen, kinds()]).to.deep.equal([[undefined], ["origin", "issued", "redeemed"]]);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("serve and settle for a recipient without a policy, whether an origin is shown or not", async () => {
    const outside = await payerWith(world, [500_000n], { prover: new OriginProver() });
    await curator.read();
    await curator.sign();
    const following = await follow(outside);
    const [lax, required] = [await open(asking), await open(strict)];
    try {
      expect(await (await paying(lax, outside, following)(`${ORIGIN}/a`)).text()).to.equal("the goods");
      expect(lax.seen).to.deep.equal([[]]);
      const refuse = wrapFetch(required.fetch, outside, {
        services: [world.serviceUrl],
        maxPerRequest: 10_000n,
        serviceFetch: fetch,
        pinHosts: false,
        attachments: [showOrigins({ origins: following, missing: "refuse" })],
        fundsTimeoutMs: 5_000,
      });
      const left = outside.balance().total;
      await expectRejected("ORIGIN_NOT_READY", () => refuse(`${ORIGIN}/b`));
      await outside.scan();
      expect([outside.balance().total, required.seen]).to.deep.equal([left, []]);
    } finally {
      following.close();
      await Promise.all([lax.close(), required.close()]);
    }
  });

  it("are paid by a client that waits once its note is in a head, and not at all if the wait ends first", async () => {
    const payer = await payerWith(world, [500_000n], { prover: new OriginProver() });
    const [deposit] = await curator.read();
    await curator.sign();
    const following = await follow(payer);
    const server = await open(asking);
    const waiting = (waitMs: number) =>
      wrapFetch(server.fetch, payer, {
        services: [world.serviceUrl],
        maxPerRequest: 10_000n,
        serviceFetch: fetch,
        pinHosts: false,
        attachments: [showOrigins({ origins: following, missing: "wait", waitMs })],
      });
    try {
      const { total } = payer.balance();
      const received = await asking.received();
      await expectRejected("ORIGIN_NOT_READY", () => waiting(500)(`${ORIGIN}/wait-ends`));
      await payer.scan();
      expect(payer.balance()).to.include({ total, held: 0n });
      expect([server.seen, await asking.received()]).to.deep.equal([[], received]);

      const answer = waiting(600_000)(`${ORIGIN}/wait`);
      await eventually(async () => server.events.filter(({ event }) => event === "challenged").length === 2);
      expect(server.seen).to.deep.equal([]);
      curator.accept(deposit!);
      const { head } = await curator.sign();
      await following.sync();
      expect(await (await answer).text()).to.equal("the goods");
      const { curator: key, name } = set();
      expect(server.seen).to.deep.equal([[{ curator: site.url, key, name, root: head.maskRoot }]]);
      expect(await asking.received()).to.equal(received + 10_000n);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("keep the heads that the curator published: wallets compare them with the curator's own", async () => {
    const base = `${world.serviceUrl}/origins/${curator.curator}/${curator.name}`;
    const read = async (path: string) => {
      const response = await fetch(`${base}/${path}`);
      return [response.status, await response.text()] as const;
    };
    const own = async (path: string) => (await fetch(`${site.url}/${path}`)).text();
    await eventually(async () => (await read("head.json"))[0] === 200);
    const [, pack] = await read("heads/0.jsonl");
    expect(pack).to.not.equal("");
    expect((await own("heads/0.jsonl")).startsWith(pack)).to.equal(true);
    expect(pack.trimEnd().split("\n").at(-1)).to.equal((await read("head.json"))[1]);
    for (const path of ["heads/1.jsonl", "heads/x.jsonl", "heads/00.jsonl"])
      expect((await read(path))[0]).to.equal(404);
    expect((await fetch(`${world.serviceUrl}/origins/${curator.curator}/other/head.json`)).status).to.equal(404);
  });
});
