// node stops-at.mjs SIGNAL PATTERN PROGRAM ARGS..: runs a program that sends itself a signal as soon as it has written
// what matches. Whoever reads the output from outside and sends it then may be late by more than the program has left.
import { pathToFileURL } from "node:url";

const [, , signal, pattern, program] = process.argv;
// As if it had been started itself.
process.argv.splice(1, 3);

const wanted = new RegExp(pattern, "m");
let stopped = false;
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  let text = "";
  stream.write = (chunk, ...rest) => {
    const written = write(chunk, ...rest);
    text += chunk.toString();
    if (!stopped && wanted.test(text)) {
      stopped = true;
      process.kill(process.pid, signal);
    }
    return written;
  };
}
await import(pathToFileURL(program).href);
