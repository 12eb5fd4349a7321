import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { verifyOrigin } from "@sotto/prover/origin";
import { createLog, SERVER_ERRORS, statusOf } from "@sotto/server";
import { eventually } from "@sotto/test-kit/eventually";
import { FuzzClient, INTERNALS } from "@sotto/test-kit/fuzz-http";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { call, post } from "@sotto/test-kit/http";
import { type Fields, fieldMutation } from "@sotto/test-kit/mutations";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { CURATOR_ERRORS, type RunningCurator, readCuratorConfig, startCurator } from "../../src/curator.ts";
import { encodeClaim, logPackPath, MAX_CLAIMS, type OriginClaim } from "../../src/index.ts";
import { BUILD, originProver, verifier } from "../support/artifacts.ts";
import { ALICE, CuratorWorld, claimOf, SECRET, SET } from "../support/curator-world.ts";
import { audit, linesOf, membersOf, newestHead } from "../support/published.ts";

const REQUESTS = fuzzSize(1_000, 20_000);

describe("a curator's server", function () {
  slow(this, "proofs are made");
  let world: CuratorWorld;
  let wallet: Wallet;
  let curator: RunningCurator;
  let folder: string;
  let claims: OriginClaim[];

  const environment = (changes: Record<string, string> = {}) => ({
    SOTTO_CHAIN_ID: "31337",
    SOTTO_POOL: SET.pool,
    SOTTO_PORT: "0",
    SOTTO_POLL_MS: "20",
    SOTTO_RATE_LIMIT: "1000000",
    // Server and requests share one process.
    SOTTO_LATEST_LOOP_MS: "0",
    SOTTO_ARTIFACTS: BUILD,
    SOTTO_ORIGIN_NAME: SET.name,
    SOTTO_ORIGIN_KEY: SECRET,
    SOTTO_ORIGIN_DELAY_SECONDS: "0",
    SOTTO_ORIGIN_SLOT_SECONDS: "10",
    SOTTO_ORIGIN_STORE: `sqlite:${join(world.folder, "service.db")}`,
    SOTTO_ORIGIN_FOLDER: folder,
    ...changes,
  });
  const start = (changes?: Record<string, string>) =>
    startCurator(readCuratorConfig(environment(changes)), createLog("silent", { write: () => undefined }), {
      clock: world.now,
      chain: world.chain,
    });
  const send = (...sent: object[]) => post(`${curator.url}/claims`, { claims: sent });
  const headWith = (entries: number) =>
    eventually(async () => {
      const { status, body } = await call(`${curator.url}/head.json`);
      return status === 200 && (body as { entries: number }).entries >= entries && body;
    });
  const headAt = (leaves: number) =>
    eventually(async () => newestHead(folder).head.leaves === leaves && newestHead(folder));
  const claimLines = () => linesOf(folder, logPackPath).filter((line) => line.includes('"claim"'));

  before(async () => {
    world = new CuratorWorld();
    world.slotSeconds = 10;
    folder = join(world.folder, "public");
    wallet = await world.wallet({ prover: await originProver(world) });
    await world.depositFrom(ALICE, wallet, [5_000n, 6_000n, 7_000n, 8_000n]);
    await world.append();
    await wallet.scan();
    curator = await start();
    await headWith(4);
    const notes = wallet.notes();
    const members = new Map(notes.map(({ leafIndex, commitment }) => [leafIndex, commitment]));
    claims = [];
    for (const note of notes) claims.push(await claimOf(wallet, note, members));
    const early = await send(encodeClaim(claims[0]!));
    assert.deepEqual(early.body, { results: ["ORIGIN_NOT_SETTLED"] });
    world.withdraw(await wallet.merge());
    await world.append();
    world.nextSlot();
    await headAt(5);
  });
  after(async () => {
    await curator.close();
    await world.close();
  });

  it("applies live settings that are read again, or none if one is wrong", async () => {
    const reload = (changes: Record<string, string>) => curator.reload(() => readCuratorConfig(environment(changes)));
    const status = async () => (await call(`${curator.url}/head.json`)).status;
    assert.isFalse(await reload({ SOTTO_RATE_LIMIT: "1", SOTTO_LOG_LEVEL: "info,relayer=debug" }));
    assert.isFalse(await reload({ SOTTO_RATE_LIMIT: "1", SOTTO_RPC_URLS: "http://127.0.0.1:1" }));
    assert.deepEqual([await status(), await status()], [200, 200]);
    assert.isTrue(await reload({ SOTTO_RATE_LIMIT: "1", SOTTO_LOG_LEVEL: "info,judges=debug" }));
    await status();
    assert.equal(await status(), 429);
    assert.isTrue(await reload({}));
    assert.equal(await status(), 200);
  });

  it("stores no claim and never fails for mutated ones", async () => {
    const client = new FuzzClient(curator.url, 8);
    const [right, other] = claims.map((claim) => encodeClaim(claim) as unknown as Fields) as [Fields, Fields];
    const table = { ...SERVER_ERRORS, ...CURATOR_ERRORS };
    const faults = await client.faults(REQUESTS, "origin claims", async (random) => {
      const mutation = fieldMutation({ path: "/claims", right, other, optional: [], same: ["maskRoot"] }, random);
      if (mutation === undefined) return undefined;
      const [what, claim] = mutation;
      const body = Buffer.from(JSON.stringify({ claims: [claim] }));
      const { status, text } = await client.send({ path: "/claims", type: "application/json", body });
      if (INTERNALS.test(text)) return `${what}: ${text}`;
      const { results, code } = JSON.parse(text) as { results?: string[]; code?: string };
      if (status === 200)
        return /^ORIGIN_(ROOT_UNKNOWN|PROOF_INVALID|NOT_SETTLED)$/.test(results?.join() ?? "")
          ? undefined
          : `${what}: ${text}`;
      return status < 500 && code !== undefined && statusOf(table, code) === status
        ? undefined
        : `${what}: ${status} ${text}`;
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(claimLines(), []);
  });

  it("refuses bodies that are too large, hold too many claims or other fields", async () => {
    const claim = encodeClaim(claims[0]!);
    const bodies: [unknown, number][] = [
      [{ claims: [] }, 400],
      [{ claims: Array.from({ length: MAX_CLAIMS + 1 }, () => claim) }, 400],
      [{ claims: [claim], leaf: 0 }, 400],
      [{ claims: [{ ...claim, leaf: 0 }] }, 400],
      [{ claims: [claim], padding: "x".repeat(100_000) }, 413],
      [[claim], 400],
      ["{", 400],
    ];
    for (const [body, status] of bodies) assert.equal((await post(`${curator.url}/claims`, body)).status, status);
    assert.deepEqual(claimLines(), []);
  });

  it("answers each claim in order, and stores each nullifier once", async () => {
    const [one, two, three] = claims.map(encodeClaim) as [object, object, { proof: string[] }];
    const unknown = { ...one, maskRoot: "5" };
    const invalid = { ...three, proof: encodeClaim(claims[0]!).proof };
    const { status, body } = await send(one, unknown, invalid, two, one);
    assert.deepEqual(
      [status, body],
      [200, { results: ["stored", "ORIGIN_ROOT_UNKNOWN", "ORIGIN_PROOF_INVALID", "stored", "known"] }],
    );
    assert.deepEqual((await send(one)).body, { results: ["known"] });
    const all = await Promise.all(Array.from({ length: 5 }, () => send(three)));
    assert.sameMembers(
      all.flatMap(({ body: { results } }) => results as string[]),
      ["stored", "known", "known", "known", "known"],
    );
    world.nextSlot();
    await headWith(7);
    assert.lengthOf(claimLines(), 3);
  });

  it("adds the output of a merge with the last claim of its notes", async () => {
    assert.deepEqual(membersOf(folder), [0, 1, 2, 3]);
    assert.deepEqual((await send(encodeClaim(claims[3]!))).body, { results: ["stored"] });
    world.nextSlot();
    await headWith(8);
    assert.deepEqual(membersOf(folder), [0, 1, 2, 3, 4]);
    const report = await audit(world, folder, SET, (claim) => verifyOrigin(verifier, claim));
    assert.deepEqual([report.contradictions, report.claims], [[], 4]);
  });

  it("serves the published files with caching, and nothing else of the folder", async () => {
    const { headers, body } = await call(`${curator.url}/head.json`);
    assert.equal(headers.get("cache-control"), "public, no-cache");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    const etag = headers.get("etag")!;
    const cached = await fetch(`${curator.url}/head.json`, { headers: { "if-none-match": etag } });
    assert.equal(cached.status, 304);
    const { manifest, policy } = body as { manifest: string; policy: string };
    for (const path of [`manifests/${manifest.slice(2)}.bin`, `policies/${policy.slice(2)}.json`]) {
      const file = await fetch(`${curator.url}/${path}`);
      assert.equal(file.status, 200);
      assert.include(file.headers.get("cache-control"), "immutable");
    }
    for (const path of ["heads/0.jsonl", "log/0.jsonl"])
      assert.equal((await fetch(`${curator.url}/${path}`)).status, 200);
    const missing = [
      "heads/1.jsonl",
      "heads/00.jsonl",
      "bitmaps/x.bin",
      "heads/..%2fhead.json",
      "log/%2e%2e%2fhead.json",
      "claims",
      "leaves/0",
    ];
    for (const path of missing) assert.oneOf((await fetch(`${curator.url}/${path}`)).status, [404, 405], path);
    // Not as if the curator had no such file.
    mkdirSync(join(folder, "heads", "2.jsonl"));
    assert.equal((await fetch(`${curator.url}/heads/2.jsonl`)).status, 500);
  });

  it("is ready once a round succeeded, and shows metrics", async () => {
    const root = new URL("/", curator.url).href;
    const { status, body } = await eventually(async () => {
      const answer = await call(`${root}readyz`);
      return answer.status === 200 && answer;
    });
    assert.deepEqual([status, body["checks"]], [200, { store: { ok: true }, rounds: { ok: true } }]);
    const metrics = await (await fetch(`${root}metrics`)).text();
    assert.include(metrics, 'sotto_origin_claims_total{result="stored"} 4');
    assert.include(metrics, 'sotto_origin_claims_total{result="ORIGIN_CLAIM_CONFLICT"} 0');
  });

  it("names every wrong setting at the start", async () => {
    const wrong = {
      SOTTO_CHAIN_ID: "8453",
      SOTTO_ORIGIN_SLOT_SECONDS: "90",
      SOTTO_ORIGIN_WEBHOOK_URL: "http://judge.example",
      SOTTO_ORIGIN_DENY_LIST: "http://list.example/all.txt",
    };
    const { message } = await expectRejected("INVALID_CONFIG", async () => readCuratorConfig(environment(wrong)));
    for (const name of ["SLOT_SECONDS", "WEBHOOK_SECRET", "WEBHOOK_URL", "DENY_LIST"])
      assert.include(message, `SOTTO_ORIGIN_${name}`);
    const bad = environment({ SOTTO_ORIGIN_NAME: "Clean!", SOTTO_ORIGIN_KEY: "0x12" });
    const both = await expectRejected("INVALID_CONFIG", async () => readCuratorConfig(bad));
    assert.include(both.message, "SOTTO_ORIGIN_NAME must be 1 to 32 lower-case letters");
    assert.notInclude(both.message, "0x12");
    await expectRejected("DEVELOPMENT_KEYS_REFUSED", () =>
      startCurator({ ...readCuratorConfig(environment()), local: false }, createLog("silent"), { chain: world.chain }),
    );
  });
});
