// A proxy in front of a server or a facilitator that can lose, delay or change the responses.
import { createServer, type Server } from "node:http";

/** Handles a request; the target receives it only if `answer` is called. */
export type Trouble = (path: string, answer: () => Promise<Answer>) => Promise<Answer | "lost">;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Middleman {
  readonly url: string;
  /** By default, the proxy forwards every request. */
  trouble: Trouble;
  close(): Promise<void>;
}

const pass: Trouble = (_path, answer) => answer();

/** @param target base URL of the server behind the proxy */
export async function openMiddleman(target: string): Promise<Middleman> {
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "GET", url = "/" } = request;
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
    const forward = async (): Promise<Answer> => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(target + url, { method, headers, ...body });
      return { status: answer.status, body: await answer.text() };
    };
    const answer = await middleman.trouble(url, forward);
    if (answer === "lost") return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  const middleman: Middleman = {
    url: await new Promise((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as { port: number }).port}`)),
    ),
    trouble: pass,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return middleman;
}
