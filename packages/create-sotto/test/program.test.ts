import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { TEMPLATES } from "../src/templates.ts";

const MAIN = join(import.meta.dirname, "..", "src", "main.ts");

describe("npm run new", function () {
  slow(this, "processes start and end");
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("new");
  });

  /** npm runs its scripts elsewhere, and INIT_CWD names the user's folder. */
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], {
      cwd: tmpdir(),
      env: { ...process.env, INIT_CWD: folder },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });

  it("creates a project in a folder next to the user's, and prints at most six lines", () => {
    const { status, stdout, stderr } = run("client", "payer");
    expect([status, stderr]).to.deep.equal([0, ""]);
    expect(existsSync(join(folder, "payer", "src", "pay.ts"))).to.equal(true);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).to.be.at.most(6);
    expect(lines.at(-1)?.trim()).to.equal("cd payer && npm install && npm start");
  });

  it("lists the templates", () => {
    const { status, stdout } = run("--help");
    expect(status).to.equal(0);
    for (const { name, what } of TEMPLATES) expect(stdout).to.include(name).and.include(what);
  });

  it("prints one line and exits with a code if it cannot create the project", () => {
    const cases = [
      [["nothing", "payer"], "TEMPLATE_UNKNOWN"],
      [["client", "Payer"], "NAME_INVALID"],
      [["client"], "USAGE"],
      [["client", "a", "b"], "USAGE"],
      [["--port", "1"], "USAGE"],
    ] as const;
    for (const [args, code] of cases) {
      const { status, stdout, stderr } = run(...args);
      expect(stderr, args.join(" ")).to.match(new RegExp(`^sotto: ${code}: .*\\n$`));
      expect([status, stdout]).to.deep.equal([1, ""]);
    }
  });
});
