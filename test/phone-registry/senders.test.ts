// Delivery of codes over a real connection to a program that authenticates the registry, and forbidden destinations.

import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type CodeMessage, FileSender, LogSender, signWebhook, WebhookSender } from "@sotto/phone-registry";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { account, linkBody, newNumber, openTestRegistry } from "./support/world.ts";

const SECRET = "a secret of the webhook of this test";
const message = (): CodeMessage => ({
  phone: "+4915112345678",
  code: "314159",
  wallet: `0x${"ab".repeat(20)}`,
  expiresAt: Date.now() + 3_600_000,
});

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Starts a program that receives codes. It responds with `answers` in order, then repeats the last one. */
async function receiver(...answers: ((response: ServerResponse) => void)[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += String(part);
    });
    request.on("end", () => {
      const answer = answers[Math.min(received.length, answers.length - 1)]!;
      received.push({ headers: request.headers, body });
      answer(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // A failed test does not close the server, but the run must still end.
  server.unref();
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${port}/codes?key=canary`, received, close };
}
const status = (code: number) => (response: ServerResponse) => void response.writeHead(code).end("x".repeat(100_000));
const codeOf = async (sending: Promise<void>): Promise<unknown> => {
  try {
    await sending;
    return "sent";
  } catch (error) {
    const text = JSON.stringify({ ...(error as object), message: (error as Error).message });
    expect(text).to.not.match(/4915112345678|314159|abab|canary|secret/);
    return (error as { code?: unknown }).code;
  }
};

describe("the webhook sender", function () {
  slow(this, "a chain and a registry's processes");
  const open = (url: string, more: Partial<ConstructorParameters<typeof WebhookSender>[0]> = {}) =>
    new WebhookSender({ url, secret: SECRET, timeoutMs: 60_000, tries: 3, wait: async () => undefined, ...more });

  it("posts the code with a signed timestamp, so that the receiver can authenticate it", async () => {
    const target = closedAfterTest(await receiver(status(204)));
    const sent = message();
    const before = Math.floor(Date.now() / 1000);
    await open(target.url).send(sent);
    const [{ headers, body }] = target.received as [Received];
    expect(JSON.parse(body)).to.deep.equal({
      phoneNumber: sent.phone,
      code: sent.code,
      walletAddress: sent.wallet,
      expiresAt: sent.expiresAt,
    });
    const timestamp = String(headers["x-sotto-timestamp"]);
    expect(Number(timestamp)).to.be.within(before, Date.now() / 1000);
    const right = createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex");
    const given = String(headers["x-sotto-signature"]).replace(/^v1=/, "");
    expect(timingSafeEqual(Buffer.from(given), Buffer.from(right))).to.equal(true);
    expect(given).to.equal(signWebhook(SECRET, timestamp, body));
    expect(given).to.not.equal(signWebhook(SECRET, `${Number(timestamp) + 1}`, body));
    expect(headers["idempotency-key"]).to.match(/^[0-9a-f-]{36}$/);
  });

  it("retries temporary failures under one idempotency key", async () => {
    const target = closedAfterTest(await receiver(status(503), (response) => response.destroy(), status(200)));
    await open(target.url).send(message());
    expect(target.received).to.have.length(3);
    expect(new Set(target.received.map(({ headers }) => headers["idempotency-key"])).size).to.equal(1);
    await open(target.url).send(message());
    expect(target.received.at(-1)?.headers["idempotency-key"]).to.not.equal(
      target.received[0]?.headers["idempotency-key"],
    );
  });

  it("does not retry refusals or follow redirects", async () => {
    const elsewhere = await receiver(status(200));
    for (const refusal of [
      status(400),
      status(401),
      (response: ServerResponse) => void response.writeHead(302, { location: elsewhere.url }).end(),
      (response: ServerResponse) => void response.writeHead(307, { location: elsewhere.url }).end(),
    ]) {
      const target = await receiver(refusal);
      expect(await codeOf(open(target.url).send(message()))).to.equal("CODE_NOT_SENT");
      expect(target.received).to.have.length(1);
      await target.close();
    }
    expect(elsewhere.received).to.deep.equal([]);
    await elsewhere.close();
  });

  it("respects its timeout and its maximum number of attempts", async () => {
    const target = await receiver(() => undefined);
    const start = performance.now();
    let pauses = 0;
    const wait = async () => {
      pauses += 1;
    };
    expect(await codeOf(open(target.url, { timeoutMs: 100, wait }).send(message()))).to.equal("CODE_NOT_SENT");
    expect(performance.now() - start).to.be.at.least(290);
    expect(pauses).to.equal(2);
    await target.close();
    expect(await codeOf(open(target.url).send(message()))).to.equal("CODE_NOT_SENT");
  });

  it("does not send an expired code", async () => {
    const target = await receiver(status(503));
    let now = Date.now();
    const wait = async () => {
      now += 4_000_000;
    };
    const sender = open(target.url, { clock: () => now, wait, tries: 5 });
    expect(await codeOf(sender.send(message()))).to.equal("CODE_NOT_SENT");
    expect(target.received).to.have.length(1);
    await target.close();
  });

  it("is used by a registry, which recovers from an unreachable webhook", async () => {
    const target = await receiver(status(500), status(500), status(200));
    const settings = {
      SOTTO_PHONE_SENDER: "webhook",
      SOTTO_PHONE_WEBHOOK_URL: target.url,
      SOTTO_PHONE_WEBHOOK_SECRET: SECRET,
      SOTTO_PHONE_WEBHOOK_TRIES: "2",
      SOTTO_PHONE_WEBHOOK_TIMEOUT_MS: "30000",
    };
    const registry = await openTestRegistry(settings, { sender: undefined as never });
    try {
      const [signer, phone] = [account(), newNumber()];
      const body = await linkBody(registry, signer, phone);
      const first = await registry.link(body);
      expect(first.body["remaining"]).to.deep.equal([{ step: "ask-again" }]);
      expect((await registry.link(body)).status).to.equal(200);
      const { code } = JSON.parse(target.received.at(-1)!.body) as { code: string };
      const proof = { phoneNumber: phone, walletAddress: signer.address, code };
      expect((await registry.verify(proof)).body["verified"]).to.equal(true);
      const log = registry.logged.join("");
      expect(log).to.include("CODE_NOT_SENT").and.include("status 500");
      for (const secret of [phone.slice(1), code, SECRET, "canary"]) expect(log).to.not.include(secret);
      const metrics = await (await fetch(`${new URL(registry.url).origin}/metrics`)).text();
      expect(metrics).to.include('sotto_phone_codes_total{outcome="failed"} 1');
      expect(metrics).to.include('sotto_phone_codes_total{outcome="sent"} 1');
    } finally {
      await registry.close();
      await target.close();
    }
  });
});

describe("the development senders", function () {
  slow(this, "a chain and a registry's processes");
  const LOCAL = { local: true };
  const folder = temporaryFolder("senders");

  it("write codes into a file that only its owner can read, even if it was readable before", async () => {
    const path = join(folder, "deep", "codes.jsonl");
    const sender = new FileSender(path, LOCAL);
    await sender.send(message());
    await sender.send({ ...message(), code: "271828" });
    const codes = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { code: string }).code);
    expect(codes).to.deep.equal(["314159", "271828"]);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    const open = join(folder, "open.jsonl");
    writeFileSync(open, "");
    chmodSync(open, 0o644);
    await new FileSender(open, LOCAL).send(message());
    expect(statSync(open).mode & 0o777).to.equal(0o600);
  });

  it("print codes to the developer's terminal", async () => {
    const lines: string[] = [];
    await new LogSender(LOCAL, (line) => void lines.push(line)).send(message());
    expect(lines.join("")).to.include("314159").and.include("development only");
  });

  it("refuse to run in production or on a chain that is not local", () => {
    const place = { local: false };
    for (const make of [() => new FileSender(join(folder, "x"), place), () => new LogSender(place)])
      expect(make).to.throw().with.property("code", "DEVELOPMENT_SENDER_REFUSED");
  });
});
