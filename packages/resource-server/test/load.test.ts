// Limits under load: few concurrent checks, and few failures of one payment.

import { completeBundle } from "@sotto/protocol";
import { expect } from "chai";
import { Gate } from "../src/checks/gate.ts";
import { Failures, Proofs } from "../src/checks/proofs.ts";
import type { CheckFailed } from "../src/outcome.ts";
import { createRecipient, paymentTo, termsOf } from "./support/payment.ts";

/** Calls that enter a gate and stay until they are released; the log has their names as they enter, or their errors. */
function entries(gate: Gate) {
  const log: string[] = [];
  const releases: (() => void)[] = [];
  const enter = (name: string, client?: string) =>
    gate
      .run(async () => {
        log.push(name);
        await new Promise<void>((resolve) => releases.push(resolve));
      }, client)
      .catch(({ code, retryAfter }) => void log.push(`${name} ${code} ${retryAfter}`));
  return { log, releases, enter };
}

describe("a gate", () => {
  it("admits a fixed number at a time, queues a few in order, and rejects the rest", async () => {
    const { log, releases, enter } = entries(new Gate(2, 3));
    const all = ["a", "b", "c", "d", "e", "f"].map((name) => enter(name));
    await new Promise(setImmediate);
    expect(log).to.deep.equal(["a", "b", "f OVERLOADED 2"]);
    for (let i = 0; i < 5; i++) {
      releases[i]!();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect(log).to.deep.equal(["a", "b", "f OVERLOADED 2", "c", "d", "e"]);
  });

  it("lets clients take turns, and rejects the client with the most waiting calls", async () => {
    const gate = new Gate(1, 4);
    const { log, releases, enter } = entries(gate);
    const all = ["a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2", "c1"].map((name) => enter(name, name[0]));
    await new Promise(setImmediate);
    expect(log).to.deep.equal(["a1", ...["a6", "a5", "a4", "a3"].map((name) => `${name} OVERLOADED 2`)]);
    log.length = 0;
    for (let i = 0; i < 5; i++) {
      releases[i]!();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect(log).to.deep.equal(["a2", "b1", "c1", "b2"]);
    expect(await gate.run(async () => "in")).to.equal("in");
  });

  it("is released on failure", async () => {
    const gate = new Gate(1, 1);
    for (let i = 0; i < 5; i++) {
      const failed = gate.run(async () => {
        throw new Error("no");
      });
      expect(await failed.catch(({ message }: Error) => message)).to.equal("no");
    }
    expect(await gate.run(async () => "in")).to.equal("in");
  });
});

describe("proofs", () => {
  const recipient = createRecipient();
  const { header, senderCommitment } = paymentTo(recipient);
  const bundle = completeBundle(header, senderCommitment, termsOf(recipient));
  const held = (answers: Record<string, boolean | Error>, seen: string[] = []) =>
    new Proofs({
      verify: async (circuit, proof, signals) => {
        seen.push(`${circuit} ${proof.join("")} ${signals.length}`);
        const answer = answers[circuit];
        if (answer instanceof Error) throw answer;
        return answer === true;
      },
      warm: async () => undefined,
    }).assertValid(bundle);
  const failure = (check: Promise<void>) =>
    check.then(
      () => "passes",
      ({ failure: found }: CheckFailed) => found,
    );

  it("are both verified, each against its own signals, the payment proof first", async () => {
    const seen: string[] = [];
    expect(await failure(held({ payment: true, elgamal_range: true }, seen))).to.equal("passes");
    expect(seen).to.deep.equal(["payment 12345678 10", "elgamal_range 87654321 6"]);
    expect(await failure(held({ payment: false, elgamal_range: true }))).to.equal("PROOF");
    expect(await failure(held({ payment: true, elgamal_range: false }))).to.equal("AMOUNT_PROOF");
    expect(await failure(held({ payment: new Error("no points"), elgamal_range: true }))).to.equal("PROOF");
    expect(await failure(held({ payment: true, elgamal_range: new Error("no points") }))).to.equal("AMOUNT_PROOF");
  });

  it("are verified whether or not the verifier could be warmed up", async () => {
    const warmed: string[] = [];
    const proofs = new Proofs({
      verify: async () => true,
      warm: async (circuit) => {
        warmed.push(circuit);
        throw new Error("no memory");
      },
    });
    await proofs.warm();
    expect(warmed).to.deep.equal(["payment", "elgamal_range"]);
    await proofs.assertValid(bundle);
  });
});

describe("failures of one payment", () => {
  it("are limited per payment", () => {
    const failures = new Failures();
    for (let i = 0; i < 64; i++) {
      failures.assertBelowLimit("0x01");
      failures.add("0x01");
    }
    expect(() => failures.assertBelowLimit("0x01")).to.throw("TOO_MANY_TRIES");
    failures.assertBelowLimit("0x02");
  });

  it("are counted for a bounded number of payments", () => {
    const failures = new Failures();
    for (let i = 0; i < 64; i++) failures.add("0x01");
    for (let i = 0; i < 10_000; i++) failures.add(`0x${i.toString(16)}ff`);
    failures.assertBelowLimit("0x01");
  });
});
