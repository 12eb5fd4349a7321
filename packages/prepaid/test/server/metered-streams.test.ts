// Streams of a model on a metered route, on adapters over HTTP: what is charged, and what the response says.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Meter, Paywall } from "@sotto/resource-server";
import { sotto as nodePaywall } from "@sotto/resource-server/express";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { withPayment } from "@sotto/resource-server/fetch";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import fastify from "fastify";
import {
  encodePrepaidHeader,
  METERED_CHARGE_HEADER,
  METERED_RULE_HEADER,
  PREPAID_HEADER,
  parseChargeHeader,
} from "../../src/index.ts";
import { meterOpenAiStream } from "../../src/server.ts";
import { createMerchant, openServer, type PrepaidServer } from "./support/merchant.ts";
import { buy, CAP, claim, claimed, METERED_VALUES, meteredOptions, type Owned, RULE_HASH } from "./support/metered.ts";

const PART = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "x" }, finish_reason: null }] })}\n\n`;
const DONE = "data: [DONE]\n\n";

/** What the handler answers: a stream, or a text at once. */
type Answer = (meter: Meter) => Promise<ReadableStream<Uint8Array> | string>;

const STATUS = { text: 200, failed: 503 };
const statusOf = (answer: string): number => (answer === "failed" ? STATUS.failed : STATUS.text);

type Start = (paywall: Paywall, answer: Answer) => Promise<{ server: Server; close?: () => Promise<unknown> }>;

const listen = async (listener: RequestListener) => ({ server: createServer(listener).listen(0, "127.0.0.1") });

const onNode: Start = (paywall, answer) => {
  const middleware = nodePaywall(paywall);
  return listen((request, response) =>
    middleware(request, response, async () => {
      const body = await answer((request as { payment?: { meter?: Meter } }).payment!.meter!);
      if (typeof body === "string") {
        response.statusCode = statusOf(body);
        response.end(body);
      } else pipeline(Readable.fromWeb(body as never), response, () => undefined);
    }),
  );
};

const onFastify: Start = async (paywall, answer) => {
  const app = fastify();
  await app.register(fastifyPaywall, paywall);
  app.post("/chat", async (request, reply) => {
    const body = await answer(request.payment!.meter!);
    if (typeof body === "string") return reply.code(statusOf(body)).send(body);
    return reply.type("text/event-stream").send(Readable.fromWeb(body as never));
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return { server: app.server, close: () => app.close() };
};

/** A server that sends the body of a Response, and cancels it if the client leaves. */
const onFetch: Start = (paywall, answer) => {
  const handler = withPayment(async (_request, payment) => {
    const body = await answer(payment!.meter!);
    return new Response(body, { status: typeof body === "string" ? statusOf(body) : 200 });
  }, paywall);
  return listen(async ({ url, method, headers }, outgoing) => {
    const sent = await handler(
      new Request(`http://data.example${url}`, { method: method!, headers: headers as HeadersInit }),
    );
    outgoing.writeHead(sent.status, Object.fromEntries(sent.headers));
    pipeline(Readable.fromWeb(sent.body as never), outgoing, () => undefined);
  });
};

for (const [name, start] of [
  ["Node", onNode],
  ["Fastify", onFastify],
  ["fetch", onFetch],
] as const)
  describe(`a model's stream on a metered route of ${name}`, () => {
    let merchant: PrepaidServer;
    let opened: Awaited<ReturnType<Start>>;
    let upstream: Server;
    let url: string;
    let owned: Owned[];
    let answer: Answer;
    /** Parts that the upstream sends. */
    let parts: number;
    let upstreamClosed: Promise<unknown>;
    before(async () => {
      const folder = temporaryFolder("metered-streams");
      const keys = await createMerchant({}, METERED_VALUES);
      merchant = await openServer(
        meteredOptions(keys, `sqlite:${join(folder, "store.sqlite")}`, join(folder, "guard")),
      );
      owned = await buy(merchant, 6);
      upstream = createServer(async (_request, response) => {
        upstreamClosed = once(response, "close");
        for (let sent = 0; sent < parts && !response.destroyed; sent++) {
          response.write(PART);
          await setImmediate();
        }
        response.end(DONE);
      }).listen(0, "127.0.0.1");
      await once(upstream, "listening");
      opened = await start(merchant.paywall, (meter) => answer(meter));
      if (!opened.server.listening) await once(opened.server, "listening");
      url = `http://127.0.0.1:${(opened.server.address() as AddressInfo).port}/chat`;
    });
    after(async () => {
      opened.server.closeAllConnections();
      await (opened.close?.() ?? new Promise((resolve) => opened.server.close(resolve)));
      upstream.closeAllConnections();
      upstream.close();
      await merchant.close();
    });
    beforeEach(() => {
      answer = async (meter) => {
        const model = await fetch(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
        return meterOpenAiStream(model.body!, { meter });
      };
    });
    const ask = ({ token }: Owned, signal?: AbortSignal) =>
      fetch(url, {
        method: "POST",
        headers: { [PREPAID_HEADER]: encodePrepaidHeader(token), [METERED_RULE_HEADER]: RULE_HASH },
        ...(signal && { signal }),
      });
    /** What the merchant's receipt says. */
    const receiptOf = async (one: Owned) => {
      while ((await claim(merchant, one)).code === "METERED_RUNNING") await setImmediate();
      const { charge, units } = (await claimed(merchant, one)).receipt.receipt;
      return { charge, units };
    };

    it("costs its tokens, once it has ended", async () => {
      parts = 4;
      const response = await ask(owned[0]!);
      expect(await response.text()).to.equal(PART.repeat(4) + DONE);
      expect(response.headers.get(METERED_CHARGE_HEADER)).to.equal(null);
      // 500 + 4 * 0.6, rounded up to the grain.
      expect(await receiptOf(owned[0]!)).to.deep.equal({ charge: 1_000n, units: { output: 4n } });
    });

    it("ends at the cap", async () => {
      parts = 1e9;
      answer = async (meter) => {
        // 500 + 14,160 * 0.6 = 8,996: the seventh part passes 9,000, and is rounded up to the cap.
        meter.add({ output: 14_160 });
        const model = await fetch(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
        return meterOpenAiStream(model.body!, { meter });
      };
      const text = await (await ask(owned[1]!)).text();
      expect(text.startsWith(PART.repeat(7)) && text.endsWith(`"finish_reason":"length"}]}\n\n${DONE}`)).to.equal(true);
      expect(text.split("\n\n")).to.have.length(7 + 3);
      expect((await receiptOf(owned[1]!)).charge).to.equal(CAP);
      await upstreamClosed;
    });

    it("costs what was sent if the client leaves, and stops the upstream", async () => {
      parts = 1e9;
      const client = new AbortController();
      const response = await ask(owned[2]!, client.signal);
      await response.body!.getReader().read();
      client.abort();
      await upstreamClosed;
      const { charge, units } = await receiptOf(owned[2]!);
      expect(units["output"]! > 0n).to.equal(true);
      expect(charge >= 1_000n && charge <= CAP).to.equal(true);
    });

    it("says the charge in a response that is sent at once, and nothing for a failed one", async () => {
      for (const [text, charge, one] of [
        ["text", 3_000n, owned[3]!],
        ["failed", 0n, owned[4]!],
      ] as const) {
        answer = async (meter) => {
          meter.add({ input: 2_000 });
          return text;
        };
        const response = await ask(one);
        expect([response.status, await response.text()]).to.deep.equal([statusOf(text), text]);
        const said = response.headers.get(METERED_CHARGE_HEADER);
        // A Response does not tell whether its body is a stream.
        expect(said === null ? undefined : parseChargeHeader(said)).to.equal(name === "fetch" ? undefined : charge);
        expect((await receiptOf(one)).charge).to.equal(charge);
        expect(response.headers.get("access-control-expose-headers")).to.include(METERED_CHARGE_HEADER);
      }
    });
  });
