import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compose } from "@sotto/cli-kit";
import { expect } from "chai";
import { SETS } from "../src/sets.ts";

const ROOT = join(import.meta.dirname, "..");
const { commands, errors, methods } = compose(SETS);

describe("sotto", () => {
  const sotto = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, "dist", "main.js"), ...args], { encoding: "utf8" });

  it("lists the commands of all sets, payers' before merchants'", () => {
    const { status, stdout } = sotto("--help");
    expect(status).to.equal(0);
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}\S/gm)].map(([, name]) => name);
    expect(listed).to.deep.equal(commands.map(({ name }) => name));
    const places = ["dismiss", "prepaid buy", "withdraw", "totals check", "prepaid keys", "export"].map((name) =>
      listed.indexOf(name),
    );
    expect(places)
      .to.deep.equal(places.toSorted((a, b) => a - b))
      .and.not.include(-1);
  });

  it("shows the version of its own package", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(sotto("--version").stdout).to.equal(`${version}\n`);
  });

  it("has the errors and ways to pay of its sets", () => {
    expect(errors).to.include.keys("USAGE", "PREPAID_STOPPED");
    expect(methods.map(({ name }) => name)).to.deep.equal(["prepaid", "private", "mpp"]);
  });
});
