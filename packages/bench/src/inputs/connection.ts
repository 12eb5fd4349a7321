// A minimal HTTP client, so that a bench measures the server: it costs a fraction of what fetch costs.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const HEAD_END = "\r\n\r\n";

/** Sends requests over one connection, one after another. Reads only answers with a Content-Length. */
export class Connection {
  readonly #socket: Socket;
  #answer: Buffer = Buffer.alloc(0);
  #settle: ((status: number) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (part: Buffer) => this.#read(part));
    socket.on("error", (error) => this.#fail?.(error));
    socket.on("close", () => this.#fail?.(new Error("the server closed a connection")));
  }

  static async open(origin: string): Promise<Connection> {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1").setNoDelay(true);
    await once(socket, "connect");
    return new Connection(socket);
  }

  /** @param request the text of a complete request, latin1 @returns the status; the whole answer has arrived then */
  send(request: string): Promise<number> {
    if (this.#socket.destroyed) return Promise.reject(new Error("the server closed a connection"));
    return new Promise((settle, fail) => {
      this.#settle = settle;
      this.#fail = fail;
      this.#socket.write(request, "latin1");
    });
  }

  #read(part: Buffer): void {
    this.#answer = this.#answer.length === 0 ? part : Buffer.concat([this.#answer, part]);
    const end = this.#answer.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#answer.toString("latin1", 0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#fail?.(new Error(`an answer without Content-Length: ${head}`));
      return;
    }
    if (this.#answer.length < end + HEAD_END.length + Number(length)) return;
    this.#answer = Buffer.alloc(0);
    this.#settle?.(Number(head.slice("HTTP/1.1 ".length).slice(0, 3)));
  }

  close(): void {
    this.#fail = undefined;
    this.#socket.destroy();
  }
}

/**
 * The text of a request.
 * @param headers each with its line end
 */
export function requestText(method: string, target: string, headers = "", body = ""): string {
  const size = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: bench\r\n${headers}${size}\r\n${body}`;
}

/** Works on items over a few connections, each on one item after another. */
export async function overConnections<T>(
  origin: string,
  count: number,
  items: readonly T[],
  work: (connection: Connection, item: T) => Promise<unknown>,
): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await Connection.open(origin);
      try {
        for (let item = left.pop(); item !== undefined; item = left.pop()) await work(connection, item);
      } finally {
        connection.close();
      }
    }),
  );
}
