// What servers with wrong clocks or schedules, and thieves of a merchant's account, can do to payers and merchants.

import { openPurchases, signAddresses, type WrapOptions, wrapFetch } from "@sotto/client";
import {
  addMonths,
  bindingSlots,
  MAX_SEQUENCE_LEAD_SECONDS,
  type Month,
  type MonthAddresses,
  monthEnd,
  randomSeed,
  type ViewingKeys,
} from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { fund } from "@sotto/test-world/wallets";
import { MemoryStore, ViewingWallet, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Merchant, type MerchantServer, openServer, PRICE, type ServerOptions } from "./support/merchant.ts";
import { APRIL, FEBRUARY, MARCH, MAY, type MonthWorld, middleOf, openMonthWorld } from "./support/world.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];

describe("addresses of months, from the payer to the chain", function () {
  slow(this, "a chain and a service");
  let world: MonthWorld;
  let merchant: Merchant;
  let payer: Wallet;
  /** Milliseconds by which the payer's clock is fast. */
  let fast = 0;
  const servers: MerchantServer[] = [];
  before(async () => {
    world = await openMonthWorld(FEBRUARY);
    payer = await world.wallet({ clock: () => world.time.now() + fast });
    await fund(
      world,
      payer,
      Array.from({ length: 4 }, () => 10n * PRICE),
    );
  });
  beforeEach(() => {
    merchant = new Merchant(world);
    fast = 0;
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  /** Starts a server of the merchant with these addresses. */
  async function open(addresses: MonthAddresses | MonthAddresses[], options: Partial<ServerOptions> = {}) {
    const server = await openServer(world, { ...options, recipient: { addresses } });
    servers.push(server);
    return server;
  }

  function send({ url }: MerchantServer, options: Partial<WrapOptions> = {}): Promise<Response> {
    const limits = { services: [world.serviceUrl], maxPerRequest: PRICE, retryDelayMs: 20 };
    return wrapFetch(fetch, payer, { ...limits, ...options })(`${url}/report`);
  }

  /** Pays for a request. @returns the address that was paid */
  async function pay(server: MerchantServer, options: Partial<WrapOptions> = {}): Promise<string | undefined> {
    const response = await send(server, options);
    expect([response.status, await response.text()]).to.deep.equal([200, "sold /report"]);
    return (await payer.payments({ decimals: 6 })).at(-1)?.recipientAddress;
  }

  /** Expects that a payment is refused with this code, and that nothing was paid or begun. */
  async function expectRefused(code: string, server: MerchantServer, options: Partial<WrapOptions> = {}) {
    const before = await payer.payments({ decimals: 6 });
    const error = await expectRejected(code, () => pay(server, options));
    expect(await payer.payments({ decimals: 6 })).to.deep.equal(before);
    expect(await openPurchases(payer)).to.deep.equal([]);
    return error;
  }

  const addressOf = (month: Month) => merchant.keys.ofMonth(month).shieldedAddress;

  /** What a holder of these keys reads. */
  async function read(keys: ViewingKeys) {
    const viewing = await ViewingWallet.open({
      ...{ chain: world.node.url, chainId: BigInt(world.chainId), pool: world.pool, finality: 0, keys },
      ...{ deploymentBlock: world.deploymentBlock, store: new MemoryStore() },
    });
    await viewing.scan();
    await viewing.search();
    return viewing.received().map(({ month, amount }) => [month, amount]);
  }

  it("a payment that settles after its month is served, and read with that month's key alone", async () => {
    const server = await open(await merchant.sign(FEBRUARY, 2));
    await world.travel(monthEnd(FEBRUARY) - 20_000);
    let late = false;
    const serviceFetch: typeof fetch = async (input, init) => {
      if (String(input).endsWith("/settle") && !late) {
        late = true;
        await world.travel(monthEnd(FEBRUARY) + 20_000);
      }
      return fetch(input, init);
    };
    expect(await pay(server, { serviceFetch })).to.equal(addressOf(FEBRUARY));
    expect(late).to.equal(true);
    expect(await pay(server), "control: the next payment").to.equal(addressOf(MARCH));
    expect(await read(merchant.viewingKeys(FEBRUARY))).to.deep.equal([[FEBRUARY, PRICE]]);
    expect(await read(merchant.viewingKeys(MARCH))).to.deep.equal([[MARCH, PRICE]]);
    const owner = await merchant.wallet();
    await owner.scan();
    expect(owner.balance().total).to.equal(2n * PRICE);
  });

  for (const [name, ms] of [
    ["fast", DAY],
    ["slow", -DAY],
  ] as const)
    it(`a clock that is ${name} by a day makes nobody pay the wrong month, on either side`, async () => {
      // Half a day before or after the end of March, so that the wrong clock is in the other month.
      await world.travel(monthEnd(MARCH) - ms / 2);
      const addresses = await merchant.sign(MARCH, 2);
      const wrong = await open(addresses, { clock: () => world.time.now() + ms, ready: false });
      const right = await open(addresses);
      const before = await payer.payments({ decimals: 6 });
      for (const ahead of [0, ms]) {
        fast = ahead;
        expect((await send(wrong)).status).to.equal(503);
      }
      await expectRefused("CLOCK_WRONG", right);
      expect(await payer.payments({ decimals: 6 })).to.deep.equal(before);
      fast = 0;
      expect(await pay(right), "control").to.equal(addressOf(ms > 0 ? MARCH : APRIL));
      expect(wrong.sold).to.deep.equal([]);
    });

  it("two servers of one host: the newest schedule is followed, and payers refuse the older one", async () => {
    await world.travel(middleOf(MAY));
    const [older, newer] = [await merchant.sign(MAY, 2, { sequence: 5 }), await merchant.sign(MAY, 3, { sequence: 6 })];
    const other = await merchant.sign(MAY, 2, { sequence: 6 });
    const store = "sqlite::memory:";
    const first = await open(older, { store });
    const { port } = new URL(first.url);
    expect(await pay(first)).to.equal(addressOf(MAY));
    await first.close();
    const second = await open(newer, { store, port: Number(port) });
    expect(await pay(second), "control: the newest is followed").to.equal(addressOf(MAY));
    await second.close();
    const rolledBack = await open(older, { port: Number(port) });
    await expectRefused("SCHEDULE_LOWER", rolledBack);
    await rolledBack.close();
    const shortened = await open(other, { port: Number(port) });
    await expectRefused("SCHEDULE_CHANGED", shortened);
    await shortened.close();
    const both = await open([older, newer], { port: Number(port) });
    expect(await pay(both), "control: the highest number is served").to.equal(addressOf(MAY));
  });

  it("a server starts with no addresses of another pool, chain or month, or that another account signed", async () => {
    const good = await merchant.sign(MAY, 2);
    const pool = { chainId: BigInt(world.chainId), pool: world.pool };
    const elsewhere = [
      { ...pool, pool: `0x${"5b".repeat(20)}` },
      { ...pool, chainId: 1n },
    ];
    for (const place of elsewhere)
      await expectRejected("INVALID_OPTION", async () => open(await merchant.sign(MAY, 2, { pool: place })));
    await expectRejected("ADDRESS_MONTH_MISSING", async () => open(await merchant.sign(addMonths(MAY, 1), 2)));
    const foreign = await new Merchant(world, { seed: merchant.seed }).sign(MAY, 2);
    const forged = { ...good, signature: foreign.signature };
    await expectRejected("RECIPIENT_NOT_SIGNED", () => open(forged));
    const bindings = good.bindings.map((one, i) => ({ ...one, signature: foreign.bindings[i]!.signature }));
    await expectRejected("RECIPIENT_NOT_SIGNED", () => open({ ...good, bindings }));
    expect(await pay(await open(good)), "control").to.equal(addressOf(MAY));
  });

  describe("a thief of the account's key, who also answers for the merchant's host", () => {
    /** The port of the merchant's server, which a payer has paid. */
    let port: number;
    const thief = () => new Merchant(world, { account: merchant.account, seed: randomSeed() });
    beforeEach(async () => {
      const server = await open(await merchant.sign(MAY, 2));
      port = Number(new URL(server.url).port);
      expect(await pay(server), "control").to.equal(addressOf(MAY));
      await server.close();
    });

    it("diverts no payment of a payer who knows the host, with an address of its own", async () => {
      const sequence = Math.floor(world.time.now() / 1000) + 1_000;
      const server = await open(await thief().sign(MAY, 2, { sequence }), { port });
      const { details } = await expectRefused("RECIPIENT_CHANGED", server);
      expect(details["known"]).to.equal(details["offered"]);
      expect(server.sold).to.deep.equal([]);
    });

    it("disturbs payments with keys of its own and the merchant's tag, but takes none", async () => {
      const other = thief();
      const { keys } = other;
      const sequence = bindingSlots(world.time.now())[0]! + MAX_SEQUENCE_LEAD_SECONDS;
      /** The thief's encryption key with the merchant's tag. */
      const mixed = (month: Month, tag = addressOf(month).slice(66)) =>
        keys.ofMonth(month).shieldedAddress.slice(0, 66) + tag;
      const stolen = await signAddresses(
        { pool: { chainId: BigInt(world.chainId), pool: world.pool }, now: world.time.now, addressOfMonth: mixed },
        merchant.account,
        { firstMonth: MAY, months: 2, sequence },
      );
      const server = await open(stolen, { port });
      expect(await pay(server)).to.equal(mixed(MAY));

      // The thief reads the payment, as anyone does who can make a payer encrypt to a key of theirs.
      const viewingKey = { month: MAY, viewingKey: keys.ofMonth(MAY).viewingKey, shieldedAddress: mixed(MAY) };
      const ownerTag = merchant.keys.ownerTag(0);
      expect(await read({ ownerTag, keys: [viewingKey] })).to.deep.equal([[MAY, PRICE]]);
      for (const [owner, total] of [
        [merchant, PRICE],
        [other, 0n],
      ] as const) {
        const wallet = await owner.wallet();
        await wallet.scan();
        await wallet.search();
        expect(wallet.balance().total).to.equal(total);
      }
      await server.close();

      // The thief cannot sign a number that the merchant could not exceed: an hour later, the time is higher.
      await expectRejected("SCHEDULE_INVALID", () => other.sign(MAY, 2, { sequence: sequence + 1 }));
      await world.travel(world.time.now() + HOUR + 1_000);
      const mended = await open(await merchant.sign(MAY, 2), { port });
      expect(await pay(mended), "control").to.equal(addressOf(MAY));
      const wallet = await merchant.wallet();
      await wallet.scan();
      expect(wallet.balance().total).to.equal(2n * PRICE);
    });
  });
});
