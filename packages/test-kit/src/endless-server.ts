import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const PIECE = Buffer.alloc(1 << 20, " ");

/** Ways to send an endless response. */
export const ENDLESS = {
  /** As fast as the client reads. */
  flood(response: ServerResponse): void {
    const more = () => {
      while (!response.destroyed && response.write(PIECE));
    };
    response.on("drain", more);
    more();
  },
  /** One byte, then nothing. */
  stall(response: ServerResponse): void {
    response.write("{");
  },
  /** A byte every 10 ms. */
  drip(response: ServerResponse): void {
    const timer = setInterval(() => response.write(" "), 10);
    response.on("close", () => clearInterval(timer));
  },
};

/** An HTTP server whose responses do not end. */
export class EndlessServer {
  /** How the next requests are answered. */
  respond: (response: ServerResponse) => void = ENDLESS.flood;
  /** One promise per request; resolves when the client has closed the connection. */
  closed: Promise<unknown>[] = [];
  readonly #server = createServer((_, response) => {
    this.closed.push(once(response, "close"));
    this.respond(response);
  });

  async start(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
