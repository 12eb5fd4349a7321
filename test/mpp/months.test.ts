// A resource server at the end of a month, in each format: it asks for the address of the month, and accepts what was paid to the
// other one around the change, whether its clock or the payer's is ahead.

import { createServer, type Server } from "node:http";
import { parseChallenges, parseCharge, proofPayload } from "@sotto/mpp";
import { mpp } from "@sotto/mpp/server";
import { prepaid } from "@sotto/prepaid/server";
import {
  addMonths,
  decodeShieldedAddress,
  MONTH_GRACE_MS,
  type Month,
  monthAt,
  monthEnd,
  type PaymentInstructions,
  SCHEDULE_PATH,
  scheduleDigest,
  scheduleJson,
} from "@sotto/protocol";
import type { Paywall, PaywallEvent } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { slow } from "@sotto/test-kit/slow";
import {
  createMonthMerchant,
  keysOfMonths,
  type MonthWorld,
  openMonthWorld,
  payeeAt,
} from "@sotto/test-world/paywall/months";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import {
  bytesOf,
  COUNT,
  createPack,
  createPrepaid,
  type Pack,
  purchase,
  recover,
} from "@sotto/test-world/paywall/prepaid";
import { forgeFor, ORIGIN, PRICE, pay } from "@sotto/test-world/paywall/world";
import { bothFormats, SottoScheme, x402Method } from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { paymentMiddlewareFromHTTPServer, x402HTTPResourceServer, x402ResourceServer } from "@x402/express";
import { expect } from "chai";
import express, { type RequestHandler } from "express";
import { credential, SECRET } from "./support/mpp-server.ts";

const SECOND_MS = 1_000;

describe("a resource server at the end of a month", function () {
  slow(this, "a chain, a service and proofs");
  let world: MonthWorld;
  let paywall: Paywall;
  let server: Server;
  let url: string;
  let wire: unknown;
  const events: PaywallEvent[] = [];
  const amounts: (bigint | undefined)[] = [];
  /** The month that ends in this test. */
  let month: Month;

  before(async () => {
    world = await openMonthWorld();
    const { chainId, pool, token: asset, service, merchant, clock } = world;
    const held = () => {
      const now = monthAt(clock());
      return keysOfMonths(merchant.keys, [addMonths(now, -1), now]);
    };
    const recipient = { addresses: merchant.addresses, viewingKeys: held };
    let http: x402HTTPResourceServer;
    const tokens = await createPrepaid(world, clock());
    wire = { schedules: tokens.schedules };
    const app = express();
    server = await new Promise((resolve) => {
      const listening = createServer(app).listen(0, "127.0.0.1", () => resolve(listening));
    });
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    paywall = await openPaywall(world, {
      recipient,
      clock,
      methods: [x402Method(() => http), mpp({ secret: SECRET }), prepaid(tokens)],
      onEvent: (event) => void events.push(event),
    });
    const { uses } = paywall;
    const of = { origin: ORIGIN, recipient, chainId, pool, asset, decimals: 6, service, uses, clock };
    const scheme = await SottoScheme.open(of, (call) => world.provider.call(call));
    expect(scheme.schedule).to.deep.equal(scheduleJson(merchant.addresses));
    const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: service }));
    resources.register(scheme.network, scheme);
    const accepts = { scheme: scheme.scheme, network: scheme.network, payTo: merchant.wallet, price: "$0.01" };
    http = new x402HTTPResourceServer(resources, { "GET /paid/:what": { accepts } });
    const theirs = paymentMiddlewareFromHTTPServer(http);
    await http.initialize();
    app.use(bothFormats(http, theirs, sotto(paywall) as unknown as RequestHandler));
    app.get("/paid/:what", (request, response) => {
      if (request.payment !== undefined) amounts.push(request.payment.amount);
      response.send("sold");
    });
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await paywall.close();
    await world.close();
  });

  /** Moves everything to this long before the end of the month; each test takes the next month. */
  const moveBeforeEnd = async (ms: number) => {
    if (monthEnd(monthAt(world.clock())) - ms < world.clock()) await world.moveTo(monthEnd(monthAt(world.clock())));
    month = monthAt(world.clock());
    await world.moveTo(monthEnd(month) - ms);
    events.length = 0;
    amounts.length = 0;
  };
  const moveAfterEnd = (ms: number) => world.moveTo(monthEnd(month) + ms);
  const addressOf = (one: Month) => world.merchant.keys.ofMonth(one).shieldedAddress;

  const ask = async () => {
    const response = await fetch(`${url}/paid/a`);
    expect(response.status).to.equal(402);
    const { payment } = (await response.json()) as PaymentInstructions;
    const [challenge] = parseChallenges(response.headers.get("www-authenticate") ?? "");
    const required = JSON.parse(Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString());
    const [accepted] = required.accepts;
    return { payment, challenge: challenge!, accepted };
  };
  /** A settled payment to an address. @param off ms by which the payer's clock differs */
  const settled = (shieldedAddress: string, off = 0) =>
    pay(world, { to: payeeAt(world.merchant, shieldedAddress), timestamp: world.clock() + off });
  const show = async (headers: Record<string, string>): Promise<number | string> => {
    const response = await fetch(`${url}/paid/a`, { headers });
    const text = await response.text();
    return response.status === 200 ? 200 : `${response.status} ${text} ${JSON.stringify(events)}`;
  };

  it("signs a pack that was paid for in the month that ended, also days later", async () => {
    await moveBeforeEnd(20 * SECOND_MS);
    const [first, second, third] = [1, 2, 3].map(() => createPack(wire, 0, undefined, world.clock()));
    const { payment } = (await (await purchase(url, first!)).json()) as PaymentInstructions;
    expect(payment.recipient.shieldedAddress).to.equal(addressOf(month));
    const payFor = ({ target, count }: Pack) =>
      pay(world, {
        to: payeeAt(world.merchant, addressOf(month)),
        ...{ target, price: BigInt(count) * PRICE, timestamp: world.clock() },
      });
    const [paidFirst, paidSecond, paidThird] = [await payFor(first!), await payFor(second!), await payFor(third!)];
    const tokensOf = async (response: Response, pack: Pack) => {
      expect(response.status).to.equal(200);
      return pack.finish(await bytesOf(response)).length;
    };
    expect(await tokensOf(await purchase(url, first!, paidFirst), first!)).to.equal(COUNT);
    await moveAfterEnd(60 * SECOND_MS);
    // The key signs new packs in its month only; what was paid in it can be recovered.
    expect((await purchase(url, second!, paidSecond)).status).to.equal(410);
    expect(await tokensOf(await recover(url, second!, paidSecond), second!)).to.equal(COUNT);
    await moveAfterEnd(9 * 86_400_000);
    for (const [pack, paid] of [
      [first!, paidFirst] as const,
      [second!, paidSecond] as const,
      [third!, paidThird] as const,
    ])
      expect(await tokensOf(await recover(url, pack, paid), pack)).to.equal(COUNT);
  });

  it("asks for the month's address with its schedule, in each format", async () => {
    await moveBeforeEnd(60 * SECOND_MS);
    const expected = { path: SCHEDULE_PATH, digest: scheduleDigest(world.merchant.addresses.schedule) };
    for (const shieldedAddress of [addressOf(month), addressOf(addMonths(month, 1))]) {
      const { payment, challenge, accepted } = await ask();
      expect(payment.recipient.shieldedAddress).to.equal(shieldedAddress);
      expect(payment.schedule).to.deep.equal(expected);
      const { binding, schedule } = parseCharge(challenge.request);
      expect([binding.key, schedule]).to.deep.equal([shieldedAddress, expected]);
      expect(accepted.extra).to.deep.include({ schedule: expected });
      expect(accepted.extra.recipient.shieldedAddress).to.equal(shieldedAddress);
      const published = await fetch(url + expected.path);
      expect([published.status, await published.json()]).to.deep.equal([200, scheduleJson(world.merchant.addresses)]);
      await moveAfterEnd(0);
    }
  });

  /** Milliseconds by which the payer's clock differs, within what a payment's freshness allows. */
  for (const off of [-60 * SECOND_MS, 0, 25 * SECOND_MS]) {
    const payers = off === 0 ? "a right clock" : `a clock ${Math.abs(off) / 1000} s ${off < 0 ? "slow" : "fast"}`;

    it(`accepts a payment that settles before the end and is shown after it, by a payer with ${payers}`, async () => {
      await moveBeforeEnd(10 * SECOND_MS);
      const { payment } = await ask();
      expect(payment.recipient.shieldedAddress).to.equal(addressOf(month));
      const paid = await settled(payment.recipient.shieldedAddress, off);
      await moveAfterEnd(120 * SECOND_MS);
      expect(await show(showing(headerOf(paid)))).to.equal(200);
      expect(amounts).to.deep.equal([10_000n]);
    });

    it(`accepts a payment that was asked for before the end and made after it, by a payer with ${payers}`, async () => {
      await moveBeforeEnd(SECOND_MS * 5);
      const { payment, challenge } = await ask();
      await moveAfterEnd(30 * SECOND_MS);
      const { shieldedAddress } = payment.recipient;
      expect(await show(showing(headerOf(await settled(shieldedAddress, off))))).to.equal(200);
      const inMpp = proofPayload(headerOf(await settled(shieldedAddress, off)));
      expect(await show(credential(challenge, inMpp))).to.equal(200);
      // The server asks for the new address now, and payers whose clock is slow are still in the old month.
      const next = await ask();
      expect(next.payment.recipient.shieldedAddress).to.equal(addressOf(addMonths(month, 1)));
      expect(await show(showing(headerOf(await settled(addressOf(addMonths(month, 1)), -50 * SECOND_MS))))).to.equal(
        200,
      );
      expect(amounts).to.deep.equal([10_000n, 10_000n, 10_000n]);
    });
  }

  it("accepts MPP's answer to a challenge of the month that ended, once", async () => {
    await moveBeforeEnd(5 * SECOND_MS);
    const { challenge } = await ask();
    const paid = credential(
      challenge,
      proofPayload(headerOf(await settled(parseCharge(challenge.request).binding.key))),
    );
    await moveAfterEnd(60 * SECOND_MS);
    expect(await show(paid)).to.equal(200);
    expect(await show(paid)).to.match(/^402 /);
  });

  it("settles an x402 payment to the address of the month that ended, through the published middleware", async () => {
    await moveBeforeEnd(5 * SECOND_MS);
    const { accepted } = await ask();
    const { shieldedAddress } = accepted.extra.recipient;
    const signatureOf = (timestamp: number, changes: object = {}) => {
      const payload = forgeFor(world, { to: payeeAt(world.merchant, shieldedAddress), timestamp });
      const payment = { x402Version: 2, resource: { url: `${ORIGIN}/paid/a` }, accepted, payload, ...changes };
      return { "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64") };
    };
    const signed = signatureOf(world.clock());
    await moveAfterEnd(45 * SECOND_MS);
    expect(await show(signed)).to.equal(200);
    // An address that is neither this month's nor the last one's stays refused, and so does the old one after its grace.
    const other = { ...accepted, extra: { ...accepted.extra, recipient: { ...accepted.extra.recipient } } };
    other.extra.recipient.shieldedAddress = addressOf(addMonths(month, 2));
    expect(await show(signatureOf(world.clock(), { accepted: other }))).to.match(/^402 /);
    await moveAfterEnd(MONTH_GRACE_MS + 60 * SECOND_MS);
    expect(await show(signatureOf(world.clock()))).to.match(/^402 /);
    expect(decodeShieldedAddress(shieldedAddress).ownerTag).to.equal(world.merchant.addresses.schedule.ownerTag);
  });

  it("accepts a month's address for ten minutes before and after its month, and no longer", async () => {
    await moveBeforeEnd(60 * SECOND_MS);
    const next = addMonths(month, 1);
    const paidTo = async (one: Month) => show(showing(headerOf(await settled(addressOf(one)))));
    for (const one of [month, next]) expect(await paidTo(one), one).to.equal(200);
    await moveAfterEnd(MONTH_GRACE_MS + 30 * SECOND_MS);
    expect(await paidTo(next)).to.equal(200);
    for (const one of [month, addMonths(month, 2)]) expect(await paidTo(one), one).to.match(/^402 /);
  });

  it("tells its operator before the last month ends, and answers 503 after it", async () => {
    await moveBeforeEnd(60 * SECOND_MS);
    const { clock, merchant } = world;
    const { addresses } = await createMonthMerchant(world, { months: 1, of: merchant, now: clock() });
    const ofOneMonth = await openPaywall(world, {
      recipient: { addresses },
      clock,
      onEvent: (event) => void events.push(event),
    });
    const status = async () => {
      const decision = await ofOneMonth.decide({ method: "GET", target: "/paid/a", header: () => [] });
      return decision.kind === "refused" ? decision.status : decision.kind;
    };
    expect(events).to.deep.equal([{ event: "addresses", month, days: 0 }]);
    expect(await status()).to.equal(402);
    await moveAfterEnd(0);
    expect(await status()).to.equal(503);
    expect(events.at(-1)).to.include({ event: "trouble", reason: "ADDRESS_MONTH_MISSING" });
    await ofOneMonth.close();
  });

  it("offers x402 no address after the last month, and reports it", async () => {
    await moveBeforeEnd(60 * SECOND_MS);
    const { clock, merchant, chainId, pool, token: asset, service } = world;
    const { addresses } = await createMonthMerchant(world, { months: 1, of: merchant, now: clock() });
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const of = { origin: ORIGIN, recipient: { addresses }, chainId, pool, asset, decimals: 6, service, clock, onError };
    const scheme = new SottoScheme({ ...of, uses: paywall.uses });
    const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: service }));
    resources.register(scheme.network, scheme);
    const terms = { scheme: scheme.scheme, network: scheme.network, payTo: merchant.wallet, asset, amount: "10000" };
    const offer = async () => {
      const resource = { url: `${ORIGIN}/paid/a` };
      const accepts = [{ ...terms, maxTimeoutSeconds: 300, extra: {} }];
      return (await resources.createPaymentRequiredResponse(accepts, resource, "unpaid")).accepts[0]!.extra;
    };
    expect(await offer()).to.have.nested.property("recipient.shieldedAddress", addressOf(month));
    await moveAfterEnd(0);
    expect(await offer()).to.deep.equal({});
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ code: "ADDRESS_MONTH_MISSING" });
  });
});
