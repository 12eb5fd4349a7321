import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { runCeremony } from "../../src/ceremony/main.ts";
import { root } from "../../src/circuits/paths.ts";

const ceremony = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join("packages", "keys", "src", "ceremony", "main.ts"), ...args],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  return { status, stdout, stderr };
};

describe("pnpm ceremony", function () {
  slow(this, "keys, circuits and ceremonies are made");
  it("lists its commands", () => {
    const { status, stdout } = ceremony();
    expect(status).to.equal(0);
    for (const command of ["ptau", "practice", "new", "contribute", "accept", "beacon", "finalize", "verify"])
      expect(stdout).to.match(new RegExp(`^  ${command} `, "m"));
  });

  for (const [code, ...args] of [
    ["COMMAND_UNKNOWN", "begin"],
    ["NAME_INVALID", "new", "Autumn 2026"],
    ["NAME_INVALID", "new", "../../etc"],
    ["NAME_TAKEN", "new", "i"],
    ["OPTION_MISSING", "new"],
    ["OPTION_MISSING", "contribute", "--from", "here"],
    ["OPTION_MISSING", "beacon", "autumn", "--hash", "00"],
    ["UNKNOWN_OPTION", "new", "autumn", "--potau", "file"],
    ["PTAU_POWER_UNKNOWN", "ptau", "--power", "7"],
    ["PTAU_POWER_UNKNOWN", "practice", "--power", "18", "--to", "never.ptau"],
    ["FILE_EXISTS", "practice", "--to", "package.json"],
    ["PTAU_MISSING", "new", "never-begun", "--ptau", "no-such-file.ptau"],
    ["TRANSCRIPT_MISSING", "accept", "never-begun", "--from", "here"],
    ["TRANSCRIPT_MISSING", "verify", "never-begun"],
  ] as const)
    it(`rejects ${args.join(" ")} with ${code}`, () => expectRejected(code, () => runCeremony([...args])));

  it("prints an error in one line, without a stack trace", () => {
    const { status, stderr } = ceremony("new", "i");
    expect(status).to.equal(1);
    expect(stderr).to.match(/^sotto: NAME_TAKEN: .*\n$/);
  });
});
