// A pool for a token without EIP-3009, on the tests' chain, with the real Permit2.
import { approveCall } from "@sotto/chain/ethers";
import { PERMIT2, shieldedPoolAbi } from "@sotto/protocol";
import { placePermit2 } from "@sotto/test-pool/permit2";
import { Contract, toQuantity } from "ethers";
import { deployContract } from "./contracts.ts";
import type { World } from "./service.ts";

export interface Permit2Pool {
  readonly chainId: bigint;
  readonly pool: string;
  readonly poolContract: Contract;
  readonly deploymentBlock: number;
  readonly token: string;
  readonly tokenContract: Contract;
  tokensOf(account: string): Promise<bigint>;
  /** Approves Permit2 from an account, which has no ether afterwards either. */
  approve(owner: string, amount: bigint): Promise<void>;
}

/** @param name of the token's contract: PermitToken has permits, PlainToken has none */
export async function openPermit2Pool(
  world: Pick<World, "provider" | "chainId" | "pool">,
  name: "PermitToken" | "PlainToken",
): Promise<Permit2Pool> {
  const { provider, chainId } = world;
  const rpc = (method: string, ...params: unknown[]) => provider.send(method, params);
  if ((await provider.getCode(PERMIT2)) === "0x") await placePermit2((method, params) => provider.send(method, params));
  const tokenContract = await deployContract(world, `test/${name}`);
  const other = new Contract(world.pool, shieldedPoolAbi, provider);
  const parts = await Promise.all(
    ["paymentVerifier", "withdrawalVerifier", "noteAppendVerifier", "noteHasher", "smallestDeposit"].map((part) =>
      other.getFunction(part)(),
    ),
  );
  const token = (await tokenContract.getAddress()).toLowerCase();
  const poolContract = await deployContract(world, "ShieldedPool", token, ...parts);
  return {
    chainId: BigInt(chainId),
    pool: (await poolContract.getAddress()).toLowerCase(),
    poolContract,
    deploymentBlock: await provider.getBlockNumber(),
    token,
    tokenContract,
    tokensOf: (account) => tokenContract.getFunction("balanceOf")(account),
    async approve(owner, amount) {
      const ether = await provider.getBalance(owner);
      await rpc("hardhat_impersonateAccount", owner);
      await rpc("hardhat_setBalance", owner, toQuantity(10n ** 18n));
      await rpc("eth_sendTransaction", { from: owner, ...approveCall(token, PERMIT2, amount) });
      await rpc("hardhat_setBalance", owner, toQuantity(ether));
      await rpc("hardhat_stopImpersonatingAccount", owner);
    },
  };
}
