// A set of a million notes, served as a curator serves it, and a wallet that has some of the notes.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  curatorOf,
  encodeHead,
  HEAD_PATH,
  type HeadFacts,
  headPackPath,
  MaskTree,
  nextHead,
  type SignedHead,
  ZERO_BYTES,
} from "@sotto/origins";
import { Origins, type OriginsWallet } from "@sotto/origins/wallet";
import { deriveKeys, noteCommitment, nullifier, randomField, randomSeed } from "@sotto/protocol";
import type { Prover } from "@sotto/prover";
import { createTreeKernel } from "@sotto/prover/scan";
import { MemoryStore, type Store, type WalletNote } from "@sotto/wallet";
import { hashOf, leafAt as leafOfOthers, SECRET } from "./large.ts";

const POOL = `0x${"90".repeat(20)}` as const;
const START = 1_800_000_000;
/** The wallet's first note. The others are the next ones in the set, in the same chunk. */
const OWN = 500_001;
/** How many notes the wallet has. */
const OWN_NOTES = 32;

const keys = deriveKeys(randomSeed(), { chainId: 31337n, pool: POOL });
const spendingKey = keys.spendingKey(0);
const own = Array.from({ length: OWN_NOTES }, (_, i) => {
  const [leafIndex, amount, blinding] = [OWN + 8 * i, 1_000_000n, randomField()];
  const commitment = noteCommitment({ amount, ownerTag: keys.ownerTag(0), blinding });
  return { leafIndex, amount, blinding, commitment };
});
const commitments = new Map(own.map(({ leafIndex, commitment }) => [leafIndex, commitment]));

const leafAt = (leaf: number): bigint => commitments.get(leaf) ?? leafOfOthers(leaf);

/** A curator's files. */
export class LargeSet {
  readonly #leaves: number;
  readonly #mask: MaskTree;
  readonly #files = new Map<string, Uint8Array>();
  readonly #heads: SignedHead[] = [];
  readonly #server = createServer((request, response) => {
    const file = this.#files.get(request.url!.slice(1));
    this.bytes += file?.length ?? 0;
    response.statusCode = file === undefined ? 404 : 200;
    response.end(file);
  });
  /** Bytes of bodies that were served. */
  bytes = 0;
  url = "";

  private constructor(leaves: number, mask: MaskTree) {
    this.#leaves = leaves;
    this.#mask = mask;
  }

  /** Publishes the first head: every leaf but one in eight is in the set. */
  static async open(leaves: number): Promise<LargeSet> {
    const set = new LargeSet(leaves, new MaskTree(leafAt, await createTreeKernel()));
    for (let leaf = 0; leaf < leaves; leaf += 1) if (leaf % 8 !== 0) set.#mask.set(leaf, true);
    set.#publish();
    await new Promise<void>((resolve) => set.#server.listen(0, "127.0.0.1", resolve));
    set.url = `http://127.0.0.1:${(set.#server.address() as AddressInfo).port}`;
    return set;
  }

  /** Accepts two more leaves, one of them in the chunk of the wallet's notes, and publishes the next head. */
  accept(): void {
    const count = this.#heads.length;
    for (const leaf of [8 * count, OWN - 1 - 8 * count]) this.#mask.set(leaf, true);
    this.#publish();
  }

  #publish(): void {
    const number = this.#heads.length;
    const time = START + 60 * number;
    const facts: HeadFacts = {
      ...{ chainId: 31337, pool: POOL, curator: curatorOf(SECRET), name: "large", time },
      ...{ block: number, blockHash: hashOf(number), blockTime: time, leaves: this.#leaves },
      ...{ entries: number, claims: 0, log: hashOf(number), policy: ZERO_BYTES },
    };
    const { signed, files } = nextHead(this.#mask, facts, this.#heads.at(-1)?.head, SECRET);
    this.#heads.push(signed);
    for (const [path, file] of files) this.#files.set(path, file);
    const lines = this.#heads.map((head) => JSON.stringify(encodeHead(head)));
    this.#files.set(headPackPath(0), Buffer.from(`${lines.join("\n")}\n`));
    this.#files.set(HEAD_PATH, Buffer.from(lines.at(-1)!));
  }

  /** What a 402 asks that asks for this set. */
  get asked(): object[] {
    return [{ curator: this.url, key: curatorOf(SECRET), name: "large", maxAgeMs: 3_600_000 }];
  }

  /** The notes of the wallet. */
  notes(): WalletNote[] {
    return own.map(({ leafIndex, amount, commitment }) => {
      const note = { leafIndex, amount, state: "spendable", nullifier: nullifier(spendingKey, commitment, leafIndex) };
      return note as WalletNote;
    });
  }

  /**
   * The origins of a wallet that has scanned the chain, and follows the set from now on.
   * @param prover proves origins. Default: none are proved
   */
  async follow(store: Store = new MemoryStore(), prover?: Prover): Promise<Origins> {
    const timestamp = START + 60_000;
    const newest = { number: 1_000, hash: hashOf(1_000), timestamp };
    const notes = this.notes();
    const proveNote: OriginsWallet["proveNote"] = async (leaf, circuit, prepare, { signal } = {}) => {
      const note = own.find(({ leafIndex }) => leafIndex === leaf)!;
      const { input } = prepare({ ...note, spendingKey });
      return [...(await prover!.prove(circuit, input, { signal })).proof];
    };
    // What a scan has read: the bench measures what comes after it.
    const wallet = {
      ...{ store, proveNote },
      chain: { block: async (number: number) => ({ number, hash: hashOf(number), timestamp: START + 60 * number }) },
      pool: { chainId: 31337n, pool: POOL },
      height: newest.number,
      confirmed: newest,
      now: () => 1_000 * timestamp,
      scan: async () => ({}),
      notes: () => notes,
      spends: () => [],
      leafAt,
      treeSizeAt: () => this.#leaves,
      keepApart: () => () => undefined,
    } as unknown as OriginsWallet;
    const origins = await Origins.open(wallet, { permutation: await createTreeKernel() });
    await origins.follow({ curator: curatorOf(SECRET), name: "large", url: this.url });
    return origins;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
