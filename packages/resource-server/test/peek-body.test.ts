import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { nodeRequest } from "../src/adapters/node.ts";

/** Peeks at the body, and then reads it as a handler does. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await nodeRequest(request, "/").peekBody?.(100);
  const peeked = body === undefined ? "nothing" : Buffer.from(body).toString();
  response.end(JSON.stringify([peeked, await text(request)]));
}

type Send = (method: string, parts: readonly string[]) => Promise<string>;

interface Started {
  readonly send: Send;
  close(): void;
}

const write = async (stream: NodeJS.WritableStream, parts: readonly string[]): Promise<void> => {
  for (const part of parts) {
    stream.write(part);
    // Each part arrives alone.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  stream.end();
};

const VERSIONS: Readonly<Record<string, () => Promise<Started>>> = {
  "HTTP/1.1": async () => {
    const server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return {
      send: (method, parts) =>
        new Promise((resolve, reject) => {
          const sent = send({ port, method, agent: false }, (response) => text(response).then(resolve, reject));
          sent.on("error", reject);
          write(sent, parts).catch(reject);
        }),
      close: () => server.close(),
    };
  },
  "HTTP/2": async () => {
    const server = createHttp2Server((request, response) => void answer(request as never, response as never));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return {
      send: (method, parts) =>
        new Promise((resolve, reject) => {
          const sent = client.request({ ":method": method, ":path": "/" }, { endStream: parts.length === 0 });
          sent.on("error", reject);
          text(sent).then(resolve, reject);
          if (parts.length > 0) write(sent, parts).catch(reject);
        }),
      close: () => {
        client.close();
        server.close();
      },
    };
  },
};

for (const [version, start] of Object.entries(VERSIONS))
  describe(`a body that is read before the handler, over ${version}`, () => {
    let started: Started;
    before(async () => {
      started = await start();
    });
    after(() => started.close());

    for (const [name, method, parts] of [
      ["is empty for a GET", "GET", []],
      ["is read whole", "POST", ["abc"]],
      ["is read whole if it arrives in parts", "POST", ["abc", "", "def", "g"]],
      ["is read whole if it has the maximum length", "POST", ["x".repeat(60), "y".repeat(40)]],
    ] as const)
      it(name, async () => {
        const whole = parts.join("");
        expect(JSON.parse(await started.send(method, parts))).to.deep.equal([whole, whole]);
      });

    it("is left alone if it is longer", async () => {
      const parts = ["x".repeat(60), "y".repeat(41), "z".repeat(100_000)];
      expect(JSON.parse(await started.send("POST", parts))).to.deep.equal(["nothing", parts.join("")]);
    });
  });
