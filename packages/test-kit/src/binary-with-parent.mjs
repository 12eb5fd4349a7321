// Runs a binary that must exit when the test run is killed. A binary has no IPC channel to notice that by itself.
import { spawn } from "node:child_process";

const [binary, ...args] = process.argv.slice(2);
const child = spawn(binary, args, { stdio: ["ignore", "inherit", "inherit"] });
const kill = () => child.kill("SIGKILL");
child.once("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once("exit", (code) => process.exit(code ?? 1));
process.once("disconnect", kill);
process.once("SIGTERM", kill);
