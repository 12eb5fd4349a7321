// A program as a process of its own, because signals reach whole processes.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";

const SOURCE = join(import.meta.dirname, "..", "..", "src", "index.ts");
/** Prints what happens, one word a line. The start lasts until a line arrives, and the first reload until another signal does. */
const PROGRAM = `
  import { once } from "node:events";
  import { createLog, runProgram } from ${JSON.stringify(SOURCE)};
  const say = (word) => console.log(word);
  await runProgram(async () => {
    say("starting");
    await once(process.stdin, "data");
    let reloads = 0;
    return {
      says: "started",
      log: createLog("silent"),
      shutdownMs: 10_000,
      close: async () => say("closed"),
      reload: async () => {
        say("reload");
        reloads += 1;
        if (reloads === 1) await once(process, "SIGHUP");
      },
    };
  });
  setInterval(() => {}, 1_000);
`;

describe("a program", function () {
  // It starts a process.
  this.timeout(30_000);
  let child: ChildProcess;
  let said: string[];
  beforeEach(() => {
    said = [];
    child = spawn(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdout!.on("data", (text) => said.push(...String(text).trim().split("\n")));
  });
  afterEach(() => child.kill("SIGKILL"));
  const until = async (...words: string[]) => {
    while (words.some((word) => !said.includes(word))) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it("reads its settings after its start if SIGHUP came meanwhile, and once more after a signal during a reload", async () => {
    await until("starting");
    child.kill("SIGHUP");
    child.stdin!.write("go\n");
    await until("reload");
    child.kill("SIGHUP");
    // Unlike exit, close comes after the last output.
    const ended = new Promise((resolve) => child.once("close", resolve));
    while (said.filter((word) => word === "reload").length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill("SIGTERM");
    expect(await ended).to.equal(0);
    expect(said).to.deep.equal(["starting", "reload", "reload", "closed"]);
  });
});
