import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { DeadHome } from "./support/run.ts";

const ADDRESS = `0x${"56".repeat(20)}`;

describe("on a terminal", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });
  after(() => home.remove());

  it("asks before it withdraws, and takes nothing but yes for yes", async () => {
    const args = ["withdraw", "1.5", "--to", ADDRESS];
    for (const answer of ["n", "", "yess", "Y es"]) {
      const { code, stderr } = await home.run(args, {}, [answer]);
      expect(code, answer).to.equal(3);
      expect(stderr).to.include(`withdraw 1.5 USDC to ${ADDRESS}? [y/N] `).and.to.include("NOT_CONFIRMED");
    }
    // Said yes it goes on, to a node that does not answer.
    for (const answer of ["y", "Yes"]) expect((await home.run(args, {}, [answer])).code).to.equal(6);
    expect((await home.run(args)).code).to.equal(3);
  }).timeout(20_000);

  it("asks for a passphrase twice, and shows it never", async () => {
    const file = join(home.folder, "backup.json");
    const secret = "correct horse battery";
    const other = await home.run(["export", "--output", file], {}, [secret, "something else"]);
    expect([other.code, other.stderr.includes("not the same")]).to.deep.equal([2, true]);
    const short = await home.run(["export", "--output", file], {}, ["short", "short"]);
    expect(short.code).to.equal(2);
    const done = await home.run(["export", "--output", file], {}, [`x\u007f${secret}`, secret]);
    expect(done.code, done.stderr).to.equal(0);
    for (const { stdout, stderr } of [other, short, done]) expect(`${stdout}${stderr}`).to.not.include("horse");
    const { words } = { words: home.words.split(" ").slice(0, 3).join(" ") };
    expect(readFileSync(file, "utf8")).to.not.include(words);
    const again = new DeadHome();
    try {
      again.empty();
      expect((await again.run(["restore", file], {}, ["another passphrase"])).code).to.equal(7);
      const restored = await again.run(["restore", file], {}, [secret]);
      expect(restored.code, restored.stderr).to.equal(0);
      const [before, after] = [await home.run(["address"]), await again.run(["address"])];
      expect(after.stdout).to.equal(before.stdout);
    } finally {
      again.remove();
    }
  });

  it("ends at once with Ctrl-C in the middle of a passphrase", async () => {
    const { code } = await home.run(["export", "--output", join(home.folder, "no.json")], {}, ["abc\u0003"]);
    expect(code).to.equal(130);
  });

  it("shows a stack trace only where it is asked for", async () => {
    const quiet = await home.run(["deposit", "x"]);
    const loud = await home.run(["deposit", "x"], { SOTTO_DEBUG: "1" });
    expect(quiet.stderr).to.not.match(/\n\s+at /);
    expect(loud.stderr).to.match(/\n\s+at /);
  });
});
