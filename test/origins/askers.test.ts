// Those who ask for an origin: a resource server, a service with a policy, and wallets that pay both, on a real chain.
import { join } from "node:path";
import { type WrapOptions, wrapFetch } from "@sotto/client";
import { createPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { mpp as payingMpp } from "@sotto/mpp/client";
import { mpp } from "@sotto/mpp/server";
import { showOrigins } from "@sotto/origins/client";
import { origins, type ShownSet } from "@sotto/origins/server";
import type { Origins } from "@sotto/origins/wallet";
import { buyPrepaid, prepaid as payingTokens } from "@sotto/prepaid/client";
import { prepaid } from "@sotto/prepaid/server";
import type { PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { eventually } from "@sotto/test-kit/eventually";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import type { Merchant } from "@sotto/test-world/merchant";
import { OriginProver } from "@sotto/test-world/origin-prover";
import { payerWith } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { openScene, type Scene } from "./support/scene.ts";

const ORIGIN = "https://data.example";

describe("those who ask for an origin", function () {
  slow(this, "a chain, a service and real proofs");
  let scene: Scene;

  before(async () => {
    scene = await openScene();
  });
  after(() => scene.close());

  /** A server that sells for 0.01, and what it saw of the payments. */
  const open = async (merchant: Merchant, changes: Partial<PaywallOptions> = {}) => {
    const seen: (readonly ShownSet[] | undefined)[] = [];
    const events: PaywallEvent[] = [];
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
        attachments: [origins({ sets: [scene.set] })],
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
      services: [scene.world.serviceUrl],
      maxPerRequest: 10_000n,
      serviceFetch: fetch,
      pinHosts: false,
      attachments: following === undefined ? [] : [showOrigins({ origins: following, missing: "without" })],
      ...changes,
    });
  it("see the set that a payer shows, refuse without one before anything is paid, and let the change inherit", async () => {
    const payer = await payerWith(scene.world, [500_000n, 1_000_000n], { prover: new OriginProver() });
    await scene.curator.acceptNew();
    const following = await scene.follow(payer);
    const server = await open(scene.strict);
    try {
      // A wallet that does not know the field meets a clear error, and loses nothing.
      const error = await expectRejected("SERVICE_REFUSED", () => paying(server, payer)(`${ORIGIN}/a`));
      expect(error).to.have.property("details").that.includes({ status: 422, reason: "ORIGIN_REQUIRED" });
      expect(error.message).to.include(`the set ${scene.curator.name} of ${scene.curator.curator}`);
      expect(server.seen).to.deep.equal([]);
      expect(await scene.strict.received()).to.equal(0n);
      await payer.scan();
      // The refused proof left the process, so its note waits until it can no longer settle.
      expect(payer.balance()).to.include({ total: 1_500_000n, held: 500_000n });

      const answer = await paying(server, payer, following)(`${ORIGIN}/b`);
      expect(await answer.text()).to.equal("the goods");
      const { maskRoot } = scene.curator.heads.at(-1)!.head;
      expect(server.seen).to.deep.equal([[{ ...scene.set, root: maskRoot }]]);
      expect(server.events.map(({ event }) => event)).to.include("origin");
      expect(await scene.strict.received()).to.equal(10_000n);
      // The server tells the curator, whose next head has the change: the wallet shows it without a claim of its own.
      const [spend] = await eventually(async () => {
        await payer.scan();
        await scene.curator.read();
        const spends = payer.spends();
        return spends.length > 0 && spends;
      });
      await eventually(async () => scene.curator.state.hasClaim({ nullifier: spend!.nullifier, maskRoot }));
      await eventually(async () => {
        await payer.scan();
        return payer.balance().spendable === 990_000n;
      });
      await scene.curator.sign();
      await following.sync();
      expect(await (await paying(server, payer, following)(`${ORIGIN}/c`)).text()).to.equal("the goods");
      expect(server.seen.at(-1)).to.have.length(1);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("see the set in the format of MPP too, and a service with a condition takes the payment", async () => {
    const payer = await payerWith(scene.world, [500_000n], { prover: new OriginProver() });
    await scene.curator.acceptNew();
    const following = await scene.follow(payer);
    const server = await open(scene.strict, { methods: [mpp({ secret: "0123456789abcdef0123456789abcdef" })] });
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
        [scene.curator.heads.at(-1)!.head.maskRoot],
      ]);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("see where the money of a pack of prepaid tokens comes from, and nothing of the requests that its tokens pay", async () => {
    const payer = await payerWith(scene.world, [500_000n], { prover: new OriginProver() });
    await scene.curator.acceptNew();
    const following = await scene.follow(payer);
    const terms = {
      chainId: BigInt(scene.world.chainId),
      pool: scene.world.pool as `0x${string}`,
      origin: ORIGIN,
      values: [1_000n],
    };
    const files = await createPrepaidKeys(scene.strict.account, terms);
    const tokens = prepaid({ ...files, store: `sqlite:${join(temporaryFolder("askers"), "tokens.sqlite")}` });
    const server = await open(scene.strict, { price: "0.001", methods: [tokens] });
    const options: WrapOptions = {
      services: [scene.world.serviceUrl],
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
      const { maskRoot } = scene.curator.heads.at(-1)!.head;
      const [spend] = await eventually(async () => {
        await payer.scan();
        await scene.curator.read();
        return payer.spends().length > 0 && payer.spends();
      });
      await eventually(async () => scene.curator.state.hasClaim({ nullifier: spend!.nullifier, maskRoot }));
      expect(await (await wrapFetch(server.fetch, payer, showing)(`${ORIGIN}/a`)).text()).to.equal("the goods");
      expect([server.seen, kinds()]).to.deep.equal([[undefined], ["origin", "issued", "redeemed"]]);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("serve and settle for a recipient without a policy, whether an origin is shown or not", async () => {
    const outside = await payerWith(scene.world, [500_000n], { prover: new OriginProver() });
    await scene.curator.read();
    await scene.curator.sign();
    const following = await scene.follow(outside);
    const [lax, required] = [await open(scene.asking), await open(scene.strict)];
    try {
      expect(await (await paying(lax, outside, following)(`${ORIGIN}/a`)).text()).to.equal("the goods");
      expect(lax.seen).to.deep.equal([[]]);
      const refuse = wrapFetch(required.fetch, outside, {
        services: [scene.world.serviceUrl],
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
    const payer = await payerWith(scene.world, [500_000n], { prover: new OriginProver() });
    const [deposit] = await scene.curator.read();
    await scene.curator.sign();
    const following = await scene.follow(payer);
    const server = await open(scene.asking);
    const waiting = (waitMs: number) =>
      wrapFetch(server.fetch, payer, {
        services: [scene.world.serviceUrl],
        maxPerRequest: 10_000n,
        serviceFetch: fetch,
        pinHosts: false,
        attachments: [showOrigins({ origins: following, missing: "wait", waitMs })],
      });
    try {
      const { total } = payer.balance();
      const received = await scene.asking.received();
      await expectRejected("ORIGIN_NOT_READY", () => waiting(500)(`${ORIGIN}/wait-ends`));
      await payer.scan();
      expect(payer.balance()).to.include({ total, held: 0n });
      expect([server.seen, await scene.asking.received()]).to.deep.equal([[], received]);

      const answer = waiting(600_000)(`${ORIGIN}/wait`);
      await eventually(async () => server.events.filter(({ event }) => event === "challenged").length === 2);
      expect(server.seen).to.deep.equal([]);
      scene.curator.accept(deposit!);
      const { head } = await scene.curator.sign();
      await following.sync();
      expect(await (await answer).text()).to.equal("the goods");
      expect(server.seen).to.deep.equal([[{ ...scene.set, root: head.maskRoot }]]);
      expect(await scene.asking.received()).to.equal(received + 10_000n);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("keep the heads that the curator published: wallets compare them with the curator's own", async () => {
    const base = `${scene.world.serviceUrl}/origins/${scene.curator.curator}/${scene.curator.name}`;
    const read = async (path: string) => {
      const response = await fetch(`${base}/${path}`);
      return [response.status, await response.text()] as const;
    };
    const own = async (path: string) => (await fetch(`${scene.site.url}/${path}`)).text();
    await eventually(async () => (await read("head.json"))[0] === 200);
    const [, pack] = await read("heads/0.jsonl");
    expect(pack).to.not.equal("");
    expect((await own("heads/0.jsonl")).startsWith(pack)).to.equal(true);
    expect(pack.trimEnd().split("\n").at(-1)).to.equal((await read("head.json"))[1]);
    for (const path of ["heads/1.jsonl", "heads/x.jsonl", "heads/00.jsonl"])
      expect((await read(path))[0]).to.equal(404);
    expect((await fetch(`${scene.world.serviceUrl}/origins/${scene.curator.curator}/other/head.json`)).status).to.equal(
      404,
    );
  });
});
