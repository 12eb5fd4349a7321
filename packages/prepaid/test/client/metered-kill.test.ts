// The server of metered credit, killed at every write, in both databases: the stores of client and server add up to the unit.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serialize } from "node:v8";
import { BINDING_SLOT_SECONDS, deriveKeys, encodeShieldedAddress, randomSeed } from "@sotto/protocol";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { moveClock } from "@sotto/test-kit/postgres";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { sql } from "kysely";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { prepaidBookOf } from "../../src/client/book.ts";
import { mergePrepaid } from "../../src/client/merge.ts";
import { isUnclear } from "../../src/client/metered/book.ts";
import { decodeSignedSchedule, encodeSignedTerms } from "../../src/index.ts";
import { Keyring } from "../../src/server/keyring.ts";
import { auditStore } from "../../src/server/metered/audit.ts";
import { PrepaidStore } from "../../src/server/store.ts";
import { inDatabase } from "../server/support/store.ts";
import type { KilledServerOrder } from "./support/killed-server.ts";
import { MeteredWorld, RULE } from "./support/metered-merchant.ts";
import { ORIGIN } from "./support/world.ts";

/** Writes that become durable together. */
interface Step {
  /** In their order, as killed-at.mjs names them. The last one makes all of them durable. */
  readonly writes: readonly string[];
  /** The states in which a kill leaves what the server was doing: before the last write, and after it. */
  readonly states: readonly [before: string, after: string];
}

/** In the order of the kills. */
function stepsOf(isSqlite: boolean): readonly [Step, ...Step[]] {
  return [
    // One statement in PostgreSQL.
    { writes: isSqlite ? ["spend", "row", "row commit"] : ["spend"], states: ["not spent", "running"] },
    { writes: ["overdue"], states: ["running", "charged"] },
    { writes: isSqlite ? ["charge", "charge commit"] : ["charge"], states: ["running", "charged"] },
    { writes: ["receipt", "receipt tick", "receipt commit"], states: ["charged", "charged"] },
    { writes: ["claim", "claim tick", "claim commit"], states: ["charged", "claimed"] },
    { writes: ["swap-tokens", "swap", "swap tick", "swap commit"], states: ["not swapped", "swapped"] },
  ];
}

const endOf = ({ writes }: Step) => `after ${writes.at(-1)}`;

/** The moments at which the server dies in a step, with the states that it leaves. */
const killsOf = (step: Step) => [
  ...step.writes.map((write) => [`before ${write}`, step.states[0]] as const),
  [endOf(step), step.states[1]] as const,
];

/** Each wait ends after this time, ms. */
const LIMIT_MS = 60_000;
/** Requests whose change gives a swap, at most. */
const MAX_REQUESTS = 8;
/** More than a request may run, ms. */
const DEADLINE_MS = 10_000;

const PRELOAD = join(import.meta.dirname, "support", "killed-at.mjs");
const SETTINGS = { buy: true, maxDelayMs: 1e9 };

/** Rows of the server's store. */
interface Rows {
  readonly running: number;
  readonly charged: number;
  readonly claimed: number;
  readonly swaps: number;
}

overDatabases("a server of metered credit that is killed", EVERY_DATABASE, (newUrl) => {
  let folder: string;
  let store: string;
  let scene: MeteredWorld;
  let child: ChildProcess;
  let url: string;
  /** How far the clocks of server and database are ahead of this machine's, ms. */
  let ahead: number;
  /** The path of the requests. */
  let path = "/words";
  const killFile = () => join(folder, "kill");

  before(async () => {
    [folder, store] = [temporaryFolder("metered-kill"), await newUrl()];
    scene = await MeteredWorld.open({ seed: SEED, store: new MemoryStore() });
    scene.merchant.server = async ({ method, target, headers, body }) => {
      const sent = method === "GET" ? {} : { body: new Uint8Array(body) };
      return fetch(url + target, { method, headers, ...sent, signal: AbortSignal.timeout(LIMIT_MS) });
    };
    await setAhead(scene.world.clock() - Date.now());
  });
  after(() => void child?.kill("SIGKILL"));

  async function setAhead(ms: number): Promise<void> {
    ahead = ms;
    // The server takes the time from PostgreSQL.
    if (!store.startsWith("sqlite:")) await moveClock(store, ms);
  }

  function orderOf(): KilledServerOrder {
    const { merchant } = scene;
    const now = Date.now() + ahead;
    const { wallet, chainId, pool } = merchant.terms[0]!.terms;
    const deployment = { chainId, pool };
    const recipient = deriveKeys(randomSeed(), deployment);
    const signature = `0x${"11".repeat(65)}`;
    const issuedAt = Math.floor(now / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
    const shieldedAddress = encodeShieldedAddress({
      encryptionKey: recipient.encryptionKey,
      ownerTag: recipient.ownerTag(0),
    });
    const { keys, receiptKeys } = merchant.secrets();
    return {
      options: {
        origin: ORIGIN,
        price: RULE.cap,
        recipient: { wallet, shieldedAddress, signature, issuedAt },
        // Does not answer: tokens need no service.
        service: "http://127.0.0.1:1/zk",
        chain: { rpcUrls: [], ...deployment },
      },
      prepaid: { keys, schedules: merchant.schedules, store, guard: join(folder, "guard") },
      metered: { terms: merchant.terms.map(encodeSignedTerms), receiptKeys, maxSeconds: 5 },
      rule: RULE,
      ahead,
    };
  }

  async function start(): Promise<void> {
    child = fork(join(import.meta.dirname, "support", "killed-server.ts"), [], {
      env: {
        ...BASE_ENVIRONMENT,
        NODE_OPTIONS: `--import=${PRELOAD}`,
        KILL_FILE: killFile(),
        SERVER_ORDER: serialize(orderOf()).toString("base64"),
      },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [port] = await once(child, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
    url = `http://127.0.0.1:${port}`;
  }

  /** The requests that ran are overdue then. */
  async function restart(): Promise<void> {
    await setAhead(ahead + DEADLINE_MS);
    await start();
  }

  const isDead = () => child.exitCode !== null || child.signalCode !== null;

  const rows = () =>
    inDatabase(store, async (db): Promise<Rows> => {
      const count = async (query: string) => {
        const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.raw(query)}`.execute(db);
        return rows[0]!.n;
      };
      return {
        running: await count("prepaid_metered where state = 'running'"),
        charged: await count("prepaid_metered where state = 'charged' and batch is null"),
        claimed: await count("prepaid_metered where batch is not null"),
        swaps: await count("prepaid_swap"),
      };
    });

  const request = () => scene.wrap(SETTINGS)(ORIGIN + path);
  const merge = () => mergePrepaid(scene.merchant.fetch, scene.payer, scene.options(SETTINGS));

  /** Pays and merges until the server dies. @returns the rows from before */
  async function die(moment: string): Promise<Rows> {
    const seen = await rows();
    // The receipt is claimed alone only if the response does not say the charge.
    path = moment.includes("receipt") ? "/stream" : "/words";
    writeFileSync(killFile(), moment);
    for (let i = 0; i < MAX_REQUESTS; i += 1)
      for (const step of [request, merge]) {
        await step().catch(() => undefined);
        // A charge is stored after its response.
        await sleep(20);
        if (isDead()) return seen;
      }
    throw new Error(`the server did not reach the moment ${moment}`);
  }

  async function stateOf(seen: Rows): Promise<string> {
    const { running, charged, claimed, swaps } = await rows();
    if (running > 0) return "running";
    if (charged > 0) return "charged";
    if (swaps > seen.swaps) return "swapped";
    if ((await prepaidBookOf(scene.payer.store)).metered.swaps().length > 0) return "not swapped";
    return claimed > seen.claimed ? "claimed" : "not spent";
  }

  /** Adds up both stores while nothing is underway. */
  async function assertSums(title: string): Promise<void> {
    const paid = await scene.paid();
    const { unspent, underway } = (await scene.listed())!;
    expect([await scene.stop(), underway], title).to.deep.equal([undefined, 0n]);
    const opened = await PrepaidStore.open({ url: store, clock: Date.now, onError: () => undefined });
    try {
      const schedules = scene.merchant.schedules.map((signed) => decodeSignedSchedule(signed).schedule);
      const audit = await auditStore(opened, new Keyring(schedules, undefined).all);
      expect(audit, title).to.include({ running: 0n, changeClaimable: 0n });
      // Packs are sold by the merchant of the test, which keeps them elsewhere.
      expect(paid + audit.keys.reduce((sum, key) => sum + key.unspent, 0n), title).to.equal(unspent);
      expect(paid, title).to.equal(audit.charged + unspent);
    } finally {
      await opened.end();
    }
  }

  const hasUnclear = async () =>
    (await prepaidBookOf(scene.payer.store)).metered.requests().some(({ state }) => isUnclear(state));

  /** Starts the server, and repeats what was interrupted. */
  async function recover(title: string): Promise<void> {
    rmSync(killFile());
    await restart();
    // A charge is stored after its response, and cannot be claimed before.
    const end = Date.now() + LIMIT_MS;
    do {
      // Shows a token that did not reach the server.
      if (await hasUnclear()) await request();
      expect((await merge()).problems, title).to.deep.equal([]);
    } while ((await scene.listed())!.underway > 0n && Date.now() < end);
    await assertSums(title);
  }

  it("loses nothing and creates nothing, to the unit, if it is killed at any write", async () => {
    await start();
    const steps = stepsOf(store.startsWith("sqlite:"));
    for (const [moment, state] of steps.flatMap(killsOf)) {
      if (moment.endsWith("overdue")) {
        await die(endOf(steps[0]));
        // The client's background may claim as soon as the server listens.
        writeFileSync(killFile(), moment);
        await restart();
      }
      const seen = await die(moment);
      expect(await stateOf(seen), moment).to.equal(state);
      await recover(moment);
    }
  });
});
