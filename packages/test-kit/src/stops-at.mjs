// node stops-at.mjs SIGNAL PATTERN PROGRAM ARGS..: runs a program that sends itself a signal as soon as its output matches
// the pattern. A signal from outside, sent after reading the output, may arrive too late.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [, , signal, pattern, program] = process.argv;
// The program sees its arguments as if it had been started directly.
process.argv.splice(1, 3);

const wanted = new RegExp(pattern, "m");
let stopped = false;
/** @param owner the object with the writing function @param at index of the argument with the text */
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
// Logs bypass the streams.
watch(fs, "writeSync", 1, ([file]) => file === 1 || file === 2);
await import(pathToFileURL(program).href);
