// node supervise.mjs COMMAND ARGUMENTS..: runs a command that ends with the process that started it, even if that process is
// killed.
import { spawn } from "node:child_process";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
const end = () => child.kill("SIGTERM");
process.once("disconnect", end);
// The parent may have ended before the listener above was added.
if (!process.connected) end();
process.on("SIGTERM", end);
// Ctrl-C reaches the child from the terminal.
process.on("SIGINT", () => {});
child.once("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once("close", (code) => process.exit(code ?? 1));
