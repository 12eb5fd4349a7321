import { join } from "node:path";
import { NoteTree, prepareAppend } from "@sotto/protocol";
import { createVerifier, loadArtifacts } from "@sotto/prover";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { openProverProcess } from "../../src/relayer-prover.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "..", "circuits", "build");

describe("proving in a child process", function () {
  slow(this, "a process proves");
  it("proves sequentially and concurrently", async () => {
    const prover = openProverProcess(folder, "development");
    try {
      const place = { chainId: 31337n, pool: `0x${"22".repeat(20)}` };
      const append = (leaves: readonly bigint[]) => prepareAppend({ ...place, tree: new NoteTree(), leaves });
      const statements = [append([5n]), append([6n, 7n])];
      const proofs = await Promise.all(statements.map(({ input }) => prover.prove("note_append", input)));
      const verifier = createVerifier({ artifacts: await loadArtifacts({ folder }) });
      for (const [index, { proof, publicSignals }] of proofs.entries()) {
        expect(publicSignals).to.deep.equal(statements[index]!.publicSignals.map(String));
        expect(await verifier.verify("note_append", proof, publicSignals)).to.equal(true);
      }
    } finally {
      await prover.close();
    }
  });

  it("passes on errors, and rejects calls after its end", async () => {
    const prover = openProverProcess("/nowhere", "development");
    const missing = await rejection(prover.prove("note_append", {}));
    expect(missing.code).to.equal("ARTIFACT_MISSING");
    await prover.close();
    expect((await rejection(prover.prove("note_append", {}))).code).to.equal("PROVER_ENDED");
  });

  it("rejects waiting calls when it ends", async () => {
    const prover = openProverProcess(folder, "development");
    const waiting = rejection(prover.prove("note_append", {}));
    await prover.close();
    expect((await waiting).code).to.equal("PROVER_ENDED");
  });

  it("ignores the signals that a shell sends to the whole process group", async () => {
    const prover = openProverProcess(folder, "development");
    try {
      // The answer shows that the child handles signals.
      const refused = () => rejection(prover.prove("no_circuit", {}));
      await refused();
      const { pid } = prover;
      process.kill(pid!, "SIGINT");
      process.kill(pid!, "SIGHUP");
      expect((await refused()).code).to.not.equal("PROVER_ENDED");
      expect(prover.pid).to.equal(pid);
    } finally {
      await prover.close();
    }
  });

  it("kills a child that misses its deadline, and proves in a new one", async () => {
    const deadlines: (() => void)[] = [];
    let cancelled = 0;
    const prover = openProverProcess(folder, "development", (action) => {
      deadlines.push(action);
      return () => {
        cancelled += 1;
      };
    });
    try {
      const place = { chainId: 31337n, pool: `0x${"22".repeat(20)}` };
      const { input } = prepareAppend({ ...place, tree: new NoteTree(), leaves: [5n] });
      await prover.prove("note_append", input);
      expect(cancelled).to.equal(1);
      const hung = prover.pid!;
      process.kill(hung, "SIGSTOP");
      const [late, behind] = [prover.prove("note_append", input), prover.prove("note_append", input)].map((proof) =>
        rejection(proof),
      );
      deadlines[1]!();
      expect((await late!).code).to.equal("PROVER_TIMED_OUT");
      expect((await behind!).code).to.equal("PROVER_ENDED");
      const { proof } = await prover.prove("note_append", input);
      expect(proof).to.have.length(8);
      expect(prover.pid).to.not.equal(hung);
    } finally {
      await prover.close();
    }
  });
});
