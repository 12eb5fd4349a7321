// Stands in for scripts/run.mjs of a copy: its tasks succeed, are refused, or serve.
import { writeFileSync } from "node:fs";

const [task, ...args] = process.argv.slice(2);
switch (task) {
  case "show":
    console.log(
      JSON.stringify({ args, mode: process.env.NODE_ENV, key: process.env.SOTTO_KEY, given: process.env.GIVEN }),
    );
    break;
  case "refuse":
    console.error(`sotto: ${args[0]}: the reason is ${args[1]}`);
    process.exitCode = 1;
    break;
  case "serve":
    process.on("SIGTERM", () => {
      writeFileSync("ended", "");
      process.exit(0);
    });
    setInterval(() => {}, 1_000);
    console.error("it listens at http://127.0.0.1:1");
    break;
}
