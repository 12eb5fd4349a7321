import { secp256k1 } from "@noble/curves/secp256k1.js";
import { type ChainSource, decodeEvent, queuedLeaves } from "@sotto/chain";
import { type Bytes32, bytesToHex } from "@sotto/protocol";
import { computeAddress } from "ethers";
import {
  CLAIMS_PATH,
  chainLine,
  decodeClaim,
  ENTRIES_PER_PACK,
  encodeEntry,
  encodeHead,
  HEAD_PATH,
  HEADS_PER_PACK,
  type HeadFacts,
  headPackPath,
  LOG_START,
  type LogEntry,
  logPackPath,
  nextHead,
  type OriginClaim,
  policyPath,
  SetState,
  type SignedHead,
  SLOT_SECONDS,
  sha256Hex,
} from "../../src/index.ts";

const utf8 = new TextEncoder();
const POLICY = JSON.stringify({ name: "clean", judges: [] });

export interface MemoryCuratorOptions {
  readonly chain: ChainSource;
  readonly pool: string;
  readonly name?: string;
  /** The curator's private key, 32 bytes. Default: a random one. */
  readonly secret?: Uint8Array;
  /** Checks a claim's proof. Default: every proof is right. */
  readonly verify?: (claim: OriginClaim) => Promise<boolean>;
}

/** A curator of one set without a store: a test says what it accepts, and when it signs a head. Its files are in `files`. */
export class MemoryCurator {
  readonly #options: MemoryCuratorOptions;
  readonly secret: Uint8Array;
  readonly curator: string;
  readonly state: SetState;
  readonly files = new Map<string, Uint8Array>();
  readonly heads: SignedHead[] = [];
  readonly lines: string[] = [];
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  readonly leaves: bigint[] = [];
  /** Transactions of deposits, by leaf. */
  readonly deposits = new Map<number, Bytes32>();
  #log: Bytes32 = LOG_START;
  #appended = 0;
  #block = -1;

  constructor(options: MemoryCuratorOptions) {
    this.#options = options;
    this.secret = options.secret ?? secp256k1.utils.randomSecretKey();
    this.curator = computeAddress(bytesToHex(this.secret)).toLowerCase();
    this.state = new SetState((leaf) => this.leaves[leaf]!);
    this.files.set(policyPath(sha256Hex(utf8.encode(POLICY))), utf8.encode(POLICY));
  }

  get name(): string {
    return this.#options.name ?? "clean";
  }

  /** Reads the pool's new events. @returns the leaves of deposits among them */
  async read(): Promise<number[]> {
    const { chain, pool } = this.#options;
    const head = await chain.head();
    if (head.number === this.#block) return [];
    const logs = await chain.logs({ address: pool, from: this.#block + 1, to: head.number });
    const events = logs.flatMap((log) => decodeEvent(log) ?? []);
    for (const event of events) {
      this.leaves.push(...queuedLeaves(event));
      if (event.type === "deposited") this.deposits.set(event.leafIndex, event.transactionHash as Bytes32);
      if (event.type === "appended") this.#appended = event.startIndex + event.count;
    }
    this.state.addEvents(events);
    this.#block = head.number;
    return events.flatMap((event) => (event.type === "deposited" ? [event.leafIndex] : []));
  }

  /** Appends entries to the log and applies them. */
  log(...entries: LogEntry[]): void {
    for (const entry of entries) {
      const line = encodeEntry(entry);
      this.#log = chainLine(this.#log, line);
      this.lines.push(line);
      this.state.apply(entry);
      const pack = Math.floor((this.lines.length - 1) / ENTRIES_PER_PACK);
      this.#text(logPackPath(pack), this.lines.slice(pack * ENTRIES_PER_PACK));
    }
  }

  accept(...leaves: number[]): void {
    this.#judge("accept", leaves);
  }

  refuse(...leaves: number[]): void {
    this.#judge("refuse", leaves);
  }

  #judge(type: "accept" | "refuse", leaves: readonly number[]): void {
    const transactionOf = (leaf: number) => this.deposits.get(leaf) ?? (`0x${"00".repeat(32)}` as const);
    this.log(...leaves.map((leaf): LogEntry => ({ type, leaf, transaction: transactionOf(leaf) })));
  }

  /** Reads new events, accepts all deposits among them, and signs a head. */
  async acceptNew(): Promise<SignedHead> {
    this.accept(...(await this.read()));
    return this.sign();
  }

  /** Signs the next head, in the next slot or at the chain's newest block, and publishes it. */
  async sign(changes: Partial<HeadFacts> = {}): Promise<SignedHead> {
    const { chain, pool } = this.#options;
    await this.read();
    const block = (await chain.block(this.#block))!;
    const previous = this.heads.at(-1)?.head;
    const slot = Math.floor(block.timestamp / SLOT_SECONDS) * SLOT_SECONDS;
    const facts: HeadFacts = {
      chainId: Number(await chain.chainId()),
      pool: pool as HeadFacts["pool"],
      curator: this.curator as HeadFacts["curator"],
      name: this.name,
      time: previous === undefined ? slot : Math.max(slot, previous.time + SLOT_SECONDS),
      block: block.number,
      blockHash: block.hash as Bytes32,
      blockTime: block.timestamp,
      leaves: this.#appended,
      entries: this.lines.length,
      claims: this.state.claims,
      log: this.#log,
      policy: sha256Hex(utf8.encode(POLICY)),
      ...changes,
    };
    const { signed, files } = nextHead(this.state.mask, facts, previous, this.secret);
    for (const [path, bytes] of files) this.files.set(path, bytes);
    this.publish(signed);
    return signed;
  }

  /** Publishes a head as the newest. */
  publish(signed: SignedHead): void {
    this.heads.push(signed);
    this.state.addHead(signed.head, true);
    const pack = Math.floor((this.heads.length - 1) / HEADS_PER_PACK);
    const lines = this.heads.slice(pack * HEADS_PER_PACK).map((head) => JSON.stringify(encodeHead(head)));
    this.#text(headPackPath(pack), lines);
    this.files.set(HEAD_PATH, utf8.encode(lines.at(-1)));
  }

  /** Adds a claim as the endpoint does. @returns its result */
  async claim(claim: OriginClaim): Promise<string> {
    const { verify = async () => true } = this.#options;
    await this.read();
    if (this.state.hasClaim(claim)) return "known";
    const problem = this.state.claimProblem(claim);
    if (problem !== undefined) return problem === "CLAIMED" ? "ORIGIN_CLAIM_CONFLICT" : `ORIGIN_${problem}`;
    if (!(await verify(claim))) return "ORIGIN_PROOF_INVALID";
    this.log({ type: "claim", claim });
    return "stored";
  }

  /** Answers requests below `base`, as a curator's server does. */
  fetch(base: string): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.startsWith(`${base}/`)) throw new TypeError(`no server at ${request.url}`);
      const path = request.url.slice(base.length + 1);
      this.asked.push(path);
      if (path === CLAIMS_PATH && request.method === "POST") {
        const { claims } = (await request.json()) as { claims: unknown[] };
        const results: string[] = [];
        for (const claim of claims) results.push(await this.claim(decodeClaim(claim)));
        return Response.json({ results });
      }
      const file = this.files.get(path);
      return file === undefined ? new Response(null, { status: 404 }) : new Response(file.slice());
    };
  }

  #text(path: string, lines: readonly string[]): void {
    this.files.set(path, utf8.encode(lines.map((line) => `${line}\n`).join("")));
  }
}
