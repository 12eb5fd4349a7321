// Compiled contracts, deployed on the tests' chain.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Contract, ContractFactory } from "ethers";
import type { World } from "./service.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "artifacts", "contracts");

/** @param path of the source in contracts/, without .sol; for example "test/ContractWallet" */
export async function deployContract(
  { provider }: Pick<World, "provider">,
  path: string,
  ...args: unknown[]
): Promise<Contract> {
  const file = join(folder, `${path}.sol`, `${basename(path)}.json`);
  const { abi, bytecode } = JSON.parse(readFileSync(file, "utf8")) as { abi: string[]; bytecode: string };
  const contract = await new ContractFactory(abi, bytecode, await provider.getSigner(0)).deploy(...args);
  return (await contract.waitForDeployment()) as Contract;
}
