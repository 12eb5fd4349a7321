// Preloaded with NODE_OPTIONS=--import: kills the process right before the write to the tables of payments and tokens
// with the number KILL_BEFORE, or right after it if KILL_AFTER is set instead. Writes are counted from 1.
import { DatabaseSync } from "node:sqlite";

const WRITE = /^\s*(?:insert into|update)\s+"?(?:payment_claim|prepaid_pack|prepaid_token)"?/i;
const [before, after] = [process.env["KILL_BEFORE"], process.env["KILL_AFTER"]].map(Number);
let writes = 0;

const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  if (!WRITE.test(sql)) return statement;
  for (const name of ["run", "all"]) {
    const execute = statement[name];
    statement[name] = function (...values) {
      writes += 1;
      if (writes === before) process.kill(process.pid, "SIGKILL");
      const result = execute.apply(this, values);
      if (writes === after) process.kill(process.pid, "SIGKILL");
      return result;
    };
  }
  return statement;
};
