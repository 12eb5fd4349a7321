// The names of processes that hold locks in a database.
import { expect } from "chai";
import { holderName, isGone } from "../src/holder.ts";

describe("a holder's name", () => {
  it("shows other processes on the machine whether its process ended", () => {
    const name = holderName();
    expect(isGone(name)).to.equal(false);
    const [host, pid] = name.split("/") as [string, string];
    expect(isGone(`${host}/${pid}/another`)).to.equal(true);
    expect(isGone(`${host}/4194305/another`)).to.equal(true);
    expect(isGone(`${host}/1/another`)).to.equal(process.pid === 1);
    for (const strange of ["", "elsewhere/4194305/x", `${host}/-1/x`, `${host}/0/x`, `${host}`]) {
      expect(isGone(strange), strange).to.equal(false);
    }
  });
});
