// A wallet pays servers on several adapters through the paying fetch. Its notes and payment proofs are real; only the
// append proofs are forged.

import { type PayingFetch, wrapFetch } from "@sotto/client";
import { createProver, loadArtifacts } from "@sotto/prover";
import { createPaywall, type Paywall } from "@sotto/resource-server";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { paywallOptions } from "@sotto/test-world/paywall/options";
import { type MerchantWorld, openMerchantWorld, PRICE } from "@sotto/test-world/paywall/world";
import { artifacts, openService, type TestService } from "@sotto/test-world/service";
import { createSeedWords, MemoryStore, seedFromWords, Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { ADAPTERS, proofOf, type ResourceServer, type Sale } from "./support/servers.ts";

/**
 * By default a wallet pays one framework and plain handlers, and makes the parallel payments to Hono. Express 4 and 5
 * share an adapter.
 */
const NAMES = inLongRun(["Express 5", "fetch"], ["Fastify", "Hono"]);
const NOTE = 3n * PRICE;

describe("a client with a wallet", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let wallet: Wallet;
  let pay: PayingFetch;
  /** Appends the deposited notes to the tree, so that they can be spent. */
  let appending: TestService;
  before(async () => {
    world = await openMerchantWorld();
    appending = await openService({ SOTTO_APPEND_AFTER_MS: "0" });
    const { chainId, pool, token, deploymentBlock, node } = world;
    wallet = await Wallet.open({
      chain: node.url,
      chainId: BigInt(chainId),
      pool,
      token,
      deploymentBlock,
      finality: 0,
      seed: seedFromWords(createSeedWords()),
      store: new MemoryStore(),
      prover: createProver(await loadArtifacts({ folder: artifacts })),
    });
    // One note for each server, and two for the server with parallel payments.
    const amounts = Array.from({ length: NAMES.length + 2 }, () => NOTE);
    const { deposit } = await wallet.deposit({ amounts });
    await world.send(deposit);
    while (wallet.balance().spendable < NOTE * BigInt(amounts.length)) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      await wallet.scan();
    }
    pay = wrapFetch(fetch, wallet, { services: [world.service], maxPerRequest: PRICE, retryDelayMs: 50 });
  });
  after(async () => {
    await appending?.close();
  });

  /** Opens a server whose origin is the address it listens on, because the client accepts no other. */
  async function open(name: string, sell: (sale: Sale) => { status: number; text: string }) {
    let paywall: Paywall | undefined;
    const later = {
      decide: (request: Parameters<Paywall["decide"]>[0]) => paywall!.decide(request),
      close: async () => undefined,
      removedHeaders: [],
    };
    const server: ResourceServer = await ADAPTERS.get(name)!(later, sell);
    const { addresses, viewingKeys } = world.merchant;
    const recipient = { addresses, viewingKeys };
    paywall = await createPaywall({ ...paywallOptions(world), origin: server.url, recipient });
    const close = async () => {
      await server.close();
      await paywall?.close();
    };
    return { url: server.url, close };
  }

  for (const name of NAMES)
    it(`pays once on ${name} although the handler fails at first, and the server reads the amount`, async () => {
      const sales: Sale[] = [];
      const server = await open(name, (sale) => {
        sales.push(sale);
        return sales.length === 1 ? { status: 503, text: "later" } : { status: 200, text: "the goods" };
      });
      try {
        const before = wallet.balance().total;
        const response = await pay(`${server.url}/paid/report?lang=en`);
        expect([response.status, await response.text()]).to.deep.equal([200, "the goods"]);
        await wallet.scan();
        expect(wallet.balance().total).to.equal(before - PRICE);
        const [failed, served] = sales.map(proofOf);
        expect(served?.digest).to.equal(failed?.digest);
        expect(served?.amount).to.equal(PRICE);
        expect(served?.settledThere).to.equal(true);
        expect(served?.resource).to.equal(`${server.url}/paid/report?lang=en`);
      } finally {
        await server.close();
      }
    });

  it("makes two parallel payments from two notes", async () => {
    const nullifiers = new Set<bigint>();
    const server = await open("Hono", (sale) => {
      const { nullifier, resource } = proofOf(sale);
      nullifiers.add(nullifier);
      return { status: 200, text: resource };
    });
    try {
      const urls = ["a", "b"].map((what) => `${server.url}/paid/${what}`);
      const answers = await Promise.all(urls.map(async (url) => (await pay(url)).text()));
      expect(answers).to.deep.equal(urls);
      expect(nullifiers.size).to.equal(2);
    } finally {
      await server.close();
    }
  });
});
