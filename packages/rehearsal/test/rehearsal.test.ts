// The whole rehearsal takes a quarter of an hour and more, so only `npm run test:long` runs it.
import { command, expectRefused } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";

const MAIN = "packages/rehearsal/src/main.ts";

describe("a rehearsal of production", () => {
  it("has no options but --fresh yes", async () => {
    expectRefused(await command(MAIN, ["--fresh", "no"]), "OPTION_INVALID");
    expectRefused(await command(MAIN, ["--network", "base"]), "UNKNOWN_OPTION");
  });

  if (process.env["SOTTO_LONG"] === "1")
    it("makes keys, deploys, pays and withdraws with exact balances, and meets every refusal", async function () {
      slow(this, "a ceremony with three contributors");
      const { status, stdout, stderr } = await command(MAIN, ["--fresh", "yes"]);
      expect(status, `${stdout}\n${stderr}`).to.equal(0);
      expect(stdout.match(/ {2}exact$/gm)).to.have.length(5);
      expect(stdout)
        .to.match(/--by "Emmy Noether"/)
        .and.to.match(/ceremony -- verify production/);
      expect(stdout).to.include("Everything was as expected.");
      for (const code of [
        ...["PTAU_UNKNOWN", "DEVELOPMENT_KEYS_REFUSED", "SETTING_INVALID", "NO_FUNDS", "INVALID_CONFIG"],
        ...["TOKEN_KEY_INVALID", "INVALID_OPTION", "SERVICE_NOT_SECURE", "KEY_MISSING", "USAGE", "ACCOUNT_PUBLIC"],
      ])
        expect(stdout).to.match(new RegExp(`refused [^:]*: ${code}\\n`));
      expect(stdout.split("\n").filter((line) => line.length > 80)).to.deep.equal([]);
    });
});
