// Handlers, facilitators and networks that fail during a payment: nothing is served unpaid, and nothing is paid twice.

import { encodeShieldedAddress } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { merchantKey, merchantTag } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { MemoryUses, SottoScheme, type SottoServerOptions } from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { x402ResourceServer } from "@x402/express";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type Middleman, openMiddleman } from "./support/middleman.ts";
import { type Accepted, bundleFor, challenge, headerOf, show } from "./support/payer.ts";
import { openResourceServer, type ResourceServer, signRecipient } from "./support/resource-server.ts";

describe("a paid request while parts fail", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let between: Middleman;
  let server: ResourceServer;
  let root: bigint;
  let url: string;
  const address = encodeShieldedAddress({ encryptionKey: merchantKey, ownerTag: merchantTag });

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
    between = await openMiddleman(service.origin);
    const recipient = await signRecipient(world, Account.createRandom(), address);
    server = await openResourceServer(world, recipient, between.url + new URL(service.url).pathname);
    url = `${server.origin}/report`;
  });
  after(async () => {
    await server.close();
    await between.close();
    await service.close();
  });
  afterEach(() => {
    between.trouble = (_path, answer) => answer();
    server.handler = (_request, response) => void response.json({ report: "paid" });
  });

  const paid = async (): Promise<string> => {
    const accepted: Accepted = await challenge(url);
    return headerOf(accepted, bundleFor(world, root, accepted));
  };
  /** How often the handler runs during an action. */
  const served = async (act: () => Promise<unknown>): Promise<number> => {
    const before = server.served();
    await act();
    return server.served() - before;
  };

  it("restores the payment after a handler fails, for three attempts in all", async () => {
    const header = await paid();
    server.handler = (_request, response) => void response.status(503).json({ error: "away" });
    const statuses: number[] = [];
    const runs = await served(async () => {
      for (let i = 0; i < 4; i += 1) statuses.push((await show(url, header)).status);
    });
    expect([statuses, runs]).to.deep.equal([[503, 503, 503, 402], 3]);
  });

  it("accepts the retry after a failed handler", async () => {
    const header = await paid();
    server.handler = () => Promise.reject(new Error("the handler throws"));
    expect((await show(url, header)).status).to.equal(500);
    server.handler = (_request, response) => void response.json({ report: "paid" });
    expect((await show(url, header)).status).to.equal(200);
    expect((await show(url, header)).status).to.equal(402);
  });

  it("treats a 4xx response as final", async () => {
    const header = await paid();
    server.handler = (_request, response) => void response.status(404).json({ error: "no such report" });
    const [first, second] = [await show(url, header), await show(url, header)];
    expect([first.status, first.answer["success"], second.status]).to.deep.equal([404, true, 402]);
  });

  it("serves nothing while the facilitator is unreachable, and accepts the same payment afterwards", async () => {
    const header = await paid();
    between.trouble = async () => "lost";
    const runs = await served(async () => expect((await show(url, header)).status).to.equal(402));
    expect(runs).to.equal(0);
    between.trouble = (_path, answer) => answer();
    expect((await show(url, header)).status).to.equal(200);
  });

  it("serves once if the response to a settlement was lost", async () => {
    const header = await paid();
    between.trouble = async (_path, answer) => {
      await answer();
      return "lost";
    };
    const runs = await served(async () => {
      expect((await show(url, header)).status).to.equal(402);
      between.trouble = (_path, answer) => answer();
      const again = await show(url, header);
      expect([again.status, again.answer["success"]]).to.deep.equal([200, true]);
      expect((await show(url, header)).status).to.equal(402);
    });
    expect(runs).to.equal(1);
  });

  it("serves nothing if a response has success: false with any other fields, or is malformed", async () => {
    const network = `eip155:${world.chainId}`;
    const transaction = `0x${"ab".repeat(32)}`;
    const lies = [
      [200, { success: false, errorReason: "sotto_expired", transaction, network }],
      [200, { success: "true", transaction, network }],
      [200, { isValid: true }],
      [200, "yes"],
      [500, { error: "broken" }],
    ] as const;
    for (const [status, body] of lies) {
      const header = await paid();
      between.trouble = async () => ({ status, body: JSON.stringify(body) });
      const runs = await served(async () => expect((await show(url, header)).status).to.be.oneOf([402, 502]));
      expect(runs, JSON.stringify(body)).to.equal(0);
      between.trouble = (_path, answer) => answer();
      expect((await show(url, header)).status).to.equal(200);
    }
  });

  it("asks twice while a settlement is pending, then lets the payer retry", async () => {
    const header = await paid();
    let asked = 0;
    const pending = { success: false, errorReason: "settlement_pending", network: `eip155:${world.chainId}` };
    between.trouble = async () => {
      asked += 1;
      return { status: 202, body: JSON.stringify({ ...pending, transaction: `0x${"cd".repeat(32)}` }) };
    };
    const answer = await show(url, header);
    expect([answer.status, answer.answer["errorReason"], asked]).to.deep.equal([402, "settlement_pending", 2]);
    between.trouble = (_path, forward) => forward();
    expect((await show(url, header)).status).to.equal(200);
  });

  it("rejects a facilitator with another pool or address at startup", async () => {
    const start = async (options: Partial<SottoServerOptions>) => {
      const recipient = await signRecipient(world, Account.createRandom(), address);
      const place = { origin: server.origin, recipient, chainId: world.chainId, pool: world.pool };
      const scheme = new SottoScheme({ ...place, asset: world.token, decimals: 6, service: service.url, ...options });
      const facilitator = new HTTPFacilitatorClient({ url: service.url });
      await new x402ResourceServer(facilitator).register(scheme.network, scheme).initialize();
    };
    const refusal = (options: Partial<SottoServerOptions>) => start(options).then(() => "", String);
    expect(await refusal({})).to.equal("");
    expect(await refusal({ decimals: 18 })).to.match(/with 6 decimals/);
    expect(await refusal({ asset: world.pool })).to.match(/it settles in the pool/);
    expect(await refusal({ pool: world.token })).to.match(/it settles in the pool/);
  });

  it("rejects a payment if it is unknown whether it was used", async () => {
    const errors: unknown[] = [];
    class Broken extends MemoryUses {
      override claim = () => Promise.reject(new Error("the store is unavailable"));
    }
    const recipient = await signRecipient(world, Account.createRandom(), address);
    const blind = closedAfterTest(
      await openResourceServer(world, recipient, service.url, {
        uses: new Broken(),
        onError: (error) => errors.push(error),
      }),
    );
    const there = `${blind.origin}/report`;
    const accepted = await challenge(there);
    const answer = await show(there, headerOf(accepted, bundleFor(world, root, accepted)));
    expect([answer.status, answer.answer["errorReason"]]).to.deep.equal([402, "sotto_check_failed"]);
    expect([blind.served(), errors.length]).to.deep.equal([0, 1]);
  });

  it("rejects payments from before the start of a server without a store", async () => {
    const accepted = await challenge(url);
    const bundle = bundleFor(world, root, accepted, { timestamp: server.started - 1 });
    const answer = await show(url, headerOf(accepted, bundle));
    expect([answer.status, answer.answer["errorReason"]]).to.deep.equal([402, "sotto_payment_before_start"]);
  });
});
