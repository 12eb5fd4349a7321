import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { assertUniqueVerifierNames } from "../../src/ceremony/verifier-names.ts";

describe("the names of a set's verifiers", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let contracts: string;
  const add = (set: string, name: string) => {
    const folder = join(contracts, "verifiers", ...set.split("/"));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}PaymentVerifier.sol`), `// ${set}\ncontract ${name}PaymentVerifier is A {\n`);
  };
  before(() => {
    contracts = mkdtempSync(join(tmpdir(), "sotto-names-"));
    add("ceremony/autumn-1", "Autumn1");
    add("rehearsal/x", "RehearsalX");
  });
  after(() => rmSync(contracts, { recursive: true }));

  it("differ from every other contract of the tree", () => {
    const taken = (set: string, folder?: string) =>
      expect(() => assertUniqueVerifierNames(set, folder), set)
        .to.throw()
        .with.property("code", "NAME_TAKEN");
    for (const set of ["ceremony/autumn1", "ceremony/autumn--1", "ceremony/rehearsal-x"]) taken(set, contracts);
    taken("ceremony/i");
  });

  it("are accepted if they belong to the same set, or if no other set uses them", () => {
    for (const set of ["ceremony/autumn-1", "rehearsal/x", "ceremony/autumn-2", "ceremony/x", "rehearsal/autumn-1"])
      assertUniqueVerifierNames(set, contracts);
    for (const set of ["ceremony/autumn-2026", "development"]) assertUniqueVerifierNames(set);
  });
});
