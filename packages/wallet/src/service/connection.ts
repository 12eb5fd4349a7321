import type { IncomingMessage } from "node:http";
import { isBytes, requestedUrl } from "@sotto/protocol";

/** The part of `node:http` and `node:https` that is used. */
type Requests = Pick<typeof import("node:http"), "request">;

/**
 * A fetch that opens a new connection for each request and closes it afterwards, so that the server cannot link the request
 * to others by their connection. Undefined outside Node. A browser keeps requests without cookies on connections
 * of their own.
 */
export function separateFetch(): typeof fetch | undefined {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return undefined;
  return async (input, init = {}) => {
    const url = new URL(requestedUrl(input));
    const module = (url.protocol === "https:" ? builtin("node:https") : builtin("node:http")) as Requests;
    return sendOnce(module, url, init);
  };
}

/** Where Node and the package undici keep the dispatcher of the process, which every fetch uses. */
const GLOBAL_DISPATCHER = Symbol.for("undici.globalDispatcher.1");

/**
 * The dispatcher that a program set for fetch. A separate connection would bypass it. Node's own dispatcher is an `Agent`.
 * @param init the options of a request, which may have a dispatcher of its own
 * @returns the name of its class; undefined if there is none
 */
export function dispatcherOf(init: object): string | undefined {
  const { dispatcher } = init as { readonly dispatcher?: object };
  if (dispatcher != null) return dispatcher.constructor.name;
  const { [GLOBAL_DISPATCHER]: shared } = globalThis as { readonly [GLOBAL_DISPATCHER]?: object };
  return shared === undefined || shared.constructor.name === "Agent" ? undefined : shared.constructor.name;
}

function sendOnce({ request }: Requests, url: URL, init: RequestInit): Promise<Response> {
  const { method = "GET", body = null } = init;
  const signal = init.signal ?? undefined;
  const headers = Object.fromEntries(new Headers(init.headers));
  const bytes = body === null ? new Uint8Array(0) : toBytes(body);
  if (method !== "GET") headers["content-length"] = String(bytes.length);
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const sent = request(
      url,
      // `agent: false` makes a connection for this request alone.
      { method, headers: { accept: "*/*", "user-agent": "node", ...headers }, agent: false, signal },
      (answer) => {
        // An exception in this callback would end the process.
        try {
          resolve(toResponse(answer));
        } catch (cause) {
          answer.destroy();
          reject(new TypeError("fetch failed", { cause }));
        }
      },
    );
    sent.once("error", (cause) => reject(signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause })));
    // Node reports an answer with status 101 as this event, and leaves the connection to its listener.
    sent.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new TypeError("fetch failed", { cause: new Error("the server switched protocols, status 101") }));
    });
    sent.end(bytes);
  });
}

function toBytes(body: BodyInit): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (isBytes(body)) return body;
  throw new TypeError("a body must be a string or bytes");
}

/** Statuses whose responses have no body. */
const EMPTY = [204, 205, 304];

/** @throws RangeError if the server answered with a status that a Response cannot have, such as 999 */
function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers();
  const { rawHeaders, statusCode: status = 0 } = answer;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  // A server that sends a body all the same would keep the connection open.
  if (EMPTY.includes(status)) answer.destroy();
  const { Readable } = process.getBuiltinModule("node:stream");
  const body = EMPTY.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream);
  return new Response(body, { status, headers });
}
