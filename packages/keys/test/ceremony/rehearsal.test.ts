// A whole ceremony of a toy circuit by three people on separate machines, with a phase 1 made here, and the inputs that
// each step rejects.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { groth16, zKey } from "snarkjs";
import { acceptRound, beginCeremony, contributeTo, endWithBeacon } from "../../src/ceremony/ceremony.ts";
import { openCeremony, roundFolder, zkeyIn } from "../../src/ceremony/context.ts";
import { type FinalContext, finalize, verifyCeremony } from "../../src/ceremony/finalize.ts";
import { makePracticePtau } from "../../src/ceremony/practice.ts";
import { artifactPaths } from "../../src/circuits/paths.ts";
import { readContributions } from "../../src/sets/contributions.ts";
import { writeTranscript } from "../../src/sets/transcript.ts";
import type { Transcript } from "../../src/sets/transcript-schema.ts";
import { KeyMaker } from "../../src/setup/development-keys.ts";
import { makePtau } from "../../src/setup/keys/ptau.ts";
import { readR1cs } from "../../src/setup/keys/r1cs.ts";
import { phase1Secrets } from "../../src/setup/keys/secrets.ts";
import { stopSnarkjs } from "../../src/verifiers/stop-snarkjs.ts";
import { compileToy, type Toy, toyInput } from "../setup/support/toy.ts";
import { toyContext } from "./support/steps.ts";

const BEACON = { hash: "ab".repeat(32), iterations: 10, source: "drand, round 4711" };

describe("a ceremony, rehearsed", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let toy: Toy;
  let folder: string;
  let ptau: string;
  let otherPtau: string;
  let context: FinalContext;
  const told: string[] = [];
  const at = (...parts: string[]) => join(folder, ...parts);
  const work = (from: string, to: string, name: string) => contributeTo(from, to, name, context);

  before(async () => {
    toy = await compileToy();
    folder = mkdtempSync(join(tmpdir(), "sotto-ceremony-"));
    const size = readR1cs(toy.paths.r1cs).logDomain + 1;
    ptau = at("first.ptau");
    otherPtau = at("other.ptau");
    await makePracticePtau(size - 1, ptau);
    const maker = await KeyMaker.start();
    try {
      writeFileSync(otherPtau, Buffer.concat(await makePtau(phase1Secrets("another"), size, maker.pool)));
    } finally {
      await maker.stop();
    }
    context = {
      ...(await toyContext(folder, toy.folder, (line) => void told.push(line))),
      verifier: async (circuit, zkey) =>
        `contract ${circuit} ${JSON.stringify(await zKey.exportVerificationKey(readFileSync(zkey)))}`,
    };
  });
  after(async () => {
    await stopSnarkjs();
    toy.remove();
    rmSync(folder, { recursive: true });
  });

  it("accepts only the public phase 1, except in a rehearsal", async () => {
    const { message } = await expectRejected("PTAU_UNKNOWN", () => beginCeremony(context, "ceremony/toy", ptau));
    expect(message).to.include("not the file of the public ceremony");
    await expectRejected("PTAU_DAMAGED", () => beginCeremony(context, "rehearsal/toy", toy.paths.r1cs));
    await expectRejected("PTAU_MISSING", () => beginCeremony(context, "rehearsal/toy", at("none.ptau")));
    expect(existsSync(at("toy", "transcript.json"))).to.equal(false);
  });

  it("can be started only once, and makes reproducible keys", async () => {
    const { phase1, rounds, circuits } = await beginCeremony(context, "rehearsal/toy", ptau);
    expect(phase1.blake2b).to.match(/^[0-9a-f]{128}$/);
    expect(rounds).to.deep.equal([]);
    expect(circuits["toy"]!.circuitHash).to.match(/^[0-9a-f]{128}$/);
    await expectRejected("CEREMONY_EXISTS", () => beginCeremony(context, "rehearsal/toy", ptau));
    await expectRejected("NO_CONTRIBUTIONS", () => endWithBeacon(context, BEACON));
    await expectRejected("TRANSCRIPT_MISMATCH", () => acceptRound(context, ptau, roundFolder(context, 0)));
    await expectRejected("CEREMONY_OPEN", () => finalize(context, ptau, at("final")));
  });

  it("accepts contributions from folders, each on top of the last", async () => {
    const attested = await work(roundFolder(context, 0), at("from-ada"), "Ada");
    const round = await acceptRound(context, ptau, at("from-ada"));
    expect(round).to.deep.include({ contributor: "Ada" });
    expect(round.hashes["toy"]!.contribution).to.equal(attested["toy"]);
    await work(at("from-ada"), at("from-grace"), "Grace Hopper (Navy)");
    await acceptRound(context, ptau, at("from-grace"));
    expect(openCeremony(context).rounds.map(({ contributor }) => contributor)).to.deep.equal([
      "Ada",
      "Grace Hopper (Navy)",
    ]);
    // Two contributions from the same keys differ: the entropy is the system's.
    const again = await work(roundFolder(context, 0), at("ada-again"), "Ada");
    expect(again["toy"]).to.not.equal(attested["toy"]);
  });

  it("rejects a contribution that skips one, is repeated, lacks its name or overwrites another", async () => {
    await expectRejected("TRANSCRIPT_MISMATCH", () => acceptRound(context, ptau, at("ada-again")));
    expect((await acceptRound(context, ptau, at("from-grace"))).contributor).to.equal("Grace Hopper (Navy)");
    await expectRejected("TRANSCRIPT_MISMATCH", () => acceptRound(context, ptau, at("from-ada")));
    await work(at("from-grace"), at("two-a"), "Mallory");
    await work(at("two-a"), at("two-b"), "Mallory");
    await expectRejected("TRANSCRIPT_MISMATCH", () => acceptRound(context, ptau, at("two-b")));
    await expectRejected("NAME_INVALID", () => work(at("from-grace"), at("nameless"), "| `x` |"));
    await expectRejected("NAME_INVALID", () => work(at("from-grace"), at("nameless"), "beacon"));
    await expectRejected("FOLDER_NOT_EMPTY", () => work(at("from-grace"), at("two-a"), "Mallory"));
    expect(openCeremony(context).rounds).to.have.length(2);
  });

  it("rejects a forged contribution, another phase 1 and a truncated file", async () => {
    await work(at("from-grace"), at("honest"), "Mallory");
    const honest = readFileSync(zkeyIn(at("honest"), "toy"));
    const forge = (name: string, change: (bytes: Buffer) => Buffer) => {
      cpSync(at("honest"), at(name), { recursive: true });
      writeFileSync(zkeyIn(at(name), "toy"), change(Buffer.from(honest)));
      return at(name);
    };
    // The key has the delta of the previous round, so the new proof of knowledge does not match it.
    const old = readFileSync(zkeyIn(at("from-grace"), "toy"));
    const delta = forge("forged-delta", (bytes) =>
      Buffer.concat([keyHeader(old), bytes.subarray(keyHeader(old).length)]),
    );
    expect((await expectRejected("CONTRIBUTION_INVALID", () => acceptRound(context, ptau, delta))).message).to.match(
      /: Invalid delta1$/,
    );
    // Other bases for the private inputs, which would let her forge proofs.
    const bases = forge("forged-bases", (bytes) => swapTail(bytes, section(bytes, 8)));
    const { message: why } = await expectRejected("CONTRIBUTION_INVALID", () => acceptRound(context, ptau, bases));
    expect(why).to.match(/: L section does not match$/);
    // Rewritten history: the first contributor's hash differs.
    const history = forge("forged-history", (bytes) => {
      const { start } = section(bytes, 10);
      bytes.writeUInt8(bytes.readUInt8(start + 64 + 4 + 70) ^ 1, start + 64 + 4 + 70);
      return bytes;
    });
    await expectRejected("TRANSCRIPT_MISMATCH", () => acceptRound(context, ptau, history));
    // A name that would clear the coordinator's terminal.
    const named = forge("forged-name", (bytes) => {
      bytes.writeUInt8(0x1b, bytes.lastIndexOf("Mallory"));
      return bytes;
    });
    expect((await expectRejected("ZKEY_DAMAGED", () => acceptRound(context, ptau, named))).message).to.not.include(
      "allory",
    );
    for (const [index, length] of [10, 3_000, honest.length - 1].entries()) {
      const cut = forge(`cut-${index}`, (bytes) => bytes);
      truncateSync(zkeyIn(cut, "toy"), length);
      await expectRejected("ZKEY_DAMAGED", () => acceptRound(context, ptau, cut));
      await expectRejected("ZKEY_DAMAGED", () => work(cut, at("never"), "Eve"));
    }
    await expectRejected("PTAU_UNKNOWN", () => acceptRound(context, otherPtau, at("honest")));
    expect(openCeremony(context).rounds).to.have.length(2);
    expect(existsSync(at("never"))).to.equal(false);
  });

  it("ends with a public beacon, and accepts nothing after it", async () => {
    await expectRejected("BEACON_INVALID", () => endWithBeacon(context, { ...BEACON, hash: "abc" }));
    await expectRejected("BEACON_INVALID", () => endWithBeacon(context, { ...BEACON, source: "" }));
    for (const iterations of [9, 64, 10.5, Number.NaN])
      await expectRejected("BEACON_INVALID", () => endWithBeacon(context, { ...BEACON, iterations }));
    await endWithBeacon(context, BEACON);
    await expectRejected("CEREMONY_OVER", () => endWithBeacon(context, BEACON));
    await expectRejected("CEREMONY_OVER", () => acceptRound(context, ptau, at("honest")));
  });

  it("makes keys whose proofs verify, with a verifiable transcript", async () => {
    const { transcript } = await finalize(context, ptau, at("final"));
    const { wasm, zkey, vkey } = artifactPaths("toy", at("final", "toy"));
    const { proof, publicSignals } = await groth16.fullProve(toyInput, wasm, readFileSync(zkey));
    expect(await groth16.verify(JSON.parse(readFileSync(vkey, "utf8")), publicSignals, proof)).to.equal(true);
    writeTranscript(at("published.json"), transcript);
    await verifyCeremony(context, transcript, ptau, at("final"));
    const page = readFileSync(at("published.md"), "utf8");
    expect(page).to.include("# Transcript of rehearsal/toy").and.include("worth nothing");
    for (const { hash } of (await readContributions(zkey, context.curve)).list) expect(page).to.include(hash);
    expect(page).to.include("hashed 2^10 times: drand, round 4711");
  });

  it("detects every change of transcript and artifacts", async () => {
    const { transcript } = await finalize(context, ptau, at("final"));
    const check = (changed: Transcript, file = at("final")) => verifyCeremony(context, changed, ptau, file);
    const [ada, grace, beacon] = transcript.rounds;
    const [begun, files] = [transcript.circuits["toy"]!, transcript.final!["toy"]!];
    const changes: Transcript[] = [
      { ...transcript, rounds: [grace!, ada!, beacon!] },
      { ...transcript, rounds: [ada!, beacon!] },
      { ...transcript, rounds: [{ ...ada!, contributor: "Eve" }, grace!, beacon!] },
      { ...transcript, rounds: [ada!, grace!, { ...beacon!, beacon: { ...BEACON, hash: "cd".repeat(32) } }] },
      ...Object.keys(begun).map((field) => ({ ...transcript, circuits: { toy: { ...begun, [field]: "00" } } })),
      ...(["r1cs", "wasm", "zkey", "vkey", "verifier"] as const).map((kind) => ({
        ...transcript,
        final: { toy: { ...files, [kind]: "00".repeat(32) } },
      })),
    ];
    for (const changed of changes) await expectRejected("TRANSCRIPT_MISMATCH", () => check(changed));
    await expectRejected("PTAU_UNKNOWN", () =>
      check({ ...transcript, phase1: { ...transcript.phase1, blake2b: "00" } }),
    );
    await expectRejected("PTAU_UNKNOWN", () => check({ ...transcript, set: "ceremony/toy" }));
    const { final: _, ...open } = transcript;
    await expectRejected("CEREMONY_OPEN", () => check(open));
    // Keys made correctly from their circuit, but all their secrets are public or were chosen by the last contributor.
    for (const rounds of [[], [beacon!], [ada!, grace!]])
      await expectRejected("CEREMONY_OPEN", () => check({ ...transcript, rounds }));
    await expectRejected("ARTIFACT_MISSING", () => check(transcript, at("nowhere")));
  });

  it("detects consistent keys of another circuit", async () => {
    const other = await compileToy("sum * secret + bound");
    try {
      const elsewhere = { ...context, folder: at("elsewhere"), circuits: [{ name: "toy", r1cs: other.paths.r1cs }] };
      await beginCeremony(elsewhere, "rehearsal/toy", ptau);
      await contributeTo(roundFolder(elsewhere, 0), at("other-round"), "Eve", elsewhere);
      await acceptRound(elsewhere, ptau, at("other-round"));
      await endWithBeacon(elsewhere, BEACON);
      const { transcript } = await finalize(elsewhere, ptau, at("other-final"));
      // The coordinator publishes the expected r1cs with keys of another circuit.
      const { r1cs } = artifactPaths("toy", at("other-final", "toy"));
      cpSync(toy.paths.r1cs, r1cs);
      const { r1cs: claimed, zkey: honest } = openCeremony(context).circuits["toy"]!;
      const lie = (zkey: string): Transcript => ({
        ...transcript,
        circuits: { toy: { ...transcript.circuits["toy"]!, r1cs: claimed, zkey } },
        final: { toy: { ...transcript.final!["toy"]!, r1cs: claimed } },
      });
      const check = (zkey: string) => verifyCeremony(context, lie(zkey), ptau, at("other-final"));
      const { message } = await expectRejected("TRANSCRIPT_MISMATCH", () => check(transcript.circuits["toy"]!.zkey));
      expect(message).to.include("made from the circuit");
      await expectRejected("CONTRIBUTION_INVALID", () => check(honest));
    } finally {
      other.remove();
    }
  });
});

interface Section {
  readonly start: number;
  readonly length: number;
}

/** Position of a section in a zkey. */
function section(bytes: Buffer, id: number): Section {
  let position = 12;
  for (;;) {
    const length = Number(bytes.readBigUInt64LE(position + 4));
    if (bytes.readUInt32LE(position) === id) return { start: position + 12, length };
    position += 12 + length;
  }
}

/** Everything up to the end of section 2, which contains alpha, beta, gamma and delta. */
function keyHeader(bytes: Buffer): Buffer {
  const { start, length } = section(bytes, 2);
  return bytes.subarray(0, start + length);
}

/** Swaps the last two points of a section. */
function swapTail(bytes: Buffer, { start, length }: Section): Buffer {
  const end = start + length;
  const last = Buffer.from(bytes.subarray(end - 64, end));
  bytes.copy(bytes, end - 64, end - 128, end - 64);
  last.copy(bytes, end - 128);
  return bytes;
}
