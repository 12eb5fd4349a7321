import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { compilePlain } from "../../../scripts/certify/certify.ts";
import { prove } from "../../../scripts/certify/theorem.ts";
import {
  artifactPaths,
  buildFolder,
  type CircuitName,
  circomLibraryFolder,
  circuitNames,
  circuitsFolder,
} from "../../../scripts/circuits/paths.ts";
import { slow } from "../../../test/kit/slow.ts";
import { readR1cs } from "../kit/r1cs.ts";
import { replay, replayBridge } from "./replay.ts";

/** The large circuits take a minute, so `npm test` replays the smallest one and `npm run test:long` all four. */
const names: readonly CircuitName[] = process.env["SOTTO_LONG"] === "1" ? circuitNames : ["elgamal_range"];

describe("second checker of certificates, which shares no code with the first", function () {
  slow(this, "proofs of full-size circuits are replayed");
  for (const name of names)
    it(`follows every step of the proof for ${name}`, async () => {
      const shipped = artifactPaths(name).r1cs;
      const source = join(circuitsFolder, `${name}.circom`);
      const plain = (await compilePlain(source, join(buildFolder, "certify"), [circomLibraryFolder()])).r1cs;
      const proof = prove(readFileSync(shipped), readFileSync(plain));
      const r1cs = readR1cs(plain);
      const left = replay(r1cs, proof);
      const constrained = new Set(Array.from(proof.plain.terms));
      expect(left.filter((wire) => constrained.has(wire) && !proof.unused.includes(wire))).to.deep.equal([]);
      expect(replayBridge(readR1cs(shipped), r1cs)).to.deep.equal([]);
    });
});
