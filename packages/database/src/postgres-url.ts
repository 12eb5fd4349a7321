// What the URL of a PostgreSQL database may say, and what its sslmode means.
import { connect } from "node:net";
import { DatabaseError } from "./errors.ts";

/** Parameters that pg uses. It ignores others, or sends them to the server, which a pooler may refuse. */
const PARAMETERS = [
  ...["application_name", "host", "options", "password", "port", "user"],
  ...["ssl", "sslcert", "sslkey", "sslmode", "sslnegotiation", "sslrootcert", "uselibpqcompat"],
];
const SSL_MODES = ["disable", "no-verify", "prefer", "require", "verify-ca", "verify-full"];

const DEFAULT_PORT = 5_432;
/** Asks a server whether it offers TLS: length 8, request code 80877103. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const ACCEPTED = "S".charCodeAt(0);
const PROBE_MS = 5_000;

/** @throws DatabaseError INVALID_STORE_URL if the URL has a parameter that would have no effect */
export function assertPostgresUrl(url: string): void {
  const invalid = (problem: string) => new DatabaseError("INVALID_STORE_URL", `the store's URL ${problem}`);
  const { searchParams } = new URL(url);
  if (searchParams.has("schema"))
    throw invalid(
      "has the parameter schema, which is not supported: remove it, and choose the schema with `alter role ROLE set search_path = SCHEMA`",
    );
  for (const name of searchParams.keys())
    if (!PARAMETERS.includes(name))
      throw invalid(`has an unknown parameter; expected only ${PARAMETERS.join(", ")}: remove it`);
  const mode = searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode))
    throw invalid(`has an sslmode that is not supported; expected ${SSL_MODES.join(", ")}`);
}

/**
 * Replaces `sslmode=prefer` as libpq means it: TLS if the server offers it, without checking its certificate, otherwise none.
 * For pg it means verify-full, as `require` and `verify-ca` do; these are replaced too, because pg warns that a later
 * version will not check certificates.
 * @throws DatabaseError STORE_UNAVAILABLE if the server does not answer
 */
export async function resolveTls(text: string): Promise<string> {
  const url = new URL(text);
  const { searchParams } = url;
  const mode = searchParams.get("sslmode");
  const compatible = searchParams.get("uselibpqcompat") === "true";
  if (!compatible && (mode === "require" || mode === "verify-ca")) {
    searchParams.set("sslmode", "verify-full");
    return url.href;
  }
  if (mode !== "prefer") return text;
  const host = searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[(.+)\]$/, "$1");
  const port = Number(searchParams.get("port") || url.port || DEFAULT_PORT);
  // libpq does not encrypt connections over Unix sockets.
  const offered = !host.startsWith("/") && (await offersTls(host || "localhost", port));
  searchParams.set("sslmode", offered ? "no-verify" : "disable");
  searchParams.delete("uselibpqcompat");
  return url.href;
}

async function offersTls(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: PROBE_MS });
  try {
    return await new Promise<boolean>((resolve, reject) => {
      socket.once("connect", () => socket.write(SSL_REQUEST));
      socket.once("data", (answer) => resolve(answer[0] === ACCEPTED));
      socket.once("timeout", () => reject(new Error("timeout exceeded")));
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("Connection terminated")));
    });
  } catch (cause) {
    throw new DatabaseError("STORE_UNAVAILABLE", "the database does not answer", {}, { cause });
  } finally {
    socket.destroy();
  }
}
