// `pnpm bench origins`: proving and checking that a note is in a curator's set, proofs of payments in the same run, following a
// set of a million notes, showing an origin that was proved ahead, and a curator of such a set.
import { join } from "node:path";
import { median } from "@sotto/command/median";
import { artifactPaths, buildFolder } from "@sotto/keys/circuits/paths";
import { readR1csHeader } from "@sotto/keys/circuits/r1cs-header";
import { MAX_CLAIMS } from "@sotto/origins";
import { showOrigins } from "@sotto/origins/client";
import type { Origins } from "@sotto/origins/wallet";
import { createProver, createVerifier, loadArtifacts } from "@sotto/prover";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { LargeCurator } from "./inputs/large-curator.ts";
import { LargeSet } from "./inputs/large-set.ts";
import { benchInputs } from "./inputs/statements.ts";
import type { Print } from "./main.ts";

export const about =
  "proving and checking an origin, the proof of a payment in the same run, following a large set, and its curator";

const CIRCUITS = ["origin", "payment"] as const;
/** Each turn makes one proof of each circuit, and checks it several times. */
const [TURNS, CHECKS] = [15, 5];

/** Leaves of the large set, how often it is followed from the start, and how many heads come after the first. */
const [LEAVES, FOLLOWS, UPDATES] = [1_000_000, 5, 5];

/** Restarts of a curator with that many accepted deposits. */
const RESTARTS = 5;
/** Rounds of claims, full batches in each, and clients that send them at the same time. */
const [ROUNDS, BATCHES, CLIENTS] = [5, 16, 4];

export async function run(print: Print): Promise<void> {
  await measureProofs(print);
  process.stderr.write(`  a set of ${LEAVES} notes\n`);
  const set = await LargeSet.open(LEAVES);
  try {
    await measureFollowing(set, print);
    await measureShowing(set, print);
  } finally {
    await set.close();
  }
  await measureCurator(print);
}

/** Payments show origins that were proved ahead: from the payment's proof to the header, with the claim in the wallet's database. */
async function measureShowing(set: LargeSet, print: Print): Promise<void> {
  process.stderr.write("  showing origins that were proved ahead\n");
  const store = new SqliteStore(join(temporaryFolder("bench"), "wallet.sqlite"));
  const prover = createProver(await loadArtifacts({ folder: buildFolder }));
  const times: number[] = [];
  try {
    const origins = await set.follow(store, prover);
    await origins.sync();
    const { prepare, show } = showOrigins({ origins, missing: "refuse" });
    for (const note of set.notes()) {
      await prepare!(set.asked, note);
      const start = performance.now();
      const header = await show(set.asked, { note, nullifier: note.nullifier!, signal: undefined });
      times.push(performance.now() - start);
      if (header === undefined) throw new Error("the wallet showed no origin");
    }
    origins.close();
  } finally {
    await Promise.all([store.close(), prover.close()]);
  }
  print("origin.finish.ms", median(times), "ms");
}

/** A curator of a large set without claims is restarted. Then several clients send it claims. */
async function measureCurator(print: Print): Promise<void> {
  process.stderr.write(`  a curator of ${LEAVES} notes\n`);
  const curator = await LargeCurator.create(LEAVES, (ROUNDS + 1) * BATCHES * MAX_CLAIMS);
  const restarts: number[] = [];
  const rates: number[] = [];
  try {
    for (let i = 1; i <= RESTARTS; i += 1) {
      await curator.stop();
      process.stderr.write(`  restart ${i} of ${RESTARTS}\n`);
      const start = performance.now();
      await curator.start();
      restarts.push((performance.now() - start) / 1_000);
    }
    // The first round is not counted.
    for (let i = 0; i <= ROUNDS; i += 1) {
      const batches = await curator.batches(BATCHES);
      if (i > 0) process.stderr.write(`  claims, round ${i} of ${ROUNDS}\n`);
      const start = performance.now();
      const send = async (): Promise<void> => {
        for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) await curator.send(batch);
      };
      await Promise.all(Array.from({ length: CLIENTS }, send));
      if (i > 0) rates.push((1_000 * BATCHES * MAX_CLAIMS) / (performance.now() - start));
    }
  } finally {
    await curator.stop();
  }
  print("origins.rebuild.s", median(restarts), "s");
  print("origins.claims.perSecond", median(rates), "claims/s");
}

/** A wallet that has scanned the chain follows a set: first everything, then one head after the other. */
async function measureFollowing(set: LargeSet, print: Print): Promise<void> {
  const timed = async (origins: Origins): Promise<number> => {
    const start = performance.now();
    const { heads, problems } = await origins.sync();
    if (heads !== 1) throw new Error("the wallet did not take the head", { cause: problems[0]?.error });
    return performance.now() - start;
  };
  const figures = { sync: [] as number[], update: [] as number[], kb: [] as number[] };
  for (let i = 0; i < FOLLOWS; i += 1) {
    const origins = await set.follow();
    set.bytes = 0;
    figures.sync.push(await timed(origins));
    figures.kb.push(set.bytes / 1_000);
    for (let j = 0; i === 0 && j < UPDATES; j += 1) {
      set.accept();
      figures.update.push(await timed(origins));
    }
    origins.close();
  }
  print("origins.sync.ms", median(figures.sync), "ms");
  print("origins.sync.kb", median(figures.kb), "kB");
  print("origins.update.ms", median(figures.update), "ms");
}

/** Both circuits take turns, after a proof and a check of each that are not counted. */
async function measureProofs(print: Print): Promise<void> {
  const artifacts = await loadArtifacts({ folder: buildFolder });
  const [prover, verifier] = [createProver(artifacts), createVerifier({ artifacts })];
  const inputs = benchInputs();
  const none = () => ({ prove: [] as number[], check: [] as number[] });
  const times = { origin: none(), payment: none() };
  /** The origin's time in each turn, as a multiple of the payment's. */
  const ratios = none();
  const turn = async (circuit: (typeof CIRCUITS)[number]) => {
    const start = performance.now();
    const { proof, publicSignals } = await prover.prove(circuit, inputs[circuit]);
    const prove = performance.now() - start;
    const made = performance.now();
    for (let i = 0; i < CHECKS; i++)
      if (!(await verifier.verify(circuit, proof, publicSignals))) throw new Error("a valid proof was rejected");
    return { prove, check: (performance.now() - made) / CHECKS };
  };
  for (const circuit of CIRCUITS) await turn(circuit);
  for (let i = 1; i <= TURNS; i++) {
    process.stderr.write(`  turn ${i} of ${TURNS}\n`);
    for (const circuit of CIRCUITS) {
      const { prove, check } = await turn(circuit);
      times[circuit].prove.push(prove);
      times[circuit].check.push(check);
    }
    for (const figure of ["prove", "check"] as const)
      ratios[figure].push(times.origin[figure].at(-1)! / times.payment[figure].at(-1)!);
  }
  await prover.close();
  const { origin } = times;
  print("origin.constraints", readR1csHeader(artifactPaths("origin").r1cs).constraints, "constraints");
  print("origin.prove.ms", median(origin.prove), "ms");
  print("origin.prove.ratio", median(ratios.prove), "times");
  print("origin.check.ms", median(origin.check), "ms");
  print("origin.check.ratio", median(ratios.check), "times");
}
