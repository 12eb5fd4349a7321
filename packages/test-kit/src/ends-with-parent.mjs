// Runs a program that must exit when the test run is killed, because a killed run cannot stop its processes.
import { pathToFileURL } from "node:url";

process.once("disconnect", () => process.exit(1));
process.channel?.unref();
// The program sees its arguments as if it had been started directly. --import would also affect its child processes.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1]).href);
