// HTTP for the fuzz tests: unchanged paths, many concurrent requests, and texts that no response may contain.
import { Agent, request as httpRequest } from "node:http";
import { Random } from "./random.ts";

/** Text that only files, SQL or stack traces contain. */
export const INTERNALS =
  /node_modules|file:\/\/|\.[jt]s:\d|\bat [\w.<>]+ \(|SQLITE|select .* from|SyntaxError|undefined is not/i;

export interface Reply {
  readonly status: number;
  readonly text: string;
}

export interface RawRequest {
  /** Default: POST. */
  readonly method?: string;
  /** Path and query below the base URL, sent unchanged: URL would normalize them. */
  readonly path: string;
  /** Content type. Default: none. */
  readonly type?: string | undefined;
  readonly body?: Buffer;
}

/** Requests to one server over a limited number of connections. */
export class FuzzClient {
  readonly #url: URL;
  readonly #atATime: number;
  readonly #agent: Agent;

  /** @param url base URL */
  constructor(url: string, atATime: number) {
    this.#url = new URL(url);
    this.#atATime = atATime;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atATime });
  }

  send({ method = "POST", path, type, body = Buffer.alloc(0) }: RawRequest): Promise<Reply> {
    const headers = { "content-length": body.length, ...(type === undefined ? {} : { "content-type": type }) };
    const { hostname, port, pathname } = this.#url;
    const target = { hostname, port, path: pathname.replace(/\/$/, "") + path };
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ ...target, method, agent: this.#agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** Runs `one` `count` times, several at once. @returns the faults that it returned */
  async faults(
    count: number,
    seed: string,
    one: (random: Random) => Promise<string | undefined>,
  ): Promise<readonly string[]> {
    const random = new Random(seed);
    const faults: string[] = [];
    let left = count;
    const lane = async () => {
      while (left-- > 0) {
        const fault = await one(random);
        if (fault !== undefined) faults.push(fault);
      }
    };
    await Promise.all(Array.from({ length: this.#atATime }, lane));
    return faults;
  }

  close(): void {
    this.#agent.destroy();
  }
}
