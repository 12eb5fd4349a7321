// Metered credit over the end of a month, from the payer to the real server: which tokens are spent first, and which keys sign change.

import { type PayingFetch, type WrapOptions, wrapFetch } from "@sotto/client";
import {
  decodePrepaidHeader,
  decodeSignedSchedule,
  PREPAID_CHANGE_PATH,
  parseReceipt,
  scheduledKeys,
} from "@sotto/prepaid";
import { buyPrepaid, type ChargeEvent, listPrepaid, mergePrepaid, prepaid } from "@sotto/prepaid/client";
import { monthEnd, monthStart } from "@sotto/protocol";
import { DAY_MS } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { type MeteredServer, openMeteredMerchant, openMeteredServer, WORDS } from "@sotto/test-world/metered-server";
import { fund } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Merchant } from "./support/merchant.ts";
import { APRIL, FEBRUARY, MARCH, type MonthWorld, openMonthWorld } from "./support/world.ts";

const PACK = 100n * WORDS.cap;

describe("metered credit over the end of a month", function () {
  slow(this, "a chain and a service");
  let world: MonthWorld;
  let server: MeteredServer;
  let payer: Wallet;
  let pay: PayingFetch;
  let options: WrapOptions;
  /** The month of each key. */
  let months: ReadonlyMap<string, string>;
  const charges: ChargeEvent[] = [];
  /** Whether claims are lost on their way to the server. */
  let isCut = false;
  before(async () => {
    world = await openMonthWorld(FEBRUARY);
    const owner = new Merchant(world);
    const addresses = await owner.sign(FEBRUARY, 4);
    const chain = { rpcUrls: [world.node.url], chainId: world.chainId, pool: world.pool };
    const paywall = { recipient: { addresses }, service: world.serviceUrl, chain };
    const received = async () => (await owner.wallet()).balance().total;
    const merchant = await openMeteredMerchant(
      world,
      { account: owner.account, paywall, received },
      { epochs: 4, firstEpoch: FEBRUARY },
    );
    server = await openMeteredServer(world, merchant, { clock: world.time.now });
    const { schedules } = await merchant.filesOf(server.url);
    months = new Map(
      scheduledKeys(decodeSignedSchedule(schedules[0]).schedule).map(({ key, epoch }) => [key.id, epoch]),
    );
    payer = await world.wallet();
    // The first pack has 100 tokens, and the second 1,000.
    await fund(world, payer, [PACK, 10n * PACK]);
    const send: typeof fetch = (input, init) =>
      isCut && init?.method === "POST" ? Promise.reject(new TypeError("cut")) : fetch(input, init);
    options = {
      services: [world.serviceUrl],
      maxPerRequest: WORDS.cap,
      methods: [
        prepaid({
          ...{ maxPerHost: 50_000_000n, mirrors: [], buy: false, maxDelayMs: 1_000_000_000, fetch: send },
          onCharge: (charge) => void charges.push(charge),
        }),
      ],
    };
    pay = wrapFetch(fetch, payer, options);
  });
  after(() => server?.close());

  const buy = () => buyPrepaid(fetch, payer, options, { origin: server.url, value: WORDS.cap });
  /** Pays for three words. @returns the months of the token and of the keys that signed its change */
  async function paid(): Promise<readonly [token: string, change: readonly string[]]> {
    const before = await held();
    const count = charges.length;
    await (await pay(`${server.url}/words/3`)).text();
    const header = server.requests
      .flatMap(({ headers }) => headers.filter((_, i) => headers[i - 1]?.toLowerCase() === "x-payment-token"))
      .at(-1)!;
    if (isCut) return [months.get(decodePrepaidHeader(header).keyId)!, []];
    await eventually(async () => charges.length > count);
    expect(charges.at(-1)).to.include({ charge: 3_000n, change: 7_000n });
    const after = await held();
    const change = [...after].filter(([epoch, value]) => value > (before.get(epoch) ?? 0n)).map(([epoch]) => epoch);
    return [months.get(decodePrepaidHeader(header).keyId)!, change];
  }
  /** The value of the wallet's small tokens, by month. */
  async function held(): Promise<ReadonlyMap<string, bigint>> {
    const sums = new Map<string, bigint>();
    for (const { epoch, value, count } of (await listPrepaid(payer))[0]!.change)
      sums.set(epoch, (sums.get(epoch) ?? 0n) + value * BigInt(count));
    return sums;
  }

  it("spends the tokens of the month before first in the first two days of a month", async () => {
    await buy();
    expect(await paid()).to.deep.equal([FEBRUARY, [FEBRUARY]]);
    await world.travel(monthStart(MARCH) + 60_000);
    await buy();
    expect((await listPrepaid(payer))[0]!.packs.map(({ epoch }) => epoch).sort()).to.deep.equal([FEBRUARY, MARCH]);
    for (const time of [monthStart(MARCH) + 120_000, monthStart(MARCH) + 2 * DAY_MS - 60_000]) {
      await world.travel(time);
      expect(await paid()).to.deep.equal([FEBRUARY, [FEBRUARY]]);
    }
    expect(parseReceipt(charges.at(-1)!.receipt).receipt.epoch).to.equal(MARCH);
  });

  it("gets change of the token's own month, and of the next month from seven days before its end", async () => {
    await world.travel(monthEnd(MARCH) - 7 * DAY_MS - 60_000);
    expect(await paid()).to.deep.equal([FEBRUARY, [FEBRUARY]]);
    await world.travel(monthEnd(MARCH) - 7 * DAY_MS + 1_000);
    expect(await paid()).to.deep.equal([FEBRUARY, [MARCH]]);
  });

  it("loses change that it claims after the last key has ended, and is not stopped by it", async () => {
    isCut = true;
    await world.travel(monthEnd(MARCH) - 60_000);
    // Its change is of March, whose tokens end with April. Until then, its claims do not arrive.
    expect(await paid()).to.deep.equal([FEBRUARY, []]);
    const known = charges.length;
    await world.travel(monthEnd(APRIL) + 2 * DAY_MS);
    isCut = false;
    const from = server.requests.length;
    const { problems } = await mergePrepaid(fetch, payer, options);
    expect(problems).to.deep.equal([]);
    const claims = server.requests.slice(from).filter(({ target }) => target === PREPAID_CHANGE_PATH);
    expect(claims.map(({ status }) => status))
      .to.include(410)
      .and.not.include(200);
    expect(charges.length).to.equal(known);
    const { stopped, underway, change } = (await listPrepaid(payer))[0]!;
    expect([stopped, underway, change]).to.deep.equal([undefined, 0n, []]);
  });
});
