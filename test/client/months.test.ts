// A merchant with an address of each month behind a real paywall, on a real chain.

import { signAddresses, signBinding, wrapFetch } from "@sotto/client";
import { addMonths, type ViewingKeys } from "@sotto/protocol";
import { createPaywall, type Paywall, type PaywallOptions } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { MemoryStore, ViewingWallet, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";

const ORIGIN = "https://data.example";
const PRICE = 10_000n;

describe("a merchant with addresses of months", function () {
  slow(this, "a chain, a service and proofs");
  const account = Account.createRandom();
  let world: World;
  let owner: Wallet;
  let payer: Wallet;
  const opened: Paywall[] = [];
  before(async () => {
    world = await openWorld();
    owner = await openWallet(world);
    payer = await payerWith(world, [30_000n, 30_000n, 30_000n]);
  });
  after(async () => {
    for (const paywall of opened) await paywall.close();
  });

  /** A server that is paid at these addresses. */
  async function serve(recipient: PaywallOptions["recipient"]): Promise<typeof fetch> {
    const { chainId, pool, node, serviceUrl } = world;
    const chain = { rpcUrls: [node.url], chainId, pool };
    const price = String(Number(PRICE) / 1e6);
    const paywall = await createPaywall({
      origin: ORIGIN,
      price,
      recipient,
      service: serviceUrl,
      chain,
      store: "memory",
    });
    opened.push(paywall);
    await paywall.ready;
    const handler = withPayment((request) => new Response(`sold ${new URL(request.url).pathname}`), paywall);
    return async (input, init) => handler(new Request(input, init));
  }
  const pay = async (server: typeof fetch, target: string) => {
    const paying = wrapFetch(server, payer, {
      services: [world.serviceUrl],
      maxPerRequest: PRICE,
      serviceFetch: (input, init) => fetch(input, init),
    });
    return (await paying(ORIGIN + target)).text();
  };
  /** Base units that a holder of these keys sees. */
  async function seen(keys: ViewingKeys): Promise<bigint> {
    const { chainId, pool, node, deploymentBlock } = world;
    const place = { chain: node.url, chainId: BigInt(chainId), pool, deploymentBlock, finality: 0 };
    const viewing = await ViewingWallet.open({ keys, ...place, store: new MemoryStore() });
    await viewing.scan();
    return viewing.total();
  }

  it("is paid at its lasting address before, and only at that of the month after it changed over", async () => {
    const { binding, signature } = await signBinding(owner, account);
    const { wallet, key: shieldedAddress, issuedAt } = binding;
    const before = await serve({ wallet, shieldedAddress, signature, issuedAt });
    expect(await pay(before, "/1")).to.equal("sold /1");
    const addresses = await signAddresses(owner, account, { months: 3 });
    const after = await serve({ addresses });
    expect(await pay(after, "/2")).to.equal("sold /2");
    // A month may have ended since the test began.
    const paid = (await payer.payments({ decimals: 6 })).at(-1)?.recipientAddress;
    const { month } = addresses.bindings.find(({ binding }) => binding.key === paid)!;
    await expectRejected("ADDRESS_NOT_LISTED", () => pay(before, "/3"));
    expect(await seen(owner.viewingKeys({ months: [month] }))).to.equal(PRICE);
    expect(await seen(owner.viewingKeys({ lasting: true }))).to.equal(PRICE);
    expect(await seen(owner.viewingKeys({ months: [addMonths(month, 1), addMonths(month, -1)] }))).to.equal(0n);
    await owner.scan();
    expect(owner.balance().total).to.equal(2n * PRICE);
  });

  it("may sign a newer schedule, which one of its servers follows before the other", async () => {
    const sequence = Math.floor(Date.now() / 1000) + 1_000;
    const old = await signAddresses(owner, account, { months: 2, sequence });
    const young = await signAddresses(owner, account, { months: 3, sequence: sequence + 1 });
    const [behind, current] = [await serve({ addresses: old }), await serve({ addresses: young })];
    expect(await pay(behind, "/4")).to.equal("sold /4");
    expect(await pay(current, "/5")).to.equal("sold /5");
    await expectRejected("SCHEDULE_LOWER", () => pay(behind, "/6"));
    const both = await serve({ addresses: [old, young] });
    expect(await pay(both, "/6")).to.equal("sold /6");
  });
});
