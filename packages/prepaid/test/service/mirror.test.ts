import type { App } from "@sotto/server";
import { DAY_MS } from "@sotto/test-kit/clock";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { INTERNALS } from "@sotto/test-kit/fuzz-http";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { fieldMutation, mutate, type Sample } from "@sotto/test-kit/mutations";
import { Random } from "@sotto/test-kit/random";
import { expect } from "chai";
import { MAX_SIGNED_SCHEDULE_BYTES, type WireSignedSchedule } from "../../src/index.ts";
import { ask, codeOf, MirrorWorld, NOW, PLACE, push as pushTo } from "./support/mirror.ts";
import { type Merchant, newKey, newKeys, newMerchant, ORIGIN } from "./support/schedules.ts";

const PATH = "/prepaid/schedules";

overDatabases("a mirror of prepaid keys", EVERY_DATABASE, (newUrl) => {
  let world: MirrorWorld;
  let merchant: Merchant;
  let app: App;
  beforeEach(async () => {
    world = new MirrorWorld(await newUrl());
    merchant = newMerchant(PLACE);
    app = await world.replica();
  });
  afterEach(() => world.close());

  const push = (body: unknown, to = app, from?: string) => pushTo(to, PATH, body, from);
  const get = (query: Record<string, string>, from = app) => ask(from, PATH, query);
  const kept = async (of = merchant, origin = ORIGIN, from = app) => {
    const { body } = await get({ wallet: of.wallet, origin }, from);
    return body["schedules"] as (WireSignedSchedule & { receivedAt: number })[];
  };

  it("keeps a schedule with its signature, and recognizes it when it is pushed again", async () => {
    const signed = await merchant.sign(merchant.schedule({ values: [100n, 1000n], keys: newKeys(3, 2) }));
    expect(await push(signed)).to.deep.equal({ status: 201, body: { accepted: 6, known: 0 } });
    world.now += 5_000;
    expect(await push(signed)).to.deep.equal({ status: 200, body: { accepted: 0, known: 6 } });
    expect(await kept()).to.deep.equal([{ ...signed, receivedAt: NOW / 1000 }]);
    expect(await kept(newMerchant(PLACE))).to.deep.equal([]);
    expect(await kept(merchant, "https://other.example")).to.deep.equal([]);
  });

  it("finds a wallet in any case of its address", async () => {
    const signed = await merchant.sign(merchant.schedule());
    await push({ ...signed, schedule: { ...signed.schedule, wallet: merchant.wallet.replace(/[a-f]/g, upper) } });
    expect(
      await kept({ ...merchant, wallet: merchant.wallet.replace(/[a-f]/g, upper) as `0x${string}` }),
    ).to.deep.equal([{ ...signed, receivedAt: NOW / 1000 }]);
  });
  const upper = (letter: string) => letter.toUpperCase();

  it("accepts additions: a later year, a new value, and schedules that repeat known keys", async () => {
    const first = merchant.schedule({ keys: newKeys(2, 1) });
    const later = merchant.schedule({ firstEpoch: "2027-01", keys: newKeys(2, 1) });
    const value = merchant.schedule({ values: [2000n], keys: newKeys(2, 1) });
    const both = merchant.schedule({
      values: [1000n, 5000n],
      keys: first.keys.map(([key]) => [key!, newKey()]),
    });
    const results = [];
    for (const schedule of [first, later, value, both]) {
      results.push((await push(await merchant.sign(schedule))).body);
      world.now += 1000;
    }
    const added = { accepted: 2, known: 0 };
    expect(results).to.deep.equal([added, added, added, { accepted: 2, known: 2 }]);
    expect(await kept()).to.have.length(4);
    // A part of what is known adds nothing, so it is not kept.
    const part = await merchant.sign({ ...first, keys: first.keys.slice(1), firstEpoch: "2026-12" });
    expect(await push(part)).to.deep.equal({ status: 200, body: { accepted: 0, known: 1 } });
    expect(await kept()).to.have.length(4);
  });

  it("refuses a second key for a value and epoch, and keeps nothing of that schedule", async () => {
    const first = merchant.schedule({ keys: newKeys(2, 1) });
    await push(await merchant.sign(first));
    const [[known], [replaced]] = first.keys as [[never], [never]];
    const conflicts = [
      merchant.schedule({ keys: [[known], [newKey()], [newKey()]] }),
      merchant.schedule({ values: [1000n, 2000n], keys: newKeys(2, 2) }),
      // The same key for another value or epoch: a token would be valid for a price that was not paid.
      merchant.schedule({ values: [2000n], keys: [[known]] }),
      merchant.schedule({ firstEpoch: "2027-01", keys: [[replaced]] }),
    ];
    for (const schedule of conflicts) {
      expect(codeOf(await push(await merchant.sign(schedule)))).to.deep.equal([409, "PREPAID_SCHEDULE_CONFLICT"]);
      expect(await kept()).to.have.length(1);
    }
    // Nothing of the refused schedules was kept: their other keys are still free.
    const free = merchant.schedule({ values: [2000n], keys: newKeys(3, 1) });
    expect((await push(await merchant.sign(free))).body).to.deep.equal({ accepted: 3, known: 0 });
    const third = merchant.schedule({ firstEpoch: "2027-01" });
    expect((await push(await merchant.sign(third))).status).to.equal(201);
  });

  it("keeps the keys of other wallets and origins apart", async () => {
    const schedule = merchant.schedule();
    await push(await merchant.sign(schedule));
    const other = newMerchant(PLACE);
    for (const signed of [
      await merchant.sign({ ...schedule, origin: "https://other.example", keys: newKeys(1, 1) }),
      await merchant.sign({ ...schedule, origin: "http://data.example", keys: newKeys(1, 1) }),
      await other.sign(other.schedule()),
    ])
      expect((await push(signed)).status).to.equal(201);
    expect(await kept()).to.have.length(1);
  });

  it("keeps exactly one of several conflicting schedules that reach two replicas at once", async () => {
    const replicas = [app, await world.replica()];
    for (let round = 0; round < 3; round += 1) {
      const each = newMerchant(PLACE);
      const signed = await Promise.all([0, 1, 2, 3, 4, 5].map(() => each.sign(each.schedule({ keys: newKeys(3, 1) }))));
      const answers = await Promise.all(signed.map((body, index) => push(body, replicas[index % 2])));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409, 409]);
      const winner = signed[answers.findIndex(({ status }) => status === 201)];
      for (const from of replicas)
        expect(await kept(each, ORIGIN, from)).to.deep.equal([{ ...winner, receivedAt: NOW / 1000 }]);
    }
  });

  it("counts the keys of one schedule once, however many replicas it reaches at once", async () => {
    const replicas = [app, await world.replica()];
    const signed = await merchant.sign(merchant.schedule());
    const answers = await Promise.all([0, 1, 2, 3].map((index) => push(signed, replicas[index % 2])));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 200, 201]);
    expect(await kept()).to.have.length(1);
  });

  it("keeps its schedules across a restart", async () => {
    const schedule = merchant.schedule();
    const signed = await merchant.sign(schedule);
    await push(signed);
    await world.close();
    app = await world.replica();
    expect(await kept()).to.deep.equal([{ ...signed, receivedAt: NOW / 1000 }]);
    const second = await merchant.sign({ ...schedule, keys: newKeys(1, 1) });
    expect(codeOf(await push(second))).to.deep.equal([409, "PREPAID_SCHEDULE_CONFLICT"]);
    for (const { sweep } of world.served) await sweep();
    world.now += 4000 * DAY_MS;
    for (const { sweep } of world.served) await sweep();
    expect(await kept()).to.have.length(1);
  });

  it("keeps the schedules of another pool apart", async () => {
    await push(await merchant.sign(merchant.schedule()));
    const pool = `0x${"5b".repeat(20)}` as const;
    const other = await world.replica({ SOTTO_POOL: pool });
    expect(await kept(merchant, ORIGIN, other)).to.deep.equal([]);
    expect((await push(await merchant.sign(merchant.schedule({ pool })), other)).status).to.equal(201);
    expect(await kept()).to.have.length(1);
  });

  it("keeps at most 24 schedules of a wallet and origin", async () => {
    for (let month = 0; month < 24; month += 1) {
      const firstEpoch = `${2027 + Math.floor(month / 12)}-${String(1 + (month % 12)).padStart(2, "0")}`;
      expect((await push(await merchant.sign(merchant.schedule({ firstEpoch })))).status).to.equal(201);
    }
    const over = await push(await merchant.sign(merchant.schedule()));
    expect(codeOf(over)).to.deep.equal([422, "PREPAID_SCHEDULES_FULL"]);
    const elsewhere = merchant.schedule({ origin: "https://other.example" });
    expect((await push(await merchant.sign(elsewhere))).status).to.equal(201);
    expect(await kept()).to.have.length(24);
  });

  it("limits the new schedules per day, over all clients and replicas; known ones do not count", async () => {
    const limited = [
      await world.replica({ SOTTO_PREPAID_QUOTA: "2" }),
      await world.replica({ SOTTO_PREPAID_QUOTA: "2" }),
    ];
    const signed = await Promise.all(
      [0, 1, 2].map(() => {
        const each = newMerchant(PLACE);
        return each.sign(each.schedule());
      }),
    );
    const results = [];
    for (const [index, body] of signed.entries())
      results.push(codeOf(await push(body, limited[index % 2], `192.0.2.${index + 10}`)));
    expect(results).to.deep.equal([
      [201, undefined],
      [201, undefined],
      [429, "QUOTA_EXCEEDED"],
    ]);
    expect((await push(signed[0], limited[0])).status).to.equal(200);
    world.now += DAY_MS;
    expect((await push(signed[2], limited[0])).status).to.equal(201);
  });

  it("limits the pushes per network and day, including invalid ones", async () => {
    const limited = await world.replica({ SOTTO_PREPAID_CLIENT_QUOTA: "4" });
    const signed = await merchant.sign(merchant.schedule());
    const forged = { ...signed, signature: `0x${"11".repeat(65)}` };
    expect((await push(signed, limited)).status).to.equal(201);
    expect((await push(signed, limited)).status).to.equal(200);
    expect((await push(forged, limited)).status).to.equal(401);
    expect((await push({ ...signed, signature: "0xzz" }, limited)).status).to.equal(400);
    expect(codeOf(await push(signed, limited))).to.deep.equal([429, "QUOTA_EXCEEDED"]);
    expect((await push(signed, limited, "198.51.100.1")).status).to.equal(200);
    world.now += DAY_MS;
    expect((await push(signed, limited)).status).to.equal(200);
  });

  it("refuses a schedule that differs from what its wallet signed", async () => {
    const schedule = merchant.schedule({ values: [100n, 1000n], keys: newKeys(2, 2) });
    const signed = await merchant.sign(schedule);
    const wire = signed.schedule;
    const { wallet } = newMerchant(PLACE);
    const changes = [
      { wallet },
      { origin: "https://other.example" },
      { firstEpoch: "2026-12" },
      { values: ["100", "2000"] },
      { keys: [...wire.keys].reverse() },
      { keys: wire.keys.slice(1) },
    ];
    for (const change of changes) {
      const answer = await push({ ...signed, schedule: { ...wire, ...change } });
      expect(codeOf(answer), JSON.stringify(Object.keys(change))).to.deep.equal([401, "PREPAID_SIGNATURE_INVALID"]);
    }
    expect(await kept()).to.deep.equal([]);
  });

  it("refuses a schedule for another chain or pool", async () => {
    for (const change of [{ chainId: 1n }, { pool: `0x${"5b".repeat(20)}` as const }])
      expect(codeOf(await push(await merchant.sign(merchant.schedule(change))))).to.deep.equal([
        422,
        "WRONG_DEPLOYMENT",
      ]);
  });

  it("accepts the largest schedule, and nothing above the size limit", async () => {
    const values = Array.from({ length: 12 }, (_, i) => 10n ** BigInt(i));
    const signed = await merchant.sign(merchant.schedule({ values, keys: newKeys(12, 12) }));
    const text = JSON.stringify(signed);
    expect((await push(text.padEnd(MAX_SIGNED_SCHEDULE_BYTES))).body).to.deep.equal({ accepted: 144, known: 0 });
    const over = await push(text.padEnd(MAX_SIGNED_SCHEDULE_BYTES + 1));
    expect(codeOf(over)).to.deep.equal([413, "BODY_TOO_LARGE"]);
    expect(await kept()).to.have.length(1);
  });

  it("explains what is wrong with a schedule or a query", async () => {
    const { schedule, signature } = await merchant.sign(merchant.schedule());
    const even = { ...schedule, keys: [[`${schedule.keys[0]![0]!.slice(0, -12)}0203010001`]] };
    const wrong: [unknown, string][] = [
      [{ schedule: { ...schedule, origin: `${ORIGIN}/` }, signature }, "PREPAID_SCHEDULE_INVALID"],
      [{ schedule: { ...schedule, values: ["300"] }, signature }, "PREPAID_SCHEDULE_INVALID"],
      [{ schedule: { ...schedule, firstEpoch: "2026-13" }, signature }, "PREPAID_SCHEDULE_INVALID"],
      [{ schedule: even, signature }, "PREPAID_SCHEDULE_INVALID"],
      [{ schedule, signature: "0xzz" }, "PREPAID_SCHEDULE_INVALID"],
      [{ schedule }, "INVALID_REQUEST"],
      [{ schedule: { ...schedule, keys: [] }, signature }, "INVALID_REQUEST"],
      [[], "INVALID_REQUEST"],
    ];
    for (const [body, code] of wrong) expect(codeOf(await push(body)), code).to.deep.equal([400, code]);
    const { wallet } = merchant;
    for (const [query, code] of [
      [{}, "INVALID_REQUEST"],
      [{ wallet }, "INVALID_REQUEST"],
      [{ wallet: `0x${"zz".repeat(20)}`, origin: ORIGIN }, "INVALID_ADDRESS"],
      [{ wallet, origin: "" }, "INVALID_STRING"],
      [{ wallet, origin: `${ORIGIN}/` }, "INVALID_STRING"],
      [{ wallet, origin: "\u0000" }, "INVALID_STRING"],
      [{ wallet, origin: `https://${"x".repeat(300)}` }, "INVALID_REQUEST"],
    ] as const)
      expect(codeOf(await get({ ...query })), JSON.stringify(query)).to.deep.equal([400, code]);
  });

  it("answers mutated bodies with their error, and keeps none of them", async () => {
    const sample = async (): Promise<Sample> => {
      const { schedule, signature } = await merchant.sign(
        merchant.schedule({ values: [100n, 500n], keys: newKeys(2, 2) }),
      );
      return { path: PATH, right: { schedule, signature }, other: {}, optional: [], same: [] };
    };
    const [right, other] = [await sample(), await sample()];
    const samples = [{ ...right, other: other.right, same: [] }];
    const inner: Sample = {
      ...right,
      right: right.right["schedule"] as Sample["right"],
      other: other.right["schedule"] as Sample["right"],
      same: ["wallet", "chainId", "pool", "origin", "firstEpoch", "values"],
    };
    const random = new Random("prepaid schedules");
    const statuses = new Set<number>();
    for (let count = 0; count < fuzzSize(300, 20_000); count += 1) {
      const mutation = random.below(2) === 0 ? fieldMutation(inner, random) : undefined;
      const outer = mutate(samples, random);
      const body =
        mutation === undefined ? outer.body : Buffer.from(JSON.stringify({ ...right.right, schedule: mutation[1] }));
      const type = mutation === undefined ? outer.type : "application/json";
      const answer = await app.inject({
        method: "POST",
        url: PATH,
        headers: type === undefined ? {} : { "content-type": type },
        payload: body,
        remoteAddress: `10.${count % 200}.0.1`,
      });
      const what = `${mutation?.[0] ?? outer.what}: ${answer.statusCode} ${answer.body.slice(0, 200)}`;
      expect(answer.statusCode, what).to.be.within(400, 499);
      expect(INTERNALS.test(answer.body), what).to.equal(false);
      expect(answer.body.length, what).to.be.below(1500);
      statuses.add(answer.statusCode);
    }
    expect([...statuses]).to.include.members([400, 401, 415, 422]);
    expect(await kept()).to.deep.equal([]);
  });
});
