// Payers who show what is not theirs to show, and merchants who ask again and again.
import { wrapFetch } from "@sotto/client";
import { parseProofHeader, randomSeed } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { LocalService } from "../../../wallet/test/support/local-service.ts";
import { showOrigins } from "../../src/client.ts";
import { decodeOriginHeader, encodeOriginHeader, type OriginClaim } from "../../src/index.ts";
import { AskingMerchant } from "../support/asking-merchant.ts";
import { CURATOR, Payers } from "../support/payer.ts";

const OTHER_POOL = `0x${"91".repeat(20)}`;

describe("the origin of a note in another pool, of the same words, the same curator and the same place", function () {
  slow(this, "proofs of origins are made");
  let home: Payers;
  let away: Payers;
  /** What the payer can show in the other pool, and the nullifier of its refused note in this one. */
  let shown: OriginClaim;
  let refused: bigint;
  /** A claim of another payer of this pool, whose deposit the curator accepts. */
  let own: OriginClaim;
  let mixed: OriginClaim[];
  before(async () => {
    home = new Payers();
    away = new Payers({ pool: OTHER_POOL, secret: home.curator.secret });
    const seed = randomSeed();
    const payer = await home.funded([5_000n], { seed });
    const twin = await away.funded([5_000n], { seed });
    const other = await home.funded([5_000n]);
    await away.funded([5_000n]);
    await home.curator.read();
    home.curator.refuse(0);
    home.curator.accept(1);
    await home.curator.sign();
    await away.curator.acceptNew();
    expect(away.set).to.deep.equal(home.set);
    const [following, accepted] = [await away.follow(twin), await home.follow(other)];
    for (const origins of [following, accepted]) expect((await origins.sync()).problems).to.deep.equal([]);
    shown = await following.prove(0, away.set);
    own = await accepted.prove(1, home.set);
    refused = payer.notes()[0]!.nullifier!;
    for (const [payers, wallet] of [
      [home, payer],
      [home, other],
      [away, twin],
    ] as const)
      await payers.pay(wallet, await payers.wallet(), 1_000n);
    const { maskRoot } = own;
    mixed = [
      shown,
      { ...shown, nullifier: refused },
      { ...shown, maskRoot },
      { ...shown, nullifier: refused, maskRoot },
    ];
  });

  it("has another nullifier and another root", () => {
    expect(refused).to.not.equal(shown.nullifier);
    expect(own.maskRoot).to.not.equal(shown.maskRoot);
  });

  it("brings nothing into the set of this pool", async () => {
    const results = [];
    for (const claim of mixed) results.push(await home.curator.claim(claim));
    expect(results).to.deep.equal([
      "ORIGIN_ROOT_UNKNOWN",
      "ORIGIN_ROOT_UNKNOWN",
      "ORIGIN_NOT_SETTLED",
      "ORIGIN_PROOF_INVALID",
    ]);
    const members = () => [0, 1, 2, 3, 4, 5].filter((leaf) => home.curator.state.mask.has(leaf));
    expect(members()).to.deep.equal([1]);
    // The controls: where it belongs, and what belongs here.
    expect(await away.curator.claim(shown)).to.equal("stored");
    expect(await home.curator.claim(own)).to.equal("stored");
    expect(members()).to.deep.equal([1, 4, 5]);
  });

  it("is not taken by a merchant of this pool, also if the curator shows it the heads of the other one", async () => {
    const merchant = await AskingMerchant.create(home);
    await merchant.open(home);
    const timestamp = home.world.clock();
    const reasons = async () => {
      merchant.events.length = 0;
      for (const claim of mixed)
        for (const nullifier of [refused, shown.nullifier])
          expect(await merchant.read({ nullifier, timestamp }, encodeOriginHeader([claim]))).to.deep.equal([]);
      return [...new Set(merchant.events.map(({ reason }) => reason))];
    };
    const read = () => merchant.read({ nullifier: own.nullifier, timestamp }, encodeOriginHeader([own]));
    try {
      expect(await reasons()).to.deep.equal(["ORIGIN_ROOT_UNKNOWN", "ORIGIN_PROOF_INVALID"]);
      home.servers.set(CURATOR, away.curator.fetch(CURATOR));
      home.minute();
      expect(await reasons()).to.deep.equal(["CURATOR_HEAD_INVALID", "ORIGIN_ROOT_UNKNOWN", "ORIGIN_PROOF_INVALID"]);
      expect(await read(), "the control").to.have.length(1);
    } finally {
      home.servers.set(CURATOR, home.curator.fetch(CURATOR));
      await merchant.close();
    }
  });
});

describe("a merchant that answers forever that an origin is stale", function () {
  slow(this, "proofs of origins are made");

  /** What the merchant and the service see in several calls of one payer. Whenever an origin was shown, the set changes. */
  async function call(count: number, isStale: boolean, headers: Readonly<Record<string, string>> = {}) {
    const payers = new Payers();
    const { world, curator } = payers;
    const payer = await payers.funded([5_000n, 6_000n, 7_000n]);
    const { total } = payer.balance();
    await curator.acceptNew();
    const origins = await payers.follow(payer);
    const sync = async () => expect((await origins.sync()).problems).to.deep.equal([]);
    await sync();
    const service = new LocalService(world);
    const merchant = await AskingMerchant.create(payers);
    await merchant.open(payers);
    const shown: { readonly root: bigint; readonly payment: string }[] = [];
    const see = (origin: unknown, signals: unknown) => {
      for (const { maskRoot } of decodeOriginHeader(String(origin)))
        shown.push({ root: maskRoot, payment: String(signals) });
    };
    service.before = (path, { origin, publicSignals }) => {
      if (path === "verify") see(origin, publicSignals);
      return undefined;
    };
    merchant.misbehave = async (seen, answer) => {
      const proof = seen.headers.get("x-payment-proof");
      if (proof === null) return undefined;
      see(seen.headers.get("x-payment-origin"), parseProofHeader(proof).publicSignals);
      const response = isStale ? merchant.ask(seen.target, "the origin is stale") : await answer();
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
      // The wallet takes a head with another root before it is asked again.
      await payers.funded([8_000n]);
      payers.minute();
      await curator.acceptNew();
      await sync();
      return response;
    };
    const pay = wrapFetch(merchant.fetch, payer, {
      ...{ services: ["https://pay.example/zk"], maxPerRequest: 10n, serviceFetch: service.fetch, retryDelayMs: 1 },
      attachments: [showOrigins({ origins, missing: "refuse" })],
    });
    const ends: string[] = [];
    for (let i = 0; i < count; i += 1)
      ends.push(
        await pay(`${merchant.origin}/a`).then(
          (response) => response.text(),
          ({ code, message }) => `${code}: ${message}`,
        ),
      );
    await payer.scan();
    origins.close();
    await merchant.close();
    const paid = total - payer.balance().total;
    const [roots, payments] = [new Set(shown.map(({ root }) => root)), new Set(shown.map(({ payment }) => payment))];
    return { seen: shown.length, roots: roots.size, payments: payments.size, heads: curator.heads.length, paid, ends };
  }

  it("sees one root and is paid once, and the client says so", async () => {
    const { ends, ...counts } = await call(3, true);
    expect(counts).to.deep.equal({ seen: 2, roots: 1, payments: 1, heads: 2, paid: 10n });
    for (const end of ends)
      expect(end).to.match(/^PAID_BUT_REFUSED: .*settled, but .* refused .*: the origin is stale/);
  });

  it("sees no other root if it asks to be shown the payment again", async () => {
    const { ends, ...counts } = await call(3, true, { "retry-after": "0" });
    expect(counts).to.deep.equal({ seen: 4, roots: 1, payments: 1, heads: 4, paid: 10n });
    expect(ends[0]).to.match(/^PAID_NOT_TAKEN_YET: .*the origin is stale; repeat the same request/);
    for (const end of ends.slice(1)) expect(end).to.match(/^PAID_BUT_STALE: .*nothing is paid again/);
  });

  it("would see a newer root with another payment", async () => {
    const { ends, ...counts } = await call(3, false);
    expect(counts).to.deep.equal({ seen: 6, roots: 3, payments: 3, heads: 4, paid: 30n });
    expect(ends).to.deep.equal(["served /a", "served /a", "served /a"]);
  });
});
