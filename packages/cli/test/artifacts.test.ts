import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { openArtifacts } from "../src/artifacts.ts";
import type { Context } from "../src/command.ts";
import type { Config } from "../src/home/config.ts";
import { Home } from "../src/home/home.ts";
import { DeadHome } from "./support/run.ts";

describe("artifacts of the service", () => {
  const dead = new DeadHome();
  let server: Server;
  let answer: (response: ServerResponse) => void;
  before(async () => {
    server = createServer((_, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    dead.remove();
  });

  /** The outcome of reading a verification key. */
  async function reading(signal: AbortSignal): Promise<string> {
    const context = { home: new Home(dead.home), output: { progress: () => {} }, signal } as unknown as Context;
    const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const artifacts = await openArtifacts(context, { service, set: "development" } as Config);
    return artifacts.bytes("note_append", "vkey").then(
      () => "read",
      ({ code, message }) => `${code} ${message}`,
    );
  }

  it("stop being read at their size limit", async () => {
    let sent = 0;
    answer = (response) => {
      const write = () => {
        while (response.writable && sent < 1 << 28 && response.write(Buffer.alloc(1 << 16))) sent += 1 << 16;
        sent += 1 << 16;
        if (sent >= 1 << 28) response.end();
      };
      response.on("drain", write);
      write();
    };
    expect(await reading(new AbortController().signal)).to.match(/^ARTIFACT_UNREACHABLE .*more than/);
    expect(sent).to.be.below(1 << 26);
  });

  it("stop being fetched when the command is interrupted", async () => {
    const ending = new AbortController();
    answer = () => setTimeout(() => ending.abort(), 50);
    expect(await reading(ending.signal)).to.include("ARTIFACT_UNREACHABLE");
  });
});
