import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Lifetime } from "@sotto/command/lifetime";
import { eventually } from "@sotto/test-kit/eventually";
import { expectRejected } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { npmRun, Programs } from "../src/programs.ts";

const REFUSED = npmRun("refuse", "NO_FUNDS", "that the account is empty");

describe("the programs of a rehearsal", () => {
  let folder: string;
  let shown: string;
  let lifetime: Lifetime;
  let programs: Programs;
  beforeEach(() => {
    folder = temporaryFolder("programs");
    mkdirSync(join(folder, "scripts"));
    copyFileSync(join(import.meta.dirname, "support", "run.mjs"), join(folder, "scripts", "run.mjs"));
    shown = "";
    const write = (text: string) => {
      shown += text;
    };
    lifetime = new Lifetime();
    programs = new Programs({ width: 80, colours: false, write }, lifetime, folder, { GIVEN: "yes" });
  });
  afterEach(() => lifetime.end());

  it("have the settings of the operator, and none of the shell that started the rehearsal", async () => {
    process.env["SOTTO_KEY"] = "of the shell";
    try {
      const { stdout } = await programs.run(npmRun("show", "two words"), { NODE_ENV: "production" });
      expect(JSON.parse(stdout)).to.deep.equal({ args: ["two words"], mode: "production", given: "yes" });
      expect(JSON.parse((await programs.run(npmRun("show"), { SOTTO_KEY: "own" })).stdout)).to.include({ key: "own" });
    } finally {
      delete process.env["SOTTO_KEY"];
    }
    expect(shown).to.include('$ npm run show -- "two words"\n');
  });

  it("end the rehearsal if one fails, with its last lines", async () => {
    const error = await expectRejected("REHEARSAL_FAILED", () => programs.run(REFUSED));
    expect(error.message).to.include("npm run refuse").and.include("NO_FUNDS: the reason is that the account is empty");
  });

  it("end the rehearsal if one succeeds that has to be refused, or is refused for another reason", async () => {
    await programs.refused("an empty account", ["NO_FUNDS", "empty"], REFUSED);
    expect(shown).to.equal("   refused an empty account: NO_FUNDS\n");
    for (const [error, command] of [
      [["NO_FUNDS"], npmRun("show")],
      [["NO_FUND"], REFUSED],
      [["SETTING_INVALID"], REFUSED],
      [["NO_FUNDS", "full"], REFUSED],
    ] as const)
      await expectRejected("REHEARSAL_FAILED", () => programs.refused("an empty account", error, command));
    expect(shown.split("\n")).to.have.length(2);
  });

  it("end with the rehearsal", async () => {
    expect(await programs.start(npmRun("serve"), /listens at (\S+)/, {})).to.equal("http://127.0.0.1:1");
    expect(existsSync(join(folder, "ended"))).to.equal(false);
    await lifetime.end();
    expect(existsSync(join(folder, "ended"))).to.equal(true);
  });

  it("end if the rehearsal is killed", async () => {
    const killed = spawn(process.execPath, [join(import.meta.dirname, "support", "serving.ts"), folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(killed.stdout, "data");
    expect(existsSync(join(folder, "ended"))).to.equal(false);
    killed.kill("SIGKILL");
    await eventually(async () => existsSync(join(folder, "ended")));
  });

  it("do not start after Ctrl-C", async () => {
    await lifetime.end();
    const failure = await programs.run(npmRun("show")).then(
      () => "it ran",
      (error: Error) => error.name,
    );
    expect(failure).to.equal("AbortError");
  });
});
