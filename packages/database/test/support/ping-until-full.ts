// node ping-until-full.ts FILE PINGS: pings a database until that fails, at most PINGS times, and prints what happened.
import { sql } from "kysely";
import { openDatabase } from "../../src/index.ts";

// Without this, the system would end the process at the limit of its files.
process.on("SIGXFSZ", () => undefined);
const database = await openDatabase({ url: `sqlite:${process.argv[2]}`, name: "test", migrations: {} });
let pings = 0;
let code: string | undefined;
while (pings < Number(process.argv[3]) && code === undefined) {
  pings += 1;
  code = await database.ping().then(
    () => undefined,
    (error: { code: string }) => error.code,
  );
}
const { rows } = await sql`select 1`.execute(database.db);
console.log(JSON.stringify({ pings, code, reads: rows.length }));
