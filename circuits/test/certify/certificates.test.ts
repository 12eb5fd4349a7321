import { existsSync, readFileSync } from "node:fs";
import { problemLines } from "@sotto/certify/internal";
import { certificatePath, certificateText, certifyCircuit } from "@sotto/keys/certify/circuits";
import { circuitNames } from "@sotto/keys/circuits/paths";
import { readLock } from "@sotto/keys/setup/lock";
import { isAffected } from "@sotto/keys/source/changed";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { sources } from "../kit/gadget.ts";

describe("certificates: the inputs determine every wire of a shipped circuit", function () {
  slow(this, "the circuits are compiled and proven at full size");
  for (const name of circuitNames.filter((circuit) => isAffected(sources, `${circuit}.circom`)))
    it(name, async () => {
      const result = await certifyCircuit(name);
      expect(problemLines(result)).to.deep.equal([]);
      const path = certificatePath(name);
      const committed = existsSync(path) ? readFileSync(path, "utf8") : "";
      expect(committed, "run npm run certify -- --write").to.equal(certificateText(result.certificate));
      expect(result.certificate.r1cs).to.equal(readLock().circuits[name]?.r1cs);
    });
});
