// A curator with a million accepted deposits, and claims for its endpoint.
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { buildFolder } from "@sotto/keys/circuits/paths";
import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  CLAIMS_PATH,
  chainLine,
  encodeClaim,
  encodeEntry,
  HEAD_PATH,
  LOG_START,
  MAX_CLAIMS,
  type OriginClaim,
  type WireHead,
} from "@sotto/origins";
import { bytesToHex } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { eventually } from "@sotto/test-kit/eventually";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { type ChildServer, startServer } from "./child-server.ts";
import type { CuratorServerOrder } from "./curator-server.ts";
import { hashOf, leafAt, SECRET } from "./large.ts";

const DEPOSITOR = `0x${"a1".repeat(20)}`;

const commitmentOf = (leaf: number): string => `0x${leafAt(leaf).toString(16)}`;

/** The nullifier that a payment shows. */
const nullifierOf = (payment: number): bigint => BigInt(payment + 1);

/** A curator in a process of its own, which can be restarted. */
export class LargeCurator {
  readonly #settings: CuratorServerOrder;
  #server: ChildServer | undefined;
  #claimed = 0;

  private constructor(settings: CuratorServerOrder) {
    this.#settings = settings;
  }

  /**
   * A curator that has read and accepted deposits, and has signed a head of them.
   * @param payments how many notes were spent, each by a payment whose claim is missing
   */
  static async create(deposits: number, payments: number): Promise<LargeCurator> {
    const folder = temporaryFolder("large-curator");
    const path = join(folder, "curator.sqlite");
    const curator = new LargeCurator({
      SOTTO_CHAIN_ID: "31337",
      SOTTO_POOL: POOL,
      SOTTO_PORT: "0",
      // As on a public chain.
      SOTTO_POLL_MS: "2000",
      SOTTO_RATE_LIMIT: "1000000",
      SOTTO_ARTIFACTS: buildFolder,
      SOTTO_ORIGIN_NAME: "large",
      SOTTO_ORIGIN_KEY: bytesToHex(SECRET),
      SOTTO_ORIGIN_DELAY_SECONDS: "0",
      SOTTO_ORIGIN_STORE: `sqlite:${path}`,
      SOTTO_ORIGIN_FOLDER: join(folder, "public"),
    });
    await curator.#signHead(0);
    fill(path, deposits, payments);
    await curator.#signHead(deposits + 2 * payments);
    return curator;
  }

  /** Runs the curator until it has signed a head that covers this many leaves. */
  async #signHead(leaves: number): Promise<void> {
    try {
      // Not a minute after the previous head.
      await this.start({ SOTTO_ORIGIN_SLOT_SECONDS: "1" });
      await eventually(async () => (await this.#head())?.leaves === leaves);
    } finally {
      await this.stop();
    }
  }

  /** Starts the curator's process. It takes requests then. */
  async start(changes: CuratorServerOrder = {}): Promise<void> {
    this.#server = await startServer("curator-server.ts", { ...this.#settings, ...changes });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server?.process.connected) return;
    const ended = once(server.process, "exit");
    server.stop();
    await ended;
  }

  /** The newest head; undefined before the first. */
  async #head(): Promise<WireHead | undefined> {
    const response = await fetch(`${this.#server!.url}/${HEAD_PATH}`);
    return response.ok ? ((await response.json()) as WireHead) : undefined;
  }

  /**
   * Full batches of claims for the next payments, with proofs that are forged with the development keys: a verifier cannot
   * distinguish them from others.
   */
  async batches(count: number): Promise<OriginClaim[][]> {
    const maskRoot = BigInt((await this.#head())!.maskRoot);
    return Array.from({ length: count }, () =>
      Array.from({ length: MAX_CLAIMS }, () => {
        const nullifier = nullifierOf(this.#claimed++);
        return { nullifier, maskRoot, proof: proveWithTrapdoor("origin", [maskRoot, nullifier]).proof };
      }),
    );
  }

  /** Sends a batch of claims. @throws Error if the curator does not store each of them */
  async send(claims: readonly OriginClaim[]): Promise<void> {
    const response = await fetch(`${this.#server!.url}/${CLAIMS_PATH}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ claims: claims.map(encodeClaim) }),
    });
    const answer = await response.text();
    const { results = [] } = JSON.parse(answer) as { results?: string[] };
    if (results.length !== claims.length || results.some((result) => result !== "stored"))
      throw new Error(`the curator did not store every claim: ${response.status} ${answer}`);
  }
}

/** Adds accepted deposits, and payments after them, to the database of a curator that has read an empty pool. */
function fill(path: string, deposits: number, payments: number): void {
  const file = new DatabaseSync(path);
  const block = file.prepare("select number, timestamp from origin_blocks").get()!;
  const [number, time] = [Number(block["number"]), Number(block["timestamp"])];
  const leaf = file.prepare("insert into origin_leaves values (?, ?, ?, ?, ?, ?, ?, ?)");
  const entry = file.prepare("insert into origin_entries values (?, ?, ?)");
  const spend = file.prepare("insert into origin_spends values (?, ?, ?, ?, ?, ?)");
  let chain = LOG_START;
  file.exec("begin");
  for (let i = 0; i < deposits; i += 1) {
    const transaction = hashOf(i);
    leaf.run(i, commitmentOf(i), number, "5000000", transaction, i, time, DEPOSITOR);
    const line = encodeEntry({ type: "accept", leaf: i, transaction });
    chain = chainLine(chain, line);
    entry.run(i, line, chain);
  }
  for (let i = 0; i < payments; i += 1) {
    const first = deposits + 2 * i;
    for (const output of [first, first + 1])
      leaf.run(output, commitmentOf(output), number, null, null, null, null, null);
    spend.run(number, deposits + i, time, String(nullifierOf(i)), first, 2);
  }
  file.prepare("insert into origin_appends values (?, ?)").run(deposits + 2 * payments, number);
  file.exec("commit");
  file.close();
}
