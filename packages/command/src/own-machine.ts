// Whose requests a development server answers. It listens on this machine only, but the browser on this machine also runs
// pages of other hosts, whose scripts can send requests to it. Their requests have another origin, or a host name that leads
// to this machine (DNS rebinding).
import { channel } from "node:diagnostics_channel";
import { type IncomingHttpHeaders, type IncomingMessage, Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The names of this machine, as URL parses them. Browsers resolve names below localhost to it. */
const isOwnName = (name: string): boolean =>
  name === "127.0.0.1" || name === "[::1]" || name === "localhost" || name.endsWith(".localhost");

/** Pages of this machine, and extensions that the user has installed, such as a wallet. */
function isOwnOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol.endsWith("-extension:") || (/^https?:$/.test(protocol) && isOwnName(hostname));
}

/** Why a request is not from this machine; undefined if it may be. Programs other than browsers send no origin. */
export function refusalOf({ host = "", origin }: IncomingHttpHeaders): string | undefined {
  if (!URL.canParse(`http://${host}`) || !isOwnName(new URL(`http://${host}`).hostname))
    return "this server is only for requests to localhost or 127.0.0.1";
  if (origin !== undefined && !isOwnOrigin(origin)) return "this server is not for pages of other hosts";
  return undefined;
}

/** Runs `start`, and makes each HTTP server that begins to listen meanwhile refuse requests from elsewhere with 403. */
export async function guarded<T>(start: () => Promise<T>): Promise<T> {
  const listening = channel("tracing:net.server.listen:asyncStart");
  const guard = (message: unknown) => {
    const { server } = message as { server: unknown };
    if (server instanceof Server) guardServer(server);
  };
  listening.subscribe(guard);
  try {
    return await start();
  } finally {
    listening.unsubscribe(guard);
  }
}

type Listener = (request: IncomingMessage, ...rest: unknown[]) => void;

function guardServer(server: Server): void {
  const wrap = (event: "request" | "upgrade", refuse: (why: string, rest: unknown[]) => void) => {
    const listeners = server.listeners(event) as Listener[];
    server.removeAllListeners(event);
    const pass: Listener = (request, ...rest) => {
      const why = refusalOf(request.headers);
      if (why !== undefined) return refuse(why, rest);
      for (const listener of listeners) listener.call(server, request, ...rest);
    };
    server.on(event, pass);
  };
  wrap("request", (why, [response]) => void (response as ServerResponse).writeHead(403).end(`${why}\n`));
  wrap("upgrade", (_, [socket]) => void (socket as Duplex).end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n"));
}
