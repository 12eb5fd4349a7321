// A paywall does not open with settings that would prevent it from checking payments. If its chain or service is
// unreachable, it opens later.

import { setTimeout as sleep } from "node:timers/promises";
import { parseDeployment, parseInstructions } from "@sotto/protocol";
import { lockOf } from "@sotto/prover";
import type { PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { createMerchant } from "@sotto/test-world/paywall/merchant";
import { openPaywall, paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import express from "express";
import fastify from "fastify";
import { ask, told } from "./support/core.ts";
import { Door } from "./support/door.ts";

describe("a paywall does not open", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });
  const chain = (changes: object) => ({ ...paywallOptions(world).chain, ...changes });
  const code = (changes: Partial<PaywallOptions>): Promise<string> =>
    openPaywall(world, changes).then(
      async (paywall) => {
        await paywall.close();
        return "opened";
      },
      (error: { code?: string }) => String(error.code),
    );

  it("for a recipient without a current signature for this pool", async () => {
    const recipient = world.merchant.lasting;
    const [old, next] = [recipient.issuedAt - 300, recipient.issuedAt + 86_400];
    const lies = [{ signature: `0x${"11".repeat(65)}` }, { signature: "0x" }, { issuedAt: old }, { issuedAt: next }];
    for (const lie of [...lies, { service: "https://registry.example" }, { phone: "+14155550100" }])
      expect(await code({ recipient: { ...recipient, ...lie } }), JSON.stringify(lie)).to.equal("RECIPIENT_NOT_SIGNED");
    const { lasting: expired } = await createMerchant(world, { now: Date.now() - 401 * 86_400_000 });
    expect(await code({ recipient: expired })).to.equal("RECIPIENT_NOT_SIGNED");
    expect(await code({ recipient })).to.equal("opened");
    expect(await code({})).to.equal("opened");
  });

  it("for another chain, pool or token", async () => {
    const recipient = world.merchant.lasting;
    expect(await code({ recipient, chain: chain({ chainId: 1337 }) })).to.equal("WRONG_CHAIN");
    for (const pool of [`0x${"12".repeat(20)}`, world.token]) {
      expect(await code({ recipient, chain: chain({ pool }) })).to.equal("POOL_MISMATCH");
      // The addresses of months are for one pool.
      expect(await code({ chain: chain({ pool }) })).to.equal("INVALID_OPTION");
    }
    expect(await code({ chain: chain({ token: world.pool }) })).to.equal("POOL_MISMATCH");
    expect(await code({ chain: chain({ decimals: 18 }) })).to.equal("POOL_MISMATCH");
    expect(await code({ chain: chain({ token: world.token, decimals: 6 }) })).to.equal("opened");
  });

  it("for artifacts of a different set than the pool's", async () => {
    expect(await code({ chain: chain({ set: "ceremony/never-held" }) })).to.equal("ARTIFACT_SET_UNKNOWN");
    const set = "ceremony/autumn-2026";
    expect(await code({ chain: chain({ set }), keys: lockOf("development") })).to.equal("SET_MISMATCH");
    const keys = { ...lockOf("development"), set };
    expect(await code({ chain: chain({ set: "development" }), keys })).to.equal("SET_MISMATCH");
  });

  it("unless the chain options are the fields of the deployment's manifest", async () => {
    const { rpcUrls } = paywallOptions(world).chain;
    expect(await code({ chain: { ...parseDeployment(world), rpcUrls } })).to.equal("opened");
  });

  it("for a service with different keys than the pinned ones", async () => {
    const wrong = { wasm: "00".repeat(32), zkey: "00".repeat(32), vkey: "00".repeat(32) };
    const keys = { set: "development", circuits: { payment: wrong, elgamal_range: wrong } };
    expect(await code({ keys })).to.equal("KEY_NOT_PINNED");
    expect(await code({ keys: { set: "x", circuits: 7 } as never })).to.equal("ARTIFACTS_LOCK_INVALID");
  });
});

describe("a paywall that cannot reach everything yet", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let service: Door;
  let node: Door;
  before(async () => {
    world = await openMerchantWorld();
  });
  beforeEach(async () => {
    service = await Door.to(world.service);
    node = await Door.to(world.node.url);
  });
  afterEach(async () => {
    await service.close();
    await node.close();
  });
  const options = (): PaywallOptions => {
    const usual = paywallOptions(world);
    return { ...usual, service: service.url, chain: { ...usual.chain, rpcUrls: [node.url] } };
  };

  it("asks for payments before the service answers, and accepts them once it does", async () => {
    node.shut = false;
    const events: PaywallEvent[] = [];
    const paywall = closedAfterTest(
      await openPaywall(world, { ...options(), onEvent: (event) => void events.push(event) }),
    );
    expect(told(await ask(paywall, [], "/health"))).to.equal("free");
    const challenge = await ask(paywall);
    if (challenge.kind !== "refused") throw new Error(challenge.kind);
    expect([challenge.status, challenge.headers["www-authenticate"]]).to.deep.equal([402, "x402-zk"]);
    expect(parseInstructions(challenge.body).payment.verifyEndpoint).to.equal(`${service.url}/verify`);
    expect(told(await ask(paywall, ["no proof"]))).to.equal("400");
    const header = headerOf(await pay(world));
    expect(told(await ask(paywall, [header]))).to.equal("402 later");
    expect(events.at(-1)).to.include({ event: "unavailable", reason: "SERVICE_UNAVAILABLE" });
    expect(events[0]).to.include({ event: "opening", reason: "SERVICE_UNAVAILABLE" });
    service.shut = false;
    await paywall.ready;
    expect(told(await ask(paywall, [header]))).to.equal("paid");
    expect(events.map(({ event }) => event)).to.include("opened");
  });

  it("answers 503 before the chain answers, and serves free routes", async () => {
    const price = ({ path }: { path: string }) => (path === "/gift" ? "free" : "0.01");
    const paywall = closedAfterTest(await openPaywall(world, { ...options(), price }));
    for (const values of [[], ["no proof"]]) {
      const decision = await ask(paywall, values);
      if (decision.kind !== "refused") throw new Error(decision.kind);
      expect([decision.status, decision.headers["retry-after"]]).to.deep.equal([503, "5"]);
      expect(decision.body).to.have.keys("error", "message");
    }
    for (const target of ["/health", "/gift"]) expect(told(await ask(paywall, [], target))).to.equal("free");
    expect(told(await ask(paywall, [], "//"))).to.equal("400");
    node.shut = false;
    service.shut = false;
    await paywall.ready;
    expect(told(await ask(paywall))).to.equal("402");
  });

  it("rejects its promise if the service comes back with another key", async () => {
    node.shut = false;
    const wrong = { wasm: "00".repeat(32), zkey: "00".repeat(32), vkey: "00".repeat(32) };
    const keys = { set: "development", circuits: { payment: wrong, elgamal_range: wrong } };
    const paywall = closedAfterTest(await openPaywall(world, { ...options(), keys }));
    const failure = paywall.ready.catch(({ code }: { code: string }) => code);
    service.shut = false;
    expect(await failure).to.equal("KEY_NOT_PINNED");
    // The server must not ask for a payment that it could never accept.
    expect(told(await ask(paywall))).to.equal("503 later");
    expect(told(await ask(paywall, [], "/health"))).to.equal("free");
  });

  it("can be closed before it opens", async () => {
    const paywall = await openPaywall(world, options());
    await paywall.close();
    await paywall.ready;
    expect(told(await ask(paywall))).to.equal("503 later");
  });

  const programs: Record<string, () => Promise<{ url: string; close(): Promise<unknown> }>> = {
    async Express() {
      const app = express();
      const paywall = expressPaywall(options());
      app.use(paywall);
      app.get("/health", (_request, response) => void response.send("healthy"));
      app.get("/paid/a", (_request, response) => void response.send("the goods"));
      const server = app.listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      const { port } = server.address() as { port: number };
      const close = async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await paywall.close();
      };
      return { url: `http://127.0.0.1:${port}`, close };
    },
    async Fastify() {
      const app = fastify();
      await app.register(fastifyPaywall, options());
      app.get("/health", async () => "healthy");
      app.get("/paid/a", async () => "the goods");
      return { url: await app.listen({ port: 0, host: "127.0.0.1" }), close: () => app.close() };
    },
  };
  for (const [name, start] of Object.entries(programs))
    it(`lets a program on ${name} start, serve health checks and charge later`, async () => {
      const { url, close } = await start();
      try {
        expect(await (await fetch(`${url}/health`)).text()).to.equal("healthy");
        const early = await fetch(`${url}/paid/a`);
        expect([early.status, early.headers.get("retry-after")]).to.deep.equal([503, "5"]);
        node.shut = false;
        service.shut = false;
        while ((await fetch(`${url}/paid/a`)).status === 503) await sleep(50);
        const headers = showing(headerOf(await pay(world)));
        let sold = await fetch(`${url}/paid/a`, { headers });
        for (; sold.headers.has("retry-after"); await sleep(50)) sold = await fetch(`${url}/paid/a`, { headers });
        expect([sold.status, await sold.text()]).to.deep.equal([200, "the goods"]);
      } finally {
        await close();
      }
    });
});
