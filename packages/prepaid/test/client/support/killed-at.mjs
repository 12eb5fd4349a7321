// Preloaded with NODE_OPTIONS=--import, also into the thread that spends tokens: kills the process at the write that the file
// KILL_FILE names, such as "before charge" or "after claim commit". The file is read at each write, so a test can name one at any
// time.
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** The first that matches counts. Identifiers are quoted in the main thread only, where Kysely writes most statements. */
const WRITES = [
  [/^\s*insert into prepaid_token /i, "spend"],
  [/^\s*insert into prepaid_metered\s/i, "row"],
  [/^\s*update prepaid_metered set state/i, "charge"],
  [/^update "prepaid_metered" set "state"/i, "overdue"],
  [/^update "prepaid_metered" set "receipt".*"batch" = /i, "claim"],
  [/^update "prepaid_metered" set "receipt"/i, "receipt"],
  [/^insert into "prepaid_token"/i, "swap-tokens"],
  [/^insert into "prepaid_swap"/i, "swap"],
  [/^update "prepaid_progress"/i, "tick"],
];

let isInTransaction = false;
/** The last write of the transaction, without ticks. */
let last = "";

function at(moment) {
  let named = "";
  try {
    named = readFileSync(process.env["KILL_FILE"], "utf8");
  } catch {
    // No write is named.
  }
  if (named === moment) process.kill(process.pid, "SIGKILL");
}

function around(kind, action) {
  const name = kind === "tick" ? `${last} tick`.trim() : kind;
  if (isInTransaction && kind !== "tick") last = kind;
  at(`before ${name}`);
  const result = action();
  if (!isInTransaction) at(`after ${name}`);
  return result;
}

const { prepare, exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  if (sql === "begin immediate") last = "";
  if (sql === "commit") at(`before ${last} commit`);
  exec.call(this, sql);
  if (sql === "begin immediate") isInTransaction = true;
  if (sql === "commit" || sql === "rollback") isInTransaction = false;
  if (sql === "commit") at(`after ${last} commit`);
};
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  const kind = WRITES.find(([pattern]) => pattern.test(sql))?.[1];
  if (kind === undefined) return statement;
  for (const name of ["run", "all", "iterate"]) {
    const execute = statement[name];
    statement[name] = (...values) => around(kind, () => execute.apply(statement, values));
  }
  return statement;
};
