// Ways to stop the demo, and errors that prevent its start.

import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@sotto/server";
import { command, expectRefused } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { built, journals, listen, ownPlace } from "./support/demo.ts";

describe("npm run demo, stopped or rejected", function () {
  slow(this, "commands, a chain and proofs");
  it("leaves nothing behind if stopped", async () => {
    const port = await freePort("127.0.0.1");
    const [before, place] = [journals(), ownPlace()];
    // During the ten requests.
    const stop = { at: /GET \/articles\/2 /, signal: "SIGINT" } as const;
    const args = ["--port", String(port)];
    const { status, stdout, stderr } = await command(
      "packages/local/src/demo/main.ts",
      args,
      undefined,
      place.variables,
      stop,
    );
    expect(status).to.equal(130);
    expect(stdout).not.to.contain("every balance is exact");
    expect(stderr).to.equal("");
    expect(place.files()).to.deep.equal([]);
    place.remove();
    while (journals().some((name) => !before.includes(name))) await sleep(100);
    const [service = ""] = /(?<=it listens at )http:\S+/.exec(stdout) ?? [];
    const servers = stdout.match(/(?<=sotto\(options\).* )http:\S+|(?<=sotto, options\) +)http:\S+/g) ?? [];
    expect(servers).to.have.lengthOf(3);
    for (const url of [`${service}/healthz`, ...servers]) {
      const gone: Error = await fetch(url).then(
        () => expect.fail(`${url} answers`),
        (error: Error) => error,
      );
      expect(gone.cause, url).to.have.property("code", "ECONNREFUSED");
    }
    await new Promise<void>((resolve, reject) => {
      const next = createServer().once("error", reject);
      next.listen(port, "127.0.0.1", () => next.close(() => resolve()));
    });
  });

  it("rejects a busy or invalid port, and unknown options", async () => {
    const { server, port } = await listen();
    expectRefused(
      await command("packages/local/src/demo/main.ts", ["--port", String(port)]),
      "PORT_BUSY",
      String(port),
      "--port",
    );
    server.close();
    expectRefused(await command("packages/local/src/demo/main.ts", ["--port", "70000"]), "INVALID_PORT", "70000");
    expectRefused(
      await command("packages/local/src/demo/main.ts", ["--speed", "11"]),
      "UNKNOWN_OPTION",
      "--speed",
      "--port",
    );
  });

  it("names a damaged artifact before it starts anything", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-artifacts-"));
    try {
      for (const circuit of readdirSync(built))
        if (circuit !== "payment") symlinkSync(join(built, circuit), join(folder, circuit));
      mkdirSync(join(folder, "payment"));
      for (const file of ["payment.wasm", "payment.vkey.json"])
        copyFileSync(join(built, "payment", file), join(folder, "payment", file));
      const missing = await command("packages/local/src/demo/main.ts", ["--artifacts", folder]);
      expectRefused(missing, "ARTIFACT_MISSING", "payment.zkey");
      const zkey = readFileSync(join(built, "payment", "payment.zkey"));
      zkey.writeUInt8(zkey.readUInt8(1_000_000) ^ 1, 1_000_000);
      writeFileSync(join(folder, "payment", "payment.zkey"), zkey);
      const damaged = await command("packages/local/src/demo/main.ts", ["--artifacts", folder]);
      expectRefused(damaged, "ARTIFACT_CHANGED", "payment.zkey");
      expect(damaged.stdout).not.to.contain("starting a local chain");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
