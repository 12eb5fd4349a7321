// One request on a connection of its own, over HTTP/1.1 or HTTP/2, which a test can cut at any time.
import { once } from "node:events";
import { type Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type ClientHttp2Stream, connect } from "node:http2";
import { text } from "node:stream/consumers";

export interface Exchange {
  /** The status of the response, once its headers arrive. */
  status(): Promise<number>;
  headers(): Promise<IncomingHttpHeaders>;
  /** The first bytes of the body. */
  firstPart(): Promise<string>;
  /** The body, once it is complete. */
  body(): Promise<string>;
  /** Closes the connection. */
  leave(): Promise<void>;
}

export type Send = (url: string, method?: string) => Exchange;

/** @param agent default: a connection of its own */
export function overHttp1(url: string, method = "GET", agent: Agent | false = false): Exchange {
  const request = httpRequest(url, { method, agent });
  request.on("error", () => undefined);
  request.end();
  const response = once(request, "response").then(([one]) => one as IncomingMessage);
  response.catch(() => undefined);
  return {
    status: async () => (await response).statusCode!,
    headers: async () => (await response).headers,
    firstPart: async () => String((await once(await response, "data"))[0]),
    body: async () => text(await response),
    leave: async () => {
      const closed = new Promise((resolve) => request.once("close", resolve));
      request.destroy();
      await closed;
    },
  };
}

export function overHttp2(url: string, method = "GET"): Exchange {
  const { origin, pathname } = new URL(url);
  const session = connect(origin);
  session.on("error", () => undefined);
  const stream: ClientHttp2Stream = session.request({ ":path": pathname, ":method": method });
  stream.on("error", () => undefined);
  stream.on("close", () => session.close());
  const response = once(stream, "response").then(([lines]) => lines as IncomingHttpHeaders & { ":status"?: number });
  response.catch(() => undefined);
  return {
    status: async () => (await response)[":status"]!,
    headers: () => response,
    firstPart: async () => String((await once(stream, "data"))[0]),
    body: async () => text(stream),
    leave: async () => {
      const closed = once(session, "close");
      session.destroy();
      await closed;
    },
  };
}
