import { join } from "node:path";
import { CIRCUITS } from "@sotto/protocol";
import { lockOf } from "@sotto/prover";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { openCatalog } from "../../src/artifacts/catalog.ts";

const LOCK = lockOf("development");
const BUILD = join(import.meta.dirname, "..", "..", "..", "..", "circuits", "build");

describe("the catalog of artifacts", function () {
  slow(this, "146 MB of files are hashed, three times");

  it("has every circuit of the set", async () => {
    const { circuits, verificationKeys } = await openCatalog(BUILD, LOCK);
    expect([...circuits.keys()]).to.deep.equal(Object.keys(CIRCUITS));
    expect(Object.keys(verificationKeys)).to.deep.equal(Object.keys(CIRCUITS));
  });

  it("leaves out a circuit that was added after the set was made", async () => {
    const { origin: _, ...circuits } = LOCK.circuits;
    const older = await openCatalog(BUILD, { ...LOCK, circuits });
    expect([...older.circuits.keys()]).to.deep.equal(Object.keys(circuits));
    expect(Object.keys(older.verificationKeys)).to.deep.equal(Object.keys(circuits));
    const { id } = await openCatalog(BUILD, LOCK);
    expect(older.id, "other keys").to.not.equal(id);
  });
});
