// Preloaded with NODE_OPTIONS=--import: kills the process right before a write. KILL_BEFORE is the number of that write among
// those to the tables of payments and packs, counted from 1. KILL_AT_TOKEN instead names a moment of the first token:
// right before its write, or right after its commit.
import { DatabaseSync } from "node:sqlite";

const WRITE = /^\s*(?:insert into|update)\s+"?(payment_claim|prepaid_pack|prepaid_token)"?/i;
const before = Number(process.env["KILL_BEFORE"]);
const atToken = process.env["KILL_AT_TOKEN"];
const kill = () => process.kill(process.pid, "SIGKILL");
let writes = 0;

let wroteToken = false;

const { prepare, exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql);
  if (sql === "commit" && wroteToken && atToken === "after") kill();
};
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  const [, table] = WRITE.exec(sql) ?? [];
  if (table === undefined) return statement;
  for (const name of ["run", "all"]) {
    const execute = statement[name];
    statement[name] = function (...values) {
      const isToken = table === "prepaid_token";
      if (!isToken) writes += 1;
      if (isToken ? atToken === "before" : writes === before) kill();
      const result = execute.apply(this, values);
      wroteToken ||= isToken;
      return result;
    };
  }
  return statement;
};
