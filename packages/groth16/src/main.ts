#!/usr/bin/env node
// The program `groth16`.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { compactKey, expandKey, Groth16Error } from "./index.ts";

const USAGE = `groth16 compact KEY.zkey [--out FILE]
groth16 expand KEY.czkey [--out FILE]

compact  makes a compact key, which takes half of the download; default FILE: KEY.czkey
expand   restores the .zkey file, byte for byte; default FILE: KEY.zkey

      --out FILE  write to this file, which must not exist
      --help      print this text`;

/** Exit codes of wrong usage, and of a file that is not a key. */
const [USAGE_EXIT, INVALID_EXIT] = [2, 1];

interface Command {
  readonly run: (file: Uint8Array) => Promise<Uint8Array>;
  readonly ending: string;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  compact: { run: compactKey, ending: "czkey" },
  expand: { run: (file) => expandKey(file), ending: "zkey" },
};

class UsageError extends Error {}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { out: { type: "string" }, help: { type: "boolean" } } });
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0]);
  }
}

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
};

function read(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}`);
  }
}

function write(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes, { flag: "wx" });
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${reasonOf(error)}; name another file with --out`);
  }
}

async function main(): Promise<string> {
  const { positionals, values } = readArguments();
  if (values.help) return USAGE;
  const [name = "", path, ...rest] = positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || path === undefined || rest.length > 0)
    throw new UsageError("expected `compact` or `expand`, and one file; groth16 --help explains them");
  const before = read(path);
  const after = await command.run(before);
  const out = values.out ?? `${path.replace(/\.c?zkey$/, "")}.${command.ending}`;
  write(out, after);
  return `${out}: ${after.byteLength} bytes, from ${before.byteLength}`;
}

try {
  console.log(await main());
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof Groth16Error)) throw error;
  console.error(`groth16: ${error.message}`);
  process.exitCode = error instanceof UsageError ? USAGE_EXIT : INVALID_EXIT;
}
