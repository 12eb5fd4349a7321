import { network } from "hardhat";
import type { NetworkConnection } from "hardhat/types/network";
import "@nomicfoundation/hardhat-toolbox-mocha-ethers";
// Types of the contracts that deployContract and getContractAt return.
import type {} from "../../../../types/ethers-contracts/hardhat.d.ts";
import type { ShieldedPool, TestUSDC } from "../../../../types/ethers-contracts/index.js";

export type Connection = NetworkConnection<"l1">;
export type Signer = Awaited<ReturnType<Connection["ethers"]["getSigners"]>>[number];

export const SMALLEST_DEPOSIT = 10_000n;

/**
 * Starts a new in-process chain.
 * @param sharesTimes whether blocks mined in the same second have the same time. By default, each has a later one, so that
 * the leaves of each block are in their own checkpoint.
 */
export async function connect(chainId = 31337, sharesTimes = false): Promise<Connection> {
  return network.create({ network: "node", override: { chainId, allowBlocksWithSameTimestamp: sharesTimes } });
}

export interface Deployed {
  readonly connection: Connection;
  readonly pool: ShieldedPool;
  readonly token: TestUSDC;
  readonly poolAddress: string;
  readonly chainId: bigint;
  readonly signers: readonly Signer[];
}

export interface DeployOptions {
  /** Deploys the pool with a ring of this size instead of 4,096. */
  readonly ringSize?: number;
  /** Token to use instead of the test dollar. */
  readonly token?: string;
  /** Whether blocks may have the same time. */
  readonly sharesTimes?: boolean;
}

/** Deploys what all pools of a chain share: the verifiers of the development keys and the hash library. */
async function deployLibraries(connection: Connection): Promise<readonly [string, string, string, string]> {
  const names = ["PaymentVerifier", "WithdrawalVerifier", "NoteAppendVerifier", "PoseidonT4"] as const;
  const addresses: string[] = [];
  for (const name of names) {
    const contract = await connection.ethers.deployContract(name);
    addresses.push(await contract.getAddress());
  }
  return addresses as unknown as readonly [string, string, string, string];
}

/** The arguments of a pool's constructor, whose parts are deployed for it. */
export async function poolArguments(connection: Connection, token: string) {
  return [token, ...(await deployLibraries(connection)), SMALLEST_DEPOSIT] as const;
}

export async function deployPool(connection: Connection, options: DeployOptions = {}): Promise<Deployed> {
  const { ethers } = connection;
  const token = await ethers.deployContract("TestUSDC");
  const args = await poolArguments(connection, options.token ?? (await token.getAddress()));
  const pool =
    options.ringSize === undefined
      ? await ethers.deployContract("ShieldedPool", [...args])
      : ((await ethers.deployContract("SmallRingPool", [options.ringSize, ...args])) as unknown as ShieldedPool);
  return {
    connection,
    pool,
    token,
    poolAddress: await pool.getAddress(),
    chainId: (await ethers.provider.getNetwork()).chainId,
    signers: await ethers.getSigners(),
  };
}
