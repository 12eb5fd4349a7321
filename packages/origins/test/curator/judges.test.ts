import { truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import type { ChainSource } from "@sotto/chain";
import { depositWithAuthorizationCall } from "@sotto/chain/ethers";
import { createLog } from "@sotto/server";
import { eventually } from "@sotto/test-kit/eventually";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { Wallet as Account } from "ethers";
import { Registry } from "prom-client";
import { confirmedChain } from "../../src/curator/follow/confirmed.ts";
import { delayJudge } from "../../src/curator/judges/delay.ts";
import { ACCEPT, type Deposit, type Judge, type Verdict, type Watcher } from "../../src/curator/judges/judge.ts";
import { listJudge, parseList } from "../../src/curator/judges/list.ts";
import { oracleJudge } from "../../src/curator/judges/oracle.ts";
import { personJudge } from "../../src/curator/judges/person.ts";
import { signJudgement, webhookJudge } from "../../src/curator/judges/webhook.ts";
import { storeVerdict } from "../../src/curator/verdicts.ts";
import { logPackPath } from "../../src/index.ts";
import { ALICE, BOB, CuratorWorld, SET, testJudge } from "../support/curator-world.ts";
import { linesOf, membersOf } from "../support/published.ts";

const SECRET = "s".repeat(32);

describe("the judges of a curator", function () {
  slow(this, "it writes to disk");
  let world: CuratorWorld;
  let wallet: Wallet;
  let folder: string;
  const servers: Server[] = [];
  const log = createLog("silent");
  /** Why lists could not be read. */
  let failures: unknown[];
  let changes: number;
  const watcher: Watcher = {
    changed() {
      changes += 1;
    },
    failed: (error) => void failures.push(error),
  };

  beforeEach(async () => {
    [failures, changes] = [[], 0];
    world = new CuratorWorld();
    wallet = await world.wallet();
    ({ folder } = world.curatorOptions());
  });
  afterEach(async () => {
    await world.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  const entries = () =>
    linesOf(folder, logPackPath)
      .map((line) => JSON.parse(line))
      .map(({ type, leaf }) => ({ type, leaf }));
  const deposit = (leaf: number, depositor = ALICE): Deposit => ({
    ...{ leaf, depositor, amount: 5_000n, transaction: `0x${"ab".repeat(32)}` },
    timestamp: world.chain.time,
  });
  const list = (kind: "deny" | "allow", text: string, everyMs = 20): [Judge, (text: string) => void] => {
    const source = join(world.folder, `${kind}.txt`);
    writeFileSync(source, text);
    return [listJudge({ kind, source, everyMs, log, clock: world.now }), (changed) => writeFileSync(source, changed)];
  };
  const ask = (judge: Judge, one: Deposit) => judge.judge(one, new AbortController().signal);

  it("judge the account whose tokens moved, not the sender of the transaction", async () => {
    const account = new Account(`0x${"77".repeat(32)}`);
    world.token.mint(account.address, 1_000_000n);
    const request = await wallet.authorizeDeposit({ amounts: [5_000n, 6_000n], account });
    // One block with a relayed deposit and one of the relayer itself.
    world.chain.sender = BOB;
    const { deposit: own } = await wallet.deposit({ amounts: [7_000n] });
    world.chain.mine(depositWithAuthorizationCall(request), own);
    const seen: Deposit[] = [];
    const curator = await world.curator({
      judges: () => [
        {
          ...testJudge(),
          judge: async (one) => {
            seen.push(one);
            return ACCEPT;
          },
        },
      ],
    });
    await world.round(curator);
    const relayed = account.address.toLowerCase();
    assert.deepEqual(
      seen.map(({ leaf, depositor, amount }) => [leaf, depositor, amount]),
      [
        [0, relayed, 5_000n],
        [1, relayed, 6_000n],
        [2, BOB, 7_000n],
      ],
    );
  });

  it("are not asked about a deposit whose transfer is missing or moved another amount", async () => {
    const { useNode: _, ...node } = confirmedChain(world.chain, 0);
    const chain: ChainSource = {
      ...node,
      logs: async (query) =>
        (await world.chain.logs(query)).map((log) => (log.topics.length === 3 ? { ...log, data: "0x01" } : log)),
    };
    const metrics = new Registry();
    const curator = await world.curator({ chain, metrics });
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.round(curator);
    assert.deepEqual(entries(), []);
    assert.include(await metrics.metrics(), "sotto_origin_waiting_deposits 1");
  });

  it("refuse at the first refusal, and accept only together", async () => {
    const order: string[] = [];
    const judge = (name: string, verdict: "accept" | "refuse" | "wait"): Judge => ({
      ...testJudge(),
      name,
      judge: async () => {
        order.push(name);
        return verdict === "wait" ? { verdict, again: 0 } : { verdict };
      },
    });
    const judges = [judge("a", "wait"), judge("b", "accept")];
    const curator = await world.curator({ judges: () => judges });
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.round(curator);
    assert.deepEqual(entries(), []);
    judges.push(judge("c", "refuse"), judge("d", "accept"));
    await world.round(curator);
    assert.deepEqual(entries(), [{ type: "refuse", leaf: 0 }]);
    assert.deepEqual(order, ["a", "b", "a", "b", "c"]);
  });

  it("that fail accept nothing", async () => {
    const failing: Judge = { ...testJudge(), judge: () => Promise.reject(new Error("away")) };
    const curator = await world.curator({ judges: () => [testJudge(), failing] });
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.round(curator);
    await world.round(curator);
    assert.deepEqual(entries(), []);
  });

  describe("a list", () => {
    it("that grows refuses deposits that were accepted before, also those of an earlier run", async () => {
      const [judge, change] = list("deny", `# stolen\n${BOB}\n`);
      const curator = await world.curator({ judges: () => [judge] });
      await world.depositFrom(ALICE, wallet, [5_000n]);
      await world.depositFrom(BOB, wallet, [6_000n]);
      await world.append();
      await world.round(curator);
      assert.deepEqual(membersOf(folder), [0]);
      change(`${BOB}\n${ALICE} # since today\n`);
      await eventually(async () => judge.refuses?.({ leaf: 0, depositor: ALICE }));
      await world.round(curator);
      assert.deepEqual(membersOf(folder), []);
      assert.deepEqual(entries().at(-1), { type: "refuse", leaf: 0 });
      // The account leaves the list: only a person can say otherwise.
      change(`${BOB}\n`);
      await eventually(async () => judge.refuses?.({ leaf: 0, depositor: ALICE }) === false);
      await world.round(curator);
      assert.deepEqual(membersOf(folder), []);
      await storeVerdict({ store: world.curatorOptions().store, set: SET }, "accept", "0");
      await world.round(curator);
      assert.deepEqual(membersOf(folder), [0]);
      await curator.close();
      const [later] = list("deny", `${ALICE}\n`);
      const again = await world.curator({ judges: () => [later] });
      await world.round(again);
      assert.deepEqual(membersOf(folder), []);
    });

    it("of allowed accounts refuses all others, and keeps the last one if it becomes empty or malformed", async () => {
      const [judge, change] = list("allow", `${ALICE.toUpperCase().replace("0X", "0x")}\n`);
      await judge.start?.(watcher);
      assert.deepEqual(await ask(judge, deposit(0)), { verdict: "accept" });
      assert.deepEqual(await ask(judge, deposit(1, BOB)), { verdict: "refuse" });
      for (const text of ["", "# none\n", "0x12\n"]) {
        change(text);
        // The first one may be about the text before.
        const read = failures.length + 2;
        await eventually(async () => failures.length >= read);
        assert.isFalse(judge.refuses?.({ leaf: 0, depositor: ALICE }), text);
      }
      assert.equal(changes, 1);
      change(`${BOB}\n`);
      await eventually(async () => judge.refuses?.({ leaf: 0, depositor: ALICE }));
      assert.equal(changes, 2);
      judge.stop?.();
    });

    it("that was never read has deposits wait", async () => {
      const source = join(world.folder, "missing.txt");
      const judge = listJudge({ kind: "deny", source, everyMs: 1_000, log: createLog("silent"), clock: world.now });
      await judge.start?.(watcher);
      assert.equal((await ask(judge, deposit(0))).verdict, "wait");
      assert.isFalse(judge.refuses?.({ leaf: 0, depositor: ALICE }));
      judge.stop?.();
    });

    it("that is too large, empty or redirected cannot be read, and the operator learns why", async () => {
      const large = join(world.folder, "large.txt");
      writeFileSync(large, "");
      truncateSync(large, 49 * 2 ** 20);
      const moved = createServer((_request, response) => response.writeHead(302, { location: "/list" }).end());
      servers.push(moved);
      const sources: [string, RegExp][] = [
        [large, /51380224 bytes, at most 50331648 are allowed/],
        [await serve(async () => "x".repeat(49 * 2 ** 20)), /more than 50331648 bytes/],
        [await serve(async () => ALICE, 500), /status 500, expected 200/],
        [await listening(moved), /status 302, expected 200/],
      ];
      for (const [source, why] of sources) {
        const judge = listJudge({ kind: "deny", source, everyMs: 60_000, log, clock: world.now });
        await judge.start?.(watcher);
        assert.match((failures.at(-1) as Error).message, why);
        assert.equal((await ask(judge, deposit(0))).verdict, "wait");
        judge.stop?.();
      }
    });

    it("of many addresses does not keep the curator from its other work", async () => {
      let turns = 0;
      let ended = false;
      const counting = (async () => {
        while (!ended) {
          turns += 1;
          await setImmediate();
        }
      })();
      const addresses = Array.from({ length: 20_000 }, (_, i) => `0x${String(i).padStart(40, "0")}`);
      const { size } = await parseList(addresses.join("\n"));
      ended = true;
      await counting;
      assert.equal(size, 20_000);
      assert.isAbove(turns, 20);
    });

    it("is read from a URL, with comments and empty lines left out", async () => {
      const url = await serve(async () => `\n ${ALICE} \r\n#${BOB}\n`);
      const judge = listJudge({
        kind: "deny",
        source: url,
        everyMs: 60_000,
        log: createLog("silent"),
        clock: world.now,
      });
      await judge.start?.(watcher);
      assert.deepEqual(await ask(judge, deposit(0)), { verdict: "refuse" });
      assert.deepEqual(await ask(judge, deposit(0, BOB)), { verdict: "accept" });
      assert.notInclude(JSON.stringify(judge.parameters), "/secret");
      judge.stop?.();
      await expectRejected("INVALID_ADDRESS", async () => parseList("nobody"));
    });
  });

  it("on chain refuse what isSanctioned says, and fail at an account without code", async () => {
    const { useNode: _, ...node } = confirmedChain(world.chain, 0);
    const chain = (result: string): ChainSource => ({ ...node, call: async () => result });
    const word = (bit: number) => `0x${String(bit).padStart(64, "0")}`;
    assert.deepEqual(await ask(oracleJudge(chain(word(0)), BOB), deposit(0)), { verdict: "accept" });
    assert.deepEqual(await ask(oracleJudge(chain(word(1)), BOB), deposit(0)), { verdict: "refuse" });
    for (const result of ["0x", word(2), `${word(0)}00`])
      await expectRejected("NODE_INCONSISTENT", () => ask(oracleJudge(chain(result), BOB), deposit(0)));
  });

  it("of the kind delay accept only after the time, and have a refusal in between count", async () => {
    const refused = new Set<string>();
    const curator = await world.curator({ judges: () => [testJudge(refused), delayJudge(600, world.now)] });
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.depositFrom(BOB, wallet, [5_000n]);
    await world.round(curator);
    world.ahead += 400;
    await world.round(curator);
    assert.deepEqual(entries(), []);
    refused.add(BOB);
    world.ahead += 200;
    await world.round(curator);
    assert.deepEqual(entries(), [
      { type: "accept", leaf: 0 },
      { type: "refuse", leaf: 1 },
    ]);
  });

  it("of the kind person wait for a verdict, and refuse at any time", async () => {
    const { store } = world.curatorOptions();
    const curator = await world.curator({ judges: (database) => [personJudge(database)] });
    await world.depositFrom(ALICE, wallet, [5_000n, 6_000n]);
    await world.append();
    await world.round(curator);
    assert.deepEqual(entries(), []);
    await storeVerdict({ store, set: SET }, "accept", "0");
    await storeVerdict({ store, set: SET }, "refuse", "1");
    await world.round(curator);
    assert.deepEqual(membersOf(folder), [0]);
    await storeVerdict({ store, set: SET }, "refuse", "0");
    await world.round(curator);
    assert.deepEqual(membersOf(folder), []);
    await storeVerdict({ store, set: SET }, "accept", "1");
    await world.round(curator);
    assert.deepEqual(membersOf(folder), [1]);
    await expectRejected("ORIGIN_LEAF_UNKNOWN", () => storeVerdict({ store, set: SET }, "accept", "2"));
    await expectRejected("INVALID_CONFIG", () => storeVerdict({ store, set: SET }, "accept", "-1"));
  });

  describe("a webhook", () => {
    const judge = (url: string, timeoutMs = 60_000) =>
      webhookJudge({ url, secret: SECRET, timeoutMs, againMs: 7_000, clock: world.now });

    it("gets a signed deposit, and its verdict counts", async () => {
      const got: { body: string; headers: Record<string, unknown> }[] = [];
      const verdicts = ["accept", "refuse", "wait"];
      const url = await serve(async (body, headers) => {
        got.push({ body, headers });
        return JSON.stringify({ verdict: verdicts[got.length - 1] });
      });
      for (const verdict of verdicts) assert.equal((await ask(judge(url), deposit(3))).verdict, verdict);
      const [{ body, headers }] = got as [{ body: string; headers: Record<string, unknown> }];
      assert.deepInclude(JSON.parse(body), { leaf: 3, amount: "5000", depositor: ALICE });
      const timestamp = String(headers["x-sotto-timestamp"]);
      assert.equal(timestamp, String(world.now() / 1000));
      assert.equal(headers["x-sotto-signature"], `v1=${signJudgement(SECRET, timestamp, body)}`);
      assert.notInclude(JSON.stringify(judge(url).parameters), "secret");
    });

    it("that times out, fails or answers something else has the deposit wait", async () => {
      const waits: Verdict = { verdict: "wait", again: world.now() + 7_000 };
      const failed = async (one: Judge): Promise<Verdict> => {
        const { error, ...verdict } = (await ask(one, deposit(0))) as Verdict & { readonly error?: unknown };
        assert.instanceOf(error, Error);
        return verdict;
      };
      const silent = await serve(() => new Promise<never>(() => undefined));
      assert.deepEqual(await failed(judge(silent, 100)), waits);
      for (const answer of [
        "",
        "accept",
        '{"verdict":"Accept"}',
        '{"verdict":true}',
        "null",
        `"${"x".repeat(10_000)}"`,
      ]) {
        const url = await serve(async () => answer);
        assert.deepEqual(await failed(judge(url)), waits, answer.slice(0, 40));
      }
      const failing = await serve(async () => '{"verdict":"accept"}', 500);
      assert.deepEqual(await failed(judge(failing)), waits);
      assert.deepEqual(await failed(judge("http://127.0.0.1:1/")), waits);
    });
  });

  /** Serves one answer. @returns its URL */
  async function serve(
    answer: (body: string, headers: Record<string, unknown>) => Promise<string>,
    status = 200,
  ): Promise<string> {
    const server = createServer(async (request, response) => {
      const body = (await buffer(request)).toString("utf8");
      response.writeHead(status).end(await answer(body, request.headers));
    });
    servers.push(server);
    return listening(server);
  }

  async function listening(server: Server): Promise<string> {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`;
  }
});
