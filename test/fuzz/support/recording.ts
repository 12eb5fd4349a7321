// A pool's history with real proofs, which the invariant tests replay: deposits, payments, appends and withdrawals, some of
// which spend the same note. The statements follow from the seed below. A proof is made again only if its statement or
// the keys of its circuit have changed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { artifactPaths, type CircuitName, root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { readLock } from "@sotto/keys/setup/lock";
import {
  depositBlinding,
  deriveKeys,
  type Note,
  NoteTree,
  noteCommitment,
  prepareAppend,
  preparePayment,
  prepareWithdrawal,
  type ShieldedAddress,
  type SpendableNote,
  type Statement,
  type WalletKeys,
} from "@sotto/protocol";
import { createProver, loadArtifacts } from "@sotto/prover";

/** The address at which the tests deploy the pool: proofs are bound to it. */
const POOL = "0x5070000000000000000000000000000000000001";
const PLACE = { chainId: 31337n, pool: POOL };
/** Unix time at which the history starts, seconds. */
const START = 1_800_000_000;
const UNIT = 1_000_000n;

const path = join(root, "test", "fuzz", "generated", "recording.json");

/** A proof with the hash of everything that it depends on. */
interface RecordedProof {
  readonly key: string;
  readonly words: readonly string[];
}

export interface RecordedDeposit {
  readonly kind: "deposit";
  readonly ownerTags: readonly string[];
  readonly amounts: readonly string[];
  readonly commitments: readonly string[];
}

export interface RecordedPayment {
  readonly kind: "payment";
  readonly signals: readonly string[];
  readonly validUntil: string;
  readonly resourceDigest: string;
  /** Base units of the spent note, the recipient's note and the change. */
  readonly amounts: readonly [string, string, string];
  readonly proof: RecordedProof;
}

export interface RecordedWithdrawal {
  readonly kind: "withdrawal";
  readonly signals: readonly string[];
  readonly statementHash: string;
  readonly recipient: string;
  readonly fee: string;
  readonly feeRecipient: string;
  readonly validUntil: string;
  /** Base units of the eight spent notes, 0 where unused, and of the output note. */
  readonly amounts: readonly string[];
  readonly output: string;
  readonly proof: RecordedProof;
}

export interface RecordedAppend {
  readonly kind: "append";
  readonly oldRoot: string;
  readonly newRoot: string;
  readonly startIndex: number;
  readonly leaves: readonly string[];
  readonly proof: RecordedProof;
}

export type RecordedStep = RecordedDeposit | RecordedPayment | RecordedWithdrawal | RecordedAppend;

export interface Recording {
  readonly description: string;
  readonly chainId: number;
  readonly pool: string;
  readonly start: number;
  /** In the order in which they can all be executed, except those marked as conflicts. */
  readonly steps: readonly RecordedStep[];
  /** Indices of steps that spend a note which an earlier step spends. */
  readonly conflicts: readonly number[];
}

export const readRecording = (): Recording => JSON.parse(readFileSync(path, "utf8")) as Recording;

type Prove = (circuit: CircuitName, statement: Statement) => Promise<RecordedProof>;

const text = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === "bigint" ? part.toString() : part));

/** Hash of the circuit's verification key and of the statement with its witness. */
function keyOf(circuit: CircuitName, { input }: Statement): string {
  const vkey = readLock().circuits[circuit]?.vkey;
  return createHash("sha256")
    .update(text([vkey, input]))
    .digest("hex");
}

const strings = (values: readonly bigint[]): string[] => values.map(String);

/** The next note of an owner: what the owner needs to spend it. */
interface Owned extends SpendableNote {
  readonly commitment: bigint;
}

class Recorder {
  readonly steps: RecordedStep[] = [];
  readonly conflicts: number[] = [];
  readonly #prove: Prove;
  readonly #tree = new NoteTree();
  readonly #trees: NoteTree[] = [];
  readonly #payer = deriveKeys(new Uint8Array(32).fill(21), PLACE);
  readonly #merchants = [22, 23].map((byte) => deriveKeys(new Uint8Array(32).fill(byte), PLACE));
  readonly #spent = new Set<number>();
  #queued: bigint[] = [];
  #scalar = 2n ** 200n;
  #deposits = 0;

  constructor(prove: Prove) {
    this.#prove = prove;
  }

  get #size(): number {
    return this.#tree.size + this.#queued.length;
  }

  #add(step: RecordedStep, spends: readonly number[] = []): void {
    if (spends.some((leaf) => this.#spent.has(leaf))) this.conflicts.push(this.steps.length);
    for (const leaf of spends) this.#spent.add(leaf);
    this.steps.push(step);
  }

  /** A note of an output, queued unless the step is a conflict. */
  #queue({ amount, blinding, ownerTag }: Note, spendingKey: bigint): Owned {
    const leafIndex = this.#size;
    const commitment = noteCommitment({ amount, blinding, ownerTag });
    this.#queued.push(commitment);
    return { amount, blinding, spendingKey, leafIndex, commitment };
  }

  deposit(...amounts: bigint[]): Owned[] {
    const notes = amounts.map((amount) => {
      const index = ++this.#deposits;
      const note = { amount, ownerTag: this.#payer.ownerTag(index), blinding: depositBlinding(PLACE, this.#size) };
      return { note, owned: this.#queue(note, this.#payer.spendingKey(index)) };
    });
    this.#add({
      kind: "deposit",
      ownerTags: strings(notes.map(({ note }) => note.ownerTag)),
      amounts: strings(amounts),
      commitments: strings(notes.map(({ owned }) => owned.commitment)),
    });
    return notes.map(({ owned }) => owned);
  }

  /** Appends all queued leaves. @returns the tree with them */
  async append(): Promise<NoteTree> {
    const leaves = this.#queued;
    this.#queued = [];
    const statement = prepareAppend({ ...PLACE, tree: this.#tree, leaves });
    const proof = await this.#prove("note_append", statement);
    this.#tree.append(leaves);
    const { oldRoot, newRoot, startIndex } = statement;
    const roots = { oldRoot: oldRoot.toString(), newRoot: newRoot.toString() };
    this.#add({ kind: "append", ...roots, startIndex, leaves: strings(leaves), proof });
    const tree = new NoteTree(Array.from({ length: this.#tree.size }, (_, i) => this.#tree.leaf(i)));
    this.#trees.push(tree);
    return tree;
  }

  /** @returns the recipient's note and the change; neither is queued if the note is already spent */
  async pay(tree: NoteTree, note: Owned, amount: bigint, merchant: number, seconds: number): Promise<Owned[]> {
    const keys = this.#merchants[merchant] as WalletKeys;
    const wallet = `0x${`${merchant + 1}`.repeat(40)}`;
    const recipient: ShieldedAddress & { wallet: string } = {
      encryptionKey: keys.encryptionKey,
      ownerTag: keys.ownerTag(0),
      wallet,
    };
    const payment = preparePayment({
      ...PLACE,
      tree,
      note,
      changeKey: this.#payer.changeKey,
      nonceKey: this.#payer.nonceKey,
      changeTag: this.#payer.ownerTag(0),
      recipient,
      amount,
      resourceUrl: `https://merchant.example/${merchant}`,
      timestamp: (START + seconds) * 1000,
      scalar: this.#scalar++,
    });
    const { validUntil, resourceDigest, publicSignals } = payment;
    const conflict = this.#spent.has(note.leafIndex);
    const amounts: RecordedPayment["amounts"] = [`${note.amount}`, `${amount}`, `${note.amount - amount}`];
    const proof = await this.#prove("payment", payment);
    const call = { signals: strings(publicSignals), validUntil: `${validUntil}`, resourceDigest };
    this.#add({ kind: "payment", ...call, amounts, proof }, [note.leafIndex]);
    if (conflict) return [];
    return [
      this.#queue(payment.recipientNote, keys.spendingKey(0)),
      this.#queue(payment.changeNote, this.#payer.spendingKey(0)),
    ];
  }

  /** Withdraws `amount`, of which 1% is the fee; the whole value and no output note if the amount is undefined. */
  async withdraw(tree: NoteTree, notes: readonly Owned[], amount: bigint | undefined, to: number): Promise<Owned[]> {
    const total = notes.reduce((sum, note) => sum + note.amount, 0n);
    const terms = {
      amount: amount ?? total,
      recipient: `0x${`${to}`.repeat(40)}`,
      fee: (amount ?? total) / 100n,
      feeRecipient: `0x${"f".repeat(40)}`,
      validUntil: BigInt(START + 600),
    };
    const withdrawal = prepareWithdrawal({
      ...PLACE,
      ...terms,
      tree,
      notes,
      changeKey: this.#payer.changeKey,
      outputTag: this.#payer.ownerTag(0),
      leaveNothing: amount === undefined,
    });
    const spends = notes.map(({ leafIndex }) => leafIndex);
    const conflict = spends.some((leaf) => this.#spent.has(leaf));
    const amounts = Array.from({ length: 8 }, (_, i) => `${notes[i]?.amount ?? 0n}`);
    const proof = await this.#prove("withdrawal", withdrawal);
    const { recipient, feeRecipient } = terms;
    const call = { recipient, fee: `${terms.fee}`, feeRecipient, validUntil: `${terms.validUntil}` };
    const output = `${total - terms.amount}`;
    const signals = strings(withdrawal.signals);
    const statementHash = `${withdrawal.input.statementHash}`;
    this.#add({ kind: "withdrawal", signals, statementHash, ...call, amounts, output, proof }, spends);
    if (conflict || amount === undefined) return [];
    return [this.#queue(withdrawal.outputNote, this.#payer.spendingKey(0))];
  }
}

async function record(prove: Prove): Promise<Recording> {
  const recorder = new Recorder(prove);
  const notes = await recorder.deposit(
    5n * UNIT,
    4n * UNIT,
    3n * UNIT,
    7n * UNIT,
    2n * UNIT,
    UNIT,
    6n * UNIT,
    8n * UNIT,
  );
  const first = await recorder.append();
  const at = (index: number): Owned => notes[index] as Owned;
  const [received] = await recorder.pay(first, at(0), 2n * UNIT, 0, 10);
  const [, change] = await recorder.pay(first, at(1), UNIT, 1, 40);
  const [other] = recorder.deposit(9n * UNIT, UNIT);
  const [merged] = await recorder.withdraw(first, [at(4), at(5)], 2n * UNIT, 4);
  const second = await recorder.append();
  await recorder.pay(first, at(2), 3n * UNIT, 0, 70);
  await recorder.pay(first, at(3), 0n, 1, 100);
  await recorder.withdraw(first, [at(6)], undefined, 5);
  await recorder.withdraw(first, [at(7)], undefined, 6);
  await recorder.pay(second, change as Owned, UNIT, 0, 130);
  await recorder.pay(second, other as Owned, 8n * UNIT, 1, 160);
  await recorder.withdraw(second, [received as Owned], undefined, 7);
  await recorder.append();
  // Each of these spends a note that another step spends.
  await recorder.pay(first, at(0), 5n * UNIT, 1, 130);
  await recorder.pay(first, at(6), 4n * UNIT, 0, 160);
  await recorder.withdraw(first, [at(1)], undefined, 8);
  await recorder.withdraw(second, [merged as Owned, other as Owned], undefined, 9);
  return {
    description: "Generated by test/fuzz/support/recording.ts from the development keys, never edited.",
    chainId: Number(PLACE.chainId),
    pool: POOL,
    start: START,
    steps: recorder.steps,
    conflicts: recorder.conflicts,
  };
}

/** All proofs of the existing file, by key. */
function knownProofs(): Map<string, RecordedProof> {
  if (!existsSync(path)) return new Map();
  const proofs = readRecording().steps.flatMap((step) => ("proof" in step ? [step.proof] : []));
  return new Map(proofs.map((proof) => [proof.key, proof]));
}

/**
 * test/fuzz/generated/recording.json.
 * @param check compares only: a proof that would have to be made is left out, so that the file differs
 */
export async function generateRecording(check: boolean): Promise<GeneratedFile> {
  const known = knownProofs();
  const artifacts = await loadArtifacts({ folder: dirname(dirname(artifactPaths("payment").zkey)) });
  const prover = createProver(artifacts);
  const prove: Prove = async (circuit, statement) => {
    const key = keyOf(circuit, statement);
    const proof = known.get(key);
    if (proof !== undefined || check) return proof ?? { key, words: [] };
    return { key, words: (await prover.prove(circuit, statement.input)).proof };
  };
  try {
    const recording = await record(prove);
    return { path, content: `${JSON.stringify(recording, undefined, 1)}\n` };
  } finally {
    await prover.close();
  }
}

if (import.meta.main) await runGenerators(() => generateRecording(process.argv.includes("--check")));
