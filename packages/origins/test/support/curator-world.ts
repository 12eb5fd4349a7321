import { join } from "node:path";
import { poolViews } from "@sotto/chain";
import { settleCall } from "@sotto/chain/ethers";
import { type Address, PAYMENT_SIGNAL, paymentContext, prepareOrigin } from "@sotto/protocol";
import { createLog } from "@sotto/server";
import { POOL } from "@sotto/test-chain/pool";
import { TOKEN } from "@sotto/test-chain/token";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import type { Wallet, WalletNote } from "@sotto/wallet";
import { Registry } from "prom-client";
import { World } from "../../../wallet/test/support/world.ts";
import { Curator, type CuratorOptions } from "../../src/curator/curator.ts";
import type { Judge } from "../../src/curator/judges/judge.ts";
import { curatorOf, MaskTree, type OriginClaim, type OriginSet } from "../../src/index.ts";

export const SECRET = `0x${"11".repeat(32)}`;
export const SET: OriginSet = {
  chainId: 31337,
  pool: POOL as Address,
  curator: curatorOf(Buffer.from("11".repeat(32), "hex")),
  name: "clean",
};
export const ALICE: Address = `0x${"a1".repeat(20)}`;
export const BOB: Address = `0x${"b0".repeat(20)}`;

/** A judge that accepts everything but the deposits of some accounts. */
export function testJudge(refused: Set<string> = new Set()): Judge {
  return {
    name: "test",
    parameters: {},
    judge: async ({ depositor }) => ({ verdict: refused.has(depositor) ? "refuse" : "accept" }),
  };
}

/** A curator's world: a chain in memory with funded accounts, and a clock of the curator that is ahead of the chain's time. */
export class CuratorWorld extends World {
  readonly folder = temporaryFolder("curator");
  /** Seconds that the curator's clock is ahead of the chain's. */
  ahead = 0;
  slotSeconds = 60;
  readonly #curators: Curator[] = [];

  constructor() {
    super();
    for (const account of [ALICE, BOB]) this.token.mint(account, 1_000_000_000n);
  }

  readonly now = (): number => (this.chain.time + this.ahead) * 1000;

  curatorOptions(changes: Partial<CuratorOptions> = {}): CuratorOptions {
    return {
      set: SET,
      key: SECRET,
      chain: this.chain,
      token: TOKEN as Address,
      deploymentBlock: 0,
      confirmations: 1,
      store: `sqlite:${join(this.folder, "curator.db")}`,
      folder: join(this.folder, "public"),
      shownAt: [],
      slotSeconds: this.slotSeconds,
      judges: () => [testJudge()],
      description: "test",
      verifier: { verify: async () => true },
      log: createLog("silent"),
      metrics: new Registry(),
      clock: this.now,
      ...changes,
    };
  }

  async curator(changes: Partial<CuratorOptions> = {}): Promise<Curator> {
    const curator = await Curator.open(this.curatorOptions(changes));
    this.#curators.push(curator);
    return curator;
  }

  /** Deposits from an account. @returns the leaf of the first note */
  async depositFrom(account: Address, wallet: Wallet, amounts: bigint[]): Promise<number> {
    this.chain.sender = account;
    const first = this.pool.leaves;
    await this.deposit(wallet, amounts);
    return first;
  }

  /** Settles a payment with made-up signals, which spends the note of this nullifier. It makes two notes. */
  async settleNullifier(nullifier: bigint): Promise<void> {
    const validUntil = BigInt(this.chain.time + 100);
    const resourceDigest = `0x${"00".repeat(32)}` as const;
    const signals = Array.from({ length: Math.max(...Object.values(PAYMENT_SIGNAL)) + 1 }, () => 1n);
    signals[PAYMENT_SIGNAL.resourceUrl] = paymentContext({ ...this.pool.deployment, validUntil, resourceDigest });
    signals[PAYMENT_SIGNAL.root] = await poolViews(this.chain, SET.pool).root();
    signals[PAYMENT_SIGNAL.nullifier] = nullifier;
    signals[PAYMENT_SIGNAL.recipientCommitment] = nullifier + 1_000n;
    signals[PAYMENT_SIGNAL.changeCommitment] = nullifier + 2_000n;
    const proof = Array.from({ length: 8 }, () => "1");
    const call = { proof, signals: signals.map(String), validUntil: String(validUntil), resourceDigest };
    this.chain.mine(settleCall(POOL, [call]));
  }

  /** Lets the next slot begin. */
  nextSlot(): void {
    this.ahead += this.slotSeconds;
  }

  /** Begins a slot, and runs a round of a curator. */
  async round(curator: Curator): Promise<void> {
    this.nextSlot();
    await curator.round();
  }

  async close(): Promise<void> {
    for (const curator of this.#curators.splice(0)) await curator.close().catch(() => undefined);
  }
}

/** A claim for a note in a set that has exactly these members. */
export async function claimOf(
  wallet: Wallet,
  { leafIndex, nullifier }: Pick<WalletNote, "leafIndex" | "nullifier">,
  members: ReadonlyMap<number, bigint>,
): Promise<OriginClaim> {
  const mask = new MaskTree((leaf) => members.get(leaf)!);
  for (const leaf of members.keys()) mask.set(leaf, true);
  const path = mask.path(leafIndex);
  const maskRoot = mask.root;
  const proof = await wallet.proveNote(leafIndex, "origin", (note) => prepareOrigin({ note, path, maskRoot }));
  return { nullifier: nullifier!, maskRoot, proof };
}
