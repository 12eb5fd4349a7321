import { MemoryStore, Wallet } from "@sotto/client";
import {
  addPoints,
  BASE8,
  depositBlinding,
  deriveKeys,
  multiplyPoint,
  noteCommitment,
  type Point,
  randomField,
  randomSeed,
  scanNotes,
} from "@sotto/protocol";
import { RecordedChain } from "./inputs/recorded-chain.ts";
import type { Print } from "./main.ts";

export const about = "scanning 100,000 notes of other wallets, and restoring a wallet from a pool with as many notes";

const NOTES = 100_000;
/** Number of payments per block, and of notes per call of the scanner. */
const [PER_BLOCK, PER_CALL] = [50, 500];
/** Number of different points R: creating 100,000 would take longer than the scan, which caches none of them. */
const POINTS = 2_000;

interface Delivered {
  readonly ephemeralX: bigint;
  readonly amountHint: bigint;
  readonly recipientCommitment: bigint;
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}

/** Notes of other wallets. They are random points and numbers, which a scanner cannot distinguish from real notes. */
function notesOfOthers(count: number): Delivered[] {
  const step = multiplyPoint(BASE8, randomField() >> 4n);
  const points: Point[] = [step];
  while (points.length < POINTS) points.push(addPoints(points[points.length - 1]!, step));
  return Array.from({ length: count }, (_, index) => ({
    ephemeralX: points[index % POINTS]!.x,
    amountHint: randomField(),
    recipientCommitment: randomField(),
  }));
}

function scan(print: Print, notes: readonly Delivered[]): void {
  const keys = deriveKeys(randomSeed(), { chainId: 31337n, pool: `0x${"5a".repeat(20)}` });
  const viewer = { viewingKey: keys.viewingKey, ownerTag: keys.ownerTag(0) };
  const start = performance.now();
  let found = 0;
  for (let first = 0; first < notes.length; first += PER_CALL) {
    found += scanNotes(viewer, notes.slice(first, first + PER_CALL)).filter((note) => note !== null).length;
    if (first % 20_000 === 0) process.stderr.write(`  ${first} of ${notes.length} notes\n`);
  }
  if (found !== 0) throw new Error("the scanner accepted a note of another wallet");
  print("scan.perSecond", notes.length / seconds(start), "notes/s");
}

/** Restores a wallet whose only deposit is followed by other wallets' payments, each of which creates two notes. */
async function restore(print: Print, payments: readonly Delivered[]): Promise<void> {
  const seed = randomSeed();
  const chain = new RecordedChain();
  const deployment = { chainId: chain.chainIdValue, pool: chain.pool };
  const ownerTag = deriveKeys(seed, deployment).ownerTag(1);
  const amount = 5_000_000n;
  const commitment = noteCommitment({ amount, ownerTag, blinding: depositBlinding(deployment, 0) });
  chain.mine([{ name: "Deposited", values: [ownerTag, amount, commitment], leaves: [commitment] }]);
  for (let first = 0; first < payments.length; first += PER_BLOCK) {
    chain.mine(
      payments.slice(first, first + PER_BLOCK).map(({ ephemeralX, amountHint, recipientCommitment }) => {
        const [nullifier, C, changeHint, change] = [randomField(), randomField(), randomField(), randomField()];
        const digest = `0x${randomField().toString(16).padStart(64, "0")}`;
        const delivered = [ephemeralX, C, amountHint, changeHint, recipientCommitment, change];
        return { name: "Settled", values: [nullifier, digest, ...delivered], leaves: [recipientCommitment, change] };
      }),
    );
    if (first % 10_000 === 0) process.stderr.write(`  recorded ${first} of ${payments.length} payments\n`);
  }
  chain.finish();
  const start = performance.now();
  const options = { seed, chain, chainId: chain.chainIdValue, pool: chain.pool, deploymentBlock: 0, finality: 0 };
  const wallet = await Wallet.open({ ...options, store: new MemoryStore(), rangeSize: 100 });
  await wallet.scan({
    onProgress: ({ leaves }) => {
      if (leaves % 10_000 < 100) process.stderr.write(`  read ${leaves} of ${chain.leaves} notes\n`);
    },
  });
  const elapsed = seconds(start);
  if (wallet.balance().spendable !== amount) throw new Error("the restored wallet has a wrong balance");
  print("restore.100k.seconds", elapsed, "s");
}

export async function run(print: Print): Promise<void> {
  const notes = notesOfOthers(NOTES);
  scan(print, notes);
  await restore(print, notes.slice(0, NOTES / 2));
}
