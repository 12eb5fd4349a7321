// A proxy that can be shut: it drops every request while shut, and otherwise forwards requests and responses unchanged.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export class Door {
  url = "";
  shut = true;
  readonly #to: URL;
  readonly #server = createServer((asked, answer) => this.#pass(asked, answer));

  private constructor(to: string) {
    this.#to = new URL(to);
  }

  /** @param to base URL of the server behind the proxy */
  static async to(to: string): Promise<Door> {
    const door = new Door(to);
    await new Promise<void>((resolve) => door.#server.listen(0, "127.0.0.1", resolve));
    const { port } = door.#server.address() as AddressInfo;
    door.url = `http://127.0.0.1:${port}${door.#to.pathname === "/" ? "" : door.#to.pathname}`;
    return door;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    if (this.shut) return void asked.socket.destroy();
    const { method, headers, url: path } = asked;
    const { hostname, port } = this.#to;
    const passed = request({ hostname, port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on("error", () => asked.socket.destroy());
    asked.pipe(passed);
  }
}
