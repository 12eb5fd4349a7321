// What a merchant with its complete database and logs can learn from metered credit: nothing that links a request, its change or a
// swap to the purchase of a pack.

import { type PayingFetch, type WrapOptions, wrapFetch } from "@sotto/client";
import {
  changeOf,
  decodePrepaidHeader,
  decodeSignedSchedule,
  PREPAID_CHANGE_PATH,
  PREPAID_HEADER,
  PREPAID_SWAP_PATH,
  type PrepaidKey,
  type PrepaidToken,
  parseChangeRequest,
  parseSwapRequest,
  scheduledKeys,
} from "@sotto/prepaid";
import { buyPrepaid, type ChargeEvent, mergePrepaid, prepaid } from "@sotto/prepaid/client";
import { freePort } from "@sotto/server";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { slow } from "@sotto/test-kit/slow";
import { type MeteredMerchant, openMeteredMerchant, openMeteredServer, WORDS } from "@sotto/test-world/metered-server";
import type { LoggedRequest } from "@sotto/test-world/seen";
import { openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { accuracyOf, chanceBound, type Features, seeded } from "./support/classifier.ts";
import { structureOf } from "./support/metered-structure.ts";
import { invert, partsOf, raised, toBigInt } from "./support/rsa.ts";
import { largestBitDifference, randomHalves, rankScore } from "./support/statistics.ts";

const PACK = 100n * WORDS.cap;
const isBody = ({ target }: LoggedRequest) => target === PREPAID_CHANGE_PATH || target === PREPAID_SWAP_PATH;
const textOf = ({ body }: LoggedRequest): string => Buffer.concat(body).toString("utf8");

describe("a metered merchant with its database and logs", function () {
  slow(this, "a chain, a service and hundreds of requests with change");
  let world: World;
  let merchant: MeteredMerchant;
  before(async () => {
    // The month must not change between two runs.
    await clearOfMidnight();
    world = await openWorld();
    merchant = await openMeteredMerchant(world);
  });

  const SEEDS = [1, 2].map((n) => new Uint8Array(32).map((_, i) => 7 * i + n));
  /** Words of each request: the payers take turns. */
  const WORD_COUNTS = [3, 7, 5, 1, 9, 3, 5, 5, 2, 8, 6, 4];
  let port: number;

  interface Payer {
    readonly wallet: Wallet;
    readonly options: WrapOptions;
    readonly pay: PayingFetch;
    readonly charges: ChargeEvent[];
  }

  async function openPayer(url: string, notes: bigint[], seed: Uint8Array | undefined, maxDelayMs: number) {
    const wallet = await payerWith(world, notes, { ...(seed && { seed }), store: new MemoryStore() });
    const charges: ChargeEvent[] = [];
    const options: WrapOptions = {
      services: [world.serviceUrl],
      maxPerRequest: WORDS.cap,
      methods: [
        prepaid({
          ...{ maxPerHost: 50_000_000n, mirrors: [], buy: false, maxDelayMs },
          onCharge: (charge) => void charges.push(charge),
        }),
      ],
    };
    for (const _ of notes) await buyPrepaid(fetch, wallet, options, { origin: url, value: WORDS.cap });
    return { wallet, options, pay: wrapFetch(fetch, wallet, options), charges };
  }

  /** Two payers buy in this order; then both pay requests and merge their change, in the same order in every run. */
  async function run(order: readonly number[]) {
    const server = await openMeteredServer(world, merchant, { port });
    try {
      const payers: Payer[] = [];
      // Swaps in the background would come at random times.
      for (const who of order) payers[who] = await openPayer(server.url, [PACK], SEEDS[who]!, 1_000_000_000);
      const [bought, told] = [server.requests.length, server.events.length];
      const owners: number[] = [];
      const turn = async (who: number, action: (payer: Payer) => Promise<unknown>) => {
        await action(payers[who]!);
        while (owners.length < server.requests.length - bought) owners.push(who);
      };
      for (const counts of [WORD_COUNTS, WORD_COUNTS.toReversed()]) {
        for (const [i, words] of counts.entries())
          await turn(i % 2, async ({ pay, charges }) => {
            const before = charges.length;
            await (await pay(`${server.url}/words/${words}${words === 9 ? "?fail" : ""}`)).text();
            await eventually(async () => charges.length > before);
          });
        for (const who of [0, 1])
          await turn(who, async ({ wallet, options }) => {
            const { problems, swaps } = await mergePrepaid(fetch, wallet, options);
            expect(problems).to.deep.equal([]);
            expect(swaps, "swaps").to.be.greaterThan(0);
          });
      }
      return {
        tables: server.tables(),
        requests: server.requests.slice(bought),
        events: server.events.slice(told),
        purchases: server.requests.slice(0, bought),
        owners,
      };
    } finally {
      await server.close();
    }
  }
  type Run = Awaited<ReturnType<typeof run>>;
  let runs: [Run, Run];
  before(async () => {
    // Both runs have the same origin, which requests contain.
    port = await freePort("127.0.0.1");
    runs = [await run([0, 1]), await run([1, 0])];
  });

  it("sees the same in two runs with the payers exchanged, but for times and random values", () => {
    const [one, two] = runs.map(structureOf);
    // Unpaid, paid, and its claim.
    expect(one!.requests.length).to.be.greaterThan(3 * 2 * WORD_COUNTS.length);
    for (const path of [PREPAID_CHANGE_PATH, PREPAID_SWAP_PATH])
      expect(one!.requests.filter(({ target }) => target === path).length, path).to.be.greaterThan(3);
    expect(two!.requests).to.deep.equal(one!.requests);
    expect(two!.events).to.deep.equal(one!.events);
    expect(Object.keys(two!.tables)).to.deep.equal(Object.keys(one!.tables));
    for (const [table, rows] of Object.entries(one!.tables)) expect(two!.tables[table], table).to.deep.equal(rows);
    for (const table of ["prepaid_token", "prepaid_metered", "prepaid_swap", "prepaid_pack"])
      expect(one!.tables[`prepaid.${table}`]!.length, table).to.be.greaterThan(1);
  });

  it("would see a mark that stays with a payer", () => {
    // The control: requests, claims, swaps or rows that say which payer bought first.
    const [first, second] = runs;
    const places = [
      [0, 1],
      [1, 0],
    ];
    const plant = (mark: (run: Run, placeOf: (i: number) => number) => Run) =>
      [first, second].map((each, r) => structureOf(mark(each, (i) => places[r]!.indexOf(each.owners[i]!))));
    const header = plant((each, placeOf) => ({
      ...each,
      requests: each.requests.map((request, i) => ({
        ...request,
        headers: [...request.headers, "x-visit", String(placeOf(i))],
      })),
    }));
    expect(header[1]!.requests).to.not.deep.equal(header[0]!.requests);
    // One of the payers writes the fields of claims and swaps in another order.
    const body = plant((each, placeOf) => ({
      ...each,
      requests: each.requests.map((request, i) => {
        if (!isBody(request) || placeOf(i) === 0) return request;
        const entries = Object.entries(JSON.parse(textOf(request))).toReversed();
        return { ...request, body: [Buffer.from(JSON.stringify(Object.fromEntries(entries)))] };
      }),
    }));
    expect(body[1]!.requests).to.not.deep.equal(body[0]!.requests);
    // The tokens of one payer show a nonce again.
    const again = plant((each, placeOf) => {
      const shown = each.requests.find((request, i) => placeOf(i) === 0 && tokenOf(request) !== undefined)!;
      return { ...each, requests: each.requests.map((request, i) => (i === 70 && placeOf(i) === 0 ? shown : request)) };
    });
    expect(again[1]!.requests).to.not.deep.equal(again[0]!.requests);
    const row = plant((each) => {
      const [bought] = each.purchases.filter(({ headers }) => headers.some((text) => /^x-payment-proof$/i.test(text)));
      const tokens = each.tables["prepaid.prepaid_token"]!.map((token) => ({ ...token, returned_for: bought!.target }));
      return { ...each, tables: { ...each.tables, "prepaid.prepaid_token": tokens } };
    });
    expect(row[1]!.tables).to.not.deep.equal(row[0]!.tables);
  });

  it("gets each claim and each swap on a connection of its own", () => {
    for (const { requests } of runs) {
      const own = requests.filter(isBody).map(({ port }) => port);
      expect(new Set(own).size).to.equal(own.length);
      const others = new Set(requests.filter((request) => !isBody(request)).map(({ port }) => port));
      expect(own.filter((each) => others.has(each))).to.deep.equal([]);
    }
  });

  it("can explain every token of change and of a swap by every message that it signed with the same key", async () => {
    const [{ requests, tables }] = runs;
    const { schedules } = await merchant.filesOf(`http://127.0.0.1:${port}`);
    const keys = scheduledKeys(decodeSignedSchedule(schedules[0]).schedule);
    const keyOf = new Map(keys.map(({ key, value, epoch }) => [key.id, { key, value, epoch }]));
    const keyAt = (value: bigint, epoch: string) =>
      keys.find((each) => each.value === value && each.epoch === epoch)!.key;
    // What the merchant signed after the purchases, by key: each message with its signature.
    const signed = new Map<string, { readonly message: bigint; readonly signature: bigint }[]>();
    const add = (key: PrepaidKey, message: Uint8Array, signature: Uint8Array) => {
      const list = signed.get(key.id) ?? [];
      signed.set(key.id, list);
      list.push({ message: toBigInt(message), signature: toBigInt(signature) });
    };
    for (const request of requests.filter(({ target }) => target === PREPAID_CHANGE_PATH)) {
      const { batch, token } = parseChangeRequest(textOf(request));
      if (batch === undefined) continue;
      const nonce = Buffer.from(token.nonce.slice(2), "hex").toString("base64url");
      const row = tables["prepaid.prepaid_metered"]!.find((each) => each["nonce"] === nonce)!;
      const values = changeOf(WORDS, BigInt(String(row["charge"])));
      const signatures = partsOf(row["signatures"] as Uint8Array);
      for (const [i, message] of partsOf(batch).entries())
        add(keyAt(values[i]!, String(row["change_epoch"])), message, signatures[i]!);
    }
    const swaps = requests.filter(({ target }) => target === PREPAID_SWAP_PATH);
    for (const request of swaps) {
      const { batch, tokens, epoch } = parseSwapRequest(textOf(request));
      const sum = tokens.reduce((total, text) => total + keyOf.get(decodePrepaidHeader(text).keyId)!.value, 0n);
      const messages = partsOf(batch);
      const row = tables["prepaid.prepaid_swap"]!.find(({ signatures }) => {
        const [first] = partsOf(signatures as Uint8Array);
        const key = keyAt(sum / BigInt(messages.length), epoch);
        return raised(toBigInt(first!), key.modulus) === toBigInt(messages[0]!);
      })!;
      const signatures = partsOf(row["signatures"] as Uint8Array);
      for (const [i, message] of messages.entries())
        add(keyAt(sum / BigInt(messages.length), epoch), message, signatures[i]!);
    }
    // What was shown and is no token of a pack: those values are not sold as packs.
    const shown = [...requests.flatMap((request) => tokenOf(request) ?? []), ...swaps.flatMap(swappedTokens)];
    const change = shown.filter(({ keyId }) => keyOf.get(keyId)!.value !== WORDS.cap);
    expect(change.length).to.be.greaterThan(10);
    for (const token of change) {
      const { modulus } = keyOf.get(token.keyId)!.key;
      const signature = toBigInt(token.signature);
      const [encoded, inverse] = [raised(signature, modulus), invert(signature, modulus)];
      const all = signed.get(token.keyId)!;
      expect(all.length, "several messages").to.be.greaterThan(2);
      for (const { message, signature: blindSignature } of all) {
        expect(raised(blindSignature, modulus)).to.equal(message);
        // The blind with which this message would have become this token.
        const blind = (blindSignature * inverse) % modulus;
        expect((encoded * raised(blind, modulus)) % modulus).to.equal(message);
      }
      // The control: with the key of another value, nothing is explained.
      const other = keys.find(({ key }) => key.id !== token.keyId)!.key.modulus;
      const blind = (all[0]!.signature * inverse) % other;
      expect((encoded * raised(blind, other)) % other).to.not.equal(all[0]!.message);
    }
  });

  it("cannot tell the owners of requests apart by fields, sizes, order or timing", async () => {
    const count = fuzzSize(300, 1_000);
    const server = closedAfterTest(await openMeteredServer(world, merchant));
    // Swaps come at random times: dozens of requests may be in between.
    const payers = [await openPayer(server.url, [PACK, 10n * PACK], undefined, 500)];
    payers.push(await openPayer(server.url, [PACK, 10n * PACK], undefined, 500));
    // The first requests of a process take longer.
    for (const { pay } of payers) for (let i = 0; i < 8; i += 1) await (await pay(`${server.url}/words/10`)).text();
    const charged = () => payers.reduce((sum, { charges }) => sum + charges.length, 0);
    await eventually(async () => charged() === 16);
    const from = server.requests.length;
    // The owners, and what each request costs, are independent of each other.
    const random = seeded(2);
    const labels = randomHalves(count, random);
    for (const label of labels) {
      const words = Math.floor(random() * 11);
      // The response of a stream does not say the charge, so its receipt is claimed before the change.
      const stream = random() < 0.5 ? "?stream" : "";
      await (await payers[label ? 0 : 1]!.pay(`${server.url}/words/${words}${stream}`)).text();
    }
    await eventually(async () => charged() === 16 + count);
    // A swap may still run.
    await eventually(async () => server.requests.every(({ status }) => status !== 0));

    const log = server.requests.slice(from);
    // Fields and sizes: all requests of a kind have the same shape.
    const shapes = new Map<string, Set<string>>();
    for (const request of log) {
      const kind = kindOf(request);
      shapes.set(kind, (shapes.get(kind) ?? new Set()).add(shapeOf(request)));
    }
    expect([...shapes.keys()].sort()).to.deep.equal(["both", "change", "claim", "swap", "token", "words"]);
    for (const [kind, found] of shapes) expect([...found], kind).to.have.length(1);
    const swaps = log.filter((request) => kindOf(request) === "swap").length;
    expect(swaps, "swaps").to.be.greaterThan(10);
    // Order and timing.
    const rows = observationsOf(log);
    expect(rows.length).to.equal(count);
    const bound = chanceBound(count);
    const classify = (each: readonly Features[]) => accuracyOf(each, labels, seeded(1));
    expect(classify(rows)).to.be.lessThan(bound);
    for (const [j, name] of OBSERVED.entries()) {
      const values = rows.map((row) => row[j]!);
      // False alarms: P(|Z| > 6.5) = 8e-11 for each.
      expect(Math.abs(rankScore(values, labels)), name).to.be.lessThan(6.5);
      // The control: a leak in one of them, in four of five requests.
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const marked = values.map((value, i) => (i % 5 === 0 ? value : labels[i] ? high + 1 : low));
      expect(Math.abs(rankScore(marked, labels)), `the control: ${name}`).to.be.greaterThan(6.5);
      const planted = rows.map((row, i) => row.with(j, marked[i]!));
      expect(classify(planted), `the control: ${name}`).to.be.greaterThan(bound);
    }

    // Values: the frequency of each bit of what each request shows. False alarms, by Hoeffding's inequality: at most
    // 2 * bits * exp(-m t^2) for m requests of each owner, which is 1e-9.
    for (const [name, bytes] of bytesOf(log)) {
      const limit = Math.sqrt(Math.log((2 * 8 * bytes[0]!.length) / 1e-9) / (count / 2));
      expect(largestBitDifference(bytes, labels), name).to.be.lessThan(limit);
      const planted = bytes.map((row, i) =>
        row.map((byte, k) => (k === 7 && i % 10 < 9 ? (byte & 0xfe) | Number(labels[i]) : byte)),
      );
      expect(largestBitDifference(planted, labels), `the control: ${name}`).to.be.greaterThan(limit);
    }
  });
});

/** The token of a request. */
function tokenOf({ headers }: LoggedRequest): PrepaidToken | undefined {
  const at = headers.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === PREPAID_HEADER.toLowerCase());
  return at < 0 ? undefined : decodePrepaidHeader(headers[at + 1]!);
}

const swappedTokens = (request: LoggedRequest): PrepaidToken[] =>
  parseSwapRequest(textOf(request)).tokens.map((text) => decodePrepaidHeader(text));

/** words: without a token; token: with one; claim: for a receipt; change: for what it left; both: for both at once; swap. */
function kindOf(request: LoggedRequest): string {
  const { target } = request;
  if (target === PREPAID_SWAP_PATH) return "swap";
  if (target === PREPAID_CHANGE_PATH) {
    const { batch, charge } = parseChangeRequest(textOf(request));
    if (batch === undefined) return "claim";
    return charge === undefined ? "change" : "both";
  }
  return tokenOf(request) === undefined ? "words" : "token";
}

/** Whether a request of this kind is the first claim of a token. */
const isClaim = (kind: string): boolean => kind === "claim" || kind === "both";

/** Names of the fields in their order, and lengths of the values that do not depend on what a request costs. */
function shapeOf(request: LoggedRequest): string {
  const text = textOf(request);
  const headers = request.headers.map((value, i) =>
    i % 2 === 0 ? value : /^content-length$/i.test(request.headers[i - 1]!) ? "" : value.length,
  );
  const fields = text === "" ? [] : Object.entries(JSON.parse(text) as Record<string, unknown>);
  // They depend on what the request cost, and on the recipe of a swap.
  const isFree = (name: string) => ["batch", "charge", "tokens"].includes(name);
  const lengthOf = ([name, value]: [string, unknown]) => [name, isFree(name) ? "" : String(value).length];
  return JSON.stringify([request.method, request.status, headers, fields.map(lengthOf)]);
}

/** What a merchant can observe of a request with a token and of what surrounds it. */
const OBSERVED = [
  "the pause since the last request",
  "the pause before the token",
  "how long the request took",
  "the pause before the claim",
  "how long the claim took",
  "the pause before the change is asked for",
  "how long the change took",
  "the requests between token and claim",
  "the requests between claim and change",
  "the length of the request",
  "the length of the claim",
  "the length of what asks for change",
  "the requests since the last swap",
  "the pause since the last swap",
  "the requests until the next swap",
  "the pause until the next swap",
  "the tokens of the next swap",
  "whether the next swap may spend this change",
  "the charge",
] as const;

/** In the order of `OBSERVED`, for each request with a token. -1: there is none. */
function observationsOf(log: readonly LoggedRequest[]): Features[] {
  const kinds = log.map(kindOf);
  const claims = new Map<string, number>();
  for (const [i, request] of log.entries())
    if (isClaim(kinds[i]!) || kinds[i] === "change")
      claims.set(`${isClaim(kinds[i]!) ? "claim" : "change"} ${parseChangeRequest(textOf(request)).token.nonce}`, i);
  const swaps = kinds.flatMap((kind, i) => (kind === "swap" ? [i] : []));
  const tokens = kinds.flatMap((kind, i) => (kind === "token" ? [i] : []));
  const lengthOf = (request: LoggedRequest) => request.headers.join("").length + textOf(request).length;
  return tokens.map((at, n) => {
    const request = log[at]!;
    const asked = log.slice(0, at).findLast((_, i) => kinds[i] === "words")!;
    const last = log[tokens[n - 1] ?? -1];
    const { nonce } = tokenOf(request)!;
    const [claimAt, changeAt] = [claims.get(`claim ${nonce}`)!, claims.get(`change ${nonce}`)];
    const claim = log[claimAt]!;
    const change = changeAt === undefined ? undefined : log[changeAt]!;
    const before = swaps.findLast((i) => i < at);
    const after = swaps.find((i) => i > claimAt);
    const words = BigInt(request.target.split("/").at(-1)!.replace("?stream", ""));
    const charge = words * WORDS.units[0]!.price;
    const returned = changeOf(WORDS, charge > WORDS.cap ? WORDS.cap : charge);
    const spent = after === undefined ? [] : swappedTokens(log[after]!);
    // Change of 5,000 is spent in a swap of two tokens, smaller change in others.
    const mayFit = after !== undefined && returned.some((value) => (value === 5_000n) === (spent.length === 2));
    return [
      last === undefined ? -1 : asked.at - last.answeredAt,
      request.at - asked.answeredAt,
      request.answeredAt - request.at,
      claim.at - request.answeredAt,
      claim.answeredAt - claim.at,
      change === undefined ? -1 : change.at - claim.answeredAt,
      change === undefined ? -1 : change.answeredAt - change.at,
      claimAt - at,
      changeAt === undefined ? -1 : changeAt - claimAt,
      lengthOf(request),
      lengthOf(claim),
      change === undefined ? -1 : lengthOf(change),
      before === undefined ? -1 : at - before,
      before === undefined ? -1 : request.at - log[before]!.at,
      after === undefined ? -1 : after - claimAt,
      after === undefined ? -1 : log[after]!.at - claim.at,
      spent.length,
      Number(mayFit),
      Number(charge),
    ];
  });
}

/** What each request shows that looks random: token, and key and signature of the claim. */
function bytesOf(log: readonly LoggedRequest[]): [name: string, bytes: Uint8Array[]][] {
  const tokens = log.flatMap((request) => (kindOf(request) === "token" ? [tokenOf(request)!] : []));
  const claims = new Map(
    log
      .filter((request) => isClaim(kindOf(request)))
      .map((request) => parseChangeRequest(textOf(request)))
      .map(({ token, proof }) => [token.nonce, proof]),
  );
  const hex = (text: string) => Buffer.from(text.slice(2), "hex");
  return [
    ["token", tokens.map(({ nonce, signature }) => new Uint8Array(Buffer.concat([hex(nonce), signature])))],
    [
      "claim",
      tokens.map(({ nonce }) => {
        const { publicKey, signature } = claims.get(nonce)!;
        return new Uint8Array(Buffer.concat([hex(publicKey), hex(signature)]));
      }),
    ],
  ];
}
