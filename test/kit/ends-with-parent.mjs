// Runs a program that must end if the test run is killed, because a killed run cannot stop its processes.
import { pathToFileURL } from "node:url";

process.once("disconnect", () => process.exit(1));
process.channel?.unref();
// The program sees its arguments as if it had been started directly. --import would also affect the processes it starts.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1]).href);
