// The server of metered credit, killed at every write: the stores of client and server add up to the unit.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { serialize } from "node:v8";
import { BINDING_SLOT_SECONDS, deriveKeys, encodeShieldedAddress, randomSeed } from "@sotto/protocol";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { prepaidBookOf } from "../../src/client/book.ts";
import { mergePrepaid } from "../../src/client/merge.ts";
import { isUnclear } from "../../src/client/metered/book.ts";
import { decodeSignedSchedule, encodeSignedTerms } from "../../src/index.ts";
import { Keyring } from "../../src/server/keyring.ts";
import { auditStore } from "../../src/server/metered/audit.ts";
import { PrepaidStore } from "../../src/server/store.ts";
import type { KilledServerOrder } from "./support/killed-server.ts";
import { MeteredWorld, RULE } from "./support/metered-merchant.ts";
import { ORIGIN } from "./support/world.ts";

/** Where the server dies, in this order, and the state in which it leaves what it was doing. */
const KILLS = [
  ["before spend", "not spent"],
  ["before row", "not spent"],
  ["before row commit", "not spent"],
  ["after row commit", "running"],
  ["before overdue", "running"],
  ["after overdue", "charged"],
  ["before charge", "running"],
  ["before charge commit", "running"],
  ["after charge commit", "charged"],
  ["before receipt", "charged"],
  ["after receipt commit", "charged"],
  ["before claim", "charged"],
  ["before claim tick", "charged"],
  ["before claim commit", "charged"],
  ["after claim commit", "claimed"],
  ["before swap-tokens", "not swapped"],
  ["before swap", "not swapped"],
  ["before swap tick", "not swapped"],
  ["before swap commit", "not swapped"],
  ["after swap commit", "swapped"],
] as const;

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

describe("a server of metered credit that is killed", function () {
  slow(this, "a process for each write");
  let folder: string;
  let scene: MeteredWorld;
  let child: ChildProcess;
  let url: string;
  /** How far the server's clock is ahead of the client's, ms. */
  let ahead = 0;
  const store = () => join(folder, "tokens.sqlite");
  const killFile = () => join(folder, "kill");

  before(async () => {
    folder = temporaryFolder("metered-kill");
    scene = await MeteredWorld.open({ seed: SEED, store: new MemoryStore() });
    scene.merchant.server = async ({ method, target, headers, body }) => {
      const sent = method === "GET" ? {} : { body: new Uint8Array(body) };
      return fetch(url + target, { method, headers, ...sent, signal: AbortSignal.timeout(LIMIT_MS) });
    };
  });
  after(() => void child?.kill("SIGKILL"));

  function orderOf(): KilledServerOrder {
    const { merchant } = scene;
    const now = scene.world.clock() + ahead;
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
      prepaid: { keys, schedules: merchant.schedules, store: `sqlite:${store()}`, guard: join(folder, "guard") },
      metered: { terms: merchant.terms.map(encodeSignedTerms), receiptKeys, maxSeconds: 5 },
      rule: RULE,
      now,
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
    ahead += DEADLINE_MS;
    await start();
  }

  const isDead = () => child.exitCode !== null || child.signalCode !== null;

  function rows(): Rows {
    const database = new DatabaseSync(store(), { readOnly: true });
    try {
      const count = (query: string) => Number(database.prepare(`select count(*) as n from ${query}`).get()!["n"]);
      return {
        running: count("prepaid_metered where state = 'running'"),
        charged: count("prepaid_metered where state = 'charged' and batch is null"),
        claimed: count("prepaid_metered where batch is not null"),
        swaps: count("prepaid_swap"),
      };
    } finally {
      database.close();
    }
  }

  const request = () => scene.wrap(SETTINGS)(`${ORIGIN}/words`);
  const merge = () => mergePrepaid(scene.merchant.fetch, scene.payer, scene.options(SETTINGS));

  /** Pays and merges until the server dies. @returns the rows before the step in which it died */
  async function die(moment: string): Promise<Rows> {
    writeFileSync(killFile(), moment);
    for (let i = 0; i < MAX_REQUESTS; i += 1)
      for (const step of [request, merge]) {
        const seen = rows();
        await step().catch(() => undefined);
        // A charge is stored after its response.
        await sleep(20);
        if (isDead()) return seen;
      }
    throw new Error(`the server did not reach the moment ${moment}`);
  }

  async function stateOf(seen: Rows): Promise<string> {
    const { running, charged, claimed, swaps } = rows();
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
    const opened = await PrepaidStore.open({ url: `sqlite:${store()}`, clock: Date.now, onError: () => undefined });
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
    for (const [moment, state] of KILLS) {
      if (moment.endsWith("overdue")) {
        await die("after row commit");
        rmSync(killFile());
        await restart();
      }
      const seen = await die(moment);
      expect(await stateOf(seen), moment).to.equal(state);
      await recover(moment);
    }
  });
});
