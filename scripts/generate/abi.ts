// Generates packages/protocol/src/generated/shielded-pool-abi.ts, the pool's ABI, from Hardhat's compiled contract.
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, header, runGenerators } from "@sotto/keys/generate/generated-file";

const ARTIFACT = join(root, "artifacts", "contracts", "ShieldedPool.sol", "ShieldedPool.json");

/** Removes internalType, Solidity's own name of a type, which callers do not need. */
const withoutInternalTypes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutInternalTypes);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== "internalType");
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutInternalTypes(inner)]));
};

export async function generateAbi(): Promise<GeneratedFile> {
  if (!existsSync(ARTIFACT))
    throw new CommandError(
      "CONTRACTS_NOT_BUILT",
      `${relative(root, ARTIFACT)} is missing: run npm run contracts:build`,
    );
  const { abi } = JSON.parse(readFileSync(ARTIFACT, "utf8")) as { abi: unknown[] };
  const entries = abi.map((entry) => `  ${JSON.stringify(withoutInternalTypes(entry))},\n`).join("");
  const content = `${header("contracts/ShieldedPool.sol")}\n/** The ABI of ShieldedPool. */\nexport const shieldedPoolAbi = [\n${entries}] as const;\n`;
  return { path: join(root, "packages", "protocol", "src", "generated", "shielded-pool-abi.ts"), content };
}

if (import.meta.main) await runGenerators(generateAbi);
