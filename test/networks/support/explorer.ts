// Verifies a contract as an explorer does: it compiles the standard input and compares the code with the chain's.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { JsonRpcProvider } from "ethers";

/** An entry of verification.json. */
export interface Entry {
  readonly address: string;
  readonly contract: string;
  readonly compiler: string;
  readonly constructorArguments: string;
  readonly standardInput: string;
}

const LONG = process.env["SOTTO_LONG"] === "1";
const ARTIFACTS = join(import.meta.dirname, "..", "..", "..", "artifacts");
/** Loads the compiler in the same way as the build does. */
const COMPILER = join(import.meta.dirname, "..", "..", "..", "contracts", "soljson.cjs");
const require = createRequire(import.meta.url);
const { version } = require("solc/package.json") as { version: string };

/**
 * Runs solc on a file, because its command-line tool reads standard input immediately and fails if a pipe is still
 * empty.
 * @returns the compiler's output, without the banner
 */
async function solc(file: string): Promise<string> {
  const args = ["--require", COMPILER, require.resolve("solc/solc.js"), "--standard-json"];
  const input = openSync(file, "r");
  const child = spawn(process.execPath, args, { stdio: [input, "pipe", "ignore"] });
  closeSync(input);
  let output = "";
  for await (const chunk of child.stdout!) output += String(chunk);
  return output.replace(/^>>>.*\n/, "");
}

/**
 * The creation codes of the entries' contracts, hex without 0x. Entries with the same input are compiled together. The
 * pool takes longer than all other contracts, so it is compiled only with SOTTO_LONG=1. Otherwise its code comes from
 * the build, provided that other contracts have the same input: compiling those shows that the input reproduces the build.
 */
export async function compile(entries: readonly Entry[], folder: string): Promise<string[]> {
  const inputs = new Map<string, Entry[]>();
  for (const entry of entries) {
    const text = readFileSync(join(folder, entry.standardInput), "utf8");
    inputs.set(text, [...(inputs.get(text) ?? []), entry]);
  }
  const compiled = [...inputs].map(async ([text, group], index) => {
    const input = JSON.parse(text);
    const isBuilt = ({ contract }: Entry) => !LONG && contract.endsWith(":ShieldedPool") && group.length > 1;
    // Explorers choose the outputs that they need; the code does not depend on the choice.
    input.settings.outputSelection = {};
    for (const entry of group) {
      const { contract, compiler } = entry;
      if (!compiler.startsWith(`v${version}+commit.`)) throw new Error(`${compiler} is not ${version}`);
      if (isBuilt(entry)) continue;
      const [source, name] = partsOf(contract);
      input.settings.outputSelection[source] = { [name]: ["evm.bytecode.object"] };
    }
    const asked = join(folder, `${index}.json`);
    writeFileSync(asked, JSON.stringify(input));
    const { contracts } = JSON.parse(await solc(asked));
    return group.map((entry): [Entry, string] => {
      const [source, name] = partsOf(entry.contract);
      return [entry, isBuilt(entry) ? builtCode(source, name) : contracts[source][name].evm.bytecode.object];
    });
  });
  const codes = new Map((await Promise.all(compiled)).flat());
  return entries.map((entry) => codes.get(entry) as string);
}

function builtCode(source: string, name: string): string {
  const path = join(ARTIFACTS, source.replace(/^project\//, ""), `${name}.json`);
  const { bytecode } = JSON.parse(readFileSync(path, "utf8")) as { bytecode: string };
  return bytecode.slice("0x".length);
}

/** Source and name of a contract: "contracts/A.sol:A". */
function partsOf(contract: string): [source: string, name: string] {
  const [source = "", name = ""] = contract.split(":");
  return [source, name];
}

/**
 * The code that a constructor returns. A library's code contains its own address, so that address is masked.
 */
export const construct = (provider: JsonRpcProvider, creation: string): Promise<string> =>
  provider.send("eth_call", [{ data: `0x${creation}` }, "latest"]).then(withoutAddress);

export const withoutAddress = (code: string): string => code.replace(/^0x73[0-9a-f]{40}30/, "0x");
