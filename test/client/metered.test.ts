// Metered routes of the paying fetch against the real resource server, service and chain.

import { type WrapOptions, wrapFetch } from "@sotto/client";
import { parseReceipt } from "@sotto/prepaid";
import {
  type ChargeEvent,
  checkCharges,
  keptReceipts,
  keptTerms,
  listPrepaid,
  mergePrepaid,
  prepaid,
} from "@sotto/prepaid/client";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { type MeteredServer, openMeteredServer, WORDS } from "@sotto/test-world/metered-server";
import { openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";

describe("metered routes of a real resource server", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: MeteredServer;
  let url: string;
  before(async () => {
    // The month must not change between the keys and the requests.
    await clearOfMidnight();
    world = await openWorld();
    server = await openMeteredServer(world);
    url = server.url;
  });
  after(() => server?.close());

  const charges: ChargeEvent[] = [];
  const options = (): WrapOptions => ({
    services: [world.serviceUrl],
    maxPerRequest: WORDS.cap,
    retryDelayMs: 10,
    methods: [
      prepaid({
        maxPerHost: 2_000_000n,
        mirrors: [world.serviceUrl],
        maxDelayMs: 1_000_000,
        onCharge: (charge) => void charges.push(charge),
      }),
    ],
  });
  const charged = async (count: number): Promise<readonly bigint[]> => {
    await eventually(async () => charges.length >= count);
    return charges.map(({ charge }) => charge);
  };
  const unspent = async (wallet: Wallet) => (await listPrepaid(wallet))[0]!.unspent;

  it("charges what was used, returns change, and merges it into a token that pays again", async () => {
    charges.length = 0;
    const wallet = await payerWith(world, [200_000n]);
    const before = await server.received();
    const pay = wrapFetch(fetch, wallet, options());
    const answer = await pay(`${url}/words/3`);
    expect([await answer.text(), answer.headers.get("x-payment-charge")]).to.deep.equal(["end", "3000"]);
    expect(await charged(1)).to.deep.equal([3_000n]);
    expect(charges[0]!.units).to.deep.equal({ words: 3n });
    // A stream says its charge afterwards; a request above the cap ends there; a failure costs nothing.
    expect(await (await pay(`${url}/words/2?stream`)).text()).to.equal("word 1\nword 2\nend");
    await charged(2);
    await (await pay(`${url}/words/99`)).text();
    await charged(3);
    expect((await pay(`${url}/words/5?fail`)).status).to.equal(500);
    expect(await charged(4)).to.deep.equal([3_000n, 2_000n, 10_000n, 0n]);
    const paid = (await server.received()) - before;
    expect(paid).to.equal(15_000n + (await unspent(wallet)));
    // 7,000 and 8,000 of change: 5,000 twice are one token of the cap.
    const merged = await mergePrepaid(fetch, wallet, options());
    expect(merged.problems).to.deep.equal([]);
    expect(merged.swaps).to.be.greaterThan(0);
    await (await pay(`${url}/words/1`)).text();
    await charged(5);
    expect((await server.received()) - before).to.equal(paid);
    expect(paid).to.equal(16_000n + (await unspent(wallet)));
    const [receipts, terms] = [await keptReceipts(wallet), (await keptTerms(wallet)).map((signed) => signed.terms)];
    expect(receipts).to.deep.equal(charges.map(({ receipt }) => parseReceipt(receipt)));
    const checked = checkCharges(receipts, terms);
    expect(checked.charges.every(({ signed, ruleKnown }) => signed && ruleKnown)).to.equal(true);
    expect(checked.contradictions).to.deep.equal([]);
  });

  it("charges a client that leaves for what was added", async () => {
    charges.length = 0;
    const wallet = await payerWith(world, [200_000n]);
    const pay = wrapFetch(fetch, wallet, options());
    const leaving = new AbortController();
    const answer = await pay(`${url}/words/9?stream&leave=2`, { signal: leaving.signal });
    await answer.body!.getReader().read();
    leaving.abort();
    expect(await charged(1)).to.deep.equal([2_000n]);
    expect(await unspent(wallet)).to.equal(WORDS.cap - 2_000n);
  });
});
