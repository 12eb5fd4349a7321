// Sends requests byte by byte, without a library that normalizes paths, joins headers or follows redirects.
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** Headers with lower-case names; repeated headers are all included. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

/** Sends the bytes of a request, and reads the response until the server closes the connection. */
export function rawRequest(url: string, lines: readonly string[], body = ""): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const named = lines.some((line) => /^host:/i.test(line));
  const head = [...lines, ...(named ? [] : [`Host: ${hostname}:${port}`]), "Connection: close", "", body].join("\r\n");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const parts: Buffer[] = [];
    socket.on("connect", () => socket.write(Buffer.from(head, "latin1")));
    socket.on("data", (part) => parts.push(part));
    socket.on("error", (error) => (parts.length > 0 ? resolve(parse(Buffer.concat(parts))) : reject(error)));
    socket.on("end", () => resolve(parse(Buffer.concat(parts))));
  });
}

function parse(bytes: Buffer): RawAnswer {
  const text = bytes.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(at + 1).trim()]);
  }
  const rest = bytes.subarray(end + 4);
  const chunked = headers.get("transfer-encoding")?.includes("chunked") === true;
  return { status: Number(first.split(" ")[1]), headers, body: (chunked ? unchunk(rest) : rest).toString("utf8") };
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
