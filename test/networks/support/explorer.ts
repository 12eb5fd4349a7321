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

const require = createRequire(import.meta.url);
const { version } = require("solc/package.json") as { version: string };

/**
 * Runs solc on a file, because its command reads standard input immediately and fails if a pipe is still empty.
 * @returns the compiler's output, without the banner
 */
async function solc(file: string): Promise<string> {
  const args = [require.resolve("solc/solc.js"), "--standard-json"];
  const input = openSync(file, "r");
  const child = spawn(process.execPath, args, { stdio: [input, "pipe", "ignore"] });
  closeSync(input);
  let output = "";
  for await (const chunk of child.stdout!) output += String(chunk);
  return output.replace(/^>>>.*\n/, "");
}

/** The creation code of an entry's contract, hex without 0x. */
export async function compile({ contract, standardInput, compiler }: Entry, folder: string): Promise<string> {
  if (!compiler.startsWith(`v${version}+commit.`)) throw new Error(`${compiler} is not ${version}`);
  const [source = "", name = ""] = contract.split(":");
  const input = JSON.parse(readFileSync(join(folder, standardInput), "utf8"));
  // Explorers choose the outputs that they need; the code does not depend on the choice.
  input.settings.outputSelection = { [source]: { [name]: ["evm.bytecode.object"] } };
  const asked = join(folder, `${name}.input.json`);
  writeFileSync(asked, JSON.stringify(input));
  const { contracts } = JSON.parse(await solc(asked));
  return contracts[source][name].evm.bytecode.object as string;
}

/** The code that a constructor returns. A library's code contains its own address, so that address is masked. */
export const construct = (provider: JsonRpcProvider, creation: string): Promise<string> =>
  provider.send("eth_call", [{ data: `0x${creation}` }, "latest"]).then(withoutAddress);

export const withoutAddress = (code: string): string => code.replace(/^0x73[0-9a-f]{40}30/, "0x");
