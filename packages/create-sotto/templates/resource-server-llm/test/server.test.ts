// Starts the server in front of a model that really streams, and asks it with OpenAI's client. It needs `npm run dev` of sotto's
// checkout.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { buyPrepaid, type ChargeEvent } from "@sotto/prepaid/client";
import { APIError } from "openai";
import { CHAT_PATH } from "../src/chat.ts";
import { LOCAL_MODEL, localModel } from "../src/local-model.ts";
import { openPayer, type Payer } from "../src/payer.ts";
import { RULE } from "../src/price.ts";

const KEY = "sk-test-0123456789abcdef0123456789abcdef";

const folder = mkdtempSync(join(tmpdir(), "test-"));
let model: Server;
let server: ChildProcess;
let origin: string;
let payer: Payer;
/** What the server printed. */
let log = "";
/** What the upstream answers; undefined for the model. */
let upstream: RequestListener | undefined;
/** The chats that the model received. */
const received: Record<string, unknown>[] = [];
/** Resolves when the upstream's last response has ended or was cut. */
let upstreamClosed: Promise<unknown>;

before(async () => {
  const echo = localModel({ key: KEY, pauseMs: 1 });
  model = createServer((request, response) => {
    upstreamClosed = once(response, "close");
    void readBody(request).then((body) => received.push(body));
    (upstream ?? echo)(request, response);
  }).listen(0, "127.0.0.1");
  await once(model, "listening");
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  server = spawn(process.execPath, ["src/server.ts"], {
    env: {
      ...process.env,
      ...{ PORT: String(port), ORIGIN: origin, DATA: folder },
      UPSTREAM_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1/`,
      ...{ UPSTREAM_KEY: KEY, UPSTREAM_MODELS: ` ${LOCAL_MODEL}, `, UPSTREAM_LIMIT_FIELD: "max_tokens" },
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // The server prints this line when it listens; if it exits before that, its error is in the log.
  const started = await Promise.race([listening(server), once(server, "exit").then(() => false)]);
  assert.ok(started, log);
  payer = await openPayer(origin, folder);
});
after(async () => {
  await payer?.wallet.close();
  if (server?.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  model?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A free port outside the ranges that systems assign automatically. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const probe = createNetServer().listen(port, "127.0.0.1");
    const free = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!free) continue;
    await once(probe.close(), "close");
    return port;
  }
}

function listening({ stdout, stderr }: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    for (const stream of [stdout, stderr])
      stream?.setEncoding("utf8").on("data", (part: string) => {
        log += part;
        if (log.includes(`${origin}${CHAT_PATH}\n`)) resolve(true);
      });
  });
}

/** The body as the model sees it, which reads it too. */
function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    request.on("data", (part) => parts.push(Buffer.from(part)));
    request.on("end", () => resolve(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>));
  });
}

const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");
const chat = (content: string, others: object = {}) => ({
  model: LOCAL_MODEL,
  messages: [{ role: "user" as const, content }],
  ...others,
});
const post = (body: unknown, init: RequestInit = {}) =>
  fetch(`${origin}${CHAT_PATH}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
/** What the prices say of units, in base units. */
const priceOf = (input: number, output: number): bigint =>
  BigInt(Math.ceil((0.15 * input + 0.6 * output) / Number(RULE.grain))) * RULE.grain;
const assertCharged = ({ units, charge, change }: ChargeEvent, input: number, output: number): void => {
  assert.deepEqual(
    { ...units },
    Object.fromEntries(
      Object.entries({ input: BigInt(input), output: BigInt(output) }).filter(([, count]) => count > 0n),
    ),
  );
  assert.deepEqual([charge, change], [priceOf(input, output), RULE.cap - priceOf(input, output)]);
};
async function all<Part>(stream: AsyncIterable<Part>): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
const errorOf = async (work: Promise<unknown>): Promise<APIError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof APIError, String(error));
  return error;
};

test("the start page and the list of models are free", async () => {
  assert.equal((await fetch(origin)).status, 200);
  const models = await payer.openai.models.list();
  assert.deepEqual(
    models.data.map(({ id }) => id),
    [LOCAL_MODEL],
  );
});

test("a chat costs at most the cap", async () => {
  const response = await post(chat("hello"));
  assert.equal(response.status, 402);
  const { payment } = (await response.json()) as { payment: { metered: { cap: string } } };
  assert.equal(payment.metered.cap, String(RULE.cap));
});

test("a whole answer costs what the upstream's usage says", async () => {
  const question = words(900);
  const answer = await payer.openai.chat.completions.create(chat(question));
  assert.equal(answer.choices[0]?.message.content, question);
  assert.equal(answer.usage?.completion_tokens, 900);
  // 900 * 0.15 + 900 * 0.6 = 675.
  const charge = await payer.nextCharge();
  assert.equal(charge.charge, 800n);
  assertCharged(charge, 900, 900);
});

test("one payment buys the tokens of the next chats", async () => {
  const { count } = await buyPrepaid(fetch, payer.wallet, payer.options, { origin, value: RULE.cap });
  assert.equal(count, 100);
});

test("a streamed answer arrives in parts and costs its tokens", async () => {
  const question = words(300);
  const stream = await payer.openai.chat.completions.create({
    ...chat(question),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let parts = 0;
  let usage: unknown;
  for await (const part of stream) {
    text += part.choices[0]?.delta.content ?? "";
    parts += 1;
    usage = part.usage ?? usage;
  }
  assert.equal(text, question);
  assert.ok(parts > 300);
  assert.deepEqual(usage, { prompt_tokens: 300, completion_tokens: 300, total_tokens: 600 });
  assertCharged(await payer.nextCharge(), 300, 300);
});

test("the upstream gets its key, a request for the usage, and a limit that the cap pays", async () => {
  const stream = await payer.openai.chat.completions.create({
    ...chat("a b c"),
    stream: true,
    max_completion_tokens: 2,
  });
  const parts = await all(stream);
  assert.equal(parts.at(-1)?.choices[0]?.finish_reason, "length");
  assert.equal(
    parts.some(({ usage }) => usage),
    false,
  );
  assertCharged(await payer.nextCharge(), 3, 2);
  const limited = { model: LOCAL_MODEL, max_tokens: 2, stream: true, stream_options: { include_usage: true } };
  assert.deepEqual(received.at(-1), { messages: chat("a b c").messages, ...limited });
  const { max_tokens: max } = received[0] as { max_tokens: number };
  // All bytes of the prompt as tokens of input, and the rest of the cap as tokens of output.
  const most = BigInt(max) * 600_000n;
  assert.ok(most > 0n && most <= RULE.cap * 1_000_000n - 900n * 150_000n);
});

test("a client that leaves a stream pays for what was added, and stops the upstream", async () => {
  const stream = await payer.openai.chat.completions.create({ ...chat(words(4_000)), stream: true });
  let parts = 0;
  for await (const { choices } of stream) {
    if (choices[0]?.delta.content) parts += 1;
    if (parts === 10) break;
  }
  await upstreamClosed;
  const { units, charge, change } = await payer.nextCharge();
  const [input, output] = [Number(units["input"]), Number(units["output"])];
  assert.ok(output >= 10 && output < 4_000, `${output} tokens`);
  // The estimate of the prompt.
  assert.equal(input, Math.floor(words(4_000).length / 8));
  assert.deepEqual([charge, change], [priceOf(input, output), RULE.cap - priceOf(input, output)]);
});

test("a client that leaves before the answer pays for its prompt, and stops the upstream", async () => {
  const asked = new Promise<void>((resolve) => {
    upstream = () => resolve();
  });
  const leave = new AbortController();
  const question = words(4_000);
  const answer = payer.openai.chat.completions.create(chat(question), { signal: leave.signal });
  await asked;
  leave.abort();
  await assert.rejects(answer);
  await upstreamClosed;
  upstream = undefined;
  assertCharged(await payer.nextCharge(), Math.floor(question.length / 8), 0);
});

test("a failed upstream costs nothing, and its message stays here", async () => {
  for (const [status, seen] of [
    [500, 502],
    [401, 502],
    [302, 502],
    [429, 503],
  ] as const) {
    upstream = (_request, response) =>
      void response
        .writeHead(status, { location: "/v1", "x-organization": "acme" })
        .end(`{"error":{"message":"${KEY} of acme"}}`);
    const error = await errorOf(payer.openai.chat.completions.create(chat("hello")));
    assert.deepEqual([error.status, error.code], [seen, "upstream_unavailable"]);
    assert.doesNotMatch(`${error.message}${JSON.stringify([...(error.headers ?? [])])}`, /acme|sk-test/);
    const { charge, change } = await payer.nextCharge();
    assert.deepEqual([charge, change], [0n, RULE.cap]);
  }
  upstream = (_request, response) => void response.end("{}");
  assert.equal((await errorOf(payer.openai.chat.completions.create(chat("hello")))).status, 502);
  assert.equal((await payer.nextCharge()).charge, 0n);
  upstream = undefined;
});

test("a refusal of the upstream reaches the payer without the key, and costs nothing", async () => {
  upstream = (_request, response) =>
    void response.writeHead(400).end(`{"error":{"message":"temperature, not ${KEY}"}}`);
  const error = await errorOf(payer.openai.chat.completions.create(chat("hello", { temperature: 9 })));
  upstream = undefined;
  assert.deepEqual([error.status, error.code], [400, "upstream_refused"]);
  assert.match(error.message, /the model refuses the request: temperature, not \(concealed\)$/);
  assert.equal((await payer.nextCharge()).charge, 0n);
});

test("a stream that quotes the key conceals it", async () => {
  const part = { choices: [{ index: 0, delta: { content: KEY }, finish_reason: null }] };
  upstream = (_request, response) => void response.end(`data: ${JSON.stringify(part)}\n\ndata: [DONE]\n\n`);
  const parts = await all(await payer.openai.chat.completions.create({ ...chat("hello"), stream: true }));
  upstream = undefined;
  assert.equal(parts[0]?.choices[0]?.delta.content, "(concealed)");
  assertCharged(await payer.nextCharge(), 0, 1);
});

test("what the price does not cover is refused before it is paid", async () => {
  const image = [{ type: "image_url", image_url: { url: "https://images.example/1.png" } }];
  for (const [status, body] of [
    [400, "{"],
    [400, []],
    [400, chat("hello", { messages: [] })],
    [400, chat("hello", { messages: [{ role: "user", content: image }] })],
    [400, chat("hello", { messages: [{ role: "assistant", audio: { id: "1" } }] })],
    [400, chat("hello", { n: 2 })],
    [400, chat("hello", { stream: "yes" })],
    [400, chat("hello", { max_tokens: 0 })],
    [400, chat("hello", { tools: [{ type: "web_search" }] })],
    [400, chat("hello", { user: "me" })],
    [404, chat("hello", { model: "another" })],
    [413, chat("x".repeat(70_000))],
  ] as const) {
    const response = await post(body);
    assert.equal(response.status, status, JSON.stringify(body).slice(0, 100));
    const { error } = (await response.json()) as { error: { message: string; code: string } };
    assert.ok(error.message.length > 0 && error.code.length > 0);
  }
  assert.equal((await post(chat("hello", { tools: [{ type: "function", function: { name: "f" } }] }))).status, 402);
});

test("nobody else can read the keys, and the upstream's key is in no log", () => {
  const files = [
    "viewing-keys.json",
    "owner.json",
    ...readdirSync(join(folder, "credit")).map((name) => join("credit", name)),
  ];
  assert.equal(files.length, 3);
  for (const name of files) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  assert.match(log, /the upstream answered 401\n/);
  assert.doesNotMatch(log, /sk-test|acme/);
});
