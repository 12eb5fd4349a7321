// node stops-at.mjs SIGNAL PATTERN PROGRAM ARGS..: runs a program that sends itself a signal as soon as it has written
// what matches. Whoever reads the output from outside and sends it then may be late by more than the program has left.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [, , signal, pattern, program] = process.argv;
// As if it had been started itself.
process.argv.splice(1, 3);

const wanted = new RegExp(pattern, "m");
let stopped = false;
/** @param owner of a function that writes; @param at which of its arguments is the text */
function watch(owner, name, at, concerns = () => true) {
  const write = owner[name];
  let text = "";
  owner[name] = function (...args) {
    const written = write.apply(this, args);
    if (!stopped && concerns(args)) {
      text += args[at].toString();
      if (wanted.test(text)) {
        stopped = true;
        process.kill(process.pid, signal);
      }
    }
    return written;
  };
}
watch(process.stdout, "write", 0);
watch(process.stderr, "write", 0);
// Logs go past the streams.
watch(fs, "writeSync", 1, ([file]) => file === 1 || file === 2);
await import(pathToFileURL(program).href);
