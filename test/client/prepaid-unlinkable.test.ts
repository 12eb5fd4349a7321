// What a merchant with its complete database and logs can learn from prepaid tokens: nothing that links a token to its
// purchase or to another token.

import { constants, verify } from "node:crypto";
import { type PayingFetch, type WrapOptions, wrapFetch } from "@sotto/client";
import {
  decodePrepaidHeader,
  decodeSignedSchedule,
  encodeRsaKey,
  PREPAID_HEADER,
  PREPAID_PATH,
  prepaidTokenInput,
  scheduledKeys,
} from "@sotto/prepaid";
import { buyPrepaid, prepaid } from "@sotto/prepaid/client";
import { SCHEDULE_PATH } from "@sotto/protocol";
import { freePort } from "@sotto/server";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { openPrepaidMerchant, type PrepaidMerchant, PrepaidServer } from "@sotto/test-world/prepaid-server";
import type { LoggedRequest } from "@sotto/test-world/seen";
import { openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { invert, partsOf, raised, toBigInt } from "./support/rsa.ts";
import { largestBitDifference, randomHalves, rankScore } from "./support/statistics.ts";

const VALUE = 100n;
const PACK = 100n * VALUE;

describe("a merchant with its database and logs", function () {
  slow(this, "a chain, a service and a thousand redemptions");
  let world: World;
  let merchant: PrepaidMerchant;
  before(async () => {
    world = await openWorld();
    merchant = await openPrepaidMerchant(world, VALUE);
  });

  const optionsOf = (send?: typeof fetch): WrapOptions => ({
    services: [world.serviceUrl],
    maxPerRequest: VALUE,
    methods: [prepaid({ maxPerHost: 2_000_000n, mirrors: [], buy: false, fetch: send })],
  });
  const SEEDS = [1, 2].map((n) => new Uint8Array(32).map((_, i) => 11 * i + n));
  const VISITS = 20;
  let port: number;

  /** Two payers buy in this order; then both spend, in the same order in every run. */
  async function run(order: readonly number[]) {
    const server = await PrepaidServer.open(merchant, port);
    try {
      const bodies: Uint8Array[] = [];
      const send: typeof fetch = (input, init) => {
        if (String(input).includes(`${PREPAID_PATH}?`) && new Headers(init?.headers).has("x-payment-proof"))
          bodies.push(init?.body as Uint8Array);
        return fetch(input, init);
      };
      const pays: PayingFetch[] = [];
      for (const who of order) {
        const wallet = await payerWith(world, [PACK], { seed: SEEDS[who]!, store: new MemoryStore() });
        const options = optionsOf();
        await buyPrepaid(fetch, wallet, optionsOf(send), { origin: server.url, value: VALUE });
        pays[who] = wrapFetch(fetch, wallet, options);
      }
      for (let i = 0; i < VISITS; i += 1) await pays[i % 2]!(`${server.url}/visit/${i}`);
      const { requests, events } = server;
      return { tables: server.tables(), requests, events, bodies };
    } finally {
      await server.close();
    }
  }
  type Run = Awaited<ReturnType<typeof run>>;
  /** Before its first purchase, a payer reads the schedule of the merchant's addresses. */
  const isPurchase = ({ target }: Pick<LoggedRequest, "target">) =>
    target.startsWith(PREPAID_PATH) || target === SCHEDULE_PATH;
  let runs: [Run, Run];
  before(async () => {
    // Both runs have the same origin, which requests contain.
    port = await freePort("127.0.0.1");
    runs = [await run([0, 1]), await run([1, 0])];
  });

  it("sees the same in two runs with the payers exchanged, but for times and random values", () => {
    // From the first visit on, every byte of every request is the same.
    const visits = runs.map(({ requests }) =>
      requests.filter((each) => !isPurchase(each)).map(({ port: _, at: __, answeredAt: ___, ...rest }) => rest),
    );
    expect(visits[0]!.length).to.equal(2 * VISITS);
    expect(visits[1]).to.deep.equal(visits[0]);
    const events = runs.map((each) => each.events.map(({ ms: _, ...rest }) => rest));
    expect(events[1]).to.deep.equal(events[0]);

    // Purchases: the same set of requests, in the other order, with other proofs of payment.
    const purchases = runs.map(({ requests }) =>
      requests
        .filter(isPurchase)
        .map(({ method, target, headers, status }) => ({ method, target, status, headers: withoutProof(headers) })),
    );
    const sorted = purchases.map((list) => list.map((each) => JSON.stringify(each)).sort());
    expect(sorted[1]).to.deep.equal(sorted[0]);
    expect(purchases[1], "the control: the order of the purchases differs").to.not.deep.equal(purchases[0]);

    // The database: after columns with times and random values are removed, the tables are equal as sets.
    const differing = new Set<string>();
    const [one, two] = runs.map(({ tables }) => tables);
    expect(Object.keys(one!)).to.deep.equal(Object.keys(two!));
    for (const [table, rows] of Object.entries(one!)) {
      expect(two![table]!.length, table).to.equal(rows.length);
      for (const column of Object.keys(rows[0] ?? {})) {
        const values = [rows, two![table]!].map((list) => list.map((row) => printed(row[column])).sort());
        if (JSON.stringify(values[0]) !== JSON.stringify(values[1])) differing.add(`${table}.${column}`);
      }
    }
    for (const column of differing) expect(RANDOM_COLUMNS, column).to.include(column);
    for (const column of ["prepaid.prepaid_token.nonce", "prepaid.prepaid_pack.signatures"])
      expect([...differing]).to.not.include(column);
    expect(one!["prepaid.prepaid_token"]!.length).to.equal(VISITS);
  });

  it("can explain every token by every blinded message of either pack", async () => {
    const [{ requests, bodies, tables }] = runs;
    const { schedules } = await merchant.filesOf(`http://127.0.0.1:${port}`);
    const [first, second] = scheduledKeys(decodeSignedSchedule(schedules[0]).schedule).map(({ key }) => key.modulus);
    const n = first!;
    // What the merchant received and what it answered: each signature is right for its message.
    const packs = tables["prepaid.prepaid_pack"]!.flatMap(({ signatures }) => messagesOf(signatures as Uint8Array));
    const messages = new Set(bodies.flatMap(messagesOf));
    expect([messages.size, packs.length]).to.deep.equal([200, 200]);
    for (const signed of packs) expect(messages.has(raised(signed, n))).to.equal(true);
    const tokens = requests.flatMap(tokenOf).map(decodePrepaidHeader);
    expect(tokens.length).to.equal(VISITS);
    const isSigned = (token: (typeof tokens)[number], modulus: bigint) => {
      const key = { key: Buffer.from(encodeRsaKey(modulus)), format: "der", type: "spki" } as const;
      const pss = { ...key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
      return verify("sha384", prepaidTokenInput(token), pss, token.signature);
    };
    for (const token of tokens) {
      expect([isSigned(token, n), isSigned(token, second!)], "right, and the control").to.deep.equal([true, false]);
      // For each message, the one blind with which it would have been this token. All of them exist, so the messages and
      // the answers say nothing about which message became which token.
      const signature = toBigInt(token.signature);
      const [encoded, inverse] = [raised(signature, n), invert(signature, n)];
      for (const signed of packs) {
        const blind = (signed * inverse) % n;
        expect(messages.has((encoded * raised(blind, n)) % n)).to.equal(true);
      }
    }
  });

  it("cannot tell the packs of a thousand redemptions apart by sizes, timing or values", async () => {
    const REDEMPTIONS = 1_000;
    const server = closedAfterTest(await PrepaidServer.open(merchant));
    const pays: PayingFetch[] = [];
    for (const _ of [0, 1]) {
      const wallet = await payerWith(world, [PACK, 10n * PACK]);
      for (const count of [100, 1_000])
        expect(await buyPrepaid(fetch, wallet, optionsOf(), { origin: server.url, value: VALUE })).to.include({
          count,
        });
      pays.push(wrapFetch(fetch, wallet, optionsOf()));
    }
    // The first token of a process takes longer: its pack is read.
    for (const pay of pays) await pay(`${server.url}/warm`);
    const [from, events] = [server.requests.length, server.events.length];
    const labels = randomHalves(REDEMPTIONS, () => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32);
    for (const label of labels) await pays[label ? 0 : 1]!(`${server.url}/visit`);

    const requests = server.requests.slice(from);
    const shown = requests.filter(({ headers }) => headers.some(isTokenName));
    expect([requests.length, shown.length]).to.deep.equal([2 * REDEMPTIONS, REDEMPTIONS]);
    // Sizes and fields: the requests of both packs have the same shape.
    const shapes = new Set(shown.map(({ headers }) => headers.map((text, i) => (i % 2 ? text.length : text)).join()));
    expect([...shapes]).to.have.length(1);
    const constant = new Set(
      shown.map(({ method, target, status, headers }) =>
        JSON.stringify([method, target, status, withoutToken(headers)]),
      ),
    );
    expect([...constant]).to.have.length(1);
    // Timing classes: every redemption takes the same path through the server.
    const paths = server.events.slice(events).map(({ event, reason, status }) => `${event} ${reason} ${status}`);
    const classes = new Set(Array.from({ length: REDEMPTIONS }, (_, i) => paths.slice(3 * i, 3 * i + 3).join("; ")));
    expect([...classes]).to.deep.equal([
      "challenged undefined undefined; redeemed undefined undefined; finished undefined 200",
    ]);

    // Timing: the pause between the 402 and the token, and the server's checks. Labels are drawn at random, so a slow
    // machine slows both groups alike. False alarms: P(|Z| > 6.5) = 8e-11 for each of two scores. Power: if a value of
    // one pack is larger with probability 0.68 instead of 0.5, the expected score is 9.9, so it is detected with
    // probability 0.9997.
    const pauses = shown.map((request) => request.at - requests[requests.indexOf(request) - 1]!.at);
    const checks = server.events.slice(events).flatMap(({ event, ms = 0 }) => (event === "redeemed" ? [ms] : []));
    for (const values of [pauses, checks]) expect(Math.abs(rankScore(values, labels))).to.be.lessThan(6.5);
    const median = [...pauses].sort((a, b) => a - b)[REDEMPTIONS / 2]!;
    const marked = pauses.map((pause, i) => pause + (labels[i] ? median : 0));
    expect(Math.abs(rankScore(marked, labels)), "the control: a pause that marks a pack").to.be.greaterThan(6.5);

    // Values: the frequency of each of the 2,304 bits of nonce and signature. False alarms: at most 2,304 · 2 exp(-500 ·
    // 0.25²) = 1.3e-10, by Hoeffding's inequality, for each of two comparisons. Power: a bit whose frequency differs
    // by 0.4 between the packs exceeds 0.25 with probability 0.99999 (5 standard deviations of 0.03).
    const rows = shown.flatMap(tokenOf).map((text) => {
      const bytes = Buffer.from(text, "base64url");
      return new Uint8Array(Buffer.concat([bytes.subarray(2, 34), bytes.subarray(98)]));
    });
    const halves = labels.map((_, i) => i < REDEMPTIONS / 2);
    for (const groups of [labels, halves]) expect(largestBitDifference(rows, groups)).to.be.lessThan(0.25);
    const planted = rows.map((row, i) =>
      row.map((byte, j) => (j === 7 && i % 10 < 9 ? (byte & 0xfe) | Number(labels[i]) : byte)),
    );
    expect(largestBitDifference(planted, labels), "the control: a bit that marks a pack").to.be.greaterThan(0.25);
  });
});

/** Columns of the merchant's tables that hold times or random values, so that they differ between equal runs. */
const RANDOM_COLUMNS: readonly string[] = [
  // Single payments and purchases: another note and another proof each time.
  "payments.payment_claim.id",
  "payments.payment_claim.digest",
  "payments.payment_claim.holder",
  "payments.payment_claim.lease_until",
  "payments.payment_claim.expires_at",
  "prepaid.prepaid_pack.payment",
  // Random ids of statements and stores.
  "prepaid.prepaid_token.holder",
  "prepaid.prepaid_progress.store",
  // How long the server ran.
  "prepaid.prepaid_progress.ticks",
  "payments.paywall_migration.timestamp",
  "prepaid.prepaid_migration.timestamp",
];

const printed = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);

const isTokenName = (text: string): boolean => text.toLowerCase() === PREPAID_HEADER.toLowerCase();
const isProofName = (text: string): boolean => text.toLowerCase() === "x-payment-proof";

/** The token of a request. */
const tokenOf = ({ headers }: LoggedRequest): string[] =>
  headers.filter((_, i) => i % 2 === 1 && isTokenName(headers[i - 1]!));

const without = (isName: (text: string) => boolean) => (headers: readonly string[]) =>
  headers.map((text, i) =>
    i % 2 === 1 && (isName(headers[i - 1]!) || /^content-length$/i.test(headers[i - 1]!)) ? "" : text,
  );
const withoutProof = without(isProofName);
const withoutToken = without(isTokenName);

const messagesOf = (body: Uint8Array): bigint[] => partsOf(body).map(toBigInt);
