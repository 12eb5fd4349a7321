// What the commands show, and how they attend to a wallet that spends.
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { createAttend } from "../../src/cli/open.ts";
import { statusFields, statusText } from "../../src/cli/status.ts";
import { ORIGINS_FIELD } from "../../src/core/asked.ts";
import { CURATOR, Payers } from "../support/payer.ts";

const MONEY = { decimals: 6, symbol: "USDC" };

describe("sotto origin status", function () {
  slow(this, "proofs of origins are made");

  it("shows the head, the crowd, and why each note is in the set or not", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n, 7_000n]);
    const origins = await payers.follow(payer);
    assert.deepEqual(statusText(origins.status()[0]!).slice(1), ["  no head yet", "  crowd: 0"]);
    assert.deepInclude(statusFields(origins.status()[0]!, MONEY), {
      head: null,
      stopped: null,
      problem: null,
      removal: null,
    });
    await payers.curator.read();
    payers.curator.accept(0, 1);
    const { head } = await payers.curator.sign();
    await origins.sync();
    await payers.pay(payer, await payers.wallet(), 1_000n);
    await origins.follow({ ...payers.set, url: CURATOR, minimumCrowd: 3 });
    const [status] = origins.status();
    assert.deepEqual(statusText(status!, MONEY), [
      `clean of ${payers.curator.curator}, ${CURATOR}`,
      `  head 0 of ${new Date(head.time * 1000).toISOString()}: 2 notes`,
      "  crowd: 2, below the minimum of 3: nothing is shown",
      "  1 payment to claim: `sotto origin sync`",
      "  in the set: 0.006 USDC, waiting: 0.011 USDC, outside: 0 USDC",
      "  1  0.006 USDC  in the set",
      "  2  0.007 USDC  waiting     the curator has not judged the deposit yet",
      "  4  0.004 USDC  waiting     `sotto origin sync` sends the claim of the payment that made it",
    ]);
    const fields = statusFields(status!, MONEY);
    assert.deepEqual(
      fields.notes.map(({ leafIndex, in: place, why }) => [leafIndex, place, why]),
      [
        [1, "set", null],
        [2, "waiting", "judgement"],
        [4, "waiting", "claim"],
      ],
    );
    assert.doesNotThrow(() => JSON.stringify(fields));
  });

  it("shows what failed at the last sync, in the next process too, until a sync succeeds", async () => {
    const payers = new Payers();
    const wallet = await payers.wallet();
    const origins = await payers.follow(wallet);
    const curator = payers.servers.get(CURATOR)!;
    payers.servers.delete(CURATOR);
    await origins.sync();
    const { since, ...problem } = statusFields(origins.status()[0]!, MONEY).problem!;
    assert.equal(problem.code, "CURATOR_UNREACHABLE");
    origins.close();
    payers.minute();
    const later = await payers.follow(wallet);
    assert.deepEqual(statusFields(later.status()[0]!, MONEY).problem, { ...problem, since });
    payers.servers.set(CURATOR, async () => new Response(null, { status: 503 }));
    await later.sync();
    const [status] = later.status();
    const { message, ...other } = statusFields(status!, MONEY).problem!;
    assert.notEqual(message, problem.message);
    assert.deepEqual(other, { code: problem.code, since }, "since it began, although it says something else");
    assert.include(statusText(status!), `  fails since ${since}: ${message}`);
    payers.servers.set(CURATOR, curator);
    await payers.curator.acceptNew();
    await later.sync();
    assert.equal(statusFields(later.status()[0]!, MONEY).problem, null);
    assert.notMatch(statusText(later.status()[0]!).join("\n"), /fails since/u);
  });

  it("shows why a curator is stopped, with the evidence, and what waits for consent", async () => {
    const payers = new Payers();
    const payer = await payers.funded(Array(4).fill(5_000n));
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    await origins.sync();
    payers.curator.refuse(1, 2);
    payers.minute();
    await payers.curator.sign();
    await origins.sync();
    assert.include(
      statusText(origins.status()[0]!),
      "  the next head brings the removed notes to 2: accept it with --accept-removal",
    );
    assert.equal(statusFields(origins.status()[0]!, MONEY).problem!.code, "ORIGIN_REMOVAL_LARGE");
    const twin = payers.createCurator({ secret: payers.curator.secret });
    await twin.read();
    await twin.sign();
    payers.servers.set(CURATOR, twin.fetch(CURATOR));
    await origins.sync();
    const fields = statusFields(origins.status()[0]!, MONEY);
    assert.equal(fields.stopped!.code, "CURATOR_EQUIVOCATED");
    assert.lengthOf(fields.stopped!.heads, 2);
    assert.match(statusText(origins.status()[0]!).join("\n"), /stopped: the curator .* signed two different heads/u);
  });
});

describe("a command that spends", () => {
  it("keeps notes apart until it ends, and sends no claims", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.read();
    payers.curator.accept(0);
    await payers.curator.sign();
    await origins.sync();
    // The payment of note 0 waits for its claim.
    await payers.pay(payer, await payers.wallet(), 1_000n, { only: ({ leafIndex }) => leafIndex === 0 });
    origins.close();
    const attended = await createAttend({ fetch: payers.fetch })(payer);
    assert.deepEqual(
      attended.attachments.map(({ name }) => name),
      [ORIGINS_FIELD],
    );
    assert.equal((await rejection(payer.merge())).code, "NOTES_APART");
    await attended.end();
    assert.lengthOf((await payer.merge()).notes, 2);
    assert.deepEqual(
      payers.asked.filter((line) => line.startsWith("POST")),
      [],
    );
  });

  it("delays only payments to servers that ask for a followed set", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    (await payers.follow(payer)).close();
    await payers.curator.acceptNew();
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow: typeof fetch = async (input, init) => {
      await asked;
      return payers.fetch(input, init);
    };
    const attended = await createAttend({ fetch: slow })(payer);
    const [attachment] = attended.attachments;
    const setOf = (name: string) => [{ curator: CURATOR, key: payers.set.curator, name, maxAgeMs: 3_600_000 }];
    assert.equal(await attachment!.choose!(setOf("other"), { waitedMs: 0 }), undefined);
    const choice = attachment!.choose!(setOf(payers.set.name), { waitedMs: 0 });
    answer();
    assert.isTrue((await choice)!.prefer!(payer.notes()[0]!), "the head that came meanwhile counts");
    await attended.end();
  });

  it("asks nobody if the wallet follows no set", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const attended = await createAttend({ fetch: payers.fetch })(payer);
    assert.lengthOf((await payer.merge()).notes, 2);
    await attended.end();
    assert.deepEqual(payers.asked, []);
  });
});
