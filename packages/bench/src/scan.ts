import type { SettledEvent } from "@sotto/chain";
import { median } from "@sotto/command/median";
import {
  addMonths,
  addPoints,
  BASE8,
  depositBlinding,
  deriveKeys,
  monthStart,
  multiplyPoint,
  noteCommitment,
  type Point,
  parseMonth,
  randomField,
  randomSeed,
  scanNotes,
  type Viewer,
} from "@sotto/protocol";
import { MemoryStore, NoteReader, NoteScanner, Wallet, walletScanKeys } from "@sotto/wallet";
import { RecordedChain } from "./inputs/recorded-chain.ts";
import { inChromium } from "./inputs/scan-in-chromium.ts";
import type { Print } from "./main.ts";

export const about = "scanning 100,000 notes of other wallets, and restoring a wallet from a pool with as many notes";

const NOTES = 100_000;
/** Number of payments per block, and of notes per call of the scanner. */
const [PER_BLOCK, PER_CALL] = [50, 5_000];
const [ROUNDS, RESTORES] = [4, 3];
const CHROMIUM_NOTES = 10_000;
/** Months of payments, and how many payments. */
const [MONTHS, LABEL_NOTES] = [36, 36_000];
/** Number of different points R: creating 100,000 would take longer than the scan, which caches none of them. */
const POINTS = 2_000;

interface Delivered {
  readonly ephemeralX: bigint;
  readonly amountHint: bigint;
  readonly recipientCommitment: bigint;
}

/** Seconds for a note: elapsed, and of all cores. */
interface Cost {
  readonly each: number;
  readonly cpu: number;
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

/** Scans with the wallet's threads and kernel, and a part of the notes with `scanNotes` on one thread, in turns. */
async function scan(print: Print, notes: readonly Delivered[]): Promise<void> {
  const keys = deriveKeys(randomSeed(), { chainId: 31337n, pool: `0x${"5a".repeat(20)}` });
  const viewer = { viewingKeys: [keys.viewingKey], ownerTag: keys.ownerTag(0) };
  const reader = new NoteReader();
  const time = async (count: number, read: (part: readonly Delivered[]) => unknown) => {
    const [start, before] = [performance.now(), process.cpuUsage()];
    for (let first = 0; first < count; first += PER_CALL) {
      const found = (await read(notes.slice(first, Math.min(first + PER_CALL, count)))) as readonly unknown[];
      if (found.some((note) => note !== null)) throw new Error("the scanner accepted a note of another wallet");
    }
    const { user, system } = process.cpuUsage(before);
    return { each: seconds(start) / count, cpu: (user + system) / 1e6 / count };
  };
  try {
    // The first call compiles the kernel and starts the threads.
    await reader.read(viewer, notes.slice(0, PER_CALL));
    const shares: { fast: Cost; plain: Cost }[] = [];
    const part = notes.length / ROUNDS;
    for (let round = 0; round < ROUNDS; round += 1) {
      process.stderr.write(`  scan ${round + 1} of ${ROUNDS}\n`);
      const plain = await time(part / 10, (each) => scanNotes(viewer, each));
      shares.push({ plain, fast: await time(part, (each) => reader.read(viewer, each)) });
    }
    const fast = median(shares.map(({ fast }) => fast.each));
    await chromium(print, viewer, notes.slice(0, CHROMIUM_NOTES), (part) =>
      time(part.length, (each) => reader.read(viewer, each)).then(({ each }) => each),
    );
    print("scan.perSecond", 1 / fast, "notes/s");
    const ratio = (of: keyof Cost) => median(shares.map(({ fast, plain }) => plain[of] / fast[of]));
    print("scan.ratio", ratio("each"), "x one thread without the kernel");
    // All threads' time on a core: depends less on what else the machine does.
    print("scan.cpu.ratio", ratio("cpu"), "x the CPU time without the kernel");
  } finally {
    reader.close();
  }
}

/** The time of payment `index` of `count`, which are spread evenly over `MONTHS`; seconds. */
function timeOf(index: number, count: number): number {
  const first = parseMonth("2026-01");
  const [start, end] = [monthStart(first), monthStart(addMonths(first, MONTHS))];
  return Math.floor((start + ((end - start) * index) / count) / 1000);
}

/**
 * A wallet's scan of payments of three years with one key, as before there were months; with the keys of each payment's month; and
 * with these and the lasting one. In turns.
 */
async function labels(print: Print, notes: readonly Delivered[]): Promise<void> {
  const deployment = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
  const keys = deriveKeys(randomSeed(), deployment);
  const reader = new NoteReader();
  const payments = notes.map((note, index) => ({ ...note, timestamp: timeOf(index, notes.length) }));
  const one = { ownerTag: keys.ownerTag(0), viewingKeys: [keys.viewingKey] };
  const scanners = [false, true].map((lasting) => new NoteScanner(walletScanKeys(keys, lasting), deployment));
  const time = async (read: (part: typeof payments) => Promise<unknown>) => {
    const before = process.cpuUsage();
    for (let first = 0; first < payments.length; first += PER_CALL) await read(payments.slice(first, first + PER_CALL));
    // All threads' time on a core: depends less on what else the machine does.
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  try {
    await reader.read(one, payments.slice(0, PER_CALL));
    const rounds: number[][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      process.stderr.write(`  months ${round + 1} of ${ROUNDS}\n`);
      const alone = await time((part) => reader.read(one, part));
      const ratios: number[] = [];
      for (const scanner of scanners)
        ratios.push(
          alone /
            (await time(async (part) => {
              for (const group of scanner.groups(part as unknown as SettledEvent[]))
                await reader.read(group.viewer, group.payments);
            })),
        );
      rounds.push(ratios);
    }
    print("scan.labels.ratio", median(rounds.map(([months]) => months!)), "x one key");
    print("scan.labels.both.ratio", median(rounds.map(([, both]) => both!)), "x one key");
  } finally {
    reader.close();
  }
}

/** The same notes in Chromium and in Node, in turns. */
async function chromium(
  print: Print,
  viewer: Viewer,
  notes: readonly Delivered[],
  inNode: (notes: readonly Delivered[]) => Promise<number>,
): Promise<void> {
  await inChromium(viewer, async (scanInPage) => {
    await scanInPage(notes.slice(0, PER_CALL));
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { seconds, found } = await scanInPage(notes);
      if (found !== 0) throw new Error("Chromium accepted a note of another wallet");
      ratios.push(seconds / notes.length / (await inNode(notes)));
    }
    print("scan.chromium.ratio", median(ratios), "x Node");
  });
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
  const options = { seed, chain, chainId: chain.chainIdValue, pool: chain.pool, deploymentBlock: 0, finality: 0 };
  const runs: { time: number; memory: number }[] = [];
  while (runs.length < RESTORES) {
    const start = performance.now();
    const before = process.memoryUsage().rss;
    let peak = before;
    const wallet = await Wallet.open({ ...options, store: new MemoryStore(), rangeSize: 100 });
    await wallet.scan({
      onProgress: ({ leaves }) => {
        peak = Math.max(peak, process.memoryUsage().rss);
        if (leaves % 10_000 < 100) process.stderr.write(`  read ${leaves} of ${chain.leaves} notes\n`);
      },
    });
    runs.push({ time: seconds(start), memory: peak - before });
    if (wallet.balance().spendable !== amount) throw new Error("the restored wallet has a wrong balance");
    await wallet.close();
  }
  print("restore.100k.seconds", median(runs.map(({ time }) => time)), "s");
  // The first one's: the process keeps memory for the others. All threads, without what the process had before.
  print("restore.100k.mb", runs[0]!.memory / 1e6, "MB");
}

export async function run(print: Print): Promise<void> {
  const notes = notesOfOthers(NOTES);
  await scan(print, notes);
  await labels(print, notes.slice(0, LABEL_NOTES));
  await restore(print, notes.slice(0, NOTES / 2));
}
