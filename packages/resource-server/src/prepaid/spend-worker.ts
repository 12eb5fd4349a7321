// Code of the thread that spends tokens in SQLite: each commit waits for the disk, which would block every request.
import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { carryOut } from "./thread.ts";

export interface SpendOrder {
  readonly holder: string;
  /** JSON: a list of pairs of key id and nonce. */
  readonly tokens: string;
}

const database = new DatabaseSync(workerData as string);
// FULL: a committed token survives a power cut. Another connection may hold the lock for a while.
database.exec("pragma busy_timeout = 5000; pragma synchronous = full;");
const insert = database.prepare(`
  insert into prepaid_token (key_id, nonce, holder, returns)
  select value ->> 0, value ->> 1, ?, 0 from json_each(?)
  where not exists (select 1 from prepaid_closed where prepaid_closed.key_id = value ->> 0)
  on conflict do nothing returning key_id || ':' || nonce as id`);

carryOut(({ holder, tokens }: SpendOrder): string[] => {
  const rows = insert.all(holder, tokens) as { id: string }[];
  // A list of texts is cheaper to copy to the other thread than a list of objects.
  return rows.map((row) => row.id);
});
