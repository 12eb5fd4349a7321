// Generates packages/protocol/src/generated/signature-validator.ts: creation code that eth_call runs to ask a contract
// wallet whether a signature is valid.
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, header, runGenerators } from "@sotto/keys/generate/generated-file";

const SOURCE = "contracts/signatures/SignatureValidator.sol";
const ARTIFACT = join(root, "artifacts", SOURCE, "SignatureValidator.json");

export async function generateValidator(): Promise<GeneratedFile> {
  if (!existsSync(ARTIFACT))
    throw new CommandError(
      "CONTRACTS_NOT_BUILT",
      `${relative(root, ARTIFACT)} is missing: run npm run contracts:build`,
    );
  const { bytecode } = JSON.parse(readFileSync(ARTIFACT, "utf8")) as { bytecode: string };
  const content =
    `${header(SOURCE)}\n/** Its constructor takes (address wallet, bytes32 digest, bytes signature, address factory, bytes factoryCall). */\n` +
    `export const SIGNATURE_VALIDATOR_CODE =\n  "${bytecode}";\n`;
  return { path: join(root, "packages", "protocol", "src", "generated", "signature-validator.ts"), content };
}

if (import.meta.main) await runGenerators(generateValidator);
