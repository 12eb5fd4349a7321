// Those who ask for an origin in x402's format: published servers and clients, a service with a condition, and a real curator.
import { createServer, type Server } from "node:http";
import { wrapFetch } from "@sotto/client";
import { showOrigins } from "@sotto/origins/client";
import { origins, type ShownSet } from "@sotto/origins/server";
import type { Origins } from "@sotto/origins/wallet";
import { SCHEDULE_PATH } from "@sotto/protocol";
import {
  createPaywall,
  openAttachments,
  type PaymentAttachment,
  type PaymentAttachments,
  type PaywallEvent,
} from "@sotto/resource-server";
import { type PaidRequest, sotto } from "@sotto/resource-server/express";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import type { Merchant } from "@sotto/test-world/merchant";
import { OriginProver } from "@sotto/test-world/origin-prover";
import { payerWith } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { SottoScheme as Payer } from "@sotto/x402/client";
import { bothFormats, MemoryUses, SottoScheme, type SottoServerOptions, x402Method } from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { paymentMiddlewareFromHTTPServer, x402HTTPResourceServer, x402ResourceServer } from "@x402/express";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { expect } from "chai";
import express, { type Express, type RequestHandler } from "express";
import { openScene, type Scene } from "./support/scene.ts";

const decode = (header: string) => JSON.parse(Buffer.from(header, "base64").toString());
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

describe("those who ask for an origin in x402's format", function () {
  slow(this, "a chain, a service and real proofs");
  let scene: Scene;

  before(async () => {
    scene = await openScene();
  });
  after(() => scene.close());

  interface Selling {
    readonly url: string;
    /** What the handler saw of the payments. */
    readonly seen: (readonly ShownSet[] | undefined)[];
    readonly events: PaywallEvent[];
    close(): Promise<void>;
  }

  const listen = async (): Promise<{ app: Express; server: Server; origin: string }> => {
    const app = express();
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { app, server, origin: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
  };
  const ended = async (server: Server) => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const schemeOf = (
    { paywall, account }: Merchant,
    origin: string,
    options: Pick<SottoServerOptions<PaymentAttachments>, "uses" | "attachments">,
  ) => {
    const { recipient, service, chain } = paywall;
    const { chainId, pool } = chain;
    const scheme = new SottoScheme<PaymentAttachments>({
      ...{ origin, recipient, service, chainId, pool, asset: scene.world.token, decimals: 6 },
      ...options,
    });
    const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: service, timeoutMs: 300_000 }));
    resources.register(scheme.network, scheme);
    const accepts = { scheme: scheme.scheme, network: scheme.network, payTo: account.address, price: "$0.01" };
    return { scheme, http: new x402HTTPResourceServer(resources, { "GET /report": { accepts } }) };
  };

  /** A server with the published middleware alone. */
  const sell = async (merchant: Merchant, attachments: readonly PaymentAttachment[]): Promise<Selling> => {
    const { app, server, origin } = await listen();
    const events: PaywallEvent[] = [];
    const { service, chain } = merchant.paywall;
    const onEvent = (event: PaywallEvent) => void events.push(event);
    const opened = await openAttachments(attachments, { origin, service, chain, onEvent });
    const { scheme, http } = schemeOf(merchant, origin, { uses: new MemoryUses(), attachments: opened });
    const seen: Selling["seen"] = [];
    app.get(SCHEDULE_PATH, (_request, response) => void response.json(scheme.schedule));
    app.use(paymentMiddlewareFromHTTPServer(http));
    app.get("/report", async (request, response) => {
      seen.push((await scheme.attachmentsOf(request.get("payment-signature")))?.origin);
      response.send("the goods");
    });
    const close = async () => {
      await ended(server);
      await opened.close();
    };
    return { url: `${origin}/report`, seen, events, close };
  };

  /** A server whose route answers both formats. */
  const sellInBoth = async (merchant: Merchant, attachments: readonly PaymentAttachment[]): Promise<Selling> => {
    const { app, server, origin } = await listen();
    const events: PaywallEvent[] = [];
    const paywall = await createPaywall({
      ...{ origin, price: "0.01", ...merchant.paywall, store: "sqlite::memory:", attachments },
      onEvent: (event) => void events.push(event),
      methods: [x402Method(() => http)],
    });
    const { scheme, http } = schemeOf(merchant, origin, { uses: paywall.uses, attachments: paywall.attachments });
    await paywall.ready;
    const seen: Selling["seen"] = [];
    app.use(bothFormats(http, paymentMiddlewareFromHTTPServer(http), sotto(paywall) as unknown as RequestHandler));
    app.get("/report", async (request, response) => {
      const { payment } = request as unknown as PaidRequest;
      const shown = payment ?? (await scheme.attachmentsOf(request.get("payment-signature")));
      seen.push(shown?.origin);
      response.send("the goods");
    });
    // The middleware begins this too, and forgets meanwhile what it knew.
    await http.initialize();
    const close = async () => {
      await ended(server);
      await paywall.close();
    };
    return { url: `${origin}/report`, seen, events, close };
  };

  /** A payer whose notes are in the set, and what it sends. */
  const openPayer = async () => {
    const wallet = await payerWith(scene.world, [500_000n, 500_000n, 500_000n], { prover: new OriginProver() });
    await scene.curator.acceptNew();
    return { wallet, following: await scene.follow(wallet) };
  };
  /** The published client. @param change changes the origin that leaves */
  const stock = async (
    wallet: Wallet,
    following?: Origins,
    change: (origin: string | undefined) => string | undefined = (origin) => origin,
  ) => {
    const sent: (string | undefined)[] = [];
    const attachments = following === undefined ? [] : [showOrigins({ origins: following, missing: "refuse" })];
    const payer = await Payer.open({ wallet, services: [scene.world.serviceUrl], attachments });
    const send: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const header = request.headers.get("payment-signature");
      if (header !== null) {
        const payment = decode(header) as { payload: { origin?: string } };
        sent.push(payment.payload.origin);
        const origin = change(payment.payload.origin);
        request.headers.set("payment-signature", encode({ ...payment, payload: { ...payment.payload, origin } }));
      }
      return fetch(request);
    };
    const pay = wrapFetchWithPayment(payer.track(send), new x402Client().register(payer.network, payer));
    return { pay, sent };
  };
  const roots = ({ seen }: Selling) => seen.map((sets) => sets?.map(({ root }) => root));
  const newest = () => scene.curator.heads.at(-1)!.head.maskRoot;

  it("see the set that the published client shows, and a service with a condition settles only with it", async () => {
    const { wallet, following } = await openPayer();
    const server = await sell(scene.strict, [origins({ sets: [scene.set] })]);
    try {
      const refused = await (await stock(wallet)).pay(server.url);
      const { errorReason } = decode(refused.headers.get("payment-response")!);
      expect([refused.status, errorReason]).to.deep.equal([402, "sotto_origin_required"]);
      expect([server.seen, await scene.strict.received()]).to.deep.equal([[], 0n]);
      const { pay, sent } = await stock(wallet, following);
      // Another resource: a payment that left without an origin never shows one.
      expect(await (await pay(`${server.url}?other`)).text()).to.equal("the goods");
      expect(server.seen).to.deep.equal([[{ ...scene.set, root: newest() }]]);
      expect([sent.length, server.events.map(({ event }) => event)]).to.deep.equal([1, ["origin"]]);
      expect(await scene.strict.received()).to.equal(10_000n);
      // The server tells the curator, so what was paid for inherits the origin.
      const [spend] = await eventually(async () => {
        await wallet.scan();
        await scene.curator.read();
        return wallet.spends().length > 0 && wallet.spends();
      });
      await eventually(async () => scene.curator.state.hasClaim({ nullifier: spend!.nullifier, maskRoot: newest() }));
    } finally {
      following.close();
      await server.close();
    }
  });

  it("serve a payment whose origin was stripped, or is that of another payment, without an origin", async () => {
    const { wallet, following } = await openPayer();
    const server = await sell(scene.asking, [origins({ sets: [scene.set] })]);
    try {
      const first = await stock(wallet, following, () => undefined);
      expect(await (await first.pay(server.url)).text()).to.equal("the goods");
      const others = first.sent[0];
      expect(others).to.be.a("string");
      const second = await stock(wallet, following, () => others);
      expect(await (await second.pay(server.url)).text()).to.equal("the goods");
      expect(second.sent[0], "the notes differ").to.be.a("string").and.not.equal(others);
      const control = await stock(wallet, following);
      expect(await (await control.pay(server.url)).text()).to.equal("the goods");
      expect(roots(server)).to.deep.equal([[], [], [newest()]]);
      expect(server.events.map(({ event, reason = "" }) => [event, reason])).to.deep.equal([
        ["originIgnored", "ORIGIN_PROOF_INVALID"],
        ["origin", ""],
      ]);
    } finally {
      following.close();
      await server.close();
    }
  });

  it("see the same on a route with both formats, which opens the sets once; a server that asks for nothing is shown nothing", async () => {
    const { wallet, following } = await openPayer();
    let opened = 0;
    const one = origins({ sets: [scene.set] });
    const counted: PaymentAttachment = {
      ...one,
      open: (core) => {
        opened += 1;
        return one.open(core);
      },
    };
    const [server, silent] = [await sellInBoth(scene.asking, [counted]), await sellInBoth(scene.asking, [])];
    try {
      const challenge = await fetch(server.url);
      const [{ extra }] = decode(challenge.headers.get("payment-required")!).accepts;
      const { payment } = (await challenge.json()) as { payment: { origins: unknown } };
      expect(extra.attachments).to.deep.equal({ origins: payment.origins });
      const { pay, sent } = await stock(wallet, following);
      expect(await (await pay(server.url)).text()).to.equal("the goods");
      const own = wrapFetch(fetch, wallet, {
        ...{ services: [scene.world.serviceUrl], maxPerRequest: 10_000n, pinHosts: false },
        attachments: [showOrigins({ origins: following, missing: "refuse" })],
      });
      expect(await (await own(server.url)).text()).to.equal("the goods");
      expect([roots(server), opened]).to.deep.equal([[[newest()], [newest()]], 1]);
      expect(await (await pay(silent.url)).text()).to.equal("the goods");
      expect([silent.seen, sent.at(-1)]).to.deep.equal([[undefined], undefined]);
    } finally {
      following.close();
      await Promise.all([server.close(), silent.close()]);
    }
  });

  it("ask for four sets within the headers of a 402 in both formats", async () => {
    const names = ["clean", "exchange-deposits", "bank", "travel-rule"];
    const sets = names.map((name) => ({ ...scene.set, curator: `https://${name}.curator.example/origins`, name }));
    const answer = async () => new Response(null, { status: 503 });
    const server = await sellInBoth(scene.asking, [origins({ sets, fetch: answer })]);
    try {
      const challenge = await fetch(server.url);
      expect([challenge.status, server.events.filter(({ reason }) => reason === "OFFER_FAILED")]).to.deep.equal([
        402,
        [],
      ]);
      const header = challenge.headers.get("payment-required")!;
      expect(header.length).to.be.at.most(3_000);
      expect(decode(header).accepts[0].extra.attachments.origins.map(({ name }: ShownSet) => name)).to.deep.equal(
        names,
      );
    } finally {
      await server.close();
    }
  });
});
