// Attacks on the endpoints and the meter of metered credit: nobody gains a unit, and what is refused leaves the store as it was.
import { join } from "node:path";
import { openDatabase } from "@sotto/database";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { mutate, type Sample } from "@sotto/test-kit/mutations";
import { Random } from "@sotto/test-kit/random";
import { expectCode } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { sql } from "kysely";
import { PREPAID_CHANGE_PATH, PREPAID_SWAP_PATH } from "../../src/index.ts";
import { auditStore } from "../../src/server/metered/audit.ts";
import type { PrepaidSchema } from "../../src/server/schema.ts";
import { createMerchant, openServer, type PrepaidServer, show, told } from "./support/merchant.ts";
import {
  type Answer,
  blind,
  blindChange,
  buy,
  CAP,
  claim,
  claimBody,
  claimed,
  end,
  METERED_VALUES,
  meteredOptions,
  type Owned,
  post,
  showMetered,
  spendMetered,
  startMetered,
  swap,
  swapBody,
} from "./support/metered.ts";
import { overStores } from "./support/store.ts";

const merchant = await createMerchant({}, METERED_VALUES);
const TABLES = ["prepaid_token", "prepaid_metered", "prepaid_swap", "prepaid_pack", "prepaid_closed"];
const statusOf = ({ status, code }: Answer) => (code === undefined ? String(status) : `${status} ${code}`);

overStores("attacks on metered credit", (newUrl) => {
  let url: string;
  let folder: string;
  let server: PrepaidServer;
  const opened: PrepaidServer[] = [];
  const open = async () => {
    const another = await openServer(meteredOptions(merchant, url, join(folder, `guard-${opened.length}`)));
    opened.push(another);
    return another;
  };
  /** All rows that requests can change. */
  const rows = async (): Promise<string> => {
    const database = await openDatabase<PrepaidSchema>({ url, name: "test", migrations: {} });
    try {
      const tables: unknown[] = [];
      for (const table of TABLES) tables.push((await sql`select * from ${sql.table(table)}`.execute(database.db)).rows);
      return JSON.stringify(tables, (_, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
      );
    } finally {
      await database.close();
    }
  };
  beforeEach(async () => {
    url = await newUrl();
    folder = temporaryFolder("metered");
    server = await open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  it("refuses mutated claims and swaps without a write and without a failure", async () => {
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 3_000 });
    const fives = await buy(server, 2, { value: 5_000n });
    const ones = await buy(server, 2, { value: 1_000n, epoch: "2026-11" });
    const [foreign] = await buy(server, 1, { value: 5_000n });
    const claims = [
      claimBody(owned!, blindChange(server, 4_000n).batch),
      claimBody(foreign!, blindChange(server, 4_000n).batch),
    ];
    const swaps = [
      swapBody(fives, blind(server, [CAP])),
      swapBody(ones, blind(server, [2_000n], "2026-11"), "2026-11"),
    ];
    const samples = [
      [PREPAID_CHANGE_PATH, claims],
      [PREPAID_SWAP_PATH, swaps],
    ].map(([path, bodies]): Sample => {
      const [right, another] = (bodies as string[]).map((body) => JSON.parse(body));
      return { path: path as string, right, other: another, optional: [], same: [] };
    });
    const before = await rows();
    const random = new Random("mutated claims and swaps");
    const answers = new Map<string, number>();
    for (let sent = 0; sent < fuzzSize(1_000, 10_000); ) {
      const { path, what, body } = mutate(samples, random);
      // Neither content types nor byte-order marks count. Nothing signs the batch of a swap: with another one, it is another swap.
      if (what.startsWith("as ") || what === "a byte-order mark") continue;
      if (path === PREPAID_SWAP_PATH && /^batch (?:flipped|swapped)$/.test(what)) continue;
      const answer = statusOf(await post(server, path, body));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      expect(answer, what).to.match(/^(?:400 METERED_REQUEST_INVALID|403 METERED_CLAIM_INVALID|404 METERED_UNKNOWN)$/);
      sent += 1;
    }
    expect([...answers.keys()].sort(), "every kind of refusal").to.have.length(3);
    expect(await rows()).to.equal(before);
    // The control: the same bodies without a mutation are answered, and each one writes.
    let last = before;
    for (const [path, body] of [
      [PREPAID_CHANGE_PATH, claims[0]!],
      [PREPAID_SWAP_PATH, swaps[0]!],
    ] as const) {
      expect(statusOf(await post(server, path, body))).to.equal("200");
      const now = await rows();
      expect(now).to.not.equal(last);
      last = now;
    }
  });

  it("answers one claim that two servers are shown at once with the same bytes, and signs its change once", async () => {
    const second = await open();
    for (const owned of await buy(server, 4)) {
      await spendMetered(server, owned, { input: 3_000 });
      const { batch, finish } = blindChange(server, 4_000n);
      const answers = await Promise.all([server, second, server, second].map((one) => claim(one, owned, batch)));
      expect(new Set(answers.map(statusOf))).to.deep.equal(new Set(["200"]));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      const change = finish((await claimed(second, owned, batch)).signatures!);
      expect(change).to.have.length(2);
    }
    const audit = await auditStore(server.prepaid.store, server.prepaid.keyring.all);
    expect(audit).to.include({ charged: 16_000n, changeSigned: 24_000n, changeClaimable: 0n });
  });

  it("gives one token for a message that is sent twice, and it pays once", async () => {
    const [owned, other] = await buy(server, 2);
    for (const one of [owned!, other!]) await spendMetered(server, one, { input: 5_500 });
    // 4,000 of change: the same message for both of its tokens, and again in the change of another request.
    const single = blind(server, [2_000n]);
    const batch = new Uint8Array(Buffer.concat([single.batch, single.batch]));
    const signed = await Promise.all(
      [owned!, other!].map(async (one) => (await claimed(server, one, batch)).signatures!),
    );
    const parts = signed.flatMap((bytes) => [bytes.subarray(0, 256), bytes.subarray(256)]);
    expect(new Set(parts.map((bytes) => Buffer.from(bytes).toString("hex"))).size).to.equal(1);
    const [token] = single.finish(parts[0]!);
    const [two] = await buy(server, 1, { value: 2_000n });
    const [one] = await buy(server, 1, { value: 1_000n });
    const body = swapBody([one!, token!, two!], blind(server, [5_000n]));
    const { tokens, ...rest } = JSON.parse(body);
    const twice = JSON.stringify({ ...rest, tokens: tokens.with(2, tokens[1]) });
    expect(statusOf(await post(server, PREPAID_SWAP_PATH, twice))).to.equal("400 METERED_REQUEST_INVALID");
    expect(statusOf(await post(server, PREPAID_SWAP_PATH, body))).to.equal("200");
    const [three] = await buy(server, 1, { value: 1_000n });
    const again = [three!, token!, ...(await buy(server, 1, { value: 2_000n }))];
    expect(statusOf(await swap(server, again, blind(server, [5_000n])))).to.equal("409 METERED_SPENT");
  });

  it("signs no message with the key of another value", async () => {
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 500 });
    // 9,000 of change are 5,000 + 2,000 + 2,000; here each message is blinded for 5,000.
    const { modulus } = server.prepaid.keyring.at(2_000n, "2026-12")!;
    const wishes = [blind(server, [5_000n])];
    while (wishes.length < 3) {
      const wish = blind(server, [5_000n]);
      // The server refuses messages that are not below the modulus of their key.
      if (modulus.compare(wish.batch) > 0) wishes.push(wish);
    }
    const batch = new Uint8Array(Buffer.concat(wishes.map((wish) => wish.batch)));
    const signatures = (await claimed(server, owned!, batch)).signatures!;
    const [first, ...others] = wishes.map((wish, i) => () => wish.finish(signatures.subarray(256 * i, 256 * (i + 1))));
    for (const finish of others) expectCode("INVALID_SIGNATURE", finish);
    const [token] = first!();
    const [five] = await buy(server, 1, { value: 5_000n });
    expect(statusOf(await swap(server, [token!, five!], blind(server, [CAP])))).to.equal("200");
  });

  it("takes no token with the name of another key, for a request or in a swap", async () => {
    const [one, two] = await buy(server, 2, { value: 5_000n });
    const [cap] = await buy(server, 1);
    const named = (owned: Owned, value: bigint): Owned => ({
      ...owned,
      token: { ...owned.token, keyId: server.prepaid.keyring.at(value, "2026-12")!.id },
    });
    const before = await rows();
    expect(told(await showMetered(server, named(one!, CAP)))).to.equal("402");
    expect(told(await show(server, named(one!, CAP).token))).to.equal("402");
    const target = blind(server, [CAP]);
    expect(statusOf(await swap(server, [one!, named(cap!, 5_000n)], target))).to.equal("403 METERED_CLAIM_INVALID");
    expect(await rows()).to.equal(before);
    expect(statusOf(await swap(server, [one!, two!], target))).to.equal("200");
    expect(told(await showMetered(server, cap!))).to.equal("paid");
  });

  it("counts nothing of a call whose total is 2^64 or more, or that comes after the end", async () => {
    const [owned] = await buy(server, 1);
    const { decision, meter } = await startMetered(server, owned!);
    meter.add({ input: 1_500 });
    expectCode("INVALID_INTEGER", () => meter.add({ input: 2n ** 64n - 1n }));
    expectCode("INVALID_INTEGER", () => meter.add({ output: 1, input: Number.NaN }));
    expectCode("INVALID_INTEGER", () => meter.add({ output: 1, input: -1 }));
    expect(meter.charge).to.equal(2_000n);
    await end(decision);
    expectCode("METER_ENDED", () => meter.add({ input: 5_000 }));
    expectCode("METER_ENDED", () => meter.keep());
    const { receipt } = (await claimed(server, owned!)).receipt;
    expect(receipt).to.deep.include({ charge: 2_000n, units: { input: 1_500n } });
  });
});
