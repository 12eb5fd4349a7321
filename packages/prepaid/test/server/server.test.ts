// Prepaid tokens at a paywall: what is offered, what is accepted, once, and what is returned, in both databases.

import {
  constants,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { CIRCUITS, deriveKeys, encryptAmount, packCiphertext, randomScalar, randomSeed } from "@sotto/protocol";
import { CheckFailed, type CheckUnavailable, type PaywallRequest } from "@sotto/resource-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode, expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import {
  decodePrepaidHeader,
  encodePrepaidHeader,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  type PrepaidPurchase,
  type PrepaidToken,
  prepaidRecoverTarget,
  prepaidTokenInput,
  redeemsAt,
  type WirePrepaidKeyFile,
  type WireSignedSchedule,
} from "../../src/index.ts";
import { parsePrepaid } from "../../src/server/config.ts";
import { Keyring } from "../../src/server/keyring.ts";
import { createPrepaid } from "../../src/server/method.ts";
import type { PrepaidOptions } from "../../src/server/options.ts";
import { readToken } from "../../src/server/shown-token.ts";
import { Spender } from "../../src/server/spender.ts";
import { PrepaidStore } from "../../src/server/store.ts";
import {
  ask,
  createMerchant,
  DEPLOYMENT,
  finish,
  NOW,
  ORIGIN,
  openPlain,
  openServer,
  optionsOf,
  PRICE,
  type PrepaidServer,
  type Shown,
  show,
  tokensOf,
  told,
  VALUES,
  WALLET,
} from "./support/merchant.ts";
import { startPoolNode } from "./support/pool-node.ts";
import { overStores } from "./support/store.ts";

const NEXT_EPOCH = Date.UTC(2027, 0, 1);
const merchant = await createMerchant();
const WRITES = /^\s*(?:with|insert|update|delete)/i;

overStores("the clock of a test's store", (newUrl) => {
  it("shows the time of the tests, whenever they run", async () => {
    const store = await PrepaidStore.open({ url: await newUrl(), clock: () => NOW, onError: () => undefined });
    try {
      expect(await store.now()).to.be.within(NOW, NOW + 3_600_000);
    } finally {
      await store.end();
    }
  });
});

overStores("prepaid tokens", (newUrl) => {
  let url: string;
  let server: PrepaidServer;
  const opened: PrepaidServer[] = [];
  const open = async (changes: object = {}) => {
    const options = optionsOf(merchant);
    const another = await openServer({ ...options, prepaid: { ...options.prepaid, store: url, ...changes } });
    opened.push(another);
    return another;
  };
  beforeEach(async () => {
    url = await newUrl();
    server = await open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  const reasons = () => server.events.flatMap(({ event, reason }) => (event === "refused" ? [reason] : []));

  it("pay for one request each, and are spent before the handler runs", async () => {
    const tokens = await tokensOf(server, 3);
    const decisions = await Promise.all(tokens.map((token) => show(server, token)));
    expect(decisions.map(told)).to.deep.equal(["paid", "paid", "paid"]);
    const [first] = decisions;
    if (first?.kind !== "paid" || first.payment.kind !== "prepaid") throw new Error("not paid by a token");
    const { id, amount, key, resource } = first.payment;
    expect({ amount, key, resource }).to.deep.equal({
      amount: PRICE,
      key: tokens[0]!.keyId,
      resource: "https://data.example/paid",
    });
    expect(id).to.match(/^prepaid:0x[0-9a-f]{64}:[\w-]{43}$/);
    expect(first.headers).to.include({ "cache-control": "no-store", vary: "X-Payment-Proof, X-Payment-Token" });
    for (const decision of decisions) await finish(decision, 200);
    for (const token of tokens) expect(told(await show(server, token))).to.equal("402");
    expect(reasons()).to.deep.equal(["PREPAID_SPENT", "PREPAID_SPENT", "PREPAID_SPENT"]);
  });

  it("are spent once if shown at the same time to two servers", async () => {
    const other = await open({ keys: undefined });
    const tokens = await tokensOf(server, 5);
    for (const token of tokens) {
      const decisions = await Promise.all([server, other, server, other, other].map((one) => show(one, token)));
      expect(decisions.filter(({ kind }) => kind === "paid")).to.have.length(1);
    }
    const { rows } = await totals(server);
    expect(rows).to.deep.equal([{ issued: 0, redeemed: 5, outstanding: -5n * PRICE }]);
  });

  it("are spent once if shown at the same time to one server, which may return them", async () => {
    const [token] = await tokensOf(server, 1);
    const decisions = await Promise.all(Array.from({ length: 150 }, () => show(server, token!)));
    const [first, ...others] = decisions.map(told);
    expect([first, [...new Set(others)]]).to.deep.equal(["paid", ["402 later"]]);
    await finish(decisions[0]!, 500);
    const again = (await Promise.all([show(server, token!), show(server, token!)])).map(told);
    expect(again).to.deep.equal(["paid", "402 later"]);
  });

  it("are busy also if a refusal is known before the batch that spends them", async () => {
    const [token] = await tokensOf(server, 1);
    const { spendReturned } = PrepaidStore.prototype;
    let calls = 0;
    let refused = 0;
    PrepaidStore.prototype.spendReturned = async function (...parts) {
      const isFirst = ++calls === 1;
      const result = await spendReturned.apply(this, parts);
      if (isFirst) await eventually(async () => refused > 0);
      refused += parts[0].length - result.size;
      return result;
    };
    try {
      const decisions = await Promise.all(Array.from({ length: 150 }, () => show(server, token!)));
      expect([...new Set(decisions.map(told))].sort()).to.deep.equal(["402 later", "paid"]);
    } finally {
      PrepaidStore.prototype.spendReturned = spendReturned;
    }
  });

  it("are refused for another price, origin or epoch, or if the key is not the merchant's", async () => {
    const [token, foreign] = [
      (await tokensOf(server, 1))[0]!,
      (await tokensOf(server, 1, { origin: "https://b.example" }))[0]!,
    ];
    expect(told(await show(server, token, { target: "/cheap" }))).to.equal("402");
    expect(told(await show(server, token, { target: "/odd" }))).to.equal("402");
    expect(told(await show(server, foreign))).to.equal("402");
    const flipped = { ...token, signature: token.signature.map((byte, i) => (i === 200 ? byte ^ 1 : byte)) };
    expect(told(await show(server, flipped))).to.equal("402");
    expect(told(await show(server, { ...token, nonce: `0x${"00".repeat(32)}` }))).to.equal("402");
    expect(told(await show(server, { ...token, keyId: `0x${"00".repeat(32)}` }))).to.equal("402");
    const cheap = server.prepaid.keyring.offered(VALUES[0], NOW)!;
    expect(told(await show(server, { ...token, keyId: cheap.id }, { target: "/cheap" }))).to.equal("402");
    expect(reasons()).to.deep.equal([
      ...["PREPAID_VALUE", "PREPAID_VALUE", "PREPAID_CHALLENGE", "PREPAID_SIGNATURE", "PREPAID_SIGNATURE"],
      ...["PREPAID_KEY", "PREPAID_SIGNATURE"],
    ]);
    // The control: nothing of this has spent the token.
    expect(told(await show(server, token))).to.equal("paid");
  });

  it("are verified one by one, however many are shown at the same time", async () => {
    const [token] = await tokensOf(server, 1);
    const wrong = (i: number) => ({ ...token!, nonce: `0x${i.toString(16).padStart(64, "0")}` });
    const shown = Array.from({ length: 250 }, (_, i) => (i === 170 ? token! : wrong(i)));
    const decisions = await Promise.all(shown.map((one) => show(server, one)));
    expect(decisions.flatMap((decision, i) => (told(decision) === "paid" ? [i] : []))).to.deep.equal([170]);
    expect(reasons()).to.deep.equal(Array.from({ length: 249 }, () => "PREPAID_SIGNATURE"));
  });

  it("are not refused for good because a token with the same nonce has a wrong signature", async () => {
    const [token] = await tokensOf(server, 1);
    const forged = { ...token!, signature: token!.signature.map((byte, i) => (i === 200 ? byte ^ 1 : byte)) };
    const decisions = await Promise.all([forged, token!, forged].map((one) => show(server, one)));
    expect(decisions.map(told)).to.deep.equal(["402", "paid", "402"]);
  });

  it("are refused if their key signed them with another hash, salt or padding", async () => {
    const { id: keyId, privateKey } = server.prepaid.keyring.offered(PRICE, NOW)!;
    const key = createPrivateKey({ key: privateKey!, format: "der", type: "pkcs8" });
    const [{ challengeDigest }] = (await tokensOf(server, 1)) as [PrepaidToken];
    const answer = async (hash: string, saltLength: number, padding = constants.RSA_PKCS1_PSS_PADDING) => {
      const token = { nonce: `0x${randomBytes(32).toString("hex")}`, challengeDigest, keyId };
      const signature = new Uint8Array(sign(hash, prepaidTokenInput(token), { key, padding, saltLength }));
      return told(await show(server, { ...token, signature }));
    };
    for (const salt of [0, 32, 47, 49, 64]) expect(await answer("sha384", salt)).to.equal("402");
    expect(await answer("sha256", 48)).to.equal("402");
    expect(await answer("sha384", 48, constants.RSA_PKCS1_PADDING)).to.equal("402");
    expect(await answer("sha384", 48)).to.equal("paid");
  });

  it("are accepted in the key's epoch and the next one, and never again, even if the clock goes back", async () => {
    const tokens = await tokensOf(server, 4);
    server.at(NEXT_EPOCH);
    expect(told(await show(server, tokens[0]!))).to.equal("paid");
    server.at(Date.UTC(2027, 0, 31, 23, 59));
    expect(told(await show(server, tokens[1]!))).to.equal("paid");
    server.at(Date.UTC(2027, 1, 1));
    expect(told(await show(server, tokens[2]!))).to.equal("402");
    const late = server.prepaid.keyring.find(tokens[0]!.keyId)!;
    // PostgreSQL has a clock of its own, so the key is closed as a tick would.
    await server.prepaid.store.close([late.id], "ended");
    await server.prepaid.tick();
    server.at(NOW);
    expect(told(await show(server, tokens[3]!))).to.equal("402");
    // Another server does not know yet that the key is closed; the store does.
    const other = await open();
    expect(told(await show(other, tokens[3]!))).to.equal("402");
  });

  it("are returned after a 5xx and before the handler started, twice, for the same method and target only", async () => {
    const [token, kept] = await tokensOf(server, 2);
    await finish(await show(server, token!), 500);
    expect(told(await show(server, token!, { method: "POST" }))).to.equal("402");
    expect(told(await show(server, token!, { target: "/paid?again" }))).to.equal("402");
    const other = await open();
    await finish(await show(other, token!), "unstarted");
    await finish(await show(server, token!), 503);
    expect(told(await show(server, token!))).to.equal("402");
    for (const outcome of [200, 404, "aborted"] as const) {
      const [one] = await tokensOf(server, 1);
      await finish(await show(server, one!), outcome);
      expect(told(await show(server, one!)), String(outcome)).to.equal("402");
    }
    expect(told(await show(server, kept!))).to.equal("paid");
  });

  it("are shown again later while their handler runs", async () => {
    const [token] = await tokensOf(server, 1);
    const running = await show(server, token!);
    expect(told(await show(server, token!))).to.equal("402 later");
    expect(told(await show(server, token!, { target: "/paid?b" }))).to.equal("402");
    await finish(running, 500);
    expect(told(await show(server, token!))).to.equal("paid");
  });

  it("are not written and not refused with 5xx if they are mutated", async () => {
    const tokens = await tokensOf(server, 10);
    const headers = tokens.map(encodePrepaidHeader);
    await setImmediate();
    // The thread's writes to SQLite change its log; the queries are those of this thread.
    const log = `${url.replace("sqlite:", "")}-wal`;
    const writes = () => [
      server.queries.filter((query) => WRITES.test(query)).length,
      existsSync(log) && [statSync(log).size, statSync(log).mtimeMs],
    ];
    const before = writes();
    const statuses = new Map<string, number>();
    const showMutated = async (i: number) => {
      const header = mutate(headers[i % headers.length]!, `token ${i}`);
      const answer = told(await ask(server, { headers: { "x-payment-token": [header] } }));
      statuses.set(answer, (statuses.get(answer) ?? 0) + 1);
    };
    for (let i = 0; i < fuzzSize(5_000, 100_000); i += 100)
      await Promise.all(Array.from({ length: 100 }, (_, j) => showMutated(i + j)));
    expect([...statuses.keys()].sort()).to.deep.equal(["400", "402"]);
    expect(writes()).to.deep.equal(before);
    for (const token of tokens) expect(told(await show(server, token))).to.equal("paid");
    expect(writes(), "the control").not.to.deep.equal(before);
  });

  it("are refused with Retry-After if the store fails, and can be shown again", async () => {
    const [token, spent] = await tokensOf(server, 2);
    await finish(await show(server, spent!), 200);
    const { store } = server.prepaid;
    const { spendReturned } = store;
    // One of them is spent durably, and the query after it fails.
    store.spendReturned = () => Promise.reject(new Error("connection lost"));
    const decisions = await Promise.all([show(server, token!), show(server, spent!)]);
    expect(decisions.map(told)).to.deep.equal(["402 later", "402 later"]);
    store.spendReturned = spendReturned;
    await eventually(async () => told(await show(server, token!)) === "paid");
    await eventually(async () => told(await show(server, spent!)) === "402");
  });

  it("are not refused for good while a failed statement may have spent them", async () => {
    const [token] = await tokensOf(server, 1);
    const { store } = server.prepaid;
    const { spendReturned, restore } = store;
    store.spendReturned = () => Promise.reject(new Error("connection lost"));
    store.restore = () => Promise.reject(new Error("connection lost"));
    expect(told(await show(server, token!))).to.equal("402 later");
    store.spendReturned = spendReturned;
    for (let i = 0; i < 3; i++) expect(told(await show(server, token!))).to.equal("402 later");
    store.restore = restore;
    await eventually(async () => told(await show(server, token!)) === "paid");
  });

  it("are malformed if they are repeated, too short, or of another type", async () => {
    const [token] = await tokensOf(server, 1);
    const header = encodePrepaidHeader(token!);
    for (const values of [
      [header, header],
      [""],
      [header.slice(1)],
      [`${header}=`],
      [`AAAB${header.slice(4)}`],
      [`${header}, ${header}`],
    ])
      expect(told(await ask(server, { headers: { "x-payment-token": values } })), values[0]).to.equal("400");
    expect(told(await show(server, token!))).to.equal("paid");
  });

  it("are left alone if there is a proof, or the route is free", async () => {
    const [token] = await tokensOf(server, 1);
    expect(told(await show(server, token!, { headers: { "x-payment-proof": ["{"] } }))).to.equal("400");
    expect(told(await show(server, token!, { headers: { "x-payment-proof": ["{}"] } }))).to.equal("402");
    expect(told(await show(server, token!, { target: "/health" }))).to.equal("free");
    expect(told(await show(server, token!))).to.equal("paid");
  });
});

describe("the header of a prepaid token", () => {
  const random = () => `0x${randomBytes(32).toString("hex")}`;
  const header = () =>
    encodePrepaidHeader({
      nonce: random(),
      challengeDigest: random(),
      keyId: random(),
      signature: new Uint8Array(randomBytes(256)),
    });
  /** As every platform decodes it. */
  const decoded = (value: string) => {
    try {
      const { nonce, challengeDigest, keyId } = decodePrepaidHeader(value);
      return { header: value, nonce: Buffer.from(nonce.slice(2), "hex").toString("base64url"), challengeDigest, keyId };
    } catch {
      return undefined;
    }
  };

  it("is read by a server as on every platform, however it is mutated", () => {
    const found = { tokens: 0, malformed: 0 };
    for (let i = 0; i < fuzzSize(2_000, 50_000); i++) {
      const value = i % 2 === 0 ? header() : mutate(header(), `header ${i}`);
      const token = readToken(value);
      expect(token, value).to.deep.equal(decoded(value));
      found[token === undefined ? "malformed" : "tokens"] += 1;
    }
    expect(found.tokens).to.be.greaterThan(100);
    expect(found.malformed).to.be.greaterThan(100);
  });

  it("has one spelling", () => {
    const value = header();
    for (const other of [
      `${value.slice(0, -1)}=`,
      `${value.slice(0, -1)}+`,
      `${value.slice(0, -1)}/`,
      ` ${value.slice(1)}`,
    ])
      expect(readToken(other), other).to.equal(undefined);
    expect(readToken(`AAB${value.slice(3)}`)).to.equal(undefined);
    expect(readToken(`é${value.slice(1)}`)).to.equal(undefined);
  });
});

describe("the keys of prepaid tokens", () => {
  it("are accepted at exactly the times of their epochs", () => {
    const keyring = new Keyring([merchant.schedule], undefined);
    const months = Array.from({ length: 36 }, (_, i) => Date.UTC(2026, i));
    for (const key of keyring.all)
      for (const time of months.flatMap((start) => [start - 1, start]))
        expect(keyring.redeems(key, time), `${key.epoch} ${time}`).to.equal(redeemsAt(key.epoch, time));
  });
});

describe("the thread that spends prepaid tokens", function () {
  slow(this, "verifies 10,000 signatures");
  const keys = new Keyring([merchant.schedule], undefined).all;
  /** A token without a signature. */
  const spendOf = (spender: Spender, i: number, keyId = keys[0]!.id) => {
    const nonce = `0x${i.toString(16).padStart(64, "0")}`;
    const token = { nonce, challengeDigest: `0x${"00".repeat(32)}`, keyId, signature: new Uint8Array(256) };
    return spender.spend(encodePrepaidHeader(token), { keyId, nonce, opens: "GET /" });
  };
  let folder: string;
  let path: string;
  let store: PrepaidStore;
  let spender: Spender;
  beforeEach(async () => {
    folder = temporaryFolder("prepaid");
    path = join(folder, "tokens.sqlite");
    store = await PrepaidStore.open({ url: `sqlite:${path}`, clock: () => NOW, onError: () => undefined });
    spender = new Spender({ keys, store, clock: () => NOW, onError: () => undefined });
  });
  afterEach(async () => {
    await spender.end();
    await store.end();
  });

  it("has a queue with a limit", async () => {
    // The thread has some already, in addition to the 10,000 that wait.
    const answers = await Promise.all(Array.from({ length: 11_000 }, (_, i) => failure(spendOf(spender, i))));
    expect(new Set(answers.slice(0, 10_000))).to.deep.equal(new Set(["PREPAID_SIGNATURE"]));
    expect(answers.at(-1)).to.equal("OVERLOADED");
    expect(await failure(spendOf(spender, 10_000))).to.equal("PREPAID_SIGNATURE");
  });

  it("can be asked again if it fails", async () => {
    expect(await failure(spendOf(spender, 1, `0x${"00".repeat(32)}`))).to.equal("VERIFIER_FAILED");
    expect(await failure(spendOf(spender, 1))).to.equal("PREPAID_SIGNATURE");
    await spender.end();
    expect(await failure(spendOf(spender, 1))).to.equal("VERIFIER_FAILED");
  });
});

/** Code of the refusal. */
const failure = (spent: Promise<unknown>): Promise<string> =>
  spent.then(
    () => "spent",
    (error: unknown) => (error instanceof CheckFailed ? error.failure : (error as CheckUnavailable).code),
  );

describe("the option prepaid", function () {
  slow(this, "generates keys");
  const options = optionsOf(merchant, { cors: { origins: ["https://wallet.example"] } });
  const origin = { origin: ["https://wallet.example"] };
  const REQUESTS: Shown[] = [
    {},
    { method: "POST", headers: origin },
    { target: "/cheap" },
    { target: "/odd" },
    { target: "/other" },
    { target: "/health" },
    { target: "/a//b" },
    { headers: { "x-payment-proof": ["{"] } },
    { headers: { "x-payment-proof": ["{}"] } },
    { headers: { "x-payment-token": ["x"], "x-payment-proof": ["{"] } },
    { target: `${PREPAID_PATH}/else` },
  ];
  /** The decision without the values that differ with each request. */
  async function answerOf(paywall: Pick<PrepaidServer["paywall"], "decide">, shown: Shown) {
    const decision = await ask({ paywall }, shown);
    const text = JSON.stringify(decision, (key, value) => (key === "requestId" ? "" : value));
    return JSON.parse(text) as { body?: { payment?: { prepaid?: object } }; headers?: Record<string, string> };
  }

  it("adds the offer, and the name of its header to Vary, and changes nothing else", async () => {
    const plain = await openPlain(options);
    const folder = temporaryFolder("prepaid");
    const server = await openServer({ ...options, store: `sqlite:${join(folder, "tokens.sqlite")}` });
    try {
      let offers = 0;
      for (const shown of REQUESTS) {
        const [off, on] = [await answerOf(plain, shown), await answerOf(server.paywall, shown)];
        expect(JSON.stringify(off)).not.to.match(/"prepaid"|payment-token/i);
        const vary = on.headers?.["vary"];
        if (vary !== undefined) on.headers!["vary"] = vary.replace(", X-Payment-Token", "");
        if (on.body?.payment?.prepaid !== undefined) {
          offers += 1;
          expect(Object.keys(on.body.payment.prepaid)).to.deep.equal(["tokenKeyId", "value"]);
          delete on.body.payment.prepaid;
        }
        // Compared as text: the order of fields counts.
        expect(JSON.stringify(on)).to.equal(JSON.stringify(off));
      }
      expect(offers).to.equal(4);
      const preflight = { method: "OPTIONS", headers: { ...origin, "access-control-request-method": ["GET"] } };
      const allowed = async (paywall: Pick<PrepaidServer["paywall"], "decide">) =>
        (await answerOf(paywall, preflight)).headers?.["access-control-allow-headers"];
      expect(await allowed(plain)).to.equal("X-Payment-Proof, Content-Type");
      expect(await allowed(server.paywall)).to.equal("X-Payment-Proof, X-Payment-Token, Content-Type");
    } finally {
      await plain.close();
      await server.close();
    }
  });

  it("is off by default: tokens are ignored, and its paths are priced like all others", async () => {
    const plain = await openPlain(options);
    for (const shown of [
      { headers: { "x-payment-token": ["x"] } },
      { target: `${PREPAID_PATH}/keys` },
      { method: "POST", target: PREPAID_PATH },
    ]) {
      expect(told(await ask({ paywall: plain }, shown))).to.equal("402");
    }
    await plain.close();
  });

  it("is refused if it is wrong", async () => {
    const terms = { origin: ORIGIN, wallet: WALLET, deployment: DEPLOYMENT, storeUrl: "sqlite::memory:" };
    const { schedules, keys } = options.prepaid;
    const [signed] = schedules as WireSignedSchedule[];
    const file = keys as WirePrepaidKeyFile;
    const [first, second, ...others] = file.keys;
    const store = "sqlite:tokens.sqlite";
    const pss = generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey;
    const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
    const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const pem = (key: KeyObject) => key.export({ format: "pem", type: "pkcs8" }) as string;
    const withKey = (changes: object) => ({
      keys: { ...file, keys: [{ ...first!, ...changes }, second!, ...others] },
    });
    const cases: [object, RegExp][] = [
      [{ schedules: [] }, /schedules must be a list/],
      [{ schedules: [signed, signed, signed, signed, signed] }, /schedules must be a list/],
      [{ schedules: ["missing.json"] }, /missing\.json cannot be read: ENOENT/],
      [{ schedules: [{ ...signed!, signature: "0x" }] }, /schedules\[0\]: not a signed schedule/],
      [{ schedules: [{ ...signed!, schedule: { ...signed!.schedule, origin: "https://b.example" } }] }, /origin/],
      [{ schedules: [{ ...signed!, schedule: { ...signed!.schedule, wallet: DEPLOYMENT.pool } }] }, /wallet/],
      [{ schedules: [{ ...signed!, schedule: { ...signed!.schedule, chainId: 1 } }] }, /chain/],
      [{ schedules: [signed, await other()] }, /two keys/],
      [{ keys: { ...file, version: 2 } }, /version/],
      [{ keys: { ...file, origin: "https://b.example" } }, /origin/],
      [withKey({ privateKey: "secret" }), /privateKey of key 1/],
      [withKey({ privateKey: pem(pss) }), /key 1 is not a private RSA key/],
      [withKey({ privateKey: pem(small) }), /2048 bits/],
      [withKey({ privateKey: pem(foreign) }), /in none of prepaid\.schedules/],
      [withKey({ value: "100" }), /scheduled for/],
      [{ store: "memory" }, /durable/],
      [{ store: "sqlite::memory:" }, /durable/],
      [{ store: undefined }, /durable/],
      [{ workers: 0 }, /workers/],
      [{ closedBefore: "2026" }, /closedBefore/],
      [{ guard: "" }, /guard/],
      [{ schedule: [] }, /prepaid\.schedule is unknown/],
    ];
    for (const [changes, message] of cases) {
      const prepaid = { ...options.prepaid, store, ...changes } as PrepaidOptions;
      const { message: found } = expectCode("INVALID_OPTION", () => parsePrepaid(prepaid, terms), message);
      expect(found).not.to.include("secret").and.not.to.include("PRIVATE KEY");
    }
    // The control.
    expect(parsePrepaid({ ...options.prepaid, store }, terms).workers).to.equal(2);
  });
});

/** A schedule of the same merchant with other keys. */
async function other(): Promise<WireSignedSchedule> {
  const { prepaid } = optionsOf(await createMerchant());
  return prepaid.schedules[0] as WireSignedSchedule;
}

describe("the store of prepaid tokens", function () {
  slow(this, "generates keys");
  let folder: string;
  let path: string;
  let server: PrepaidServer | undefined;
  const open = async (changes: object = {}) => {
    const options = optionsOf(merchant);
    const prepaid = { ...options.prepaid, store: `sqlite:${path}`, guard: join(folder, "guard.json"), ...changes };
    server = await openServer({ ...options, prepaid });
    return server;
  };
  const close = async () => {
    await server?.close();
    server = undefined;
  };
  const restored = ({ events }: PrepaidServer) =>
    events.filter(({ reason }) => reason === "PREPAID_STORE_RESTORED").length;
  beforeEach(() => {
    folder = temporaryFolder("prepaid");
    path = join(folder, "tokens.sqlite");
  });
  afterEach(async () => {
    await close();
  });

  /** Spends a token after a backup, and restores the backup. @returns the spent token and an unspent one */
  async function restoreBackup() {
    const first = await open();
    const [spent, unspent] = await tokensOf(first, 2);
    await close();
    cpSync(path, join(folder, "backup.sqlite"));
    const second = await open();
    await finish(await show(second, spent!), 200);
    await second.prepaid.tick();
    await close();
    return { spent: spent!, unspent: unspent! };
  }

  it("keeps its keys open over restarts", async () => {
    const { spent, unspent } = await restoreBackup();
    const again = await open();
    expect([told(await show(again, spent)), told(await show(again, unspent)), restored(again)]).to.deep.equal([
      "402",
      "paid",
      0,
    ]);
  });

  for (const [what, replace] of [
    ["is restored from a backup", () => cpSync(join(folder, "backup.sqlite"), path)],
    ["is lost", () => rmSync(path)],
  ] as const)
    it(`closes its keys for good if it ${what}, and continues with the next epoch`, async () => {
      const { spent, unspent } = await restoreBackup();
      replace();
      for (const changes of [{}, {}, { guard: join(folder, "another.json") }]) {
        const again = await open(changes);
        expect([told(await show(again, spent)), told(await show(again, unspent))]).to.deep.equal(["402", "402"]);
        expect(await offer(again)).to.equal(undefined);
        again.at(NEXT_EPOCH);
        expect(await offer(again)).to.deep.include({ value: String(PRICE) });
        const [next] = await tokensOf(again, 1, { now: NEXT_EPOCH });
        expect(told(await show(again, next!))).to.equal("paid");
        await close();
      }
    });

  it("accepts a spent token again if it is restored and has no guard, which is what the guard prevents", async () => {
    const { spent } = await restoreBackup();
    cpSync(join(folder, "backup.sqlite"), path);
    expect(told(await show(await open({ guard: undefined }), spent))).to.equal("paid");
  });

  it("closes its keys if the operator says so", async () => {
    const { unspent } = await restoreBackup();
    const again = await open({ closedBefore: "2027-01" });
    expect(told(await show(again, unspent))).to.equal("402");
    await close();
    // For good, not only while the option is set.
    expect(told(await show(await open(), unspent))).to.equal("402");
  });

  it("refuses tokens with Retry-After while the thread cannot write to it", async () => {
    const first = await open();
    const [token, other] = await tokensOf(first, 2);
    const database = new DatabaseSync(path);
    database.exec("alter table prepaid_token rename to away");
    expect(told(await show(first, token!))).to.equal("402 later");
    database.exec("alter table away rename to prepaid_token");
    database.close();
    expect(told(await show(first, other!))).to.equal("paid");
    await eventually(async () => told(await show(first, token!)) === "paid");
  });

  it("is noticed while the server runs", async () => {
    const first = await open();
    const [token] = await tokensOf(first, 1);
    await finish(await show(first, token!), 200);
    await first.prepaid.tick();
    const database = new DatabaseSync(path);
    database.exec("update prepaid_progress set ticks = 0; delete from prepaid_token");
    database.close();
    await first.prepaid.tick();
    expect([told(await show(first, token!)), restored(first)]).to.deep.equal(["402", 1]);
  });

  it("refuses a guard file that is not one", async () => {
    for (const text of ["", "{}", '{"version":1,"store":"a"}', "[]"]) {
      writeFileSync(join(folder, "guard.json"), text);
      await expectRejected("INVALID_OPTION", open);
    }
  });

  it("deletes the rows of ended keys after a day", async () => {
    const first = await open();
    const [token] = await tokensOf(first, 1);
    await finish(await show(first, token!), 200);
    first.at(Date.UTC(2027, 1, 1));
    await first.prepaid.tick();
    expect((await totals(first)).rows).to.have.length(1);
    first.at(Date.UTC(2027, 1, 3));
    await first.prepaid.tick();
    expect((await totals(first)).rows).to.have.length(0);
    first.at(NOW);
    expect(told(await show(first, token!))).to.equal("402");
  });
});

describe("the recovery of a pack", function () {
  slow(this, "generates keys");
  const durable = () => ({ store: `sqlite:${join(temporaryFolder("prepaid"), "tokens.sqlite")}` });
  const openDurable = async () => closedAfterTest(await openServer(optionsOf(merchant, durable())));

  it("is refused or answered without reading its body, unless the payment is settled", async () => {
    const server = await openDurable();
    const { keyring, store } = server.prepaid;
    const key = keyring.offered(PRICE, NOW)!.id;
    const ask = async (changes: Partial<PrepaidPurchase>, proof?: string, target?: string) => {
      const { request, reads } = recovery(changes, proof);
      const decision = await server.paywall.decide({ ...request, target: target ?? request.target });
      expect(reads.count, JSON.stringify(changes)).to.equal(0);
      return `${told(decision)} ${(decision as { body: { code?: string } }).body.code}`;
    };
    const inEpoch = proofHeader(NOW);
    const flood = await Promise.all(
      Array.from({ length: 200 }, (_, i) => ask({ key }, i % 2 === 0 ? undefined : "{}")),
    );
    expect(new Set(flood)).to.deep.equal(
      new Set(["404 PREPAID_PACK_UNKNOWN", "503 later PREPAID_UNAVAILABLE", "400 PREPAID_REQUEST_INVALID"]),
    );
    expect(await ask({})).to.equal("404 PREPAID_KEY_UNKNOWN");
    expect(await ask({ key }, undefined, PREPAID_RECOVER_PATH)).to.equal("400 PREPAID_REQUEST_INVALID");
    // The service is missing, so no payment can be checked.
    expect(await ask({ key }, inEpoch)).to.equal("503 later PREPAID_UNAVAILABLE");
    const inAnotherMonth = proofHeader(Date.UTC(2026, 9, 15));
    expect(await ask({ key }, inAnotherMonth)).to.equal("403 PREPAID_PAYMENT_REFUSED");
    // The control: a pack that was sold.
    const { request, reads, batch } = recovery({ key });
    const signatures = new Uint8Array(100 * 256).fill(7);
    await store.addPack({ key_id: key, batch, count: 100, payment: `0x${"11".repeat(32)}`, signatures });
    const decision = await server.paywall.decide(request);
    expect(decision).to.deep.include({ kind: "answered", status: 200, body: signatures });
    expect(reads.count).to.equal(0);
  });

  it("is answered for an honest client while the flood of another client is refused", async () => {
    const server = await openDurable();
    const key = server.prepaid.keyring.offered(PRICE, NOW)!.id;
    const ask = (client: string) => server.paywall.decide({ ...recovery({ key }).request, client });
    // A customer's network of IPv6 has more addresses than the paywall has places.
    for (const address of [() => "192.0.2.1", (i: number) => `2001:db8::${i}`]) {
      const flood = Promise.all(Array.from({ length: 200 }, (_, i) => ask(address(i))));
      expect(told(await ask("192.0.2.2")), address(0)).to.equal("404");
      const results = (await flood).map(told);
      expect(results.filter((result) => result === "503 later")).to.have.length.greaterThan(100);
      expect(new Set(results)).to.deep.equal(new Set(["404", "503 later"]));
    }
  });

  it("is answered without a proof while others wait for the service", async () => {
    const node = await startPoolNode(() => NOW);
    const service = createServer();
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    const { prepaid: own, ...options } = optionsOf(merchant, durable());
    let key = "";
    const method = createPrepaid(own, {
      onOpen: ({ keyring }) => {
        key = keyring.offered(PRICE, NOW)!.id;
      },
    });
    const handler = withPayment(() => new Response("unpaid"), {
      ...options,
      service: `http://127.0.0.1:${(service.address() as AddressInfo).port}/zk`,
      chain: { ...options.chain, rpcUrls: [node.url] },
      clock: () => NOW,
      onEvent: () => undefined,
      methods: [method],
    });
    // The service has been asked, and does not answer.
    await once(service, "request");
    try {
      const inEpoch = proofHeader(NOW);
      const recover = async (headers: Record<string, string>) => {
        const { target } = recovery({ key }).request;
        const { status } = await handler(new Request(ORIGIN + target, { method: "POST", headers }));
        return status;
      };
      const answers: number[] = [];
      const waiting = Array.from({ length: 8 }, async () =>
        answers.push(await recover({ "x-payment-proof": inEpoch })),
      );
      answers.push(await recover({}));
      expect(answers).to.deep.equal([404]);
      service.closeAllConnections();
      service.close();
      await Promise.all(waiting);
      expect(answers).to.deep.equal([404, ...Array.from({ length: 8 }, () => 503)]);
    } finally {
      service.closeAllConnections();
      service.close();
      await handler.close();
      await node.close();
    }
  });

  it("is refused if the payment's time is in no epoch, or not in the key's epoch", async () => {
    const server = await openDurable();
    const key = server.prepaid.keyring.offered(PRICE, NOW)!.id;
    const recover = async (timestamp: number) => {
      const proof = proofHeader(timestamp);
      const decision = await server.paywall.decide(recovery({ key }, proof).request);
      const { code } = (decision as { body: { code?: string } }).body;
      return `${told(decision)} ${code}`;
    };
    const times = [0, Date.UTC(1999, 11), NEXT_EPOCH + 86_400_000, Date.UTC(3000, 0), 8.64e15];
    for (const time of times) expect(await recover(time), String(time)).to.equal("403 PREPAID_PAYMENT_REFUSED");
    // The control: only the service is missing.
    expect(await recover(NOW)).to.equal("503 later PREPAID_UNAVAILABLE");
  });
});

/** A request for a pack, and how often its body was read. */
function recovery(changes: Partial<PrepaidPurchase>, proof?: string, pack = new Uint8Array(100 * 256)) {
  const batch = `0x${createHash("sha256").update(pack).digest("hex")}`;
  const purchase = { key: `0x${"00".repeat(32)}`, count: 100, batch, ...changes };
  const reads = { count: 0 };
  const request: PaywallRequest = {
    method: "POST",
    target: prepaidRecoverTarget(purchase),
    header: (name) => (name === "x-payment-proof" && proof !== undefined ? [proof] : []),
    body: async () => {
      reads.count += 1;
      return pack;
    },
  };
  return { request, reads, batch };
}

/** A proof header that is well-formed, and nothing more. */
function proofHeader(timestamp: number): string {
  const words = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1));
  const { encryptionKey } = deriveKeys(randomSeed(), DEPLOYMENT);
  return JSON.stringify({
    proof: words(8),
    publicSignals: words(CIRCUITS.payment.publicSignalCount),
    encryptedAmount: packCiphertext(encryptAmount(encryptionKey, PRICE, randomScalar())),
    amountProof: words(8),
    recipientPublicKey: WALLET,
    timestamp,
    paymentToken: "a.b.c",
    txSignature: `0x${"33".repeat(32)}`,
  });
}

/** `payment.prepaid` of the 402. */
async function offer(server: PrepaidServer, target = "/paid"): Promise<object | undefined> {
  const decision = await ask(server, { target });
  if (decision.kind !== "refused") throw new Error(told(decision));
  return (decision.body as { payment: { prepaid?: object } }).payment.prepaid;
}

async function totals(server: PrepaidServer) {
  const rows = await server.totals();
  return { rows: rows.map(({ issued, redeemed, outstanding }) => ({ issued, redeemed, outstanding })) };
}

/** Changes one character, or cuts, repeats or moves a part. */
function mutate(header: string, seed: string): string {
  const hash = createHash("sha256").update(seed).digest();
  const at = hash.readUInt16BE(0) % header.length;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const other = alphabet[(alphabet.indexOf(header[at]!) + 1 + (hash[2]! % 63)) % 64]!;
  if (hash[3]! < 200) return header.slice(0, at) + other + header.slice(at + 1);
  // A header that is cut before its first character would stay the same.
  const cut = Math.max(1, at);
  if (hash[3]! < 220) return header.slice(cut) + header.slice(0, cut);
  if (hash[3]! < 235) return header.slice(0, at);
  return header.slice(0, at) + "=+/ "[hash[4]! % 4] + header.slice(at + 1);
}
