// Everything that a merchant sees and stores: its requests as they arrived, and the rows of its databases.

import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A request as it arrived. */
export interface LoggedRequest {
  readonly method: string;
  readonly target: string;
  /** Names and values in their order on the wire. */
  readonly headers: readonly string[];
  /** What has arrived of the body. */
  readonly body: readonly Uint8Array[];
  /** The client's port: which connection it came from. */
  readonly port: number;
  /** When it arrived, ms of a monotonic clock. */
  readonly at: number;
  /** When it was answered; NaN before. */
  answeredAt: number;
  /** 0 before the answer. */
  status: number;
}

/** Logs a request. Call it before anything reads the body or removes headers. */
export function logRequest(request: IncomingMessage, response: ServerResponse): LoggedRequest {
  const body: Uint8Array[] = [];
  const { push } = request;
  request.push = (chunk: Uint8Array | null, ...rest) => {
    if (chunk !== null) body.push(new Uint8Array(chunk));
    return push.call(request, chunk, ...rest);
  };
  const { method = "", url = "", rawHeaders, socket } = request;
  const place = { port: socket.remotePort ?? 0, at: performance.now() };
  const logged: LoggedRequest = {
    ...{ method, target: url, headers: [...rawHeaders], body },
    ...{ ...place, answeredAt: Number.NaN, status: 0 },
  };
  response.once("finish", () => {
    logged.answeredAt = performance.now();
    logged.status = response.statusCode;
  });
  return logged;
}

/** All rows of all tables of SQLite files in a folder, by file and table. @param files names without ".sqlite" */
export function tablesIn(folder: string, files: readonly string[]): Record<string, Record<string, unknown>[]> {
  const tables: Record<string, Record<string, unknown>[]> = {};
  for (const file of files) {
    const database = new DatabaseSync(join(folder, `${file}.sqlite`), { readOnly: true });
    const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
    for (const { name } of names as { name: string }[])
      tables[`${file}.${name}`] = database.prepare(`SELECT * FROM "${name}"`).all();
    database.close();
  }
  return tables;
}
