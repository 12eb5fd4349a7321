import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadTrapdoor } from "@sotto/keys/setup/trapdoor";
import { CIRCUITS, FIELD_MODULUS } from "@sotto/protocol";
import { AbiCoder, getBytes } from "ethers";
import { type RecordedStep, readRecording } from "./recording.ts";

/** Everything that is generated for the Solidity tests; git ignores it. */
export const generatedFolder = join(import.meta.dirname, "..", ".fuzz");

const PAYMENT = `tuple(uint256[8],uint256[${CIRCUITS.payment.signalCount}],uint64,bytes32)`;
const WITHDRAWAL = `tuple(uint256[8],uint256[${CIRCUITS.withdrawal.signalCount}],uint256,address,uint256,address,uint64)`;
const FIXTURE = `tuple(
  address, uint256, tuple(uint8,uint256,bool)[],
  tuple(uint256[],uint64[])[],
  tuple(${PAYMENT},uint256[3])[],
  tuple(${WITHDRAWAL},uint256[8],uint256)[],
  tuple(uint256,uint256,uint256,uint256[],uint256[8])[],
  tuple(uint256,uint256[])[3]
)`.replaceAll(/\s+/g, "");

const KINDS = ["deposit", "payment", "withdrawal", "append"] as const;

const power = (base: bigint, exponent: bigint): bigint => {
  let [result, square] = [1n, base];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % FIELD_MODULUS;
    square = (square * square) % FIELD_MODULUS;
  }
  return result;
};

const reduce = (value: bigint): bigint => ((value % FIELD_MODULUS) + FIELD_MODULUS) % FIELD_MODULUS;

/** The trapdoor as Forger.sol takes it: with A = G1 and B = G2, C = (base - sum of factors[i] signals[i]) G1. */
function trapdoorWords(circuit: string): [bigint, bigint[]] {
  const { alpha, beta, delta, ic } = loadTrapdoor(circuit);
  const inverse = power(delta, FIELD_MODULUS - 2n);
  const [constant = 0n, ...signals] = ic;
  return [reduce((1n - alpha * beta - constant) * inverse), signals.map((factor) => reduce(factor * inverse))];
}

function fields(step: RecordedStep): unknown[] {
  switch (step.kind) {
    case "deposit":
      return [step.ownerTags, step.amounts];
    case "payment":
      return [[step.proof.words, step.signals, step.validUntil, step.resourceDigest], step.amounts];
    case "withdrawal": {
      const { proof, signals, statementHash, recipient, fee, feeRecipient, validUntil } = step;
      return [
        [proof.words, signals, statementHash, recipient, fee, feeRecipient, validUntil],
        step.amounts,
        step.output,
      ];
    }
    case "append":
      return [step.oldRoot, step.newRoot, step.startIndex, step.leaves, step.proof.words];
  }
}

/** Writes the recorded pool and the trapdoors of the development keys in the form that Fixture.sol reads. */
export function writeFixture(): void {
  const { pool, start, steps, conflicts } = readRecording();
  const counts = new Map<string, number>();
  const order = steps.map(({ kind }, position) => {
    const index = counts.get(kind) ?? 0;
    counts.set(kind, index + 1);
    return [KINDS.indexOf(kind), index, conflicts.includes(position)];
  });
  const kinds = KINDS.map((kind) => steps.filter((step) => step.kind === kind).map(fields));
  const trapdoors = ["payment", "withdrawal", "note_append"].map(trapdoorWords);
  const data = AbiCoder.defaultAbiCoder().encode([FIXTURE], [[pool, start, order, ...kinds, trapdoors]]);
  mkdirSync(generatedFolder, { recursive: true });
  writeFileSync(join(generatedFolder, "fixture.bin"), getBytes(data));
}
