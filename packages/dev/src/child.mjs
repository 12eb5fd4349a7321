// node child.mjs PROGRAM: runs a program that ends with the process that started it, even if that process is killed.
import { pathToFileURL } from "node:url";

process.once("disconnect", () => process.exit(1));
// The parent may have ended before the listener above was added.
if (!process.connected) process.exit(1);
// Ctrl-C reaches the whole process group; the parent decides when this process ends.
process.on("SIGINT", () => {});
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1]).href);
