import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { anyRejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { type Lanes, openLanes, takeLane } from "../lanes.ts";
import { LONGEST, listTasks } from "../tasks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/** Takes a lane, says so, and keeps it until the process is killed. */
const SUITE = `
import { takeLane } from ${JSON.stringify(join(import.meta.dirname, "..", "lanes.ts"))};
await takeLane(Number(process.argv[1]), process.argv[2]);
console.log("started");
setInterval(() => {}, 1000);
`;

describe("the lanes of a test run", function () {
  slow(this, "processes start and end");
  let lanes: Lanes;
  const children: ChildProcess[] = [];
  /** Names of the suites that have started, in order. */
  let started: string[];
  beforeEach(async () => {
    started = [];
    lanes = await openLanes(2, ["long", "longish"]);
  });
  afterEach(() => {
    lanes.close();
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** Starts a suite, and waits until it has a lane, or waits for one. */
  async function start(name: string): Promise<ChildProcess> {
    const before = started.length + lanes.waiting();
    const args = ["--input-type=module", "--eval", SUITE, String(lanes.port), name];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("started")) started.push(name);
    });
    while (started.length + lanes.waiting() === before) await sleep(10);
    return child;
  }
  const until = async (count: number) => {
    while (started.length < count) await sleep(10);
  };

  it("start the longest waiting suite as soon as a process ends, even one that was killed", async () => {
    const [first, second] = [await start("first"), await start("second")];
    const [, longish] = [await start("short"), await start("longish"), await start("long")];
    expect(started).to.deep.equal(["first", "second"]);
    first.kill("SIGKILL");
    await until(3);
    second.kill("SIGTERM");
    await until(4);
    expect(started.slice(2)).to.deep.equal(["long", "longish"]);
    expect(lanes.waiting()).to.equal(1);
    longish.kill("SIGKILL");
    await until(5);
    expect(started[4]).to.equal("short");
  });

  it("end the suites that still wait when the run ends", async () => {
    await start("first");
    await start("second");
    const refused = anyRejection(takeLane(lanes.port, "third"));
    while (lanes.waiting() === 0) await sleep(10);
    lanes.close();
    expect((await refused).message).to.contain("the run ended");
  });

  it("know the long suites by the names of tasks", () => {
    const names = listTasks(root).map(({ name }) => name);
    expect(names).to.include.members([...LONGEST]);
  });
});
