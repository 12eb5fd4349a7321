import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { assert } from "chai";
import { HEAD_PATH, headDigest } from "../../src/index.ts";
import type { Crash } from "../support/crash-process.ts";
import { headsOf, newestHead } from "../support/published.ts";

const AT_ONCE = 4;
const SCRIPT = join(import.meta.dirname, "..", "support", "crash-process.ts");

/** @returns what the process counted, undefined if it was killed */
async function run(crash: Crash): Promise<{ write: number; file: number } | undefined> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(crash)], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (signal === "SIGKILL") return undefined;
  if (code !== 0) throw new Error(`the process ended with ${code}`);
  return JSON.parse(output);
}

/** The published files, by path. */
const filesOf = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".new"))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(folder.length), readFileSync(path).toString("base64")]),
  );

describe("a curator that is killed", function () {
  slow(this, "a process for each write");

  it("publishes the same files after a restart, killed at any write or file", async () => {
    const place = (name: string) => {
      const base = temporaryFolder(name);
      return { store: `sqlite:${join(base, "curator.db")}`, folder: join(base, "public") };
    };
    const right = place("right");
    const counts = await run({ ...right, write: 0, file: 0 });
    const files = filesOf(right.folder);
    const digests = headsOf(right.folder).map(({ head }) => headDigest(head));
    assert.lengthOf(digests, 2);
    assert.isAbove(counts!.write, 15);
    assert.isAbove(counts!.file, 8);
    const all = [
      ...Array.from({ length: counts!.write }, (_, i) => ({ write: i + 1, file: 0 })),
      ...Array.from({ length: counts!.file }, (_, i) => ({ write: 0, file: i + 1 })),
    ];
    const points = all.filter((_, i) => i % fuzzSize(4, 1) === 0);
    const check = async (point: Pick<Crash, "write" | "file">) => {
      const killed = place("killed");
      assert.isUndefined(await run({ ...killed, ...point }), JSON.stringify(point));
      if (existsSync(join(killed.folder, HEAD_PATH))) {
        const { head } = newestHead(killed.folder);
        assert.equal(headDigest(head), digests[head.number], JSON.stringify(point));
      }
      assert.isDefined(await run({ ...killed, write: 0, file: 0 }));
      assert.deepEqual(filesOf(killed.folder), files, JSON.stringify(point));
    };
    for (let i = 0; i < points.length; i += AT_ONCE) await Promise.all(points.slice(i, i + AT_ONCE).map(check));
  });
});
