// Preloaded with NODE_OPTIONS=--import, also into the thread that spends tokens: kills the process at the write that the file
// KILL_FILE names, such as "before charge" or "after claim commit". The file is read at each write, so a test can name one at any
// time. In PostgreSQL, "before" is before the statement is sent, and "after" is when its answer has arrived.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { DatabaseSync } from "node:sqlite";

/** The first that matches counts. Identifiers are quoted where Kysely writes the statement. */
const WRITES = [
  [/^\s*insert into "?prepaid_token"? .*\bvalues\b/i, "swap-tokens"],
  // In PostgreSQL, token and row are one statement.
  [/^\s*(?:insert into prepaid_token |with shown as )/i, "spend"],
  [/^\s*insert into prepaid_metered\s/i, "row"],
  [/^\s*update prepaid_metered set state/i, "charge"],
  [/^update "prepaid_metered" set "state"/i, "overdue"],
  [/^\s*update "?prepaid_metered"? set "?receipt"?.*"?\bbatch"? = /is, "claim"],
  [/^\s*update "?prepaid_metered"? set "?receipt/i, "receipt"],
  [/^insert into "?prepaid_swap/i, "swap"],
  [/^update "?prepaid_progress/i, "tick"],
];
const BEGIN = /^(?:begin|start transaction)\b/i;

/** The last write of each connection's transaction, without ticks; empty before the first. Absent outside transactions. */
const transactions = new WeakMap();

function at(moment) {
  let named = "";
  try {
    named = readFileSync(process.env["KILL_FILE"], "utf8");
  } catch {
    // No write is named.
  }
  if (named === moment) process.kill(process.pid, "SIGKILL");
}

/** Called before a statement runs. @returns what to call when it has run */
function starting(connection, sql) {
  const last = transactions.get(connection);
  if (BEGIN.test(sql)) return () => transactions.set(connection, "");
  if (sql === "rollback") return () => transactions.delete(connection);
  if (sql === "commit") {
    at(`before ${last} commit`);
    return () => {
      transactions.delete(connection);
      at(`after ${last} commit`);
    };
  }
  const kind = WRITES.find(([pattern]) => pattern.test(sql))?.[1];
  if (kind === undefined) return () => undefined;
  const name = kind === "tick" && last !== undefined ? `${last} tick` : kind;
  if (last !== undefined && kind !== "tick") transactions.set(connection, kind);
  at(`before ${name}`);
  return () => {
    if (last === undefined) at(`after ${name}`);
  };
}

const { prepare, exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  const done = starting(this, sql);
  exec.call(this, sql);
  done();
};
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  for (const name of ["run", "get", "all", "iterate"]) {
    const execute = statement[name];
    statement[name] = (...values) => {
      const done = starting(this, sql);
      const result = execute.apply(statement, values);
      done();
      return result;
    };
  }
  return statement;
};

const { resolve } = createRequire(import.meta.url);
const { Client } = createRequire(resolve("@sotto/database"))("pg");
const { query } = Client.prototype;
// Kysely passes the text, and takes a promise.
Client.prototype.query = async function (sql, ...rest) {
  const done = starting(this, sql);
  const result = await query.call(this, sql, ...rest);
  done();
  return result;
};
