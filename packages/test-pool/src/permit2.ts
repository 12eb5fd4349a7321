// The real Permit2, at its address on a local chain.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PERMIT2 } from "@sotto/protocol";
import { concat, getCreate2Address, keccak256 } from "ethers";

/** The contract and the salt with which Permit2 was deployed on every chain. */
const DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** Creates the contract whose salt and creation code it is called with. */
const DEPLOYER_CODE = `0x7f${"ff".repeat(31)}e03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3`;
const SALT = "0x0000000000000000000000000000000000000000d3af2663da51c10215000000";
const FACTORY = join("contracts", "factories", "Permit2__factory.js");

/** Permit2's creation code. Its address is a hash of it, so this is the code that chains have. */
function creationCode(): string {
  const entry = createRequire(import.meta.url).resolve("@uniswap/uniswapx-sdk");
  const source = readFileSync(join(dirname(entry), FACTORY), "utf8");
  const [code = "0x"] = /0x60[0-9a-f]{4000,}/.exec(source) ?? [];
  if (getCreate2Address(DEPLOYER, SALT, keccak256(code)).toLowerCase() !== PERMIT2)
    throw new Error(`${FACTORY} is not the code of Permit2`);
  return code;
}

/** Deploys Permit2 to its address, where it also binds its signatures. @param send a JSON-RPC request to Hardhat or Anvil */
export async function placePermit2(send: (method: string, params: unknown[]) => Promise<unknown>): Promise<void> {
  await send("hardhat_setCode", [DEPLOYER, DEPLOYER_CODE]);
  const [from] = (await send("eth_accounts", [])) as string[];
  await send("eth_sendTransaction", [{ from, to: DEPLOYER, data: concat([SALT, creationCode()]), gas: "0x4c4b40" }]);
  if ((await send("eth_getCode", [PERMIT2, "latest"])) === "0x") throw new Error("Permit2 was not deployed");
}
