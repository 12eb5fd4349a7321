// Payers attack a resource server with manipulated payments. Every proof here is valid for its own signals; the server
// rejects the signals.

import { randomField } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { createMerchant } from "@sotto/test-world/paywall/merchant";
import { paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf } from "@sotto/test-world/paywall/payments";
import {
  forgeFor,
  type MerchantWorld,
  ORIGIN,
  openMerchantWorld,
  PRICE,
  pay,
  settle,
  verify,
} from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { Counter } from "./support/counter.ts";
import { ADAPTERS } from "./support/servers.ts";

const MINUTE_MS = 60_000;
const LIMIT_MS = 5 * MINUTE_MS;
const LEAD_MS = 30_000;

describe("a payer does not get the resource", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let server: Counter;
  /** The server's clock, ms; undefined for this machine's. */
  let now: number | undefined;
  before(async () => {
    world = await openMerchantWorld();
    server = await Counter.open(ADAPTERS.get("Express 5")!, world, { clock: () => now ?? Date.now() });
  });
  afterEach(() => {
    now = undefined;
  });
  after(async () => server?.close());

  it("before the payment is settled", async () => {
    const bundle = forgeFor(world);
    const paymentToken = await verify(world, bundle);
    const { txSignature } = await pay(world);
    for (const hash of [`0x${"00".repeat(32)}`, `0x${"ab".repeat(32)}`, txSignature])
      await server.refuses("NOT_SETTLED", { bundle, paymentToken, txSignature: hash });
    await server.takes(await settle(world, bundle));
  });

  it("before the payment has the required confirmations", async () => {
    const { rpcUrls, chainId, pool } = { ...world, rpcUrls: [world.node.url] };
    const chain = { rpcUrls, chainId, pool, confirmations: 50, settleWaitMs: 0 };
    const careful = closedAfterTest(await Counter.open(ADAPTERS.get("Express 5")!, world, { chain }));
    const payment = await pay(world);
    await careful.refuses("NOT_SETTLED", payment);
    expect((await careful.show(headerOf(payment))).headers.get("retry-after")).to.match(/^[1-9]/);
    // All blocks get the same timestamp, so the chain's clock does not advance.
    await world.provider.send("hardhat_mine", ["0x32", "0x0"]);
    await careful.takes(payment);
  });

  it("twice for one payment, the second time another resource", async () => {
    const payment = await pay(world, { target: "/paid/a" });
    await server.refuses("TOKEN_CLAIMS", payment, "/paid/b");
    await server.refuses("TOKEN_CLAIMS", payment, "/paid/a?");
    await server.refuses("TOKEN_CLAIMS", payment, "/paid/a?b");
    await server.takes(payment, "/paid/a");
    await server.refuses("USED", payment, "/paid/a");
    await server.refuses("TOKEN_CLAIMS", payment, "/paid/b");
  });

  it("for a payment to the server's wallet with someone else's key", async () => {
    const stranger = await createMerchant(world);
    const { wallet, shielded } = world.merchant;
    const { encryptionKey, ownerTag } = stranger.shielded;
    await server.refuses("RECIPIENT_MONTH", await pay(world, { to: { wallet, shielded: stranger.shielded } }));
    await server.refuses(
      "RECIPIENT_MONTH",
      await pay(world, { to: { wallet, shielded: { ...shielded, encryptionKey } } }),
    );
    await server.refuses("TOKEN_CLAIMS", await pay(world, { to: { wallet, shielded: { ...shielded, ownerTag } } }));
  });

  it("for a payment to another recipient, even if its header names this one", async () => {
    const other = await createMerchant(world);
    const payment = await pay(world, { to: other });
    await server.refuses("RECIPIENT", payment);
    await server.refuses("RECIPIENT_MONTH", {
      ...payment,
      bundle: { ...payment.bundle, recipientPublicKey: world.merchant.wallet },
    });
    await server.refuses(
      "RECIPIENT",
      await pay(world, { to: { wallet: other.wallet, shielded: world.merchant.shielded } }),
    );
  });

  it("for a payment to the same recipient at another server", async () => {
    for (const origin of ["https://other.example", "http://data.example", "https://data.example:8443"]) {
      const payment = await pay(world, { resource: `${origin}/paid/a` });
      await server.refuses("TOKEN_CLAIMS", payment);
      await server.refuses("TOKEN_CLAIMS", {
        ...payment,
        bundle: { ...payment.bundle, resourceUrl: `${ORIGIN}/paid/a` },
      });
    }
  });

  it("with a header from the future, beyond the allowed clock skew", async () => {
    const payment = await pay(world);
    now = payment.bundle.timestamp - LEAD_MS - 1;
    await server.refuses("FROM_THE_FUTURE", payment);
    now = payment.bundle.timestamp - LEAD_MS;
    await server.takes(payment);
  });

  it("with a header older than five minutes, even with a valid signature", async () => {
    const [old, older] = [await pay(world), await pay(world)];
    const { chain } = paywallOptions(world);
    const node = await FaultyNode.start(world.node.url);
    const own = await Counter.open(ADAPTERS.get("Express 5")!, world, {
      chain: { ...chain, rpcUrls: [node.url] },
      clock: () => now ?? Date.now(),
    });
    try {
      now = old.bundle.timestamp + LIMIT_MS;
      await own.takes(old);
      // Otherwise the server would learn from the chain that its clock is ahead.
      node.mode = "isOverloaded";
      now = older.bundle.timestamp + LIMIT_MS + 1;
      await own.refuses("TOO_OLD", older);
    } finally {
      await own.close();
      await node.stop();
    }
  });

  it("with a different timestamp than the payment's", async () => {
    const payment = await pay(world);
    for (const shift of [-60_000, -1, 1, 10_000])
      await server.refuses("TOKEN_CLAIMS", {
        ...payment,
        bundle: { ...payment.bundle, timestamp: payment.bundle.timestamp + shift },
      });
    await server.takes(payment);
  });

  it("underpaid by one unit", async () => {
    const less = PRICE - 1n;
    for (const terms of [{ price: less }, { amount: less, lowerBound: less }]) {
      const payment = await pay(world, terms);
      await server.refuses("BUNDLE", payment);
      await server.refusesBare("AMOUNT_PROOF", payment);
      // The bundle states the bounds of the price, but proves those of a lower price.
      const range = [4, 5].map((at) => String(at === 4 ? PRICE : (PRICE * 11n) / 10n));
      const amountPublicSignals = [...payment.bundle.amountPublicSignals.slice(0, 4), ...range];
      await server.refuses("AMOUNT_PROOF", { ...payment, bundle: { ...payment.bundle, amountPublicSignals } });
    }
  });

  it("overpaid by one unit beyond the tolerance", async () => {
    const most = (PRICE * 11n) / 10n;
    for (const amount of [most + 1n, PRICE]) {
      const payment = await pay(world, { amount, upperBound: most + 1n });
      await server.refuses("BUNDLE", payment);
      await server.refusesBare("AMOUNT_PROOF", payment);
    }
    await server.takes(await pay(world, { amount: most }));
  });

  it("for a payment proved with narrower bounds than the price's", async () => {
    await server.refusesBare("AMOUNT_PROOF", await pay(world, { amount: PRICE + 1n, lowerBound: PRICE + 1n }));
    await server.refusesBare("AMOUNT_PROOF", await pay(world, { amount: PRICE, upperBound: PRICE }));
  });

  it("for the proof of one payment with the amount of another", async () => {
    const [one, other] = [await pay(world), await pay(world)];
    const { proof, amountProof, encryptedAmount } = other.bundle;
    await server.refusesBare("PROOF", { ...one, bundle: { ...one.bundle, proof } });
    await server.refusesBare("AMOUNT_PROOF", { ...one, bundle: { ...one.bundle, amountProof } });
    await server.refusesBare("CIPHERTEXT", { ...one, bundle: { ...one.bundle, amountProof, encryptedAmount } });
    for (const payment of [one, other]) await server.takes(payment);
  });

  it("for one of two payments that share their commitments", async () => {
    const commitments = [randomField(), randomField()] as const;
    const [settled, twin] = [forgeFor(world, { commitments }), forgeFor(world, { commitments })];
    const paymentToken = await verify(world, twin);
    const paid = await settle(world, settled);
    await server.refuses("TOKEN_CLAIMS", { ...paid, bundle: twin });
    await server.refuses("NOT_SETTLED", { ...paid, bundle: twin, paymentToken });
    await server.takes(paid);
  });

  it("for one of two payments of the same note", async () => {
    const nullifier = randomField();
    const [first, second] = [forgeFor(world, { nullifier }), forgeFor(world, { nullifier })];
    const paymentToken = await verify(world, first);
    const paid = await settle(world, second);
    await server.refuses("NOT_SETTLED", { ...paid, bundle: first, paymentToken });
    await server.refuses("TOKEN_CLAIMS", { ...paid, bundle: first });
    await server.takes(paid);
  });
});
