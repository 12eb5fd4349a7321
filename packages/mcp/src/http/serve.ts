import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { AgentError } from "../errors.ts";

/** Address, port and access token of the MCP server. */
export interface HttpOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** TCP port, 0 to 65,535; 0 for any free one. */
  readonly port: number;
  /** Bearer token that every request must carry, at least 16 characters: other users of the machine reach its loopback too. */
  readonly token: string;
  /** Host names, without port, that requests may name. Default: those of this machine. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call, besides the server's own. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Maximum open sessions. Default: 16. A new one closes the session that has been idle longest. */
  readonly maxSessions?: number | undefined;
  /** A session without a request for this long is closed, ms. Default: 1,800,000. */
  readonly sessionMs?: number | undefined;
}

/** A running MCP server. */
export interface RunningHttp {
  /** URL of the endpoint, such as `http://127.0.0.1:8765/mcp`. */
  readonly url: string;
  /** Ends all sessions and stops listening. */
  close(): Promise<void>;
}

const PATH = "/mcp";
const DEFAULT_HOST = "127.0.0.1";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const MAX_BODY_BYTES = 1024 * 1024;
const MIN_TOKEN_CHARACTERS = 16;
const MAX_SESSIONS = 16;
const SESSION_MS = 1_800_000;
const BODY_MS = 30_000;
const METHODS = ["GET", "POST", "DELETE"];
/** Request headers that MCP's clients send. */
const PAGE_HEADERS = "authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id";

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly mcp: McpServer;
  /** Requests that are being answered. */
  busy: number;
  /** When its last request ended, ms. */
  idleSince: number;
  timer: NodeJS.Timeout | undefined;
}

/** @throws AgentError MCP_OPTION_INVALID */
export function assertToken(token: string | undefined): string {
  if (token === undefined)
    throw new AgentError(
      "MCP_OPTION_INVALID",
      "requests over HTTP need a bearer token: set SOTTO_MCP_TOKEN or --token-file",
    );
  if (!/^[\x21-\x7e]*$/.test(token))
    throw new AgentError("MCP_OPTION_INVALID", "the token must be printable ASCII without spaces");
  if (token.length < MIN_TOKEN_CHARACTERS)
    throw new AgentError("MCP_OPTION_INVALID", `the token must have at least ${MIN_TOKEN_CHARACTERS} characters`);
  return token;
}

/**
 * Serves MCP over streamable HTTP at /mcp, one server for each session.
 * @throws AgentError MCP_OPTION_INVALID
 */
export async function serveHttp(createServerOf: () => McpServer, options: HttpOptions): Promise<RunningHttp> {
  assertToken(options.token);
  const door = new Door(createServerOf, options);
  const server = createServer((request, response) => void door.answer(request, response));
  await listen(server, options.port, options.host ?? DEFAULT_HOST);
  const { port, address, family } = server.address() as AddressInfo;
  const name = family === "IPv6" ? `[${address}]` : address;
  door.own = ownOrigins(name, port);
  return {
    url: `http://${name}:${port}${PATH}`,
    close: async () => {
      await door.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new AgentError("MCP_OPTION_INVALID", `cannot listen on ${host}, port ${port}`, {}, { cause })),
    );
    server.listen(port, host, resolve);
  });

/**
 * The origins of the server itself, from the address that it listens on. A request's `Host` says nothing about them: a
 * page whose name leads to this machine would name itself.
 */
function ownOrigins(name: string, port: number): string[] {
  const isLocal = LOOPBACK.includes(name) || name === "0.0.0.0" || name === "[::]";
  return (isLocal ? LOOPBACK : [name]).map((each) => new URL(`http://${each}:${port}`).origin);
}

/** Checks requests and routes them to their session. */
class Door {
  /** The server's own origins, once it listens. */
  own: readonly string[] = [];
  readonly #create: () => McpServer;
  readonly #options: HttpOptions;
  readonly #hosts: readonly string[];
  readonly #sessions = new Map<string, Session>();
  /** Sessions whose first request is being answered. */
  #opening = 0;

  constructor(create: () => McpServer, options: HttpOptions) {
    this.#create = create;
    this.#options = options;
    this.#hosts = (options.allowedHosts ?? LOOPBACK).map((name) => name.toLowerCase());
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.#allowPage(request, response);
      const refused = this.#refusal(request);
      if (refused !== undefined) return end(response, ...refused);
      if (request.method === "OPTIONS") return void response.writeHead(204).end();
      const body = request.method === "POST" ? await readJson(request) : undefined;
      if (body === TOO_LARGE) return end(response, 413, `the body has more than ${MAX_BODY_BYTES} bytes`);
      if (request.method === "POST" && body === undefined) return end(response, 400, "the body must be JSON");
      await this.#handle(request, response, body);
    } catch {
      // The transport reports failures of calls in their results; this one concerns the connection.
      if (!response.headersSent) end(response, 500, "the request could not be handled");
      else response.destroy();
    }
  }

  async close(): Promise<void> {
    for (const { mcp } of [...this.#sessions.values()]) await mcp.close();
  }

  /** Lets a page of an allowed origin read the response. A preflight has no token. */
  #allowPage({ headers: { origin, host } }: IncomingMessage, response: ServerResponse): void {
    response.setHeader("vary", "Origin");
    if (!this.#isAllowed(origin, host)) return;
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-allow-methods", METHODS.join(", "));
    response.setHeader("access-control-allow-headers", PAGE_HEADERS);
    response.setHeader("access-control-expose-headers", "mcp-session-id");
  }

  /** An own origin counts only in a request that was sent to it. */
  #isAllowed(origin: string | undefined, host: string | undefined): origin is string {
    if (origin === undefined) return false;
    const isOwn =
      this.own.includes(origin) && URL.canParse(`http://${host}`) && new URL(`http://${host}`).origin === origin;
    return isOwn || (this.#options.allowedOrigins ?? []).includes(origin);
  }

  /** The refusal of a request that is not allowed. A web page's request carries its origin, or names another host. */
  #refusal({ headers, url = "", method = "" }: IncomingMessage): [status: number, message: string] | undefined {
    const name = URL.canParse(`http://${headers.host}`) ? new URL(`http://${headers.host}`).hostname : "";
    if (headers.host === undefined || !this.#hosts.includes(name)) return [403, "this host name is not allowed"];
    const { origin } = headers;
    if (origin !== undefined && !this.#isAllowed(origin, headers.host)) return [403, "this origin is not allowed"];
    const isPreflight = method === "OPTIONS" && origin !== undefined;
    if (!isPreflight && !this.#isAuthorized(headers.authorization)) return [401, "a bearer token is required"];
    if (url !== PATH) return [404, "not found"];
    if (!isPreflight && !METHODS.includes(method)) return [405, "method not allowed"];
    return undefined;
  }

  #isAuthorized(header = ""): boolean {
    const digest = (text: string) => createHash("sha256").update(text).digest();
    return timingSafeEqual(digest(header), digest(`Bearer ${this.#options.token}`));
  }

  async #handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const session = this.#sessions.get(id);
      if (session === undefined) return end(response, 404, "there is no such session");
      return this.#pass(session, request, response, body);
    }
    if (!isInitializeRequest(body)) return end(response, 400, "the first request of a session must be initialize");
    if (this.#sessions.size + this.#opening >= (this.#options.maxSessions ?? MAX_SESSIONS)) await this.#evict();
    if (this.#sessions.size + this.#opening >= (this.#options.maxSessions ?? MAX_SESSIONS))
      return end(response, 503, "too many sessions are in use; close one");
    this.#opening += 1;
    try {
      await this.#open(request, response, body);
    } finally {
      this.#opening -= 1;
    }
  }

  /** Closes the session that has been idle longest, if any is: a client may reconnect without having ended its session. */
  async #evict(): Promise<void> {
    const idle = [...this.#sessions.values()].filter(({ busy }) => busy === 0);
    await idle.sort((one, other) => one.idleSince - other.idleSince)[0]?.mcp.close();
  }

  async #open(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const mcp = this.#create();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
    });
    const session: Session = { transport, mcp, busy: 0, idleSince: 0, timer: undefined };
    transport.onclose = () => {
      clearTimeout(session.timer);
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    // The SDK's own types disagree about optional members under exactOptionalPropertyTypes.
    await mcp.connect(transport as Parameters<McpServer["connect"]>[0]);
    await this.#pass(session, request, response, body);
    if (transport.sessionId === undefined) await mcp.close();
  }

  async #pass(session: Session, request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    session.busy += 1;
    clearTimeout(session.timer);
    response.once("close", () => {
      session.busy -= 1;
      if (session.busy > 0) return;
      session.idleSince = performance.now();
      session.timer = setTimeout(() => void session.mcp.close(), this.#options.sessionMs ?? SESSION_MS).unref();
    });
    await session.transport.handleRequest(request, response, body);
  }
}

const TOO_LARGE = Symbol("too large");

/** The parsed body; undefined if it is slow or not JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => request.destroy(), BODY_MS);
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) return TOO_LARGE;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Answers with a JSON-RPC error, as the SDK's transport does. */
function end(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }));
}
