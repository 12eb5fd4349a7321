// Thousands of almost valid requests, the same ones in each run. The service answers each with the matching error, and
// reserves, queues and pays nothing.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { randomField } from "@sotto/protocol";
import { statusOf } from "@sotto/server";
import { EXTENSIONS } from "@sotto/service";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { FuzzClient, INTERNALS, type Reply } from "@sotto/test-kit/fuzz-http";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { claimsOf, post } from "@sotto/test-kit/http";
import { type Fields, type FuzzRequest, mutate, type Sample } from "@sotto/test-kit/mutations";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { routeErrors } from "@sotto/verifier-service";
import { expect } from "chai";
import { Wallet } from "ethers";
import { depositBody } from "./support/deposits.ts";

const ERRORS = routeErrors(EXTENSIONS);

const REQUESTS = fuzzSize(1_000, 100_000);
const AT_A_TIME = 12;
describe("mutated requests to the service", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let client: FuzzClient;
  let samples: Sample[];
  let now: number | undefined;
  /** Values that must not be shown to anyone but their sender. */
  const secrets: string[] = [];

  before(async () => {
    world = await openWorld();
    // The service's clock stands still during the test, so that no sample expires.
    const clock = () => now ?? Date.now();
    service = await openService({}, clock);
    client = new FuzzClient(service.url, AT_A_TIME);
    const root = world.root;
    now = Date.now();
    const bundles = [0, 1].map((index) =>
      forgeBundle(world, {
        root,
        amount: 1_000_000n + BigInt(index),
        recipient: `0x${`${index + 3}c`.repeat(20)}`,
        resourceUrl: `https://data.example/articles/${index}`,
        timestamp: clock() - 1000 * index,
      }),
    );
    const tokens: string[] = [];
    for (const bundle of bundles)
      tokens.push(String((await post(`${service.url}/verify`, bundle)).body["paymentToken"]));
    secrets.push(...tokens, ...bundles.flatMap(({ proof, amountProof }) => [...proof, ...amountProof]));
    const accounts = [Wallet.createRandom(), Wallet.createRandom()];
    const later = { validAfter: 1n, validBefore: BigInt(Math.floor(Date.now() / 1000) + 900) };
    const deposits = [
      await depositBody(world, accounts[0]!, { ownerTags: [randomField()], amounts: [20_000n] }),
      await depositBody(world, accounts[1]!, { ownerTags: [randomField()], amounts: [30_000n], ...later }),
    ];
    secrets.push(...deposits.flatMap(({ r, s }) => [r, s]));
    const pair = (path: string, [right, other]: Fields[], optional: string[] = [], same: string[] = []): Sample => ({
      path,
      optional,
      same,
      right: right!,
      other: other!,
    });
    samples = [
      pair("/verify", bundles as unknown as Fields[]),
      pair(
        "/settle",
        bundles.map((bundle, index) => settleRequest(bundle, tokens[index]!)),
        ["resource"],
      ),
      pair("/deposit", deposits, [], ["chainId", "pool", "v"]),
      pair("/withdraw", withdrawals(root), [], ["fee", "feeRecipient"]),
    ];
  });
  after(async () => {
    client.close();
    await service.close();
  });

  function withdrawals(root: bigint): Fields[] {
    const random = new Random("withdrawals of the fuzz test");
    const place = { chainId: BigInt(world.chainId), pool: world.pool };
    return [0, 1].map((index) => {
      const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300 + index);
      const terms = { root, validUntil, nullifiers: [random.field()], amount: 5_000n + BigInt(index) };
      const made = proveWithdrawal(place, random, { ...terms, recipient: random.address() });
      secrets.push(...made.proof.map(String));
      const { signals, fee } = made;
      return {
        proof: made.proof.map(String),
        signals: signals.map(String),
        recipient: made.recipient,
        fee: String(fee),
        feeRecipient: made.feeRecipient,
        validUntil: String(validUntil),
      };
    });
  }

  /** @returns a description of the response's fault; undefined if there is none */
  function judge({ path }: FuzzRequest, { status, text }: Reply): string | undefined {
    if (status >= 500) return "a 5xx";
    const answer = JSON.parse(text) as Record<string, unknown>;
    if (INTERNALS.test(text) || text.includes(service.folder)) return "internals in it";
    if (secrets.some((secret) => text.includes(secret))) return "something secret in it";
    if (text.length > 1500) return "too much in it";
    if (status === 200) return path === "/verify" && answer["valid"] === false ? undefined : "it was accepted";
    if (Object.keys(answer).sort().join() !== "code,error,message") return "other fields";
    return statusOf(ERRORS, String(answer["code"])) === status ? undefined : "a status that is not its code's";
  }

  it("are rejected, each with a reason", async () => {
    const counts = new Map<number, number>();
    const faults = await client.faults(REQUESTS, "fuzz", async (random) => {
      const request = mutate(samples, random);
      const reply = await client.send(request);
      const fault = judge(request, reply);
      counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1);
      return fault && `${request.path}, ${request.what}: ${fault}: ${reply.status} ${reply.text.slice(0, 300)}`;
    });
    expect(faults.slice(0, 20)).to.deep.equal([]);
    // The requests reach every layer: bodies, decoding, tokens, proofs.
    for (const status of [200, 400, 401, 409, 413, 415, 422])
      expect(counts.get(status) ?? 0, String(status)).to.be.above(REQUESTS / 1000);
  });

  it("leave only valid requests in the store", () => {
    const database = closedAfterTest(new DatabaseSync(join(service.folder, "store.sqlite"), { readOnly: true }));
    const rows = (query: string) => database.prepare(query).all() as Record<string, unknown>[];
    expect(rows("PRAGMA integrity_check")).to.deep.equal([{ integrity_check: "ok" }]);
    const right = new Set([samples[0]!.right, samples[0]!.other].map((bundle) => JSON.stringify(bundle)));
    const reserved = rows("SELECT bundle FROM reservations").map(({ bundle }) => sorted(String(bundle)));
    const expected = new Set([...right].map(sorted));
    expect(reserved.length).to.be.at.most(2);
    for (const bundle of reserved) expect(expected.has(bundle)).to.equal(true);
    expect(rows("SELECT id FROM operations")).to.deep.equal([]);
    expect(rows("SELECT nullifier FROM claims WHERE queued = 1")).to.deep.equal([]);
  });

  it("leave no secret in the log", () => {
    const log = service.logged.join("");
    expect(secrets.filter((secret) => log.includes(secret))).to.deep.equal([]);
    const entries = service.logged.map((line) => JSON.parse(line) as { level: number; msg: string });
    // If the machine is busy for longer than a lease, the relayer restarts its round.
    const errors = entries.filter(({ level, msg }) => level >= 50 && !msg.startsWith("a round of the relayer"));
    expect(errors).to.deep.equal([]);
  });

  it("leave the service able to verify and settle", async () => {
    now = undefined;
    const bundle = forgeBundle(world, { root: world.root });
    const { body } = await post(`${service.url}/verify`, bundle);
    expect(body["valid"]).to.equal(true);
    const settled = await post(`${service.url}/settle`, settleRequest(bundle, body["paymentToken"]));
    expect(settled.body).to.include({ status: "success", id: claimsOf(body["paymentToken"])["jti"] });
  });
});

/** Serializes a value with sorted keys. */
function sorted(text: string): string {
  const entries = Object.entries(JSON.parse(text) as object);
  return JSON.stringify(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}
