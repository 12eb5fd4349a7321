// A proxy between a program and its node that fails midway: after a number of transactions, it drops all connections
// or stops answering. It can also answer in place of the node, like the node of a chain that lacks something.
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { postAlone } from "./http.ts";

interface RpcRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A response that replaces the node's: a result, or an error. */
export type Altered =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

export class CuttingProxy {
  /** Transactions to forward before the proxy breaks; the node receives the last one, but its response is lost. */
  left = Number.POSITIVE_INFINITY;
  sent = 0;
  /** Called for each request after the first transaction, in place of a response; the client then waits forever. */
  hold: (() => void) | undefined;
  /** Replaces responses of the node, so that its chain looks different; undefined leaves a response as it is. */
  alter:
    | ((method: string, params: readonly unknown[], response: { result?: unknown }) => Altered | undefined)
    | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: string) {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString("utf8");
      if (this.left < 0) return void response.socket?.destroy();
      if (this.hold !== undefined && this.sent > 0) return void this.hold();
      const transactions = body.split('"eth_sendRawTransaction"').length - 1;
      const headers = { "content-type": "application/json" };
      const answer = await (await postAlone(target, headers, body)).text();
      this.sent += transactions;
      this.left -= transactions;
      if (this.left < 0) {
        for (const socket of this.#sockets) socket.destroy();
        return;
      }
      response.writeHead(200, headers).end(this.#altered(body, answer));
    });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  #altered(body: string, answer: string): string {
    const { alter } = this;
    if (alter === undefined) return answer;
    const [asked, answered] = [JSON.parse(body), JSON.parse(answer)] as (RpcRequest | RpcRequest[])[];
    const responses = [answered].flat() as object[];
    const replaced = [asked!].flat().map(({ id, method, params = [] }, index) => {
      const found = alter(method, params, responses[index]!);
      return found === undefined ? responses[index] : { jsonrpc: "2.0", id, ...found };
    });
    return JSON.stringify(Array.isArray(asked) ? replaced : replaced[0]);
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Repairs the proxy for this many transactions. */
  mend(transactions = Number.POSITIVE_INFINITY): void {
    this.left = transactions;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
