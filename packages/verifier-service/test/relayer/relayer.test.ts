import { once } from "node:events";
import { PassThrough } from "node:stream";
import { createLog } from "@sotto/server";
import { expect } from "chai";
import type { RelayerContext } from "../../src/relayer/context.ts";
import { type Parts, RelayerLoop } from "../../src/relayer/relayer.ts";
import { LOCAL_RELAYER_CONFIG } from "../../src/relayer/types.ts";
import { openStore } from "../../src/store/index.ts";

describe("the relayer's rounds", () => {
  it("log a failure by code and location, without secrets", async () => {
    const secrets = [
      "canary0path",
      `${"c0ffee".repeat(10)}c0ff`,
      "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiJjYW5hcnkifQ.c2lnbmF0dXJl",
    ];
    const text = `https://node.example/${secrets[0]} 0x${secrets[1]} ${secrets[2]}`;
    const lines = new PassThrough();
    const store = await openStore({ url: "sqlite::memory:" });
    const follower = {
      catchUp: async () => {
        throw Object.assign(new Error(text, { cause: new Error(text) }), { code: text });
      },
    };
    const context = {
      store,
      config: LOCAL_RELAYER_CONFIG,
      clock: Date.now,
      metrics: { count: () => {}, gauge: () => {} },
      log: createLog("debug", { write: (line: string) => void lines.write(line) }),
    };
    const loop = new RelayerLoop(context as unknown as RelayerContext, { follower } as unknown as Parts);
    loop.start();
    const [chunk] = await once(lines, "data");
    await loop.stop();
    await store.close();
    expect(String(chunk))
      .to.include("a round of the relayer failed")
      .and.include("UNEXPECTED")
      .and.include("relayer.test.ts");
    for (const secret of secrets) expect(String(chunk)).to.not.include(secret);
  });
});
