import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Output, toJson } from "../src/frame/output.ts";
import { DeadHome } from "./support/run.ts";

const ADDRESS = `0x${"56".repeat(20)}`;

describe("on a terminal", function () {
  slow(this, "processes behind a terminal");
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });

  it("asks before a withdrawal and accepts only y and yes", async () => {
    const args = ["withdraw", "1.5", "--to", ADDRESS];
    for (const answer of ["n", "", "yess", "Y es"]) {
      const { code, stderr } = await home.run(args, {}, [answer]);
      expect(code, answer).to.equal(3);
      expect(stderr).to.include(`withdraw 1.5 USDC to ${ADDRESS}? [y/N] `).and.to.include("NOT_CONFIRMED");
    }
    // After the user confirms, the command fails because the node does not answer.
    for (const answer of ["y", "Yes"]) expect((await home.run(args, {}, [answer])).code).to.equal(6);
    expect((await home.run(args)).code).to.equal(3);
  });

  it("asks for a new passphrase twice and never shows it", async () => {
    const file = join(home.folder, "backup.json");
    const secret = "correct horse battery";
    const other = await home.run(["export", "--output", file], {}, [secret, "something else"]);
    expect([other.code, other.stderr.includes("the two passphrases differ")]).to.deep.equal([2, true]);
    const short = await home.run(["export", "--output", file], {}, ["short", "short"]);
    expect(short.code).to.equal(2);
    const done = await home.run(["export", "--output", file], {}, [`x\u007f${secret}`, secret]);
    expect(done.code, done.stderr).to.equal(0);
    for (const { stdout, stderr } of [other, short, done]) expect(`${stdout}${stderr}`).to.not.include("horse");
    const { words } = { words: home.words.split(" ").slice(0, 3).join(" ") };
    expect(readFileSync(file, "utf8")).to.not.include(words);
    const again = new DeadHome();
    again.empty();
    expect((await again.run(["restore", file], {}, ["another passphrase"])).code).to.equal(7);
    const restored = await again.run(["restore", file], {}, [secret]);
    expect(restored.code, restored.stderr).to.equal(0);
    const [before, after] = [await home.run(["address"]), await again.run(["address"])];
    expect(after.stdout).to.equal(before.stdout);
  });

  it("exits on Ctrl-C at a passphrase prompt", async () => {
    const { code } = await home.run(["export", "--output", join(home.folder, "no.json")], {}, ["abc\u0003"]);
    expect(code).to.equal(130);
  });

  it("replaces control characters in a server's response", async () => {
    // ESC, and the single character that means ESC [; both can overwrite a line that was already shown.
    const evil = "paid 0\r\n\u001b[1Apaid 1\u009b2Kdone\u007f\u202e\tend\n";
    const body = async function* () {
      const bytes = new TextEncoder().encode(evil);
      // Splits a two-byte character.
      const middle = bytes.indexOf(0xc2) + 1;
      yield bytes.subarray(0, middle);
      yield bytes.subarray(middle);
    };
    const shown = async (isTTY: boolean) => {
      const written: Buffer[] = [];
      const stdout = { isTTY, write: (chunk: string | Uint8Array) => written.push(Buffer.from(chunk as string)) };
      const streams = { stdin: [] as never, stdout, stderr: stdout, terminal: isTTY };
      await new Output(streams, { json: false, verbose: false }).body(body());
      return Buffer.concat(written).toString("utf8");
    };
    expect(await shown(true)).to.equal("paid 0\n\ufffd[1Apaid 1\ufffd2Kdone\ufffd\ufffd\tend\n");
    // Files and pipes receive every byte.
    expect(await shown(false)).to.equal(evil);
    const json = toJson({ body: evil });
    expect(json).to.match(/^[\n\x20-\x7e]*$/);
    expect(JSON.parse(json)).to.deep.equal({ body: evil });
  });

  it("ends a response body with a line break", async () => {
    const shown = async (text: string, isTTY = true) => {
      const body = async function* () {
        yield new TextEncoder().encode(text);
      };
      let written = "";
      const stdout = { isTTY, write: (chunk: string | Uint8Array) => (written += Buffer.from(chunk as string)) };
      const streams = { stdin: [] as never, stdout, stderr: stdout, terminal: isTTY };
      await new Output(streams, { json: false, verbose: false }).body(body());
      return written;
    };
    expect([await shown("a"), await shown("a\n"), await shown("")]).to.deep.equal(["a\n", "a\n", ""]);
    expect(await shown("a", false)).to.equal("a");
  });

  it("checks --output before it pays", async () => {
    const args = (file: string) => ["pay", "http://127.0.0.1:9/", "--max", "1", "--output", file];
    expect((await home.run(args(join(home.folder, "no", "such", "folder")))).stderr).to.include("FILE_UNREADABLE");
    expect((await home.run(args(home.write("there", "")))).stderr).to.include("FILE_EXISTS");
    expect((await home.run(args(join(home.folder, "new")))).stderr).to.not.include("FILE_");
  });

  it("shows a stack trace only with SOTTO_DEBUG=1", async () => {
    const quiet = await home.run(["deposit", "x"]);
    const loud = await home.run(["deposit", "x"], { SOTTO_DEBUG: "1" });
    expect(quiet.stderr).to.not.match(/\n\s+at /);
    expect(loud.stderr).to.match(/\n\s+at /);
  });
});
