// The published client pays the published server through a real service on a real chain; neither contains code from
// sotto.

import { createProver, loadArtifacts } from "@sotto/prover";
import { slow } from "@sotto/test-kit/slow";
import { ARTIFACTS, fund, openWallet, openWorld, payerWith, until, type World } from "@sotto/test-world/wallets";
import { createSeedWords, MemoryStore, seedFromWords, Wallet } from "@sotto/wallet";
import { SottoScheme } from "@sotto/x402/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type Middleman, openMiddleman } from "./support/middleman.ts";
import { decode, openResourceServer, type ResourceServer, signRecipient } from "./support/resource-server.ts";

const PRICE = 1_000_000n;

describe("the published @x402/fetch pays the published @x402/express", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let merchant: Wallet;
  let server: ResourceServer;
  let url: string;
  /** The proxy between payer and server. */
  let between: Middleman;

  before(async () => {
    world = await openWorld();
    merchant = await openWallet(world);
    const account = Account.createRandom();
    server = await openResourceServer(
      world,
      await signRecipient(world, account, merchant.shieldedAddress),
      world.serviceUrl,
    );
    url = `${server.origin}/report`;
    between = await openMiddleman(server.origin);
  });
  after(async () => {
    await between.close();
    await server.close();
  });

  const schemeOf = (wallet: Wallet) => SottoScheme.open({ wallet, services: [world.serviceUrl] });
  const received = async (): Promise<bigint> => {
    await merchant.scan();
    return merchant.balance().total;
  };
  /** The amount that the merchant receives during an action, once it has arrived. */
  const earned = async (act: () => Promise<unknown>, expected: bigint): Promise<void> => {
    const before = await received();
    await act();
    await until(async () => (await received()) - before >= expected);
    expect((await received()) - before).to.equal(expected);
  };

  it("with real proofs, exactly the price, and the resource is served once", async () => {
    const { chainId, pool, deploymentBlock, node } = world;
    const wallet = await Wallet.open({
      chain: node.url,
      chainId: BigInt(chainId),
      pool,
      deploymentBlock,
      store: new MemoryStore(),
      finality: 0,
      seed: seedFromWords(createSeedWords()),
      prover: createProver(await loadArtifacts({ folder: ARTIFACTS })),
    });
    await fund(world, wallet, [5_000_000n]);
    const scheme = await schemeOf(wallet);
    const pay = wrapFetchWithPayment(scheme.track(fetch), new x402Client().register(scheme.network, scheme));
    const before = server.served();
    await earned(async () => {
      const response = await pay(url);
      expect([response.status, await response.json()]).to.deep.equal([200, { report: "paid" }]);
      const receipt = decode(response.headers.get("payment-response"));
      expect(receipt).to.include({ success: true });
      expect(await world.provider.getTransactionReceipt(String(receipt["transaction"]))).to.include({ status: 1 });
    }, PRICE);
    expect(server.served() - before).to.equal(1);
  });

  it("for a HEAD, from the terms in the headers", async () => {
    const scheme = await schemeOf(await payerWith(world, [1_500_000n, 1_500_000n]));
    const pay = wrapFetchWithPayment(scheme.track(fetch), new x402Client().register(scheme.network, scheme));
    const before = server.served();
    // The control: a GET costs the same.
    for (const [method, body] of [
      ["HEAD", ""],
      ["GET", '{"report":"paid"}'],
    ] as const)
      await earned(async () => {
        const response = await pay(url, { method });
        expect([response.status, await response.text()]).to.deep.equal([200, body]);
        expect(decode(response.headers.get("payment-response"))).to.include({ success: true });
      }, PRICE);
    expect(server.served() - before).to.equal(2);
  });

  it("five concurrent requests, each from its own note", async () => {
    const wallet = await payerWith(
      world,
      Array.from({ length: 5 }, () => 1_500_000n),
    );
    const scheme = await schemeOf(wallet);
    const pay = wrapFetchWithPayment(fetch, new x402Client().register(scheme.network, scheme));
    const before = server.served();
    await earned(async () => {
      const responses = await Promise.all(Array.from({ length: 5 }, () => pay(url)));
      expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    }, 5n * PRICE);
    expect(server.served() - before).to.equal(5);
  });
});
