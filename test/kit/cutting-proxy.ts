// A proxy between the deployer and its node that fails midway: after a number of transactions, it drops all connections
// or stops answering.
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** An address without code. */
const EMPTY = 0x99;
/** The recipient of a call in a JSON-RPC request. */
const recipient = (address: number): string => `"to":"0x${address.toString(16).padStart(40, "0")}"`;

export class CuttingProxy {
  /** Transactions to forward before the proxy breaks; the node receives the last one, but its response is lost. */
  left = Number.POSITIVE_INFINITY;
  sent = 0;
  /** Called for each request after the first transaction, in place of a response; the client then waits forever. */
  hold: (() => void) | undefined;
  /** The block number to report as the newest one instead of the node's. */
  blockNumber: string | undefined;
  /** The precompile that calls do not find: they reach an address without code, as on a chain without it. */
  withoutPrecompile: number | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: string) {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const asked = Buffer.concat(chunks).toString("utf8");
      const hidden = this.withoutPrecompile;
      const body = hidden === undefined ? asked : asked.replaceAll(recipient(hidden), recipient(EMPTY));
      if (this.left < 0) return void response.socket?.destroy();
      if (this.hold !== undefined && this.sent > 0) return void this.hold();
      const transactions = body.split('"eth_sendRawTransaction"').length - 1;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(target, { method: "POST", headers, body }).then((reply) => reply.text());
      if (this.blockNumber !== undefined && body.includes('"eth_blockNumber"'))
        return void response
          .writeHead(200, headers)
          .end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: this.blockNumber }));
      this.sent += transactions;
      this.left -= transactions;
      if (this.left < 0) {
        for (const socket of this.#sockets) socket.destroy();
        return;
      }
      response.writeHead(200, headers).end(answer);
    });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
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
