// Runs the program it is given, which ends with a test run that was killed: such a run stops nothing itself.
import { pathToFileURL } from "node:url";

process.once("disconnect", () => process.exit(1));
process.channel?.unref();
// As if it had been started itself. Not by --import: that holds for the processes it starts, too.
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1]).href);
